#include "atom/shared_operand.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/assert.h"

namespace tilepath::atom {
namespace {

using layout::Axis;
using layout::Iter;
using layout::Layout;
using layout::Mode;
using layout::SwizzleMode;

constexpr int core_bytes = 16;  // of a core matrix' row

/// Elements in 16 bytes.
int elements_per_chunk(int bits, bool padded) { return padded ? 16 : core_bytes * 8 / bits; }

/// `count` elements side by side from a byte on; of padded ones, the bit counts from the chunk's first byte.
Mode contiguous(int count, int bits, bool padded) {
    if (padded) return {{count, bits, Axis::bit}};
    if (bits >= 8) return {{count, bits / 8, Axis::m}};
    return {{count * bits / 8, 1, Axis::m}, {8 / bits, bits, Axis::bit}};
}

Mode join(std::initializer_list<Iter> outer, Mode inner) {
    Mode mode(outer);
    mode.insert(mode.end(), inner.begin(), inner.end());
    return mode;
}

/// k rows of one pattern of an MN-major operand: 8, or 4 with 32-byte atoms.
int k_group(SwizzleMode swizzle) { return swizzle == SwizzleMode::b128_atom_32b ? 4 : 8; }

bool is_operand_mode(SwizzleMode swizzle) {
    switch (swizzle) {
        case SwizzleMode::none:
        case SwizzleMode::b32:
        case SwizzleMode::b64:
        case SwizzleMode::b128:
        case SwizzleMode::b128_atom_32b: return true;
        case SwizzleMode::b128_atom_32b_flip_8b:
        case SwizzleMode::b128_atom_64b:
        case SwizzleMode::b96: return false;
    }
    return false;
}

Result<void> check_multiple(std::string_view what, int value, int of) {
    if (value > 0 && value % of == 0) return {};
    return fail(fmt::format("expected {} of a multiple of {}, found {}", what, of, value));
}

Result<void> check(const SharedOperand& operand) {
    if (!is_operand_mode(operand.swizzle)) {
        return fail(fmt::format("matrix operands have no swizzle mode {}", layout::traits(operand.swizzle).name),
                    "modes: none, 32B, 64B, 128B, 128B_atom_32B");
    }
    int bits = operand.element_bits;
    if (operand.padded && bits != 4 && bits != 6)
        return fail(fmt::format("expected padded elements of 4 or 6 bits, found {}", bits));
    if (!operand.padded && bits != 1 && bits != 4 && bits != 8 && bits != 16 && bits != 32) {
        return fail(fmt::format("expected elements of 1, 4, 8, 16 or 32 bits, found {}", bits));
    }
    int chunk = elements_per_chunk(bits, operand.padded);
    int row = layout::traits(operand.swizzle).span_bytes / core_bytes * chunk;
    if (operand.major == OperandMajor::k) {
        if (auto ok = check_multiple("mn", operand.mn, 8); !ok) return ok;
        return check_multiple("k", operand.k,
                              operand.k > row ? row : chunk);  // whole rows of the swizzle, or a part of one
    }
    if (auto ok = check_multiple("mn", operand.mn, row); !ok) return ok;
    return check_multiple("k", operand.k, k_group(operand.swizzle));
}

Layout k_major(const SharedOperand& operand) {
    int chunk = elements_per_chunk(operand.element_bits, operand.padded), chunks = operand.k / chunk;
    int row = layout::traits(operand.swizzle).span_bytes / core_bytes;  // chunks of a swizzle row
    Mode inner = contiguous(chunk, operand.element_bits, operand.padded);
    Mode rows{{operand.mn / 8, operand.stride_bytes, Axis::m}};
    Mode columns;
    if (operand.swizzle == SwizzleMode::none) {
        rows.push_back({8, core_bytes, Axis::m});
        columns = join({{chunks, operand.leading_bytes, Axis::m}}, std::move(inner));
    } else {
        rows.push_back({8, row * core_bytes, Axis::m});
        int within = std::min(chunks, row);
        columns =
            join({{chunks / within, operand.leading_bytes, Axis::m}, {within, core_bytes, Axis::m}}, std::move(inner));
    }
    Result<Layout> made = Layout::make({std::move(rows), std::move(columns)});
    TILEPATH_ASSERT(made, "a K-major operand's layout is malformed");
    return *std::move(made);
}

Layout mn_major(const SharedOperand& operand) {
    int chunk = elements_per_chunk(operand.element_bits, operand.padded);
    int row = layout::traits(operand.swizzle).span_bytes / core_bytes, group = k_group(operand.swizzle);
    bool swizzles = operand.swizzle != SwizzleMode::none;
    int next_mn = swizzles ? operand.leading_bytes : operand.stride_bytes;
    int next_k = swizzles ? operand.stride_bytes : operand.leading_bytes;
    Mode rows = join({{operand.mn / (row * chunk), next_mn, Axis::m}, {row, core_bytes, Axis::m}},
                     contiguous(chunk, operand.element_bits, operand.padded));
    Mode columns{{operand.k / group, next_k, Axis::m}, {group, row * core_bytes, Axis::m}};
    Result<Layout> made = Layout::make({std::move(rows), std::move(columns)});
    TILEPATH_ASSERT(made, "an MN-major operand's layout is malformed");
    return *std::move(made);
}

}  // namespace

Result<Layout> operand_layout(const SharedOperand& operand) {
    if (auto ok = check(operand); !ok) return std::unexpected(ok.error());
    return operand.major == OperandMajor::k ? k_major(operand) : mn_major(operand);
}

std::uint64_t operand_address(const SharedOperand& operand, std::uint64_t start, int base_offset,
                              std::uint64_t offset) {
    // XOR takes bits of (a >> 7) - base_offset: shift the phase out of the pattern's source bits only.
    const layout::Swizzle& swizzle = layout::traits(operand.swizzle).bytes;
    std::uint64_t address = start + offset;
    std::uint64_t mask = (std::uint64_t{1} << swizzle.bits) - 1;
    std::uint64_t source = (address >> (swizzle.base + swizzle.shift)) - static_cast<std::uint64_t>(base_offset);
    return address ^ ((source & mask) << swizzle.base);
}

int SharedTile::step_bytes(int i) const {
    std::int64_t element = static_cast<std::int64_t>(i) * operand.k;
    TILEPATH_ASSERT(i >= 0 && element < tile_k, "a step beyond the tile's k");
    return static_cast<int>(layout.base(element)[Axis::m]);
}

Result<SharedTile> shared_tile(OperandMajor major, SwizzleMode swizzle, int element_bits, int mn, int k,
                               int instruction_k, bool padded) {
    if (instruction_k <= 0 || k % instruction_k != 0) {
        return fail(fmt::format("expected a tile of whole steps of {} along k, found {}", instruction_k, k));
    }
    SharedTile tile;
    tile.tile_k = k;
    SharedOperand& operand = tile.operand;
    operand = {major, swizzle, element_bits, mn, instruction_k, core_bytes, core_bytes, padded};
    if (auto ok = check(operand); !ok) return std::unexpected(ok.error());
    int span = layout::traits(swizzle).span_bytes, chunk = elements_per_chunk(element_bits, padded);
    int atom = span * (major == OperandMajor::k ? 8 : k_group(swizzle));
    int row = span / core_bytes * chunk;  // elements of a swizzle row
    Mode rows, columns;
    if (major == OperandMajor::k) {
        if (k % std::min(k, row) != 0) return fail(fmt::format("expected k of a multiple of {}, found {}", row, k));
        int column = mn / 8 * atom;  // all of mn, one swizzle row of k
        operand.stride_bytes = atom;
        operand.leading_bytes = swizzle == SwizzleMode::none ? column : core_bytes;
        if (swizzle != SwizzleMode::none && instruction_k > row) operand.leading_bytes = column;
        rows = {{mn / 8, atom, Axis::m}, {8, span, Axis::m}};
        int within = std::min(k, row);
        columns = join({{k / within, column, Axis::m}, {within / chunk, core_bytes, Axis::m}},
                       contiguous(chunk, element_bits, padded));
    } else {
        int column = mn / row * atom;  // all of mn, one group of k
        bool swizzles = swizzle != SwizzleMode::none;
        operand.leading_bytes = swizzles ? atom : column;
        operand.stride_bytes = swizzles ? column : atom;
        rows = join({{mn / row, atom, Axis::m}, {span / core_bytes, core_bytes, Axis::m}},
                    contiguous(chunk, element_bits, padded));
        columns = {{k / k_group(swizzle), column, Axis::m}, {k_group(swizzle), span, Axis::m}};
    }
    Result<Layout> made = Layout::make({std::move(rows), std::move(columns)});
    TILEPATH_ASSERT(made, "a tile's layout is malformed");
    tile.layout = *std::move(made);
    tile.bytes = static_cast<int>(static_cast<std::int64_t>(mn) * k / chunk * core_bytes);
    return tile;
}

}  // namespace tilepath::atom
