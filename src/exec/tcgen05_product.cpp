// The products of tcgen05.mma: operands are read now, and D is written.
#include "exec/tcgen05_product.h"

#include <algorithm>
#include <cstring>

#include "number/arithmetic.h"

namespace tilepath::exec {
namespace {

constexpr int lanes = 128, window = 32;

std::span<const std::uint8_t> part_of(std::span<const std::uint8_t> rows, std::size_t count, int part) {
    return rows.subspan(static_cast<std::size_t>(part) * count, count);
}

const number::TileEngine& engine_of(const Tcgen05FullPlan& plan) {
    return plan.spread != nullptr ? *plan.spread : *plan.engine;
}

}  // namespace

std::uint32_t scaled_down(std::uint32_t word, number::Format format, int exponent) {
    std::uint64_t value = word;
    const bool half = format == number::Format::f16;
    const std::uint64_t one_half = half ? 0x3800 : 0x3F000000;
    for (; exponent > 0; --exponent) value = number::mul(format, value, one_half, {});
    return static_cast<std::uint32_t>(value);
}

std::string Tcgen05Product::multiply(std::span<const Tcgen05Step> run, const Tcgen05Ctas& ctas) {
    const Tcgen05FullPlan& plan = *run[0].plan;
    read_b(run, ctas);
    if (plan.what.sparse && (plan.spread == nullptr || special_b_))
        return multiply_sparse(run[0], ctas, b_, static_cast<std::size_t>(plan.b_row_bytes));
    const bool scaled = plan.factors > 0;
    for (std::size_t cta = 0; cta < static_cast<std::size_t>(plan.what.cta_group); ++cta) {
        machine::TensorMemory& memory = *ctas.tensor[cta];
        if (scaled) read_scales_b(run, memory);
        for (const Tcgen05Rows& rows : plan.rows) {
            for (int part = 0; part < plan.parts; ++part) {
                // Each window of lanes has its own copies of B's factors, which a kernel ought to make alike.
                const bool split = scaled && copies_differ(plan, run.size(), rows, part);
                for (int from = 0, step = split ? window : rows.rows; from < rows.rows; from += step) {
                    const Tcgen05Rows piece{rows.first + from, std::min(step, rows.rows - from), rows.lane + from};
                    if (part == 0 || scaled || plan.what.a_in_tensor_memory || plan.what.sparse)
                        if (std::string wrong = prepare_a(run, ctas, cta, piece, part); !wrong.empty()) return wrong;
                    prepare_b(plan, run.size(), part, piece.lane + part * plan.part_lanes());
                    multiply_rows(plan, *run[0].operands, memory, static_cast<int>(cta), piece, part);
                }
            }
        }
    }
    return {};
}

/// B of all operations, side by side. What was prepared of the same bytes stays.
void Tcgen05Product::read_b(std::span<const Tcgen05Step> run, const Tcgen05Ctas& ctas) {
    const Tcgen05FullPlan& plan = *run[0].plan;
    const auto step = static_cast<std::size_t>(plan.b_row_bytes), stride = step * run.size();
    read_.resize(static_cast<std::size_t>(plan.atom.shape.n) * stride);
    for (std::size_t i = 0; i < run.size(); ++i) read_tcgen05_b(run[i], ctas, read_.data() + i * step, stride);
    if (prepared_recipe_ == engine_of(plan).recipe() && prepared_columns_ == plan.part_columns() &&
        prepared_stride_ == stride && b_ == read_)
        return;
    std::swap(b_, read_);
    is_prepared_.fill(false);
    prepared_recipe_ = engine_of(plan).recipe();
    special_b_ = plan.spread != nullptr && any_special(b_, prepared_recipe_->b);
    prepared_columns_ = plan.part_columns();
    prepared_stride_ = stride;
}

void Tcgen05Product::read_scales_b(std::span<const Tcgen05Step> run, const machine::TensorMemory& memory) {
    const Tcgen05FullPlan& plan = *run[0].plan;
    const auto factors = static_cast<std::size_t>(plan.factors), per_row = factors * run.size();
    const auto columns = static_cast<std::size_t>(plan.atom.shape.n);
    for (int w = 0; w < windows; ++w) {
        std::vector<std::uint8_t>& scales = scales_b_[static_cast<std::size_t>(w)];
        scales.resize(columns * per_row);
        for (std::size_t n = 0; n < columns; ++n)
            for (std::size_t i = 0; i < run.size(); ++i)
                for (std::size_t f = 0; f < factors; ++f)
                    scales[n * per_row + i * factors + f] =
                        scale_at(memory, run[i].operands->scale_b, run[i].plan->scales_b[n * factors + f], w * window);
    }
}

bool Tcgen05Product::copies_differ(const Tcgen05FullPlan& plan, std::size_t run, const Tcgen05Rows& rows,
                                   int part) const {
    const int first_lane = rows.lane + part * plan.part_lanes();
    const std::size_t bytes = static_cast<std::size_t>(plan.part_columns() * plan.factors) * run;
    const auto of = [&](int w) { return part_of(scales_b_[static_cast<std::size_t>(w)], bytes, part); };
    for (int w = first_lane / window + 1; w <= (first_lane + rows.rows - 1) / window; ++w)
        if (!std::ranges::equal(of(first_lane / window), of(w))) return true;
    return false;
}

std::string Tcgen05Product::prepare_a(std::span<const Tcgen05Step> run, const Tcgen05Ctas& ctas, std::size_t cta,
                                      const Tcgen05Rows& rows, int part) {
    const Tcgen05FullPlan& plan = *run[0].plan;
    const auto step = static_cast<std::size_t>(plan.row_bytes), stride = step * run.size();
    const std::size_t spread = plan.what.sparse ? 2 : 1;
    a_.resize(static_cast<std::size_t>(rows.rows) * stride);
    for (std::size_t i = 0; i < run.size(); ++i)
        read_tcgen05_a(run[i], ctas, cta, rows, part, a_.data() + i * step, stride);
    if (plan.what.sparse)
        if (std::string wrong = spread_rows(run[0], *ctas.tensor[cta], rows, part, a_, spread_a_); !wrong.empty())
            return wrong;
    const auto factors = static_cast<std::size_t>(plan.factors), per_row = factors * run.size();
    scales_a_.resize(static_cast<std::size_t>(rows.rows) * per_row);
    for (std::size_t i = 0; i < run.size() && factors > 0; ++i)
        for (int row = 0; row < rows.rows; ++row)
            for (std::size_t f = 0; f < factors; ++f)
                scales_a_[static_cast<std::size_t>(row) * per_row + i * factors + f] =
                    scale_at(*ctas.tensor[cta], run[i].operands->scale_a,
                             run[i].plan->scales_a[static_cast<std::size_t>(rows.first + row) * factors + f],
                             rows.lane + row + part * plan.part_lanes());
    number::BlockScales scales;
    if (factors > 0) scales = {scales_a_.data(), static_cast<std::ptrdiff_t>(per_row)};
    engine_of(plan).prepare(number::Side::a, (plan.what.sparse ? spread_a_ : a_).data(), rows.rows,
                            plan.atom.stored_k() * static_cast<int>(spread * run.size()),
                            static_cast<std::ptrdiff_t>(spread * stride), prepared_a_, scales);
    return {};
}

/// A part's columns, with the factors that the window of `lane` has.
void Tcgen05Product::prepare_b(const Tcgen05FullPlan& plan, std::size_t run, int part, int lane) {
    const auto p = static_cast<std::size_t>(part);
    const auto columns = static_cast<std::size_t>(plan.part_columns());
    const std::size_t stride = static_cast<std::size_t>(plan.b_row_bytes) * run;
    const std::size_t per_row = static_cast<std::size_t>(plan.factors) * run;
    number::BlockScales scales;
    std::span<const std::uint8_t> factors;
    if (plan.factors > 0) {
        factors = part_of(scales_b_[static_cast<std::size_t>(lane / window)], columns * per_row, part);
        scales = {factors.data(), static_cast<std::ptrdiff_t>(per_row)};
    }
    if (is_prepared_[p] && std::ranges::equal(prepared_scales_[p], factors)) return;
    engine_of(plan).prepare(number::Side::b, b_.data() + p * columns * stride, static_cast<int>(columns),
                            plan.atom.shape.k * static_cast<int>(run), static_cast<std::ptrdiff_t>(stride),
                            prepared_b_[p], scales);
    is_prepared_[p] = true;
    prepared_scales_[p].assign(factors.begin(), factors.end());
}

void Tcgen05Product::multiply_rows(const Tcgen05FullPlan& plan, const Tcgen05Operands& first,
                                   machine::TensorMemory& memory, int cta, const Tcgen05Rows& rows, int part) {
    if (plan.staged) return multiply_aside(plan, first, memory, cta, rows, part);
    std::uint32_t* const d = memory.column(tensor_address(first.d).column) + rows.lane + part * plan.part_lanes();
    engine_of(plan).multiply(prepared_a_, prepared_b_[static_cast<std::size_t>(part)], first.accumulates ? d : nullptr,
                             d, lanes);
}

/// D of 16 bits, lanes that stay as they are, D scaled first.
void Tcgen05Product::multiply_aside(const Tcgen05FullPlan& plan, const Tcgen05Operands& first,
                                    machine::TensorMemory& memory, int cta, const Tcgen05Rows& rows, int part) {
    const number::Format format = plan.atom.types.d;
    const bool half = format == number::Format::f16;
    const int lane = rows.lane + part * plan.part_lanes(), columns = plan.part_columns();
    const auto count = static_cast<std::size_t>(rows.rows * columns);
    words_.resize(count);
    halves_.resize(count);
    std::uint32_t* const d = memory.column(tensor_address(first.d).column) + lane;
    const auto for_each = [&](auto body) {
        for (int column = 0; column < columns; ++column)
            for (int row = 0; row < rows.rows; ++row)
                body(static_cast<std::size_t>(column * rows.rows + row), d[column * lanes + row], row);
    };
    for_each([&](std::size_t at, std::uint32_t cell, int) {
        const std::uint32_t word = half ? cell & 0xFFFF : cell;
        words_[at] = plan.scale_input_d == 0 ? word : scaled_down(word, format, plan.scale_input_d);
        halves_[at] = static_cast<std::uint16_t>(words_[at]);
    });
    void* const staged = half ? static_cast<void*>(halves_.data()) : words_.data();
    engine_of(plan).multiply(prepared_a_, prepared_b_[static_cast<std::size_t>(part)],
                             first.accumulates ? staged : nullptr, staged, rows.rows);
    for_each([&](std::size_t at, std::uint32_t& cell, int row) {
        if (!plan.disables(cta, lane + row)) cell = half ? halves_[at] : words_[at];
    });
}

}  // namespace tilepath::exec
