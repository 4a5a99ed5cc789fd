// tcgen05.mma.sp: A stores half of its columns; each of its rows multiplies the rows of B that its metadata names. With
// zeros where it stores nothing it is a dense product (tcgen05_product.cpp), but for an infinity or NaN of B that no
// element of A meets: that is no operand. There every row of A has a B of its own, and the scalar reference multiplies.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "exec/tcgen05_plan.h"

namespace tilepath::exec {
namespace {

using number::Term;

/// `count` packed elements.
std::vector<Term> decode_row(const std::uint8_t* row, int count, int bits, number::Format format) {
    std::vector<Term> terms;
    terms.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
        std::uint64_t element = 0;
        if (bits < 8)
            element = row[i * bits / 8] >> i * bits % 8 & ((1 << bits) - 1);
        else
            std::memcpy(&element, row + i * bits / 8, static_cast<std::size_t>(bits) / 8);
        terms.push_back(number::decode_term(element, format));
    }
    return terms;
}

/// Columns of the stored elements of a row, in `out`.
std::string select(const Tcgen05FullPlan& plan, const machine::TensorMemory& memory, std::uint32_t address, int row,
                   int part, std::vector<int>& out) {
    const int chunks = plan.atom.shape.k / plan.atom.chunk;
    out.clear();
    for (int chunk = 0; chunk < chunks; ++chunk) {
        const TensorPlace place = plan.metadata[static_cast<std::size_t>(row * chunks + chunk)];
        const int lane = place.lane + part * plan.part_lanes();
        const std::uint32_t column = tensor_address(address).column + place.column;
        const unsigned bits = memory.column(column)[lane] >> place.bit & 15;
        const auto selected = plan.atom.selected(bits);
        if (!selected)
            return fmt::format(
                "the sparsity metadata of row {}, columns {} to {}, in lane {}, column {} of Tensor Memory, are "
                "{:#06b}, "
                "which select no elements that the manual defines for kind::{}",
                row, chunk * plan.atom.chunk, (chunk + 1) * plan.atom.chunk - 1, lane, column, bits,
                atom::traits(plan.what.kind).name);
        for (int i = 0; i < selected->count; ++i)
            out.push_back(chunk * plan.atom.chunk + selected->columns[static_cast<std::size_t>(i)]);
    }
    return {};
}

template <class Word>
bool any_above(std::span<const std::uint8_t> elements, Word magnitude, Word largest) {
    bool found = false;
    for (std::size_t at = 0; at < elements.size(); at += sizeof(Word)) {
        Word element;
        std::memcpy(&element, elements.data() + at, sizeof element);
        found |= (element & magnitude) > largest;
    }
    return found;
}

class SparseProduct {
  public:
    SparseProduct(const Tcgen05Step& step, const Tcgen05Ctas& ctas, std::span<const std::uint8_t> b,
                  std::size_t b_stride)
        : step_(step), plan_(*step.plan), operands_(*step.operands), ctas_(ctas), recipe_(plan_.engine->recipe()) {
        const int bits = number::operand_bits(recipe_, number::Side::b);
        for (int n = 0; n < plan_.atom.shape.n; ++n)
            b_.push_back(
                decode_row(b.data() + static_cast<std::size_t>(n) * b_stride, plan_.atom.shape.k, bits, recipe_.b));
    }

    std::string multiply_row(std::size_t cta, const Tcgen05Rows& row, int part) {
        const machine::TensorMemory& memory = *ctas_.tensor[cta];
        const int lane = row.lane + part * plan_.part_lanes();
        if (std::string wrong = select(plan_, memory, operands_.metadata, row.first, part, selected_); !wrong.empty())
            return wrong;
        std::vector<std::uint8_t> bytes(static_cast<std::size_t>(plan_.row_bytes));
        read_tcgen05_a(step_, ctas_, cta, row, part, bytes.data(), bytes.size());
        const int bits = number::operand_bits(recipe_, number::Side::a);
        const std::vector<Term> a = decode_row(bytes.data(), plan_.atom.stored_k(), bits, recipe_.a);
        read_scales(memory, plan_.scales_a, operands_.scale_a, row.first, lane, scales_a_);
        for (int n = part * plan_.part_columns(); n < (part + 1) * plan_.part_columns(); ++n)
            multiply_element(cta, a, n, lane, static_cast<std::uint32_t>(n - part * plan_.part_columns()));
        return {};
    }

