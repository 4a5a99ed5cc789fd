// The one video instruction that kernels are seen to use: PTX ISA 9.7.18.2.
#include "isa/plain.h"

namespace tilepath::isa {
namespace {

void absolute_differences(Lowering& to, const Bound& in) {
    for (std::string_view name : {"a", "b", "c"}) require_register(to, in[name]);
    MicroOp& out = to.simple(Op::vabsdiff4, in.type("dtype"));
    out.source_type = in.type("atype");
    out.flags.unsigned_b = in.type("btype") == DataType::u32;
    out.variant = in.has("add") ? 1 : 0;
}

}  // namespace

std::vector<Family> video_families() {
    constexpr std::string_view d = "dtype: u32 s32", a = "atype: u32 s32", b = "btype: u32 s32";
    return {
        {.manual = "9.7.18.2",
         .forms = {{"vabsdiff4.dtype.atype.btype d, a, b, c:b32", {d, a, b}, since(3, 0, 30)},
                   {"vabsdiff4.dtype.atype.btype.add d:b32, a, b, c:b32", {d, a, b}, since(3, 0, 30)}},
         .lower = absolute_differences},
    };
}

}  // namespace tilepath::isa
