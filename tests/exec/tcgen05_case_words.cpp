// The words and the instruction descriptor of a case.
#include "tcgen05_case.h"

namespace tilepath::exec {
namespace {

using atom::Tcgen05Kind;
using number::Format;

bool scaled(Tcgen05Kind kind) {
    return kind == Tcgen05Kind::mxf8f6f4 || kind == Tcgen05Kind::mxf4 || kind == Tcgen05Kind::mxf4nvf4;
}
bool packed4(Tcgen05Kind kind) { return kind == Tcgen05Kind::mxf4 || kind == Tcgen05Kind::mxf4nvf4; }

std::uint32_t type_code(Format format, Tcgen05Kind kind) {
    switch (format) {
        case Format::bf16:
        case Format::s8:
        case Format::e5m2: return 1;
        case Format::tf32: return 2;
        case Format::e2m3: return 3;
        case Format::e3m2: return 4;
        case Format::e2m1: return packed4(kind) ? 1 : 5;
        default: return 0;
    }
}

}  // namespace

program::Tcgen05Mma words_of(const Tcgen05Case& c) {
    program::Tcgen05Mma what;
    what.cta_group = c.cta_group;
    what.kind = c.kind;
    what.sparse = c.sparse;
    what.weight_stationary = c.ws;
    what.a_in_tensor_memory = c.a_in_tmem;
    what.ashift = c.ashift;
    what.block = c.block;
    what.scale_input_d = c.scale_input_d;
    return what;
}

std::uint32_t instruction_descriptor_of(const Tcgen05Case& c) {
    const auto field = [](auto value, int at) { return static_cast<std::uint32_t>(value) << at; };
    const std::uint32_t shift = c.max_shift == 8 ? 1 : c.max_shift == 16 ? 2 : c.max_shift == 32 ? 3 : 0;
    const std::uint32_t common = field(c.sparse, 2) | field(type_code(c.a, c.kind), 7) |
                                 field(type_code(c.b, c.kind), 10) | field(c.negate_a, 13) | field(c.negate_b, 14) |
                                 field(c.a_mn_major, 15) | field(c.b_mn_major, 16) | field(c.n / 8, 17);
    if (scaled(c.kind))
        return common | field(c.sfb_id, 4) | field(c.scale == Format::ue8m0, 23) | field(c.m / 128, 27) |
               field(c.sfa_id, 29) | field(c.k96, 31);
    const int d = c.d == Format::f16 ? 0 : c.d == Format::f32 ? 1 : 2;
    return common | field(c.selector, 0) | field(c.saturate, 3) | field(d, 4) | field(c.m / 16, 24) | field(shift, 30);
}

}  // namespace tilepath::exec
