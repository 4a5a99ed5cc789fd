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

/// C in D's format, where they differ: f16 to f32 is exact, f32 to f16 rounds to nearest even.
void convert_accumulators(const MatrixPlan& plan, const std::uint8_t* c, std::uint8_t* d) {
    const int count = plan.c.tile_bytes / plan.c_bytes;
    for (int i = 0; i < count; ++i) {
        const std::uint64_t value = number::convert(element(c, i, 8 * plan.c_bytes), plan.c_format, plan.d_format);
        std::memcpy(d + i * plan.d_bytes, &value, static_cast<std::size_t>(plan.d_bytes));
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
    if (plan.c_format != plan.d_format) {
        alignas(64) std::uint8_t given[tile_limit];
        std::memcpy(given, accumulators, static_cast<std::size_t>(plan.c.tile_bytes));
        convert_accumulators(plan, given, accumulators);
    }
    if (plan.sparse) {
        const std::uint32_t metadata = c.source(plan.a.registers + plan.b.registers + plan.c.registers);
        if (!multiply_sparse(c, c.row(metadata), a, b, accumulators)) return Step::fault;
    } else {
        const number::TileEngine& engine = *plan.engine;
        for (int block = 0; block < plan.blocks; ++block) {
            std::uint8_t* const d = accumulators + block * plan.m * plan.n * plan.d_bytes;
            engine.prepare(number::Side::a, a + block * plan.m * plan.row_bytes, plan.m, plan.k, plan.row_bytes,
                           prepared_a_);
            engine.prepare(number::Side::b, b + block * plan.n * plan.row_bytes, plan.n, plan.k, plan.row_bytes,
                           prepared_b_);
            engine.multiply(prepared_a_, prepared_b_, d, d, plan.m);
        }
    }
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
            std::uint8_t* const at = accumulators + (n * plan.m + m) * plan.d_bytes;
            const std::uint64_t d = number::dot(recipe, row, column, element(at, 0, 8 * plan.d_bytes));
            std::memcpy(at, &d, static_cast<std::size_t>(plan.d_bytes));
        }
    }
    return true;
}

}  // namespace tilepath::exec
