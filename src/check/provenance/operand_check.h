#pragma once
#include <optional>
#include <string>
#include <vector>

#include "check/provenance/product.h"

namespace tilepath::check {

/// What one element of a matrix instruction's operand is.
struct OperandCell {
    enum class Kind : std::uint8_t { unknown, unwritten, zero, element } kind = Kind::unknown;
    const ProductMatrix* matrix = nullptr;
    ProductMatrix::Place place;
};

/// An operand of a matrix instruction, row-major: A by m and k, B by n and k.
struct OperandCells {
    int rows = 0, columns = 0;
    std::vector<OperandCell> cells;
    bool overlap = false;  ///< two elements are the same bytes of shared memory

    OperandCells part(int first, int count) const {
        const auto begin = cells.begin() + std::ptrdiff_t(first) * columns;
        return {count, columns, {begin, begin + std::ptrdiff_t(count) * columns}, overlap};
    }
    const OperandCell& at(int row, int column) const {
        return cells[std::size_t(row) * std::size_t(columns) + std::size_t(column)];
    }
};

/// What a product of two operands contributes, if its elements belong together.
struct CheckedProduct {
    enum class Verdict : std::uint8_t { proven, disproven, unknown } verdict = Verdict::unknown;
    std::vector<std::uint32_t> m, n;  ///< of the rows of A and of B
    std::vector<std::uint32_t> each_k;
    KSets::Range ks;
    std::string message;             ///< why not
    std::vector<std::string> facts;  ///< `row 9 expected A[9, 32 to 39], found A[13, 32 to 39]`
    bool wrong_a = false, wrong_b = false;
};

/// Whether every row of A is one row m of the kernel's A, every row of B one n of its B, and the elements that meet
/// have equal k. `m` and `n`, where they are known from an accumulator, say which.
CheckedProduct check_operands(const OperandCells& a, const OperandCells& b, const std::vector<std::uint32_t>* m,
                              const std::vector<std::uint32_t>* n);

/// What belongs into a row: what it holds, or, if that is nothing, what a tile of consecutive rows has there.
std::uint32_t expected_row(const OperandCells& operand, const std::vector<std::uint32_t>& rows, int row);

/// Rows of an operand that is right by itself which lie where others would in a tile of consecutive ones: nothing is
/// wrong with that if D is written so too.
std::vector<std::string> strays_of(const OperandCells& operand, const std::vector<std::uint32_t>& rows,
                                   const char* name, KSets::Range ks);

/// Whether a wrong operand would be right if these were its cells. `before`: what is wrong now.
bool becomes_right(bool of_a, const OperandCells& read, const OperandCells& other, const CheckedProduct& before);

}  // namespace tilepath::check
