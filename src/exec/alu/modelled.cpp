#include "exec/alu/modelled.h"

#include "number/conversion.h"

#include <cstring>

namespace tilepath::exec::alu {
namespace {

using number::Format;
using number::Rounding;
using program::DataType;
using program::MicroOp;

std::uint64_t read(const Row* rows, std::uint32_t place, int bits, int lane) {
    if (bits <= 32) return rows[place].lane[lane];
    std::uint64_t value = 0;
    std::memcpy(&value, reinterpret_cast<const unsigned char*>(rows + place) + 8 * lane, 8);
    return value;
}

void write(Row* rows, std::uint32_t place, int bits, int lane, std::uint64_t value) {
    if (bits <= 32)
        rows[place].lane[lane] = std::uint32_t(value);
    else
        std::memcpy(reinterpret_cast<unsigned char*>(rows + place) + 8 * lane, &value, 8);
}

number::Conversion modifiers(const MicroOp& op) {
    number::Conversion how;
    how.rounding = op.rounding;
    how.to_integral = op.flags.integer_rounding;
    how.ftz = op.flags.ftz;
    how.saturate = op.flags.sat;
    how.satfinite = op.flags.satfinite;
    how.relu = op.flags.relu;
    return how;
}

/// A packed result has its elements from several registers, the first of them highest, or from one packed like itself.
void convert(const Decoded& decoded, Row* rows, LaneMask*, LaneMask active) {
    const MicroOp& op = *decoded.op;
    const Format from = *program::format_of(op.source_type), to = *program::format_of(op.type);
    const int from_bits = program::bits(op.source_type), to_bits = program::bits(op.type);
    const int count = program::traits(op.type).elements;
    const bool packed_source = program::traits(op.source_type).elements > 1;
    const std::uint32_t* source = decoded.places + op.destinations;
    number::Conversion how = modifiers(op);

    std::uint64_t results[warp_lanes] = {};
    for (int lane = 0; lane < warp_lanes; ++lane) {
        if ((active >> lane & 1) == 0) continue;
        const auto rbits =
            how.rounding == Rounding::rs ? std::uint32_t(read(rows, source[op.sources - 1], 32, lane)) : 0;
        for (int e = 0; e < count; ++e) {
            const std::uint64_t element = packed_source
                                              ? number::unpack(read(rows, source[0], from_bits, lane), from, e)
                                              : read(rows, source[count - 1 - e], from_bits, lane);
            how.random_bits = how.rounding == Rounding::rs ? number::random_bits_of(to, rbits, e) : 0;
            results[lane] |= number::convert(element, from, to, how) << (e * number::packed_bits(to));
        }
    }
    for (int lane = 0; lane < warp_lanes; ++lane)
        if ((active >> lane & 1) != 0) write(rows, decoded.d, to_bits, lane, results[lane]);
}

bool is_small(Format format) { return format >= Format::e4m3 && format <= Format::e2m1; }
bool is_half(Format format) { return format == Format::f16 || format == Format::bf16; }

/// Which formats and roundings PTX ISA 9.7.9.21 pairs (targets and versions are the instruction's own affair).
bool is_cvt(Format from, Format to, const MicroOp& op) {
    const Rounding rounding = op.rounding;
    const bool nearest = rounding == Rounding::rn, stochastic = rounding == Rounding::rs;
    const auto plain = [](Format format) {
        const number::FormatTraits& f = number::traits(format);
        return f.bits >= 8 && f.container_bits == f.bits && !is_small(format) && format != Format::ue8m0;
    };
    if (stochastic) return from == Format::f32 && (is_half(to) || (is_small(to) && op.flags.satfinite));
    if (to == Format::tf32) return from == Format::f32 && rounding != Rounding::rm && rounding != Rounding::rp;
    if (rounding == Rounding::rna) return false;
    if (is_small(to)) return nearest && op.flags.satfinite && (from == Format::f32 || is_half(from));
    if (is_small(from)) return nearest && to == Format::f16;
    if (to == Format::ue8m0)
        return (rounding == Rounding::rz || rounding == Rounding::rp) && (from == Format::f32 || from == Format::bf16);
    if (from == Format::ue8m0) return nearest && to == Format::bf16;
    return plain(from) && plain(to);
}

}  // namespace

LaneFunction choose_modelled_cvt(const MicroOp& op) {
    const auto from_format = program::format_of(op.source_type), to_format = program::format_of(op.type);
    if (!from_format || !to_format || !is_cvt(*from_format, *to_format, op)) return nullptr;
    const int from = program::traits(op.source_type).elements, to = program::traits(op.type).elements;
    const int registers = op.sources - (op.rounding == Rounding::rs ? 1 : 0);
    const bool fits = from > 1 ? from == to && registers == 1 : registers == to;
    return fits ? convert : nullptr;
}

}  // namespace tilepath::exec::alu
