// What bulk copies do when they land: a load row by row, counting on its mbarriers; a store reads its source and later
// writes.
#include <algorithm>
#include <bit>
#include <cstring>

#include "base/assert.h"
#include "exec/atomic_update.h"
#include "exec/bulk_operands.h"
#include "exec/executor.h"
#include "machine/bulk_signal.h"

namespace tilepath::exec {

using machine::BoxRow;
using program::Space;

namespace {

constexpr std::uint32_t piece_bytes = 128;  // of a copy of bytes in a row

struct Reduction {
    program::AtomicOp op;
    program::DataType type;
    bool global;  ///< adds as atomics of global memory do
};

/// How a reduction's numbers are added: f32 keeps subnormals but in tensors that say ftz (recorded on an H200).
Reduction update_of(const PendingBulk& bulk) {
    using machine::TensorType;
    const program::AtomicOp op = bulk.what->reduction;
    if (!bulk.box) return {op, bulk.what->type, bulk.what->type == program::DataType::f64};
    const TensorType tensor = bulk.box->map().type;
    const program::DataType type = reduced_type(tensor, op);
    TILEPATH_ASSERT(type != program::DataType::none, "a reduction of such elements is refused when it is issued");
    const bool flushes = tensor == TensorType::f32_ftz || tensor == TensorType::tf32_ftz;
    return {op, type, flushes || type == program::DataType::f64};
}

void reduce(std::uint8_t* into, const std::uint8_t* from, std::size_t bytes, const Reduction& update) {
    const auto element = static_cast<std::size_t>(program::bytes(update.type));
    bool changed = false;
    for (std::size_t i = 0; i + element <= bytes; i += element) {
        std::uint64_t value = 0;
        std::memcpy(&value, from + i, element);
        update_memory(into + i, update.op, update.type, update.global, value, 0, changed);
    }
}

/// Of each 16 bytes those whose bits are set.
void copy_masked(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes, std::uint32_t mask) {
    for (std::size_t i = 0; i < bytes; ++i)
        if ((mask >> i % 16 & 1) != 0) to[i] = from[i];
}

std::uint8_t* host(std::uint64_t global) {
    return reinterpret_cast<std::uint8_t*>(static_cast<std::uintptr_t>(global));
}

}  // namespace

/// True when all has landed, or after a fault.
bool Executor::load_pieces(ClusterRun& cluster, PendingBulk& bulk, std::uint32_t pieces) {
    std::uint8_t* images[32];
    std::size_t count = 0;
    for (std::uint32_t left = bulk.ctas; left != 0; left &= left - 1) {
        machine::Cta& cta = cluster.ctas[static_cast<std::size_t>(std::countr_zero(left))]->state;
        images[count++] = cta.shared.data();
        if (!cta.async_shared.empty()) images[count++] = cta.async_shared.data();
    }
    const std::span<std::uint8_t* const> into(images, count);
    std::uint32_t bytes = 0;
    if (bulk.box) {
        BoxRow row;
        for (; pieces != 0 && bulk.box->next(row); --pieces) {
            const bool none = row.begin == row.end;
            machine::load_row(bulk.box->map(), *bulk.box, row,
                              none ? nullptr : async_view(row.global + row.begin, row.end - row.begin, patched_bytes_),
                              into);
            bytes += bulk.box->row_bytes();
        }
    } else {
        const std::uint32_t most = pieces > bulk.bytes / piece_bytes ? bulk.bytes : pieces * piece_bytes;
        bytes = std::min(bulk.bytes - bulk.done, most);
        const std::uint8_t* const from =
            bulk.what->source == Space::global
                ? async_view(bulk.global + bulk.done, bytes, patched_bytes_)
                : bulk.warp->cta->state.async_view() + machine::shared_offset(bulk.shared_source) + bulk.done;
        const std::uint32_t offset = machine::shared_offset(bulk.shared_destination) + bulk.done;
        for (std::uint8_t* image : into) {
            if (bulk.what->reduces)
                reduce(image + offset, from, bytes, update_of(bulk));
            else
                std::memmove(image + offset, from, bytes);
        }
    }
    bulk.done += bytes;
    wrote();
    const Issuer by{*bulk.warp, *bulk.function, *bulk.code, 1u << bulk.lane};
    for (std::uint32_t left = bulk.ctas; left != 0; left &= left - 1) {
        const std::uint32_t mbarrier =
            machine::signalled_mbarrier(*bulk.what, static_cast<std::uint32_t>(std::countr_zero(left)), bulk.mbarrier);
        if (!complete_transactions(by, mbarrier, bytes, Proxy::async)) return true;
    }
    return bulk.done == bulk.bytes;
}

/// Takes what the async proxy sees in the CTA's shared memory.
void Executor::read_source(const ClusterRun&, PendingBulk& bulk) {
    bulk.staged = std::move(spare_bulk_bytes_);
    bulk.staged.resize(bulk.bytes);
    bulk.read = true;
    const std::uint8_t* const image = bulk.warp->cta->state.async_view();
    if (!bulk.box) {
        std::memcpy(bulk.staged.data(), image + machine::shared_offset(bulk.shared_source), bulk.bytes);
        return;
    }
    machine::BoxWalk walk = *bulk.box;
    BoxRow row;
    std::uint8_t* to = bulk.staged.data();
    for (; walk.next(row); to += walk.row_bytes())
        if (row.begin != row.stored_end) machine::read_row(walk.map(), walk, row, image, to);
}

void Executor::write_global(PendingBulk& bulk) {
    const auto put = [&](std::uint64_t global, const std::uint8_t* from, std::size_t bytes) {
        if (launch_.stale) launch_.stale->async.publish(global, bytes);
        if (bulk.what->reduces)
            reduce(host(global), from, bytes, update_of(bulk));
        else if (bulk.what->byte_mask)
            copy_masked(host(global), from, bytes, bulk.byte_mask);
        else
            std::memcpy(host(global), from, bytes);
    };
    if (!bulk.box) {
        put(bulk.global, bulk.staged.data(), bulk.bytes);
    } else {
        machine::BoxWalk walk = *bulk.box;
        BoxRow row;
        const std::uint8_t* from = bulk.staged.data();
        for (; walk.next(row); from += walk.row_bytes()) {
            std::uint64_t end = row.stored_end;
            if (row.end == row.begin) continue;
            // What a store writes behind the tensor's row may lie behind the allocation, where nobody sees it.
            if (row.stored_end != row.end)
                if (const auto range = launch_.memory.find(row.global + row.begin))
                    end = std::min(end, range->end - row.global);
            put(row.global + row.begin, from + row.begin, static_cast<std::size_t>(end - row.begin));
        }
    }
    spare_bulk_bytes_ = std::move(bulk.staged);
    wrote();
}

}  // namespace tilepath::exec