  private:
    void read_scales(const machine::TensorMemory& memory, const std::vector<TensorPlace>& places, std::uint32_t address,
                     int index, int lane, std::vector<std::uint64_t>& out) const {
        out.clear();
        for (int f = 0; f < plan_.factors; ++f)
            out.push_back(scale_at(memory, address, places[static_cast<std::size_t>(index * plan_.factors + f)], lane));
    }

    void multiply_element(std::size_t cta, std::span<const Term> a, int n, int lane, std::uint32_t column) {
        if (plan_.disables(static_cast<int>(cta), lane)) return;
        const std::vector<Term>& from = b_[static_cast<std::size_t>(n)];
        chosen_.clear();
        for (const int k : selected_) chosen_.push_back(from[static_cast<std::size_t>(k)]);
        read_scales(*ctas_.tensor[cta], plan_.scales_b, operands_.scale_b, n, lane, scales_b_);
        std::uint32_t& cell = ctas_.tensor[cta]->column(tensor_address(operands_.d).column + column)[lane];
        std::uint32_t c = recipe_.d == number::Format::f16 ? cell & 0xFFFF : cell;
        if (plan_.scale_input_d != 0) c = scaled_down(c, recipe_.d, plan_.scale_input_d);
        cell = number::dot(recipe_, a, chosen_, operands_.accumulates ? c : 0, {scales_a_, scales_b_});
    }

    const Tcgen05Step& step_;
    const Tcgen05FullPlan& plan_;
    const Tcgen05Operands& operands_;
    const Tcgen05Ctas& ctas_;
    const number::DotRecipe& recipe_;
    std::vector<std::vector<Term>> b_;  ///< by column
    std::vector<int> selected_;
    std::vector<Term> chosen_;
    std::vector<std::uint64_t> scales_a_, scales_b_;
};

}  // namespace

std::string spread_rows(const Tcgen05Step& step, const machine::TensorMemory& memory, const Tcgen05Rows& rows, int part,
                        std::span<const std::uint8_t> stored, std::vector<std::uint8_t>& out) {
    const Tcgen05FullPlan& plan = *step.plan;
    const auto row_bytes = static_cast<std::size_t>(plan.row_bytes);
    const auto stored_k = static_cast<std::size_t>(plan.atom.stored_k());
    // Two elements of four bits, which metadata choose together, are moved as one.
    const std::size_t bytes = std::max<std::size_t>(1, row_bytes / stored_k), together = bytes * stored_k / row_bytes;
    out.assign(static_cast<std::size_t>(rows.rows) * 2 * row_bytes, 0);
    std::vector<int> selected;
    for (int row = 0; row < rows.rows; ++row) {
        std::string wrong = select(plan, memory, step.operands->metadata, rows.first + row, part, selected);
        if (!wrong.empty()) return wrong;
        const std::uint8_t* from = stored.data() + static_cast<std::size_t>(row) * row_bytes;
        std::uint8_t* const to = out.data() + static_cast<std::size_t>(row) * 2 * row_bytes;
        for (std::size_t i = 0; i < selected.size(); i += together, from += bytes)
            std::memcpy(to + static_cast<std::size_t>(selected[i]) / together * bytes, from, bytes);
    }
    return {};
}

bool any_special(std::span<const std::uint8_t> elements, number::Format format) {
    switch (format) {
        case number::Format::f16: return any_above<std::uint16_t>(elements, 0x7FFF, 0x7BFF);
        case number::Format::bf16: return any_above<std::uint16_t>(elements, 0x7FFF, 0x7F7F);
        case number::Format::tf32: return any_above<std::uint32_t>(elements, 0x7FFFFFFF, 0x7F7FFFFF);
        case number::Format::e4m3: return any_above<std::uint8_t>(elements, 0x7F, 0x7E);
        case number::Format::e5m2: return any_above<std::uint8_t>(elements, 0x7F, 0x7B);
        default: return false;  // the other element types have none
    }
}

std::string multiply_sparse(const Tcgen05Step& step, const Tcgen05Ctas& ctas, std::span<const std::uint8_t> b,
                            std::size_t b_stride) {
    const Tcgen05FullPlan& plan = *step.plan;
    SparseProduct product(step, ctas, b, b_stride);
    for (std::size_t cta = 0; cta < static_cast<std::size_t>(plan.what.cta_group); ++cta)
        for (const Tcgen05Rows& rows : plan.rows)
            for (int i = 0; i < rows.rows; ++i)
                for (int part = 0; part < plan.parts; ++part) {
                    std::string wrong = product.multiply_row(cta, {rows.first + i, 1, rows.lane + i}, part);
                    if (!wrong.empty()) return wrong;
                }
    return {};
}

}  // namespace tilepath::exec
