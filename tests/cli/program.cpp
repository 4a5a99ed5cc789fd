#include "cli/program.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace tilepath::cli {
namespace {

namespace fs = std::filesystem;

std::string load(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

Folder::Folder() {
    std::string name = (fs::temp_directory_path() / "tilepath_XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("cannot make a temporary folder");
    path_ = name;
}

Folder::~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

void Folder::write(const std::string& name, const std::string& text) const { std::ofstream(path_ / name, std::ios::binary) << text; }

std::string Folder::read(const std::string& name) const { return load(path_ / name); }

Finished Folder::shell(const std::string& command) const {
    const std::string program_folder = fs::path(TILEPATH_PROGRAM).parent_path().string();
    // A subshell, so that the command can be several; a hang fails one test, not the whole run.
    write(".command", command + "\n");
    const std::string line = "cd '" + path_.string() + "' && PATH='" + program_folder +
                             "':\"$PATH\" timeout 300 sh .command >.out 2>.err </dev/null";
    const int status = std::system(line.c_str());
    Finished out;
    out.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    out.out = read(".out"), out.err = read(".err");
    return out;
}

}  // namespace tilepath::cli
