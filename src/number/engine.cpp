#include "number/engine.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "base/assert.h"
#include "number/engine_kernels.h"

namespace tilepath::number {
namespace {

using namespace engine;

constexpr std::align_val_t alignment{64};

int up_to_multiple(int value, int of) { return (value + of - 1) / of * of; }
int rows_of_block(Side side) { return side == Side::a ? block_rows : block_columns; }
Format format_of(const DotRecipe& r, Side side) { return side == Side::a ? r.a : r.b; }
int accumulator_bytes(Format d) { return d == Format::f64 ? 8 : d == Format::f16 ? 2 : 4; }

FloatRule float_rule(const DotRecipe& recipe, Side side) {
    const Format format = format_of(recipe, side);
    const FormatTraits& f = traits(format);
    const int shift = 23 - f.fraction_bits;  // from the format's fraction to f32's
    FloatRule rule;
    rule.container_bits = f.container_bits;
    rule.element_bits = f.bits;
    rule.right = 8 - f.exponent_bits;
    rule.mask = std::int32_t(0x80000000u | ((1u << (f.exponent_bits + f.fraction_bits)) - 1) << shift);
    rule.factor = std::bit_cast<float>((127 + 127 - f.bias) << 23);  // bf16, tf32: 1
    const std::int32_t magnitude = rule.mask & 0x7fffffff;
    switch (f.specials) {
        case Specials::ieee:
            rule.infinity = ((1 << f.exponent_bits) - 1) << 23;
            rule.largest_finite = rule.infinity - 1;
            break;
        case Specials::nan_only: rule.largest_finite = magnitude - 1; break;
        case Specials::none: rule.largest_finite = magnitude; break;
    }
    rule.halves = recipe.kind == DotRecipe::Kind::fp8_through_f16;
    // There FP8 subnormals become normals of binary16, so that its emin holds.
    rule.least_exponent = (127 + (rule.halves ? -14 : 1 - f.bias)) << 23;
    // Quick blocks: exponents below 64, so that the sum of two, with one bias in it, stays below 256 (it lies at f32's
    // place), and normal numbers when shifted down.
    rule.wide_exponents = f.exponent_bits == 8;
    rule.largest_quick = rule.wide_exponents ? ((127 + 64) << 23) - 1 : rule.largest_finite;
    rule.least_quick = rule.wide_exponents ? (1 + value_shift) << 23 : 0;
    // Zeros: beside any exponent of the other side the sum is below all that the quick path accepts, and above -256.
    rule.exponent_offset = side == Side::a ? 0 : -(127 << 23);
    rule.zero_exponent = (side == Side::a ? -100 : -150) * (1 << 23);
    return rule;
}

FusedRule fused_rule(const DotRecipe& recipe) {
    FusedRule rule;
    rule.group_length = recipe.group_length;
    rule.fraction_bits = recipe.fraction_bits;
    rule.zero_exponent = recipe.zero_exponent;
    rule.rounding = recipe.rounding;
    if (recipe.kind == DotRecipe::Kind::fp8_through_f16) {
        rule.starts_from_zero = true;
        rule.separate_halves = recipe.separate_halves;
    }
    // Products are below 4 and C below 2 at the largest exponent, and the largest of them leave 2^31 unreached.
    const std::int64_t products = std::int64_t(4 * rule.group_length) << rule.fraction_bits;
    const std::int64_t limit = std::int64_t(1) << 31;
    if (products + (std::int64_t(2) << rule.fraction_bits) > limit)
        rule.range = products <= limit ? SumRange::fits_less_c : SumRange::halves_fit;
    return rule;
}

IntegerRule integer_rule(const DotRecipe& recipe) {
    IntegerRule rule;
    rule.saturate = recipe.saturate;
    if (recipe.kind == DotRecipe::Kind::bit_and) rule.kind = IntegerRule::Kind::bit_and;
    if (recipe.kind == DotRecipe::Kind::bit_xor) rule.kind = IntegerRule::Kind::bit_xor;
    return rule;
}

bool is_float_kind(const DotRecipe& r) {
    return r.kind == DotRecipe::Kind::fused || r.kind == DotRecipe::Kind::fp8_through_f16;
}

/// What the kernels can do, whatever the CPU.
bool has_kernel(const DotRecipe& r) {
    switch (r.kind) {
        case DotRecipe::Kind::fused:
            // Groups are taken in pairs of k; half a group's sum has to fit 32 bits (significands of at most 4 bits:
            // products are below 3.52).
            return r.group_length % 2 == 0 && r.fraction_bits <= 25 &&
                   (r.group_length <= 16 || (r.group_length <= 32 && traits(r.a).bits <= 8 && traits(r.b).bits <= 8));
        case DotRecipe::Kind::fp8_through_f16: return r.group_length <= 16 && r.fraction_bits <= 25;
        case DotRecipe::Kind::integer:
        case DotRecipe::Kind::bit_and:
        case DotRecipe::Kind::bit_xor: return true;
        case DotRecipe::Kind::fma_chain_f64:
        case DotRecipe::Kind::cuda_core_f32: return false;
    }
    return false;
}

std::uint64_t element_at(const std::byte* row, int index, int bits) {
    if (bits < 8) return std::uint64_t(row[index * bits / 8]) >> (index * bits % 8) & ((1u << bits) - 1);
    std::uint64_t element = 0;
    std::memcpy(&element, row + std::ptrdiff_t(index) * (bits / 8), std::size_t(bits) / 8);
    return element;
}

/// Bits of a prepared operand per element: value and exponent, a 16-bit integer, or the bit.
int prepared_bits(const DotRecipe& r) {
    if (is_float_kind(r)) return 32 + 16;
    return r.kind == DotRecipe::Kind::integer ? 16 : 1;
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

}  // namespace

/// What a recipe means to the kernels.
struct TileEngine::Plan {
    FloatRule floats[2];
    FusedRule fused;
    IntegerRule integers;
    PrepareKernels prepare;
    FusedKernel multiply_fused = nullptr;
    IntegerKernel multiply_integers = nullptr;
};

int operand_bits(Format format) {
    const FormatTraits& f = traits(format);
    return f.floating ? f.container_bits : f.bits;
}

void PreparedOperand::Free::operator()(std::byte* p) const { ::operator delete[](p, alignment); }

void PreparedOperand::reserve(std::size_t bytes) {
    if (bytes <= capacity_) return;
    memory_.reset(static_cast<std::byte*>(::operator new[](bytes, alignment)));
    capacity_ = bytes;
}

TileEngine::TileEngine(const DotRecipe& recipe) : recipe_(recipe) {
    TILEPATH_ASSERT(recipe.scaling == Scaling::none, "the engine takes no block scales");
    const PrepareKernels* prepare = best_prepare_kernels();
    if (!prepare || !has_kernel(recipe)) return;
    Plan plan;
    plan.integers = integer_rule(recipe);
    plan.prepare = *prepare;
    if (is_float_kind(recipe)) {
        plan.floats[0] = float_rule(recipe, Side::a);
        plan.floats[1] = float_rule(recipe, Side::b);
        plan.fused = fused_rule(recipe);
        plan.multiply_fused = best_fused_kernel(plan.fused);
    } else {
        plan.multiply_integers = best_integer_kernel();
    }
    plan_ = std::make_shared<const Plan>(plan);
}

void TileEngine::prepare(Side side, const void* data, int rows, int elements, std::ptrdiff_t row_stride_bytes,
                         PreparedOperand& out) const {
    TILEPATH_ASSERT(rows > 0 && elements > 0, "an operand has rows and elements");
    TILEPATH_ASSERT(elements * operand_bits(format_of(recipe_, side)) % 8 == 0, "a row is a whole number of bytes");
    out.rows_ = rows;
    out.elements_ = elements;
    const auto* source = static_cast<const std::byte*>(data);
    if (plan_)
        prepare_blocks(side, source, row_stride_bytes, out);
    else
        prepare_scalar(side, source, row_stride_bytes, out);
}

void TileEngine::prepare_blocks(Side side, const std::byte* source, std::ptrdiff_t row_stride_bytes,
                                PreparedOperand& out) const {
    const Format format = format_of(recipe_, side);
    const int bits = operand_bits(format), block_size = rows_of_block(side);
    out.padded_elements_ = up_to_multiple(out.elements_, chunk_bytes * 8 / bits);
    out.block_bytes_ = std::size_t(out.padded_elements_ * block_size * prepared_bits(recipe_) / 8);
    const int blocks = up_to_multiple(out.rows_, block_size) / block_size;
    out.reserve(std::size_t(blocks) * out.block_bytes_);
    out.special_.assign(std::size_t(blocks), false);
    for (int i = 0; i < blocks; ++i) {
        const Rows rows{source + i * block_size * row_stride_bytes, row_stride_bytes,
                        std::min(block_size, out.rows_ - i * block_size), out.elements_ * bits / 8};
        auto* const words = reinterpret_cast<std::int32_t*>(out.block(i));
        if (is_float_kind(recipe_))
            out.special_[std::size_t(i)] =
                plan_->prepare.floats(plan_->floats[int(side)], rows, block_size, out.padded_elements_,
                                      float_block(out.block(i), out.padded_elements_, block_size));
        else if (recipe_.kind == DotRecipe::Kind::integer)
            plan_->prepare.integers(bits, traits(format).is_signed, rows, block_size, words);
        else
            plan_->prepare.bits(rows, block_size, words);
    }
}

void TileEngine::prepare_scalar(Side side, const std::byte* source, std::ptrdiff_t row_stride_bytes,
                                PreparedOperand& out) const {
    const int bits = operand_bits(format_of(recipe_, side));
    out.raw_.clear();
    for (int row = 0; row < out.rows_; ++row)
        for (int k = 0; k < out.elements_; ++k)
            out.raw_.push_back(element_at(source + row * row_stride_bytes, k, bits));
}

void TileEngine::multiply(const PreparedOperand& a, const PreparedOperand& b, const void* c, void* d,
                          std::ptrdiff_t column_stride) const {
    TILEPATH_ASSERT(a.elements_ == b.elements_, "A and B have the same k");
    if (!plan_) return multiply_scalar(a, b, c, d, column_stride);
    FusedRule fused = plan_->fused;
    if (recipe_.kind == DotRecipe::Kind::fp8_through_f16) {
        TILEPATH_ASSERT(a.elements_ <= 32, "fp8_through_f16 takes one instruction's k");
        fused.group_length = a.padded_elements_ / 2;
    }
    const int bytes = accumulator_bytes(recipe_.d);
    const auto run = [&](int row, int column, int column_blocks, const Accumulators& accumulators) {
        const int i = row / block_rows, j = column / block_columns;
        const Operands operands{a.block(i),           b.block(j),         b.block_bytes_,
                                column_blocks,        a.padded_elements_, a.special_[std::size_t(i)] != 0,
                                b.special_.data() + j};
        if (plan_->multiply_fused)
            plan_->multiply_fused(fused, operands, accumulators);
        else
            plan_->multiply_integers(plan_->integers, operands, accumulators);
    };
    for (int row = 0; row < a.rows_; row += block_rows) {
        const int rows = std::min(block_rows, a.rows_ - row);
        const int whole_columns = rows == block_rows ? b.rows_ / block_columns * block_columns : 0;
        if (whole_columns > 0)
            run(row, 0, whole_columns / block_columns,
                {element(c, row, bytes), column_stride, static_cast<std::byte*>(d) + row * bytes, column_stride});
        for (int column = whole_columns; column < b.rows_; column += block_columns) {
            EdgeBlock edge{rows, std::min(block_columns, b.rows_ - column), bytes, {}};
            const std::ptrdiff_t at = row + column * column_stride;
            edge.load(element(c, at, bytes), column_stride);
            run(row, column, 1, {edge.copy, block_rows, edge.copy, block_rows});
            edge.store(static_cast<std::byte*>(d) + at * bytes, column_stride);
        }
    }
}

void TileEngine::multiply_scalar(const PreparedOperand& a, const PreparedOperand& b, const void* c, void* d,
                                 std::ptrdiff_t column_stride) const {
    const std::size_t k = std::size_t(a.elements_), bytes = std::size_t(accumulator_bytes(recipe_.d));
    for (int column = 0; column < b.rows_; ++column)
        for (int row = 0; row < a.rows_; ++row) {
            const std::ptrdiff_t at = (row + column * column_stride) * std::ptrdiff_t(bytes);
            std::uint64_t accumulator = 0;
            if (c) std::memcpy(&accumulator, static_cast<const std::byte*>(c) + at, bytes);
            accumulator = dot(recipe_, std::span(a.raw_).subspan(std::size_t(row) * k, k),
                              std::span(b.raw_).subspan(std::size_t(column) * k, k), accumulator);
            std::memcpy(static_cast<std::byte*>(d) + at, &accumulator, bytes);
        }
}

}  // namespace tilepath::number
