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

}  // namespace

LaneFunction choose_modelled_cvt(const MicroOp& op) {
    if (!program::format_of(op.source_type) || !program::format_of(op.type)) return nullptr;
    const int from = program::traits(op.source_type).elements, to = program::traits(op.type).elements;
    const int registers = op.sources - (op.rounding == Rounding::rs ? 1 : 0);
    const bool fits = from > 1 ? from == to && registers == 1 : registers == to;
    return fits ? convert : nullptr;
}

}  // namespace tilepath::exec::alu
