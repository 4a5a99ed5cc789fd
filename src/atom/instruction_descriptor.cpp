#include "atom/instruction_descriptor.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <optional>
#include <span>

#include "atom/bit_field.h"
#include "base/assert.h"

namespace tilepath::atom {
namespace {

using enum number::Format;
using number::Format;

struct TypeCode {
    Format format;
    int code;
};
constexpr TypeCode f16_inputs[] = {{f16, 0}, {bf16, 1}}, tf32_inputs[] = {{tf32, 2}}, i8_inputs[] = {{u8, 0}, {s8, 1}},
                   narrow_inputs[] = {{e4m3, 0}, {e5m2, 1}, {e2m3, 3}, {e3m2, 4}, {e2m1, 5}},
                   fp4_inputs[] = {{e2m1, 1}}, accumulators[] = {{f16, 0}, {f32, 1}, {s32, 2}};

std::span<const TypeCode> input_codes(Tcgen05Kind kind) {
    switch (kind) {
        case Tcgen05Kind::f16: return f16_inputs;
        case Tcgen05Kind::tf32: return tf32_inputs;
        case Tcgen05Kind::i8: return i8_inputs;
        case Tcgen05Kind::f8f6f4:
        case Tcgen05Kind::mxf8f6f4: return narrow_inputs;
        case Tcgen05Kind::mxf4:
        case Tcgen05Kind::mxf4nvf4: return fp4_inputs;
    }
    TILEPATH_ASSERT(false, "a kind that is none");
    return {};
}

std::optional<Format> format_of(std::span<const TypeCode> codes, int code) {
    for (const TypeCode& row : codes)
        if (row.code == code) return row.format;
    return std::nullopt;
}

int code_of(std::span<const TypeCode> codes, Format format) {
    const auto row = std::ranges::find(codes, format, &TypeCode::format);
    TILEPATH_ASSERT(row != codes.end(), "a type that the kind does not have");
    return row->code;
}

/// A field: where it is, which kinds have it, and its number in the descriptor, as its bits hold it.
struct Field {
    BitField bits;
    std::string_view name;
    bool (*has)(Tcgen05Kind);
    int scale;  ///< the value is the bits times this
    std::function<int(const InstructionDescriptor&)> get;
    std::function<void(InstructionDescriptor&, int)> set;
};

bool scaled(Tcgen05Kind kind) { return traits(kind).block_scaled; }
bool packed_fp4(Tcgen05Kind kind) { return kind == Tcgen05Kind::mxf4 || kind == Tcgen05Kind::mxf4nvf4; }

template <auto Member>
Field field(BitField bits, std::string_view name, bool (*has)(Tcgen05Kind), int scale = 1) {
    return {bits,
            name,
            has,
            scale,
            [](const InstructionDescriptor& d) { return static_cast<int>(d.*Member); },
            [](InstructionDescriptor& d, int value) {
                using T = std::remove_reference_t<decltype(d.*Member)>;
                d.*Member = static_cast<T>(value);
            }};
}

const std::vector<Field>& table() {
    using D = InstructionDescriptor;
    using K = Tcgen05Kind;
    static const auto all = [](K) { return true; };
    static const auto dense = [](K kind) { return !scaled(kind); };
    static const auto transposes = [](K kind) { return traits(kind).transposes; };
    static const std::vector<Field> fields{
        field<&D::sparsity_selector>({0, 2}, "sparsity selector",
                                     [](K kind) { return kind == K::f16 || kind == K::tf32; }),
        field<&D::sparse>({2, 1}, "sparse", all),
        field<&D::saturate>({3, 1}, "saturate", [](K kind) { return kind == K::i8; }),
        field<&D::d_type>({4, 2}, "type of D", dense),
        field<&D::sfb_id>({4, 2}, "SFB_ID", scaled),
        field<&D::a_type>({7, 3}, "type of A", all),
        field<&D::b_type>({10, 3}, "type of B", [](K kind) { return !packed_fp4(kind); }),
        field<&D::b_type>({10, 2}, "type of B", packed_fp4),
        field<&D::negate_a>({13, 1}, "negate A", [](K kind) { return traits(kind).negates; }),
        field<&D::negate_b>({14, 1}, "negate B", [](K kind) { return traits(kind).negates; }),
        field<&D::transpose_a>({15, 1}, "A is MN-major", transposes),
        field<&D::transpose_b>({16, 1}, "B is MN-major", transposes),
        field<&D::n>({17, 6}, "N", all, 8),
        field<&D::ue8m0>({23, 1}, "scale type", scaled),
        field<&D::m>({24, 5}, "M", dense, 16),
        field<&D::m>({27, 2}, "M", scaled, 128),
        field<&D::sfa_id>({29, 2}, "SFA_ID", scaled),
        field<&D::max_shift>({30, 2}, "largest shift (.ws)", dense),
        field<&D::k96>({31, 1}, "k of 96", packed_fp4),
    };
    return fields;
}

int shift_of(int code) { return code == 0 ? 0 : 4 << code; }

std::string value_text(const InstructionDescriptor& d, const Field& field) {
    const int value = field.get(d);
    const auto type = [&](std::span<const TypeCode> codes) {
        const auto format = format_of(codes, value);
        return fmt::format("{} = {}", value, format ? number::traits(*format).name : "none");
    };
    if (field.name == "type of D") return type(accumulators);
    if (field.name.starts_with("type of")) return type(input_codes(d.kind));
    if (field.name == "scale type") return fmt::format("{} = {}", value, value ? "ue8m0" : "ue4m3");
    if (field.scale != 1) return fmt::format("{} = {}", value / field.scale, value);
    return std::to_string(value);
}

}  // namespace

InstructionDescriptor decode_instruction_descriptor(std::uint32_t bits, Tcgen05Kind kind) {
    InstructionDescriptor made;
    made.kind = kind;
    std::uint64_t named = 0;
    for (const Field& field : table()) {
        if (!field.has(kind)) continue;
        named |= field.bits.mask();
        const int value = static_cast<int>(field.bits.get(bits)) * field.scale;
        field.set(made, field.name.starts_with("largest") ? shift_of(value) : value);
    }
    made.reserved = static_cast<std::uint32_t>(bits & ~named);
    return made;
}

Result<std::uint32_t> encode(const InstructionDescriptor& descriptor) {
    std::uint64_t word = 0, named = 0;
    InstructionDescriptor left = descriptor;  // what no field of the kind takes must be 0
    for (const Field& field : table()) {
        if (!field.has(descriptor.kind)) continue;
        int value = field.get(descriptor);
        named |= field.bits.mask();
        field.set(left, 0);
        if (field.name.starts_with("largest")) {
            if (value != 0 && value != 8 && value != 16 && value != 32)
                return fail(fmt::format("the largest shift is 0, 8, 16 or 32, found {}", value));
            value = value == 0 ? 0 : std::countr_zero(static_cast<unsigned>(value)) - 2;
        } else if (value < 0 || value % field.scale != 0 ||
                   !field.bits.holds(static_cast<std::uint64_t>(value / field.scale))) {
            return fail(fmt::format("{} of kind::{} must be {}0 to {}, found {}", field.name,
                                    traits(descriptor.kind).name,
                                    field.scale == 1 ? "" : fmt::format("a multiple of {}, ", field.scale),
                                    ((1 << field.bits.bits) - 1) * field.scale, value));
        } else {
            value /= field.scale;
        }
        word |= field.bits.put(static_cast<std::uint64_t>(value));
    }
    left.reserved = 0;
    InstructionDescriptor nothing;
    nothing.kind = descriptor.kind;
    if (left != nothing) {
        for (const Field& field : table())
            if (!field.has(descriptor.kind) && field.get(left) != 0)
                return fail(fmt::format("kind::{} has no field '{}'", traits(descriptor.kind).name, field.name));
    }
    if ((descriptor.reserved & named) != 0) return fail("reserved bits overlap the fields");
    return static_cast<std::uint32_t>(word) | descriptor.reserved;
}

InstructionDescriptor instruction_descriptor(const Tcgen05Mma& mma, OperandMajor a, OperandMajor b) {
    InstructionDescriptor made;
    made.kind = mma.kind;
    made.sparse = mma.sparse;
    made.a_type = code_of(input_codes(mma.kind), mma.types.a);
    made.b_type = code_of(input_codes(mma.kind), mma.types.b);
    made.transpose_a = a == OperandMajor::mn;
    made.transpose_b = b == OperandMajor::mn;
    made.m = mma.shape.m;
    made.n = mma.shape.n;
    made.k96 = mma.shape.k == 96;
    if (scaled(mma.kind))
        made.ue8m0 = true;
    else
        made.d_type = code_of(accumulators, mma.types.d);
    return made;
}

Result<Tcgen05Mma> described(const InstructionDescriptor& d, int cta_group, bool ws) {
    if (cta_group != 1 && cta_group != 2)
        return fail(fmt::format("expected cta_group::1 or ::2, found ::{}", cta_group));
    Diagnostics wrong;
    const auto say = [&](std::string message) { wrong.push_back({Severity::error, std::move(message), {}, {}}); };
    if (d.reserved != 0)
        say(fmt::format("bits that kind::{} reserves are set: 0x{:08x}", traits(d.kind).name, d.reserved));
    const auto a = format_of(input_codes(d.kind), d.a_type), b = format_of(input_codes(d.kind), d.b_type);
    const auto accumulator = scaled(d.kind) ? std::optional(f32) : format_of(accumulators, d.d_type);
    if (!a) say(fmt::format("kind::{} has no type {} of A", traits(d.kind).name, d.a_type));
    if (!b) say(fmt::format("kind::{} has no type {} of B", traits(d.kind).name, d.b_type));
    if (!accumulator) say(fmt::format("there is no type {} of D", d.d_type));
    if (packed_fp4(d.kind) && (d.sfa_id % 2 != 0 || d.sfb_id % 2 != 0) && !d.k96)
        say(fmt::format("kind::{} has scale factor ids of 0 and 2, found {} and {}", traits(d.kind).name, d.sfa_id,
                        d.sfb_id));
    if ((d.kind == Tcgen05Kind::mxf8f6f4 || d.kind == Tcgen05Kind::mxf4) && !d.ue8m0)
        say(fmt::format("kind::{} has scales of ue8m0, found ue4m3 (bit 23 is 0)", traits(d.kind).name));
    for (const auto& [transposed, format] : {std::pair{d.transpose_a, a}, {d.transpose_b, b}})
        if (transposed && format && number::traits(*format).bits < 8)
            say(fmt::format("{} operands cannot be MN-major", number::traits(*format).name));
    if (d.transpose_b && b && number::traits(*b).bits == 8 && d.n % (16 * cta_group) != 0)
        say(fmt::format("8-bit MN-major B wants n of a multiple of {}, found {}", 16 * cta_group, d.n));
    if (!wrong.empty()) return std::unexpected(std::move(wrong));
    const int k = d.k96 ? 96 : traits(d.kind).k * (d.sparse ? 2 : 1);
    return tcgen05_mma(d.kind, {d.m, d.n, k}, {*accumulator, *a, *b, *accumulator}, cta_group, ws, d.sparse);
}

std::vector<FieldText> fields(const InstructionDescriptor& d) {
    std::vector<FieldText> all;
    for (const Field& field : table())
        if (field.has(d.kind))
            all.push_back({field.bits.bits == 1
                               ? std::to_string(field.bits.begin)
                               : fmt::format("{}-{}", field.bits.begin, field.bits.begin + field.bits.bits - 1),
                           std::string(field.name), value_text(d, field)});
    if (d.reserved != 0) all.push_back({"others", "reserved, must be 0", fmt::format("0x{:08x}", d.reserved)});
    return all;
}

}  // namespace tilepath::atom
