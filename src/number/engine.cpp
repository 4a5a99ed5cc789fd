#include "number/engine.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/assert.h"
#include "number/engine_plan.h"
#include "number/engine_scales.h"

namespace tilepath::number {
namespace {

using namespace engine;

constexpr std::align_val_t alignment{64};

/// Whole blocks that hold `count`.
int blocks_of(int count, int block) { return int(unsigned(count + block - 1) / unsigned(block)); }

std::uint64_t element_at(const std::byte* row, int index, int bits) {
    if (bits < 8) return std::uint64_t(row[index * bits / 8]) >> (index * bits % 8) & ((1u << bits) - 1);
    std::uint64_t element = 0;
    std::memcpy(&element, row + std::ptrdiff_t(index) * (bits / 8), std::size_t(bits) / 8);
    return element;
}

/// Element (row, column) of accumulators that may not exist.
const void* element(const void* tile, std::ptrdiff_t at, int bytes) {
    return tile ? static_cast<const std::byte*>(tile) + at * bytes : nullptr;
}

/// A block of C and D at the tile's edge, as a whole block aside.
struct EdgeBlock {
    int rows, columns, bytes;
    alignas(64) std::byte copy[block_rows * block_columns * 4];

    void load(const void* c, std::ptrdiff_t stride) {
        std::memset(copy, 0, sizeof copy);
        for (int j = 0; c && j < columns; ++j)
            std::memcpy(copy + j * block_rows * bytes, element(c, j * stride, bytes), std::size_t(rows * bytes));
    }
    void store(void* d, std::ptrdiff_t stride) const {
        for (int j = 0; j < columns; ++j)
            std::memcpy(static_cast<std::byte*>(d) + j * stride * bytes, copy + j * block_rows * bytes,
                        std::size_t(rows * bytes));
    }
};

/// Returns whether the block is special.
bool prepare_floats(const Plan& plan, const Plan::Operand& operand, const Rows& rows, const ScaleRows& scales,
                    int elements, std::byte* to) {
    const FloatBlock floats = float_block(to, elements, operand.block);
    const bool nan = scales.per_row > 0 && any_nan(scales);
    const bool special = plan.prepare.floats(operand.floats, rows, operand.block, elements, nan, floats);
    if (scales.per_row > 0) {
        const int element_bytes = operand.block == block_rows ? float_bytes_a : float_bytes_b;
        fill_exponents(scales, plan.fused.group_length, operand.block,
                       scale_exponents(to, elements, operand.block, element_bytes), floats.values);
    }
    return special;
}

/// The same.
bool prepare_block(const Plan& plan, const Plan::Operand& operand, const Rows& rows, const ScaleRows& scales,
                   int elements, int groups_per_scale, std::byte* to) {
    auto* const words = reinterpret_cast<std::int32_t*>(to);
    switch (plan.kind) {
        case Plan::Kind::floats: return prepare_floats(plan, operand, rows, scales, elements, to);
        case Plan::Kind::integers:
            plan.prepare.integers(operand.bits, operand.is_signed, rows, operand.block, words);
            return false;
        case Plan::Kind::bits: plan.prepare.bits(rows, operand.block, words); return false;
        case Plan::Kind::fp4:
            plan.prepare.fp4(rows, operand.block, words);
            return fill_fp4_scales(scales, groups_per_scale, elements / fp4_group, operand.block,
                                   operand.block == block_rows ? fp4_words_a : fp4_words_b, words);
    }
    return false;
}

}  // namespace

int operand_bits(Format format) {
    const FormatTraits& f = traits(format);
    return f.floating ? f.container_bits : f.bits;
}

int operand_bits(const DotRecipe& recipe, Side side) {
    const Format format = side == Side::a ? recipe.a : recipe.b;
    return recipe.scaling == Scaling::per_group ? traits(format).bits : operand_bits(format);
}

void PreparedOperand::Free::operator()(std::byte* p) const { ::operator delete[](p, alignment); }

void PreparedOperand::reserve(std::size_t bytes) {
    if (bytes <= capacity_) return;
    memory_.reset(static_cast<std::byte*>(::operator new[](bytes, alignment)));
    capacity_ = bytes;
}

TileEngine::TileEngine(const DotRecipe& recipe, bool half_zero)
    : recipe_(recipe), plan_(make_plan(recipe, half_zero)) {}

void TileEngine::prepare(Side side, const void* data, int rows, int elements, std::ptrdiff_t row_stride_bytes,
                         PreparedOperand& out, BlockScales scales) const {
    TILEPATH_ASSERT(rows > 0 && elements > 0, "an operand has rows and elements");
    TILEPATH_ASSERT((recipe_.scaling != Scaling::none) == (scales.data != nullptr), "scales where the recipe has them");
    TILEPATH_ASSERT(!scales.data || elements % recipe_.scale_block == 0, "a scale covers whole blocks");
    out.rows_ = rows;
    out.elements_ = elements;
    const auto* source = static_cast<const std::byte*>(data);
    if (plan_)
        prepare_blocks(side, source, row_stride_bytes, scales, out);
    else
        prepare_scalar(side, source, row_stride_bytes, scales, out);
}

void TileEngine::prepare_blocks(Side side, const std::byte* source, std::ptrdiff_t row_stride_bytes, BlockScales scales,
                                PreparedOperand& out) const {
    const Plan& plan = *plan_;
    const Plan::Operand& operand = side == Side::a ? plan.a : plan.b;
    TILEPATH_ASSERT(out.elements_ * operand.bits % 8 == 0, "a row is a whole number of bytes");
    out.padded_elements_ = blocks_of(out.elements_, operand.chunk_elements) * operand.chunk_elements;
    const std::size_t block_bits = std::size_t(out.padded_elements_ * operand.block * operand.prepared_bits);
    out.block_bytes_ = (block_bits / 8 + std::size_t(alignment) - 1) / std::size_t(alignment) * std::size_t(alignment);
    const int blocks = blocks_of(out.rows_, operand.block);
    out.reserve(std::size_t(blocks) * out.block_bytes_);
    out.special_.resize(std::size_t(blocks));
    const int row_bytes = out.elements_ * operand.bits / 8;
    for (int i = 0; i < blocks; ++i) {
        const Rows rows{source + i * operand.block * row_stride_bytes, row_stride_bytes,
                        std::min(operand.block, out.rows_ - i * operand.block), row_bytes};
        ScaleRows block_scales{scales, rows.count, 0, recipe_.scale};
        if (scales.data) {
            block_scales.scales.data += i * operand.block * scales.row_stride_bytes;
            block_scales.per_row = out.elements_ / recipe_.scale_block;
        }
        out.special_[std::size_t(i)] = prepare_block(plan, operand, rows, block_scales, out.padded_elements_,
                                                     recipe_.scale_block / fp4_group, out.block(i));
    }
}

void TileEngine::prepare_scalar(Side side, const std::byte* source, std::ptrdiff_t row_stride_bytes, BlockScales scales,
                                PreparedOperand& out) const {
    const int bits = operand_bits(recipe_, side);
    TILEPATH_ASSERT(out.elements_ * bits % 8 == 0, "a row is a whole number of bytes");
    out.raw_.clear();
    for (int row = 0; row < out.rows_; ++row)
        for (int k = 0; k < out.elements_; ++k)
            out.raw_.push_back(element_at(source + row * row_stride_bytes, k, bits));
    out.raw_scales_.clear();
    out.row_scales_ = scales.data ? out.elements_ / recipe_.scale_block : 0;
    for (int row = 0; row < out.rows_; ++row)
        for (int i = 0; i < out.row_scales_; ++i)
            out.raw_scales_.push_back(scales.data[row * scales.row_stride_bytes + i]);
}

void TileEngine::multiply(const PreparedOperand& a, const PreparedOperand& b, const void* c, void* d,
                          std::ptrdiff_t column_stride) const {
    TILEPATH_ASSERT(a.elements_ == b.elements_, "A and B have the same k");
    if (plan_)
        multiply_blocks(a, b, c, d, column_stride);
    else
        multiply_scalar(a, b, c, d, column_stride);
}

void TileEngine::multiply_blocks(const PreparedOperand& a, const PreparedOperand& b, const void* c, void* d,
                                 std::ptrdiff_t column_stride) const {
    const Plan& plan = *plan_;
    FusedRule fused = plan.fused;
    if (recipe_.kind == DotRecipe::Kind::fp8_through_f16) {
        TILEPATH_ASSERT(a.elements_ <= 32, "fp8_through_f16 takes one instruction's k");
        fused.group_length = a.padded_elements_ / 2;
    }
    const auto run = [&](int row, int column, int column_blocks, const Accumulators& accumulators) {
        const int i = row / block_rows, j = column / block_columns;
        const Operands operands{a.block(i),           b.block(j),         b.block_bytes_,
                                column_blocks,        a.padded_elements_, a.special_[std::size_t(i)] != 0,
                                b.special_.data() + j};
        if (plan.multiply_fused)
            plan.multiply_fused(fused, operands, accumulators);
        else if (plan.multiply_fp4)
            plan.multiply_fp4(plan.fp4, operands, accumulators);
        else
            plan.multiply_integers(plan.integers, operands, accumulators);
    };
    const int bytes = plan.accumulator_bytes;
    auto* const d_bytes = static_cast<std::byte*>(d);
    for (int row = 0; row < a.rows_; row += block_rows) {
        const int rows = std::min(block_rows, a.rows_ - row);
        const int whole_columns = rows == block_rows ? b.rows_ / block_columns * block_columns : 0;
        if (whole_columns > 0)
            run(row, 0, whole_columns / block_columns,
                {element(c, row, bytes), column_stride, d_bytes + row * bytes, column_stride});
        for (int column = whole_columns; column < b.rows_; column += block_columns) {
            EdgeBlock edge{rows, std::min(block_columns, b.rows_ - column), bytes, {}};
            const std::ptrdiff_t at = row + column * column_stride;
            edge.load(element(c, at, bytes), column_stride);
            run(row, column, 1, {edge.copy, block_rows, edge.copy, block_rows});
            edge.store(d_bytes + at * bytes, column_stride);
        }
    }
}

void TileEngine::multiply_scalar(const PreparedOperand& a, const PreparedOperand& b, const void* c, void* d,
                                 std::ptrdiff_t column_stride) const {
    const std::size_t k = std::size_t(a.elements_), bytes = std::size_t(traits(recipe_.d).bits) / 8;
    for (int column = 0; column < b.rows_; ++column)
        for (int row = 0; row < a.rows_; ++row) {
            const std::ptrdiff_t at = (row + column * column_stride) * std::ptrdiff_t(bytes);
            std::uint64_t accumulator = 0;
            if (c) std::memcpy(&accumulator, static_cast<const std::byte*>(c) + at, bytes);
            const std::size_t scales = std::size_t(a.row_scales_);
            accumulator = dot(recipe_, std::span(a.raw_).subspan(std::size_t(row) * k, k),
                              std::span(b.raw_).subspan(std::size_t(column) * k, k), accumulator,
                              {std::span(a.raw_scales_).subspan(std::size_t(row) * scales, scales),
                               std::span(b.raw_scales_).subspan(std::size_t(column) * scales, scales)});
            std::memcpy(static_cast<std::byte*>(d) + at, &accumulator, bytes);
        }
}

}  // namespace tilepath::number
