#include "check/provenance/tile_reads.h"

#include <fmt/format.h>

namespace tilepath::check {
namespace {

constexpr std::uint32_t pattern_row_bytes = 128;

bool canonical(const atom::SharedOperand& is, std::uint32_t phase) {
    if (is.swizzle == layout::SwizzleMode::none) return true;  // core matrices are whole wherever they lie
    const layout::SwizzleTraits& mode = layout::traits(is.swizzle);
    const int atom = 8 * mode.span_bytes;
    const bool strides_used = is.major == atom::OperandMajor::k ? is.mn > 8 : is.k > 8;
    const bool leading_used = is.major == atom::OperandMajor::mn && is.mn * is.element_bits / 8 > mode.span_bytes;
    return phase == 0 && (!strides_used || is.stride_bytes % atom == 0) &&
           (!leading_used || is.leading_bytes % atom == 0);
}

}  // namespace

void TileReads::add(const program::MicroOp* op, const char* operand, std::uint32_t start, int base_offset,
                    const atom::SharedOperand& shape) {
    const layout::SwizzleTraits& mode = layout::traits(shape.swizzle);
    // Which row of the pattern the operand begins in, beyond what its base offset says.
    const std::uint32_t rows = static_cast<std::uint32_t>(mode.pattern_bytes) / pattern_row_bytes;
    const std::uint32_t phase = shape.swizzle == layout::SwizzleMode::none || rows == 0
                                    ? 0
                                    : (start / pattern_row_bytes - static_cast<std::uint32_t>(base_offset)) % rows;
    if (!seen_.insert({op, operand[0], shape.swizzle, shape.leading_bytes, shape.stride_bytes, phase}).second) return;
    all_[{fmt::format("{} {}-major with swizzle {}", operand, shape.major == atom::OperandMajor::k ? "K" : "MN",
                      mode.name),
          canonical(shape, phase)}]
        .insert(op);
}

void TileReads::add_store(const program::MicroOp* op, std::uint32_t begin, std::uint32_t row_bytes,
                          layout::SwizzleMode swizzle) {
    const layout::SwizzleTraits& mode = layout::traits(swizzle);
    const bool plain = swizzle == layout::SwizzleMode::none;
    const std::uint32_t phase = plain ? 0 : begin % static_cast<std::uint32_t>(mode.pattern_bytes);
    if (!seen_.insert({op, 'T', swizzle, static_cast<int>(row_bytes), 0, phase}).second) return;
    all_[{fmt::format("TMA stores with swizzle {}", mode.name),
          phase == 0 && (plain || row_bytes == static_cast<std::uint32_t>(mode.span_bytes))}]
        .insert(op);
}

}  // namespace tilepath::check
