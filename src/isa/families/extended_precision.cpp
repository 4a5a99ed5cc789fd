// Carry chains: PTX ISA 9.7.2. CC.CF is one predicate register of the function.
#include "isa/plain.h"

namespace tilepath::isa {
namespace {

using program::MulHalf;

/// The opcodes that end in `c` read the flag, `.cc` writes it: last source, last destination.
template <Op op, bool reads_flag>
void carry(Lowering& to, const Bound& in) {
    std::vector<Operand> destinations{to.write(in.operand(0), in.type())}, sources;
    for (std::size_t i = 1; i < in.operand_count(); ++i) sources.push_back(to.read(in.operand(i), in.type()));
    if (in.has("cc")) destinations.push_back(to.carry_flag());
    if (reads_flag) sources.push_back(to.carry_flag());
    MicroOp& out = to.emit(op, in.type(), destinations, sources);
    out.flags.carry_in = reads_flag;
    out.flags.carry_out = in.has("cc");
    out.variant = static_cast<std::uint8_t>(in.has("hi") ? MulHalf::hi : MulHalf::lo);
}

}  // namespace

std::vector<Family> extended_precision_families() {
    return {
        {.manual = "9.7.2.1",
         .forms = {{"add.cc.type d, a, b", {"type: u32 s32"}, since(1, 2)},
                   {"add.cc.type d, a, b", {"type: u64 s64"}, since(4, 3, 20)}},
         .lower = carry<Op::add_carry, false>},
        {.manual = "9.7.2.2",
         .forms = {{"addc{.cc}.type d, a, b", {"type: u32 s32"}, since(1, 2)},
                   {"addc{.cc}.type d, a, b", {"type: u64 s64"}, since(4, 3, 20)}},
         .lower = carry<Op::add_carry, true>},
        {.manual = "9.7.2.3",
         .forms = {{"sub.cc.type d, a, b", {"type: u32 s32"}, since(1, 2)},
                   {"sub.cc.type d, a, b", {"type: u64 s64"}, since(4, 3, 20)}},
         .lower = carry<Op::sub_carry, false>},
        {.manual = "9.7.2.4",
         .forms = {{"subc{.cc}.type d, a, b", {"type: u32 s32"}, since(1, 2)},
                   {"subc{.cc}.type d, a, b", {"type: u64 s64"}, since(4, 3, 20)}},
         .lower = carry<Op::sub_carry, true>},
        {.manual = "9.7.2.5",
         .forms = {{"mad.lo.cc.type d, a, b, c", {"type: u32 s32"}, since(3, 0, 20)},
                   {"mad.hi.cc.type d, a, b, c", {"type: u32 s32"}, since(3, 0, 20)},
                   {"mad.lo.cc.type d, a, b, c", {"type: u64 s64"}, since(4, 3, 20)},
                   {"mad.hi.cc.type d, a, b, c", {"type: u64 s64"}, since(4, 3, 20)}},
         .lower = carry<Op::mad_carry, false>},
        {.manual = "9.7.2.6",
         .forms = {{"madc.lo{.cc}.type d, a, b, c", {"type: u32 s32"}, since(3, 0, 20)},
                   {"madc.hi{.cc}.type d, a, b, c", {"type: u32 s32"}, since(3, 0, 20)},
                   {"madc.lo{.cc}.type d, a, b, c", {"type: u64 s64"}, since(4, 3, 20)},
                   {"madc.hi{.cc}.type d, a, b, c", {"type: u64 s64"}, since(4, 3, 20)}},
         .lower = carry<Op::mad_carry, true>},
    };
}

}  // namespace tilepath::isa
