// Any PTX text: every entry is lowered and verified, and the launch file that `tilepath init` writes for it reads and
// prepares again.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "host/launch_file.h"
#include "isa/build.h"
#include "program/print.h"
#include "program/verify.h"
#include "ptx/read.h"

using namespace tilepath;

namespace {

/// A file of this process alone, in place of one on a disk; gives its path.
const std::string& write_module(const std::string& text) {
    static const int file = memfd_create("module.ptx", 0);
    static const std::string path = "/proc/self/fd/" + std::to_string(file);
    TILEPATH_ASSERT(file >= 0 && ftruncate(file, 0) == 0, "a file in memory");
    TILEPATH_ASSERT(pwrite(file, text.data(), text.size(), 0) == ssize_t(text.size()), "a file in memory");
    return path;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    const auto module = ptx::read(Source("fuzz.ptx", text));
    if (!module) return 0;
    to_string(isa::check_instructions(*module));
    for (const ptx::Function& function : module->functions) {
        if (function.kind != ptx::FunctionKind::entry || !function.has_body) continue;
        const std::string name(module->name(function.name));
        const auto program = isa::build(*module, name);
        if (!program) {
            TILEPATH_ASSERT(!to_string(program.error()).empty(), "a refusal says why");
            continue;
        }
        TILEPATH_ASSERT(program::verify(*program).empty(), "what is lowered follows the tables' rules");
        for (const program::Function& each : program->functions) program::print(each);
        const std::string& path = write_module(text);
        const auto launch = host::launch_file_template(path, name);
        TILEPATH_ASSERT(launch, "what builds has a launch file");
        auto file = host::read_launch_text("/fuzz.toml", *launch, 64 << 20);
        if (!file) std::fputs(to_string(file.error()).c_str(), stderr);
        TILEPATH_ASSERT(file, "the launch file can be read");
        file->module = path;
        host::prepare(*file);
    }
    return 0;
}
