// mma.sync, mma.sp and wmma.mma: registers to tiles, the engine of number/, and back.
#include <bit>
#include <cstring>

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
    plan.c.gather(c.rows, source + plan.a.registers + plan.b.registers, accumulators);
    const int count = plan.blocks * plan.m * plan.n, sum_bytes = accumulator_bits(plan.sum_format) / 8;
    convert_accumulators(accumulators, count, plan.c_format, plan.sum_format);
    if (plan.sparse) {
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
    if (observer_ != nullptr) observer_->multiply({site(c), &c.function().mmas[c.op().detail]});
    return Step::next;
}

/// A stores half of its columns; each of its rows multiplies the rows of B that its metadata names.
bool Executor::multiply_sparse(Context& c, const Row& metadata, const std::uint8_t* a, const std::uint8_t* b,
                               std::uint8_t* accumulators) {
    const MatrixPlan& plan = *c.code.matrix;
    const atom::SparseMmaAtom& atom = *plan.sparse;
    const number::DotRecipe& recipe = plan.engine->recipe();
    const int bits_a = number::operand_bits(recipe.a), bits_b = number::operand_bits(recipe.b);
    const int chunks = plan.k / atom.chunk, stored = plan.k / 2;
    const int sum_bits = accumulator_bits(plan.sum_format);
    std::vector<std::uint64_t> row, column;
    std::vector<int> selected;
    for (int m = 0; m < plan.m; ++m) {
        selected.clear();
        for (int chunk = 0; chunk < chunks; ++chunk) {
            const atom::ElementPlace& at = plan.metadata[static_cast<std::size_t>(m * chunks + chunk)];
            const auto columns = atom::selected_columns(atom.sparsity, metadata.lane[at.lane] >> at.bit & 15);
            if (!columns) {
                fail(c, FaultKind::unsupported, 1u << at.lane,
                     "the metadata selects no columns that the manual defines");
                return false;
            }
            for (int i = 0; i < columns->count; ++i)
                selected.push_back(chunk * atom.chunk + columns->columns[static_cast<std::size_t>(i)]);
        }
        row.clear();
        for (int i = 0; i < stored; ++i) row.push_back(element(a, m * stored + i, bits_a));
        for (int n = 0; n < plan.n; ++n) {
            column.clear();
            for (const int k : selected) column.push_back(element(b, n * plan.k + k, bits_b));
            std::uint8_t* const at = accumulators + (n * plan.m + m) * sum_bits / 8;
            const std::uint64_t d = number::dot(recipe, row, column, element(at, 0, sum_bits));
            std::memcpy(at, &d, static_cast<std::size_t>(sum_bits / 8));
        }
    }
    return true;
}

}  // namespace tilepath::exec
