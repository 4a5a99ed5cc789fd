// tcgen05.cp: which bytes of shared memory go to which cells of Tensor Memory.
#include "exec/tmem_copy_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "atom/shared_operand.h"
#include "atom/tcgen05_descriptor.h"
#include "atom/tmem_copy.h"
#include "base/assert.h"

namespace tilepath::exec {
namespace {

using layout::Axis;

constexpr int chunk_bytes = 16, chunk_cells = 4;
/// Every swizzle's pattern repeats within it, so that the place of the start in it is all that matters of the start.
constexpr std::uint32_t pattern_bytes = 1024;
constexpr std::uint64_t start_field = 0x3FFF, phase_field = pattern_bytes / 16 - 1;

std::int32_t cell_of(const layout::Location& at) {
    return static_cast<std::int32_t>(at[Axis::tcol] * machine::TensorMemory::lanes + at[Axis::tlane]);
}

CopyPlan make_plan(const program::TmemCopy& what, std::uint64_t descriptor) {
    CopyPlan plan;
    const auto copy = atom::tmem_copy(what.shape, what.cta_group, what.data);
    TILEPATH_ASSERT(copy, "a copy that its form does not have");
    const atom::Tcgen05Descriptor fields = atom::decode_tcgen05_descriptor(descriptor);
    const auto swizzle = fields.swizzle();
    if (!swizzle) {
        plan.error = fmt::format("bits 61-63 are {}, which is no swizzle mode", fields.swizzle_bits);
        return plan;
    }
    if (fields.leading_is_address) {
        plan.error = "bit 52 is set: the leading offset is an address for matrix products with K = 96 only";
        return plan;
    }
    const auto source = atom::tmem_copy_source(*copy, *swizzle, static_cast<int>(fields.leading_bytes),
                                               static_cast<int>(fields.stride_bytes));
    if (!source) {
        plan.error = source.error().front().message;
        return plan;
    }
    atom::SharedOperand operand;
    operand.swizzle = *swizzle;
    plan.element_bits = copy->element_bits;
    plan.columns = static_cast<std::uint32_t>(copy->bytes / 4);
    const std::vector<layout::Location> copies = copy->destination.replica_steps();
    for (int row = 0; row < copy->rows; ++row) {
        for (int byte = 0; byte < copy->bytes; byte += chunk_bytes) {
            const std::int64_t element = std::int64_t{row} * copy->bytes + byte;
            const auto offset = static_cast<std::uint64_t>(source->base(element)[Axis::m]);
            const auto from = static_cast<std::int32_t>(
                atom::operand_address(operand, fields.start_bytes % pattern_bytes, fields.base_offset, offset));
            const layout::Location to = copy->destination.base(element);
            plan.element_shift = static_cast<int>(to[Axis::bit]);
            for (const layout::Location& step : copies) {
                plan.chunks.push_back({from, cell_of(to) + cell_of(step)});
                if (byte == 0) plan.lanes.push_back(static_cast<std::uint32_t>(to[Axis::tlane] + step[Axis::tlane]));
            }
        }
    }
    const auto [least, most] = std::ranges::minmax(plan.chunks, {}, &CopyPlan::Chunk::source);
    plan.least = least.source;
    plan.most = most.source;
    return plan;
}

/// 16 elements of so many bits, packed from the first byte on, each to a byte of its own.
void widen(const std::uint8_t* from, int bits, int shift, std::uint8_t* to) {
    const unsigned mask = (1u << bits) - 1;
    for (int i = 0; i < chunk_bytes; ++i) {
        const int bit = i * bits;
        const unsigned pair = from[bit / 8] | (bit / 8 + 1 < chunk_bytes ? unsigned{from[bit / 8 + 1]} << 8 : 0);
        to[i] = static_cast<std::uint8_t>((pair >> bit % 8 & mask) << shift);
    }
}

}  // namespace

std::uint32_t copy_base(std::uint64_t descriptor) {
    return static_cast<std::uint32_t>(descriptor & start_field & ~phase_field) * 16;
}

const CopyPlan& CopyPlans::find(const program::TmemCopy& what, std::uint64_t descriptor) {
    const std::uint64_t key = descriptor & ~(start_field & ~phase_field);
    const auto found =
        std::ranges::find_if(entries_, [&](const auto& each) { return each->key == key && each->what == what; });
    if (found != entries_.end()) return (*found)->plan;
    constexpr std::size_t most = 256;
    if (entries_.size() == most) entries_.clear();
    entries_.push_back(std::make_unique<Entry>(what, key, make_plan(what, descriptor)));
    return entries_.back()->plan;
}

std::vector<machine::TensorCells> CopyPlan::touched(machine::TensorMemoryAddress at) const {
    machine::TensorCells cells;
    cells.write = true;
    cells.column = at.column;
    cells.columns = columns;
    for (const std::uint32_t lane : lanes)
        if (at.lane + lane < machine::TensorMemory::lanes)
            cells.lanes[(at.lane + lane) / 32] |= 1u << (at.lane + lane) % 32;
    return {cells};
}

void CopyPlan::copy(const std::uint8_t* shared, std::uint64_t descriptor, std::uint32_t* first) const {
    const std::uint8_t* const base = shared + copy_base(descriptor);
    for (const Chunk& chunk : chunks) {
        std::uint8_t bytes[chunk_bytes];
        if (element_bits == 8)
            std::memcpy(bytes, base + chunk.source, chunk_bytes);
        else
            widen(base + chunk.source, element_bits, element_shift, bytes);
        for (int i = 0; i < chunk_cells; ++i)
            std::memcpy(first + chunk.cell + i * static_cast<int>(machine::TensorMemory::lanes), bytes + 4 * i, 4);
    }
}

}  // namespace tilepath::exec
