#include "check/provenance/regular_operand.h"

#include <algorithm>

namespace tilepath::check {
namespace {

constexpr std::uint32_t nowhere = ProductMatrix::Place::nowhere;

}  // namespace

std::vector<ElementRun> runs_of(int rows, int columns, int element_bits,
                                const std::function<std::int32_t(int row, int column)>& bit_of) {
    std::vector<ElementRun> out;
    for (int row = 0; row < rows; ++row) {
        for (int column = 0; column < columns; ++column) {
            const std::int32_t bit = bit_of(row, column);
            const bool goes_on = column != 0 && bit == out.back().bit + out.back().count * element_bits;
            if (!goes_on) out.push_back({bit, static_cast<std::uint16_t>(row), static_cast<std::uint16_t>(column), 0});
            ++out.back().count;
        }
    }
    return out;
}

bool RegularOperand::consecutive() const {
    for (std::size_t i = 1; i < rows.size(); ++i)
        if (rows[i] != rows[0] + i) return false;
    return true;
}

std::optional<KSets::Range> regular_product(const RegularRows& a, const RegularRows& b,
                                            std::span<const std::uint32_t> m, std::span<const std::uint32_t> n) {
    if (a.rows.empty() || b.rows.empty() || a.operand->k != b.operand->k || a.operand->columns != b.operand->columns)
        return std::nullopt;
    if (a.operand->role != ProductMatrix::Role::a || b.operand->role != ProductMatrix::Role::b) return std::nullopt;
    if (!m.empty() && !std::ranges::equal(a.rows, m)) return std::nullopt;
    if (!n.empty() && !std::ranges::equal(b.rows, n)) return std::nullopt;
    return KSets::Range{a.operand->k, a.operand->k + static_cast<std::uint32_t>(a.operand->columns)};
}

RegularReader::RegularReader(const Product& product, int rows, int columns, int element_bits)
    : product_(product), bits_(element_bits) {
    out_.rows.assign(static_cast<std::size_t>(rows), nowhere);
    out_.columns = columns;
}

bool RegularReader::add(const ElementRun& run, machine::Address address) {
    const auto holds = [&](const ProductMatrix& matrix) {
        return address >= matrix.base && address - matrix.base < matrix.units.size() * matrix.unit_bytes;
    };
    if (matrix_ == nullptr) {
        const auto found = std::ranges::find_if(product_.matrices, holds);
        if (found == product_.matrices.end()) return false;
        const bool fits = found->unit_bytes * 8 == static_cast<std::uint32_t>(bits_) * found->elements_per_unit;
        if (!fits || !std::has_single_bit(found->unit_bytes)) return false;
        matrix_ = &*found;
        out_.role = matrix_->role;
    }
    if (!holds(*matrix_)) return false;
    const std::uint64_t offset = address - matrix_->base;
    if ((offset & (matrix_->unit_bytes - 1)) != 0) return false;
    const std::uint64_t first = offset >> std::countr_zero(matrix_->unit_bytes);
    const auto skipped = static_cast<std::uint32_t>(run.bit % 8 / bits_), each = matrix_->elements_per_unit;
    const std::uint64_t units = (skipped + run.count + each - 1) / each;
    const ProductMatrix::Place begin = matrix_->stretch(first, units);
    if (begin.row == nowhere) return false;
    std::uint32_t& row = out_.rows[run.row];
    if (row == nowhere) row = begin.row;
    const std::uint32_t k = begin.column + skipped - run.column;
    if (run.row == 0 && run.column == 0) out_.k = k;
    return row == begin.row && out_.k == k;
}

}  // namespace tilepath::check
