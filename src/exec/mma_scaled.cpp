// mma.sync and mma.sp with block scales, and the elements that kinds keep in bytes and nibbles. PTX ISA 9.7.14.3.
#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <span>
#include <vector>

#include "exec/executor.h"
#include "exec/matrix_plan.h"

namespace tilepath::exec {
namespace {

std::vector<number::Term> decoded(const std::uint8_t* tile, int count, number::Format format) {
    std::vector<number::Term> terms;
    terms.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) terms.push_back(number::decode_term(tile[i], format));
    return terms;
}

/// An operand's elements, a byte each, and its scales.
struct ScaledTile {
    const std::uint8_t *elements, *scales;
};

/// Each row of A multiplies the elements of B that its metadata names; a block's scale is for those of them in it.
void multiply_selected_scaled(const MatrixPlan& plan, std::span<const int> selected, ScaledTile a, ScaledTile b,
                              std::uint8_t* accumulators) {
    const number::DotRecipe& recipe = plan.engine->recipe();
    const auto stored = static_cast<std::size_t>(plan.k / 2), factors = static_cast<std::size_t>(plan.scale_factors);
    const std::vector<number::Term> rows = decoded(a.elements, plan.m * plan.k / 2, recipe.a),
                                    columns = decoded(b.elements, plan.n * plan.k, recipe.b);
    std::vector<number::Term> met(stored);
    for (int m = 0; m < plan.m; ++m) {
        const std::size_t first = static_cast<std::size_t>(m) * stored;
        const std::uint8_t* const row_scales = a.scales + m * plan.scale_factors;
        const std::vector<std::uint64_t> of_row(row_scales, row_scales + factors);
        for (int n = 0; n < plan.n; ++n) {
            const std::uint8_t* const column_scales = b.scales + n * plan.scale_factors;
            const std::vector<std::uint64_t> of_column(column_scales, column_scales + factors);
            for (std::size_t i = 0; i < stored; ++i)
                met[i] = columns[static_cast<std::size_t>(n * plan.k + selected[first + i])];
            std::uint32_t d;
            std::uint8_t* const at = accumulators + (n * plan.m + m) * 4;
            std::memcpy(&d, at, 4);
            d = number::dot(recipe, std::span(rows).subspan(first, stored), met, d, {of_row, of_column});
            std::memcpy(at, &d, 4);
        }
    }
}

}  // namespace

void unpack(Unpack how, std::uint8_t* tile, int bytes) {
    switch (how) {
        case Unpack::nothing: return;
        case Unpack::low_six_bits:
            for (int i = 0; i < bytes; ++i) tile[i] &= 0x3F;
            return;
        case Unpack::middle_four_bits:
            for (int i = 0; i < bytes; ++i) tile[i] = tile[i] >> 2 & 0xF;
            return;
        case Unpack::nibbles:
            for (int i = bytes - 1; i >= 0; --i) {
                const std::uint8_t both = tile[i];
                tile[2 * i + 1] = both >> 4, tile[2 * i] = both & 0xF;
            }
            return;
    }
}

/// The scales of one operand: its register, byte-id and thread-id are three sources from `first_source` on.
bool Executor::gather_scales(Context& c, const ScalePlaces& places, int first_source, int count, std::uint8_t* scales) {
    const Row& data = c.row(c.source(first_source));
    std::uint32_t ids[2];
    const int first = std::countr_zero(c.active);
    for (int i = 0; i < 2; ++i) {
        const Row& id = c.row(c.source(first_source + 1 + i));
        ids[i] = id.lane[first] & 0xFFFF;
        for (LaneMask left = c.active; left != 0; left &= left - 1) {
            const int lane = std::countr_zero(left);
            if ((id.lane[lane] & 0xFFFF) == ids[i]) continue;
            fail(c, FaultKind::unsupported, 1u << lane, "the lanes of a warp select scales differently");
            return false;
        }
    }
    const bool known = ids[0] < ScalePlaces::byte_ids && ids[1] < ScalePlaces::thread_ids;
    const std::size_t at = known ? ids[0] * ScalePlaces::thread_ids + ids[1] : 0;
    if (!known || places.of[at].empty()) {
        fail(c, FaultKind::unsupported, c.active,
             fmt::format("byte-id {} and thread-id {} select no scales that the manual defines", ids[0], ids[1]));
        return false;
    }
    for (int i = 0; i < count; ++i) {
        const atom::ElementPlace& place = places.of[at][static_cast<std::size_t>(i)];
        scales[i] = static_cast<std::uint8_t>(data.lane[place.lane] >> place.bit);
    }
    return true;
}

bool Executor::multiply_scaled(Context& c, const std::uint8_t* a, const std::uint8_t* b, std::uint8_t* accumulators) {
    const MatrixPlan& plan = *c.code.matrix;
    int next = plan.a.registers + plan.b.registers + plan.c.registers;
    std::vector<int> selected;
    if (plan.sparse) {
        int lane = 0;
        selected = stored_columns(plan, c.row(c.source(next++)), plan.metadata, lane);
        if (selected.empty()) {
            fail(c, FaultKind::unsupported, 1u << lane, undefined_metadata);
            return false;
        }
    }
    std::uint8_t scales_a[64], scales_b[32];  // 16 and 8 rows of up to four
    if (!gather_scales(c, plan.scales_a, next, plan.m * plan.scale_factors, scales_a) ||
        !gather_scales(c, plan.scales_b, next + 3, plan.n * plan.scale_factors, scales_b))
        return false;
    if (plan.sparse) {
        multiply_selected_scaled(plan, selected, {a, scales_a}, {b, scales_b}, accumulators);
        return true;
    }
    const number::TileEngine& engine = *plan.engine;
    engine.prepare(number::Side::a, a, plan.m, plan.k, plan.row_bytes, prepared_a_, {scales_a, plan.scale_factors});
    engine.prepare(number::Side::b, b, plan.n, plan.k, plan.row_bytes, prepared_b_, {scales_b, plan.scale_factors});
    engine.multiply(prepared_a_, prepared_b_, accumulators, accumulators, plan.m);
    return true;
}

}  // namespace tilepath::exec
