// Hints about caches: PTX ISA 9.7.9.15 to 9.7.9.18. They change no result, save that discarded bytes may be anything.
#include <fmt/format.h>

#include <bit>

#include "isa/plain.h"
#include "isa/spaces.h"

namespace tilepath::isa {
namespace {

void prefetch(Lowering& to, const Bound& in) {
    if (const ptx::Operand* size = in.operand("size"))
        if (std::int64_t bytes = to.immediate(*size, "the size"); bytes != 128)
            to.error(size->span, fmt::format("the size is 128 bytes; found {}", bytes));
    const Address at = to.address(in["a"], space_named(in.word("space")));
    if (in.form().opcode == "prefetchu" && at.space != Space::generic && at.space != Space::global)
        to.error(in["a"].span, fmt::format("'prefetchu' takes a generic address; '{}' lies in .{}",
                                           to.module().text(in["a"].span), program::name(at.space)));
    MicroOp& out = to.emit(Op::prefetch, DataType::none, {}, {at.base});
    out.space = at.space;
    out.immediate = at.offset;
}

/// Nothing looks into a policy, so that every one may have the same bits.
void policy(Lowering& to, const Bound& in) {
    for (std::size_t i = 1; i < in.operand_count(); ++i)
        if (in.operand(i).kind != ptx::OperandKind::address) to.read(in.operand(i), in.operand_type(i));
    if (const ptx::Operand* fraction = in.operand("fraction");
        fraction && fraction->kind == ptx::OperandKind::immediate) {
        const double value = fraction->immediate == ptx::ImmediateKind::f64
                                 ? std::bit_cast<double>(fraction->bits)
                                 : std::bit_cast<float>(static_cast<std::uint32_t>(fraction->bits));
        if (!(value > 0 && value <= 1))
            to.error(fraction->span, fmt::format("the fraction is above 0 and at most 1; found {}", value));
    }
    to.emit(Op::mov, DataType::b64, {to.write(in["d"], DataType::b64)}, {to.constant(0, DataType::b64)});
}

constexpr std::string_view primary = "primary: L2::evict_last L2::evict_normal L2::evict_first L2::evict_unchanged";
constexpr std::string_view secondary = "secondary: L2::evict_first L2::evict_unchanged";

}  // namespace

std::vector<Family> cache_control_families() {
    return {
        {.manual = "9.7.9.15",
         .forms = {{"prefetch{.space}.level [a]", {"space: global local", "level: L1 L2"}, since(2, 0, 20)},
                   {"prefetch{.space}.priority [a]",
                    {"space: global", "priority: L2::evict_last L2::evict_normal"},
                    since(7, 4, 80)},
                   {"prefetchu.L1 [a]", {}, since(2, 0, 20)},
                   {"prefetch{.space}.tensormap [a]", {"space: const param"}, since(8, 0, 90)}},
         .lower = prefetch},
        {.manual = "9.7.9.16",
         .forms = {{"applypriority{.space}.L2::evict_normal [a], size", {"space: global"}, since(7, 4, 80)}},
         .lower = prefetch},
        {.manual = "9.7.9.17",
         .forms = {{"discard{.space}.L2 [a], size", {"space: global"}, since(7, 4, 80)}},
         .lower = prefetch},
        {.manual = "9.7.9.18",
         .forms = {{"createpolicy.range{.space}.primary{.secondary}.type d, [a], primary_size:u32, total_size:u32",
                    {"space: global", primary, secondary, "type: b64"},
                    since(7, 4, 80)},
                   {"createpolicy.fractional.primary{.secondary}.type d{, fraction:f32}",
                    {primary, secondary, "type: b64"},
                    since(7, 4, 80)},
                   {"createpolicy.cvt.L2.type d, a", {"type: b64"}, since(7, 4, 80)}},
         .lower = policy},
    };
}

}  // namespace tilepath::isa
