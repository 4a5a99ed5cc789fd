// Any bytes: the reader must end, with a module or with errors that have places; and a module must read back from its
// print.
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "ptx/print.h"
#include "ptx/read.h"

using namespace tilepath;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto module = ptx::read(Source("fuzz.ptx", std::string(reinterpret_cast<const char*>(data), size)));
    if (!module) {
        TILEPATH_ASSERT(!module.error().empty(), "a refusal says why");
        TILEPATH_ASSERT(!to_string(module.error()).empty(), "errors have a text");
        return 0;
    }
    const std::string printed = ptx::print(*module);
    const auto again = ptx::read(Source("printed.ptx", printed));
    TILEPATH_ASSERT(again, "what is printed can be read");
    TILEPATH_ASSERT(ptx::same_tree(*module, *again), "what is printed is the same tree");
    return 0;
}
