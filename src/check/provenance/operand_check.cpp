#include "check/provenance/operand_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

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
    bool unanimous() const { return others_.empty(); }
    bool has(std::uint32_t value) const { return value == first_ || others_.contains(value); }
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

/// Where a tile of consecutive rows begins, or of consecutive k: what most elements say.
std::uint32_t base_of(std::initializer_list<const OperandCells*> operands, bool of_rows) {
    Majority majority;
    for (const OperandCells* operand : operands)
        for (int row = 0; row < operand->rows; ++row)
            for (int k = 0; k < operand->columns; ++k)
                if (const OperandCell& cell = operand->at(row, k); cell.kind == Kind::element)
                    majority.add(of_rows ? cell.place.row - std::uint32_t(row) : cell.place.column - std::uint32_t(k));
    return majority.winner();
}

/// A row, or a k, of which the elements say different things: as in a tile of consecutive ones, if any says that.
std::uint32_t settle(const Majority& majority, std::optional<std::uint32_t>& base, int index, auto make_base) {
    if (majority.unanimous()) return majority.winner();
    if (!base) base = make_base();
    const std::uint32_t consecutive = *base + std::uint32_t(index);
    return majority.has(consecutive) ? consecutive : majority.winner();
}

std::vector<std::uint32_t> rows_of(const OperandCells& operand, const std::vector<std::uint32_t>* known) {
    if (known != nullptr) return *known;
    std::vector<std::uint32_t> out(std::size_t(operand.rows), nowhere);
    std::optional<std::uint32_t> base;
    for (int row = 0; row < operand.rows; ++row) {
        Majority majority;
        for (int k = 0; k < operand.columns; ++k)
            if (operand.at(row, k).kind == Kind::element) majority.add(operand.at(row, k).place.row);
        out[std::size_t(row)] = settle(majority, base, row, [&] { return base_of({&operand}, true); });
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
    if (row == nowhere || ks[first] == nowhere) return "an element of " + std::string(name);
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
            if (out.facts.size() < most_facts) {
                const std::uint32_t expected = expected_row(operand, rows, row);
                out.facts.push_back(fmt::format("row {} of the instruction's {}: expected {}, found {}", row, name,
                                                describe_expected(name, expected, ks, std::size_t(k)),
                                                describe_run(operand, row, k, operand.columns)));
            }
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

std::uint32_t expected_row(const OperandCells& operand, const std::vector<std::uint32_t>& rows, int row) {
    if (rows[std::size_t(row)] != nowhere) return rows[std::size_t(row)];
    const std::uint32_t base = base_of({&operand}, true);
    return base == nowhere ? nowhere : base + std::uint32_t(row);
}

CheckedProduct check_operands(const OperandCells& a, const OperandCells& b, const std::vector<std::uint32_t>* m,
                              const std::vector<std::uint32_t>* n) {
    CheckedProduct out;
    out.verdict = Verdict::proven;
    out.m = rows_of(a, m), out.n = rows_of(b, n);
    std::vector<std::uint32_t>& ks = out.each_k;
    ks.assign(std::size_t(a.columns), nowhere);
    std::optional<std::uint32_t> base;
    for (int k = 0; k < a.columns; ++k) {
        Majority majority;
        for (int row = 0; row < a.rows; ++row)
            if (a.at(row, k).kind == Kind::element) majority.add(a.at(row, k).place.column);
        for (int row = 0; row < b.rows; ++row)
            if (b.at(row, k).kind == Kind::element) majority.add(b.at(row, k).place.column);
        ks[std::size_t(k)] = settle(majority, base, k, [&] { return base_of({&a, &b}, false); });
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

std::vector<std::string> strays_of(const OperandCells& operand, const std::vector<std::uint32_t>& rows,
                                   const char* name, KSets::Range ks) {
    std::optional<std::uint32_t> first;
    bool plain = true;
    for (int row = 0; row < operand.rows; ++row) {
        if (rows[std::size_t(row)] == nowhere) continue;
        if (!first) first = rows[std::size_t(row)] - std::uint32_t(row);
        plain = plain && *first == rows[std::size_t(row)] - std::uint32_t(row);
    }
    std::vector<std::string> out;
    if (plain || ks.begin == ks.end) return out;
    const std::uint32_t base = base_of({&operand}, true);
    for (int row = 0; row < operand.rows && out.size() < most_facts; ++row) {
        const std::uint32_t expected = base + std::uint32_t(row);
        if (rows[std::size_t(row)] != nowhere && rows[std::size_t(row)] != expected)
            out.push_back(fmt::format("row {} of the instruction's {}: expected {}[{}, {} to {}], found {}", row, name,
                                      name, expected, ks.begin, ks.end - 1,
                                      describe_run(operand, row, 0, operand.columns)));
    }
    return out;
}

}  // namespace tilepath::check
