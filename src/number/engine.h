// The vector engine: whole tiles of D = A·B + C at once, equal to the scalar reference (fused_dot.h) to the bit.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "number/fused_dot.h"

namespace tilepath::number {

namespace engine {
struct Plan;
}

/// Which operand: A is m×k, B is taken by columns, so that both are rows of k elements.
enum class Side : std::uint8_t { a, b };

/// One operand decoded into the engine's own form, for as many multiplications as wanted. It keeps its memory from one
/// `TileEngine::prepare` to the next: a caller that multiplies often holds one per operand and thread.
class PreparedOperand {
  public:
    int rows() const { return rows_; }          ///< m of A, n of B
    int elements() const { return elements_; }  ///< k, as given

  private:
    friend class TileEngine;
    struct Free {
        void operator()(std::byte* p) const;
    };
    void reserve(std::size_t bytes);
    std::byte* block(int index) const { return memory_.get() + std::size_t(index) * block_bytes_; }

    int rows_ = 0, elements_ = 0;
    int padded_elements_ = 0;  ///< k filled up with zeros, which change no result
    std::size_t block_bytes_ = 0, capacity_ = 0;
    std::unique_ptr<std::byte[], Free> memory_;
    std::vector<std::uint8_t> special_;  ///< per block of rows: it holds an infinity or a NaN
    std::vector<std::uint64_t> raw_;     ///< in place of all that, row-major, for the scalar reference
    std::vector<std::uint64_t> raw_scales_;
    int row_scales_ = 0;  ///< per row
};

/// Block scales of an operand, a byte each: those of row r begin at `data` + r · `row_stride_bytes`, one for every
/// `scale_block` elements.
struct BlockScales {
    const std::uint8_t* data = nullptr;
    std::ptrdiff_t row_stride_bytes = 0;
};

/// Elements of a row lie packed, the first in the low bits: 32 bits for tf32, 64 for f64, 8 for every smaller float,
/// and for integers as many bits as they have (s4 and u4: two a byte, b1: eight).
int operand_bits(Format format);
/// The same, but for the elements of mxf4 and mxf4nvf4, which lie two a byte.
int operand_bits(const DotRecipe& recipe, Side side);

/// Multiplies tiles as one recipe says. Fused recipes, block-scaled ones too, fp8_through_f16, integers and bits run on
/// vectors (AVX-512, AVX2, SSE4, NEON, whichever the CPU has); every other recipe, and CPUs without any of these, on
/// the scalar reference. An engine has no state: threads may share it.
class TileEngine {
  public:
    /// `half_zero`: A is a sparse operand that has been spread, so that of every four elements of its k (tf32: of every
    /// two) half are zeros, and the recipe's groups are twice as long as they were.
    explicit TileEngine(const DotRecipe& recipe, bool half_zero = false);

    const DotRecipe& recipe() const { return recipe_; }
    bool vectorised() const { return plan_ != nullptr; }

    /// `rows` rows of `elements` elements each; row r begins at `data` + r · `row_stride_bytes`. Of the recipe's format
    /// for that side, packed as `operand_bits` says; no alignment is asked for. Recipes with block scales want
    /// `scales`, and whole blocks of elements.
    void prepare(Side side, const void* data, int rows, int elements, std::ptrdiff_t row_stride_bytes,
                 PreparedOperand& out, BlockScales scales = {}) const;

    /// One tile of m = a.rows(), n = b.rows(), k = a.elements() = b.elements(). The accumulators lie by columns, m
    /// contiguous: element (i, j) at index i + j · column_stride, 16 bits each where the recipe's D is f16, 64 where it
    /// is f64, otherwise 32. `c` null is +0; `d` may be `c`. As for `dot`, a longer k is a chain of instructions,
    /// except that .satfinite clamps once and fp8_through_f16 (k of at most 32) adds C once.
    void multiply(const PreparedOperand& a, const PreparedOperand& b, const void* c, void* d,
                  std::ptrdiff_t column_stride) const;

  private:
    void prepare_blocks(Side side, const std::byte* source, std::ptrdiff_t row_stride_bytes, BlockScales scales,
                        PreparedOperand& out) const;
    void prepare_scalar(Side side, const std::byte* source, std::ptrdiff_t row_stride_bytes, BlockScales scales,
                        PreparedOperand& out) const;
    void multiply_blocks(const PreparedOperand& a, const PreparedOperand& b, const void* c, void* d,
                         std::ptrdiff_t column_stride) const;
    void multiply_scalar(const PreparedOperand& a, const PreparedOperand& b, const void* c, void* d,
                         std::ptrdiff_t column_stride) const;

    DotRecipe recipe_;
    std::shared_ptr<const engine::Plan> plan_;  ///< null: scalar
};

}  // namespace tilepath::number
