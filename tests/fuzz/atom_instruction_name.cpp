// Any text as an instruction's name, PTX's or CuTe's: found, and found again by the name that it gets, or refused with
// a reason.
#include <cstddef>
#include <cstdint>

#include "atom/instruction.h"
#include "base/assert.h"

using namespace tilepath;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto found = atom::instruction_named(std::string_view(reinterpret_cast<const char*>(data), size));
    if (!found) {
        TILEPATH_ASSERT(!to_string(found.error()).empty(), "a refusal says why");
        return 0;
    }
    const auto again = atom::instruction_named(found->name);
    TILEPATH_ASSERT(again && again->name == found->name, "a full name names itself");
    return 0;
}
