// .cu files: nvcc makes PTX of them, where it is installed.
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "host/module.h"
#include "host/npy.h"

extern char** environ;

namespace tilepath::host {
namespace {

namespace fs = std::filesystem;

/// As CUDA's own documents set it up: CUDA_HOME, else PATH, else the usual place.
std::string find_nvcc() {
    std::vector<fs::path> folders;
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
        if (const char* home = std::getenv(variable)) folders.push_back(fs::path(home) / "bin");
    if (const char* path = std::getenv("PATH")) {
        const std::string_view all(path);
        for (std::size_t begin = 0; begin <= all.size();) {
            const std::size_t end = std::min(all.find(':', begin), all.size());
            if (end > begin) folders.emplace_back(all.substr(begin, end - begin));
            begin = end + 1;
        }
    }
    folders.emplace_back("/usr/local/cuda/bin");
    for (const fs::path& folder : folders)
        if (const std::string program = (folder / "nvcc").string(); access(program.c_str(), X_OK) == 0) return program;
    return {};
}

/// A folder of its own, removed afterwards.
class TemporaryFolder {
  public:
    TemporaryFolder() {
        std::error_code error;
        path_ = (fs::temp_directory_path(error) / "tilepath_XXXXXX").string();
        if (!mkdtemp(path_.data())) path_.clear();
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        if (!path_.empty()) fs::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

/// Runs a program without a shell, all that it prints into a file; its exit status, or −1.
int run_program(const std::vector<std::string>& words, const std::string& output) {
    std::vector<char*> argv;
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    pid_t child = 0;
    const int failed = posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    int status = 0;
    if (failed || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
    return WEXITSTATUS(status);
}

void add_lines(Diagnostic& diagnostic, std::string_view text) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        if (end > 0) diagnostic.notes.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

}  // namespace

Result<std::string> compile_cuda(const std::string& path, const std::string& arch,
                                 const std::vector<std::string>& flags) {
    const std::string nvcc = find_nvcc();
    if (nvcc.empty())
        return fail(
            fmt::format("{} is CUDA C++, and no nvcc is in CUDA_HOME, PATH or /usr/local/cuda to compile it", path),
            "install the CUDA toolkit, or compile elsewhere: nvcc -ptx -lineinfo -arch=compute_80, and name the .ptx");
    const TemporaryFolder folder;
    if (folder.path().empty())
        return fail("cannot make a temporary folder for nvcc", "is the disk full? TMPDIR says where it goes");
    const std::string output = folder.path() + "/module.ptx", log = folder.path() + "/log";
    std::string target = arch.empty() ? "sm_80" : arch;
    if (target.starts_with("sm_")) target.replace(0, 3, "compute_");
    std::vector<std::string> words = {nvcc, "-ptx", "-lineinfo", "-arch=" + target};
    words.insert(words.end(), flags.begin(), flags.end());
    words.insert(words.end(), {path, "-o", output});
    const int status = run_program(words, log);
    auto said = read_bytes(log);
    if (status != 0) {
        auto error = fail(status < 0 ? fmt::format("{} could not be run, or was ended", nvcc)
                                     : fmt::format("nvcc could not compile {} (exit status {})", path, status));
        if (said)
            add_lines(error.error().front(),
                      std::string_view(reinterpret_cast<const char*>(said->data()), said->size()));
        error.error().front().notes.push_back(fmt::format("the command was: {}", fmt::join(words, " ")));
        return error;
    }
    auto text = read_bytes(output);
    if (!text)
        return fail(fmt::format("nvcc wrote no PTX for {}", path), "leave out nvcc_flags that ask for something else");
    return std::string(text->begin(), text->end());
}

}  // namespace tilepath::host
