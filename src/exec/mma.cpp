// mma.sync, mma.sp and wmma.mma: registers to tiles, the engine of number/, and back.
#include <bit>
#include <cstring>
#include <span>
#include <vector>

#include "exec/executor.h"
#include "exec/matrix_plan.h"
#include "number/conversion.h"

namespace tilepath::exec {
namespace {

constexpr std::size_t tile_limit = 8192;

std::uint64_t element(const std::uint8_t* tile, int index, int bits) {
    std::uint64_t value = 0;
    if (bits < 8) {
        const int at = index * bits;
        return tile[at / 8] >> at % 8 & ((1u << bits) - 1);
    }
    std::memcpy(&value, tile + static_cast<std::size_t>(index) * static_cast<std::size_t>(bits / 8),
                static_cast<std::size_t>(bits / 8));
    return value;
}

/// Between f16 and f32: exact one way, to nearest even the other.
void convert_accumulators(std::uint8_t* tile, int count, number::Format from, number::Format to) {
    if (from == to) return;
    alignas(64) std::uint8_t given[tile_limit];
    const auto from_bytes = static_cast<std::size_t>(accumulator_bits(from) / 8);
    const auto to_bytes = static_cast<std::size_t>(accumulator_bits(to) / 8);
    std::memcpy(given, tile, static_cast<std::size_t>(count) * from_bytes);
    for (int i = 0; i < count; ++i) {
        const std::uint64_t value = number::convert(element(given, i, accumulator_bits(from)), from, to);
        std::memcpy(tile + static_cast<std::size_t>(i) * to_bytes, &value, to_bytes);
    }
}

}  // namespace

Step Executor::multiply(Context& c) {
    if (!gather(c)) return Step::stop;
    const MatrixPlan& plan = *c.code.matrix;
    alignas(64) std::uint8_t a[tile_limit], b[tile_limit], accumulators[tile_limit];
    const std::uint32_t* source = c.code.places + c.op().destinations;
    plan.a.gather(c.rows, source, a);
    plan.b.gather(c.rows, source + plan.a.registers, b);
    unpack(plan.unpack_a, a, plan.a.tile_bytes);
    unpack(plan.unpack_b, b, plan.b.tile_bytes);
    plan.c.gather(c.rows, source + plan.a.registers + plan.b.registers, accumulators);
    const int count = plan.blocks * plan.m * plan.n, sum_bytes = accumulator_bits(plan.sum_format) / 8;
    convert_accumulators(accumulators, count, plan.c_format, plan.sum_format);
    if (plan.scale_factors > 0) {
        if (!multiply_scaled(c, a, b, accumulators)) return Step::fault;
    } else if (plan.sparse) {
        const std::uint32_t metadata = c.source(plan.a.registers + plan.b.registers + plan.c.registers);
        if (!multiply_sparse(c, c.row(metadata), a, b, accumulators)) return Step::fault;
    } else {
        const number::TileEngine& engine = *plan.engine;
        for (int block = 0; block < plan.blocks; ++block) {
            std::uint8_t* const d = accumulators + block * plan.m * plan.n * sum_bytes;
            engine.prepare(number::Side::a, a + block * plan.m * plan.row_bytes, plan.m, plan.k, plan.row_bytes,
                           prepared_a_);
            engine.prepare(number::Side::b, b + block * plan.n * plan.row_bytes, plan.n, plan.k, plan.row_bytes,
                           prepared_b_);
            engine.multiply(prepared_a_, prepared_b_, d, d, plan.m);
        }
    }
    convert_accumulators(accumulators, count, plan.sum_format, plan.d_format);
    plan.d.scatter(accumulators, c.rows, c.code.places, c.active);
    if (observer_ != nullptr) {
        const program::Mma& mma = c.function().mmas[c.op().detail];
        observer_->multiply({site(c), &mma, registers_of(c.frame, c.code)});
    }
    return Step::next;
}

bool Executor::multiply_sparse(Context& c, const Row& metadata, const std::uint8_t* a, const std::uint8_t* b,
                               std::uint8_t* accumulators) {
    int lane = 0;
    if (multiply_selection(*c.code.matrix, metadata, c.code.matrix->metadata, a, b, accumulators, lane)) return true;
    fail(c, FaultKind::unsupported, 1u << lane, undefined_metadata);
    return false;
}

std::vector<int> stored_columns(const MatrixPlan& plan, const Row& metadata, std::span<const atom::ElementPlace> places,
                                int& wrong_lane) {
    const atom::SparseMmaAtom& atom = *plan.sparse;
    const int chunks = plan.k / atom.chunk;
    std::vector<int> selected;
    selected.reserve(static_cast<std::size_t>(plan.m * plan.k / 2));
    for (int i = 0; i < plan.m * chunks; ++i) {
        const atom::ElementPlace& at = places[static_cast<std::size_t>(i)];
        const auto columns = atom::selected_columns(atom.sparsity, metadata.lane[at.lane] >> at.bit & 15);
        if (!columns) {
            wrong_lane = at.lane;
            return {};
        }
        for (int j = 0; j < columns->count; ++j)
            selected.push_back(i % chunks * atom.chunk + columns->columns[static_cast<std::size_t>(j)]);
    }
    return selected;
}

/// A stores half of its columns; each of its rows multiplies the rows of B that its metadata names. False if a lane's
/// metadata is none.
bool Executor::multiply_selection(const MatrixPlan& plan, const Row& metadata,
                                  std::span<const atom::ElementPlace> places, const std::uint8_t* a,
                                  const std::uint8_t* b, std::uint8_t* accumulators, int& wrong_lane) {
    const std::vector<int> selected = stored_columns(plan, metadata, places, wrong_lane);
    if (selected.empty()) return false;
    if (plan.engine->recipe().kind == number::DotRecipe::Kind::integer)
        multiply_spread(plan, selected, a, b, accumulators);
    else
        multiply_selected(plan, selected, a, b, accumulators);
    return true;
}

/// Integers: zeros where A stores nothing change no sum, so that A becomes an ordinary matrix.
void Executor::multiply_spread(const MatrixPlan& plan, std::span<const int> selected, const std::uint8_t* a,
                               const std::uint8_t* b, std::uint8_t* accumulators) {
    const number::TileEngine& engine = *plan.engine;
    const int bits = number::operand_bits(engine.recipe().a), stored = plan.k / 2, row_bytes = plan.k * bits / 8;
    alignas(64) std::uint8_t whole[tile_limit] = {};
    for (int i = 0; i < plan.m * stored; ++i) {
        const int bit = (i / stored * plan.k + selected[static_cast<std::size_t>(i)]) * bits;
        whole[bit / 8] |= static_cast<std::uint8_t>(element(a, i, bits) << bit % 8);
    }
    engine.prepare(number::Side::a, whole, plan.m, plan.k, row_bytes, prepared_a_);
    engine.prepare(number::Side::b, b, plan.n, plan.k, row_bytes, prepared_b_);
    engine.multiply(prepared_a_, prepared_b_, accumulators, accumulators, plan.m);
}

/// Floats: the elements that meet decide how a dot product falls into groups, and an infinity of B that no element of A
/// meets is no operand.
void Executor::multiply_selected(const MatrixPlan& plan, std::span<const int> selected, const std::uint8_t* a,
                                 const std::uint8_t* b, std::uint8_t* accumulators) {
    const number::DotRecipe& recipe = plan.engine->recipe();
    const auto stored = static_cast<std::size_t>(plan.k / 2);
    const auto decoded = [](const std::uint8_t* tile, int count, number::Format format) {
        const int bits = number::operand_bits(format);
        std::vector<number::Term> terms;
        terms.reserve(static_cast<std::size_t>(count));
        for (int i = 0; i < count; ++i) terms.push_back(number::decode_term(element(tile, i, bits), format));
        return terms;
    };
    const std::vector<number::Term> rows = decoded(a, plan.m * plan.k / 2, recipe.a),
                                    columns = decoded(b, plan.n * plan.k, recipe.b);
    const int sum_bits = accumulator_bits(plan.sum_format);
    std::vector<number::Term> column(stored);
    for (int m = 0; m < plan.m; ++m) {
        const std::size_t first = static_cast<std::size_t>(m) * stored;
        for (int n = 0; n < plan.n; ++n) {
            const number::Term* const from = columns.data() + n * plan.k;
            for (std::size_t i = 0; i < stored; ++i) column[i] = from[selected[first + i]];
            std::uint8_t* const at = accumulators + (n * plan.m + m) * sum_bits / 8;
            const std::uint32_t d = number::dot(recipe, std::span(rows).subspan(first, stored), column,
                                                static_cast<std::uint32_t>(element(at, 0, sum_bits)));
            std::memcpy(at, &d, static_cast<std::size_t>(sum_bits / 8));
        }
    }
}

}  // namespace tilepath::exec
