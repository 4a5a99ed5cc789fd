#pragma once
#include <bit>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "check/provenance/product.h"
#include "check/provenance/words.h"

namespace tilepath::check {

/// Elements of an operand's row that are neighbours along k and in shared memory, or in a register, lane by lane.
struct ElementRun {
    std::int32_t bit =
        0;  ///< of the first, from where the operand begins; of registers ((register · 32) + lane) · 32 + bit
    std::uint16_t row = 0, column = 0, count = 0;
};
std::vector<ElementRun> runs_of(int rows, int columns, int element_bits,
                                const std::function<std::int32_t(int row, int column)>& bit_of);

/// What an operand is where every row is elements k, k + 1, … of one row of one matrix, as in nearly all: enough to
/// prove a product right without looking at its elements one by one.
struct RegularOperand {
    std::vector<std::uint32_t> rows;  ///< none: it is not like that
    std::uint32_t k = 0;
    int columns = 0;
    ProductMatrix::Role role{};

    bool holds() const { return !rows.empty(); }
    /// The rows follow one another in their matrix.
    bool consecutive() const;
};

/// Rows of a regular operand; none: it is not regular.
struct RegularRows {
    std::span<const std::uint32_t> rows;
    const RegularOperand* operand = nullptr;
};

/// The ks that the product of two regular operands adds, if they belong together: the rows of A and B are those of `m`
/// and `n`, where these are known.
std::optional<KSets::Range> regular_product(const RegularRows& a, const RegularRows& b,
                                            std::span<const std::uint32_t> m, std::span<const std::uint32_t> n);

/// Finds out whether an operand is regular, run by run.
class RegularReader {
  public:
    RegularReader(const Product& product, int rows, int columns, int element_bits);

    /// `word(i)`: PackedWord number i of the operand. False: the operand is not regular.
    template <class WordAt>
    bool add(const ElementRun& run, WordAt word) {
        const std::int32_t first = run.bit / 32, last = (run.bit + run.count * bits_ - 1) / 32;
        const PackedWord begin = word(first);
        if (!begin.is_whole() || begin.first().kind() != Origin::Kind::memory) return false;
        const machine::Address address = begin.first().address();
        for (std::int32_t i = 1; i <= last - first; ++i)
            if (word(first + i) != PackedWord::from(Origin::memory(address + 4 * static_cast<std::uint32_t>(i))))
                return false;
        return add(run, address + static_cast<std::uint32_t>(run.bit % 32 / 8));
    }
    /// The run whose first element lies at this byte of global memory, the others behind it.
    bool add(const ElementRun& run, machine::Address address);
    RegularOperand take() { return std::move(out_); }

  private:
    const Product& product_;
    const ProductMatrix* matrix_ = nullptr;
    int bits_;
    RegularOperand out_;
};

}  // namespace tilepath::check
