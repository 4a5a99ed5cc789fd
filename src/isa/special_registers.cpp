#include "isa/special_registers.h"

#include "ptx/special_registers.h"

namespace tilepath::isa {
namespace {

using program::SpecialRegister;

constexpr SpecialRegisterTraits table[] = {
#define TILEPATH_SPECIAL(id, prefix, count, suffix, first, vector, type, major, minor, sm) \
    {SpecialRegister::id, first, vector, DataType::type, since(major, minor, sm)},
#include "ptx/special_registers.inc"
#undef TILEPATH_SPECIAL
};

}  // namespace

std::optional<SpecialRegisterTraits> special_register_traits(std::string_view name) {
    const auto found = ptx::special_register_named(name);
    if (!found) return {};
    SpecialRegisterTraits traits = table[found->row];
    traits.index += static_cast<int>(found->number);
    return traits;
}

}  // namespace tilepath::isa
