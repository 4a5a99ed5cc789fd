#include "check/provenance/operand_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace tilepath::check {
namespace {

using Kind = OperandCell::Kind;
using Role = ProductMatrix::Role;
using Verdict = CheckedProduct::Verdict;
constexpr std::uint32_t nowhere = ProductMatrix::Place::nowhere;
constexpr std::size_t most_facts = 4;

/// What most of them say; nowhere if there are none.
class Majority {
  public:
    void add(std::uint32_t value) {
        if (value == first_ || first_ == nowhere) {
            first_ = value, ++first_count_;
            return;
        }
        ++others_[value];
    }
    std::uint32_t winner() const {
        std::uint32_t best = first_;
        std::size_t count = first_count_;
        for (const auto& [value, times] : others_)
            if (times > count) best = value, count = times;
        return best;
    }

  private:
    std::uint32_t first_ = nowhere;
    std::size_t first_count_ = 0;
    std::map<std::uint32_t, std::size_t> others_;
};

std::vector<std::uint32_t> rows_of(const OperandCells& operand, const std::vector<std::uint32_t>* known) {
    if (known != nullptr) return *known;
    std::vector<std::uint32_t> out(std::size_t(operand.rows), nowhere);
    for (int row = 0; row < operand.rows; ++row) {
        Majority majority;
        for (int k = 0; k < operand.columns; ++k)
            if (operand.at(row, k).kind == Kind::element) majority.add(operand.at(row, k).place.row);
        out[std::size_t(row)] = majority.winner();
    }
    return out;
}

std::string describe(const OperandCell& cell) {
    switch (cell.kind) {
        case Kind::unknown: return "something that is no element";
        case Kind::unwritten: return "bytes that nobody has written";
        case Kind::zero: return "zero";
        case Kind::element: break;
    }
    return check::describe(*cell.matrix, cell.place);
}

/// Cells of one row from `column` on that continue in the same way, as a text.
std::string describe_run(const OperandCells& operand, int row, int column, int end) {
    const OperandCell& first = operand.at(row, column);
    if (first.kind != Kind::element) return describe(first);
    int last = column;
    while (last + 1 < end) {
        const OperandCell &now = operand.at(row, last), &next = operand.at(row, last + 1);
        if (next.kind != Kind::element || next.matrix != now.matrix || next.place.row != now.place.row ||
            next.place.column != now.place.column + 1)
            break;
        ++last;
    }
    return last == column ? describe(first)
                          : fmt::format("{}[{}, {} to {}]", first.matrix->name, first.place.row, first.place.column,
                                        operand.at(row, last).place.column);
}

/// `A[9, 32 to 39]`, the elements that belong there.
std::string describe_expected(const char* name, std::uint32_t row, const std::vector<std::uint32_t>& ks,
                              std::size_t first) {
    if (row == nowhere || ks[first] == nowhere) return "zero";
    std::size_t last = first;
    while (last + 1 < ks.size() && ks[last + 1] == ks[last] + 1) ++last;
    return fmt::format("{}[{}, {} to {}]", name, row, ks[first], ks[last]);
}

/// Rows of an operand against what they should be; true if one differs.
bool compare(const OperandCells& operand, Role role, const std::vector<std::uint32_t>& rows,
             const std::vector<std::uint32_t>& ks, const char* name, CheckedProduct& out) {
    bool wrong = false;
    for (int row = 0; row < operand.rows; ++row) {
        for (int k = 0; k < operand.columns; ++k) {
            const OperandCell& cell = operand.at(row, k);
            if (cell.kind == Kind::zero) continue;
            if (cell.kind == Kind::unknown) {
                out.verdict = Verdict::unknown;
                continue;
            }
            if (cell.kind == Kind::element && cell.matrix->role == role && cell.place.row == rows[std::size_t(row)] &&
                cell.place.column == ks[std::size_t(k)])
                continue;
            wrong = true;
            if (out.facts.size() < most_facts)
                out.facts.push_back(fmt::format("row {} of the instruction's {}: expected {}, found {}", row, name,
                                                describe_expected(name, rows[std::size_t(row)], ks, std::size_t(k)),
                                                describe_run(operand, row, k, operand.columns)));
            break;  // the row's first difference tells enough
        }
    }
    return wrong;
}

/// Rows that are the same bytes of shared memory: no product wants that, though each row by itself is one of the
/// matrix.
bool tell_overlap(const OperandCells& operand, const char* name, CheckedProduct& out) {
    if (!operand.overlap) return false;
    for (int row = 1; row < operand.rows; ++row) {
        for (int before = 0; before < row; ++before) {
            const OperandCell &x = operand.at(row, 0), &y = operand.at(before, 0);
            if (x.kind != Kind::element || y.kind != Kind::element || x.place.row != y.place.row) continue;
            out.facts.push_back(fmt::format("row {} of the instruction's {} is the same bytes as row {}: {}", row, name,
                                            before, describe_run(operand, row, 0, operand.columns)));
            return true;
        }
    }
    return true;
}

}  // namespace

CheckedProduct check_operands(const OperandCells& a, const OperandCells& b, const std::vector<std::uint32_t>* m,
                              const std::vector<std::uint32_t>* n) {
    CheckedProduct out;
    out.verdict = Verdict::proven;
    out.m = rows_of(a, m), out.n = rows_of(b, n);
    std::vector<std::uint32_t> ks(std::size_t(a.columns), nowhere);
    for (int k = 0; k < a.columns; ++k) {
        Majority majority;
        for (int row = 0; row < a.rows; ++row)
            if (a.at(row, k).kind == Kind::element) majority.add(a.at(row, k).place.column);
        for (int row = 0; row < b.rows; ++row)
            if (b.at(row, k).kind == Kind::element) majority.add(b.at(row, k).place.column);
        ks[std::size_t(k)] = majority.winner();
    }
    out.wrong_a = compare(a, Role::a, out.m, ks, "A", out) | tell_overlap(a, "A", out);
    out.wrong_b = compare(b, Role::b, out.n, ks, "B", out) | tell_overlap(b, "B", out);
    if (out.wrong_a || out.wrong_b) {
        out.verdict = Verdict::disproven;
        out.message =
            fmt::format("the elements of {} that meet in D[m, n] are not row m of A and column n of B with equal k",
                        out.wrong_a && out.wrong_b ? "A and B"
                        : out.wrong_a              ? "A"
                                                   : "B");
    }
    // A k counts where both operands have elements of it: zeros on one side, where a box lies outside its tensor, add
    // nothing to D.
    const auto present = [](const OperandCells& operand, int k) {
        for (int row = 0; row < operand.rows; ++row)
            if (operand.at(row, k).kind == Kind::element) return true;
        return false;
    };
    out.ks = {nowhere, 0};
    for (int k = 0; k < a.columns; ++k) {
        const std::uint32_t each = ks[std::size_t(k)];
        if (each == nowhere || !present(a, k) || !present(b, k)) continue;
        out.ks = {std::min(out.ks.begin, each), std::max(out.ks.end, each + 1)};
    }
    if (out.ks.begin == nowhere) out.ks = {0, 0};
    return out;
}

}  // namespace tilepath::check
