// Bulk copies on their way: a load lands row by row and counts on its mbarriers, a store reads its source and later
// writes.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/assert.h"
#include "exec/atomic_update.h"
#include "exec/bulk_operands.h"
#include "exec/executor.h"

namespace tilepath::exec {

using machine::BoxRow;
using machine::CopyPolicy;
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

std::uint8_t* host(std::uint64_t global) {
    return reinterpret_cast<std::uint8_t*>(static_cast<std::uintptr_t>(global));
}

}  // namespace

machine::BulkCopy Executor::event_of(const PendingBulk& bulk) const {
    return {event_site(*bulk.warp, *bulk.function, *bulk.code, 1u << bulk.lane),
            bulk.id,
            bulk.lane,
            bulk.what,
            bulk.writes_global() ? bulk.global : bulk.shared_destination,
            bulk.what->source == Space::global ? bulk.global : bulk.shared_source,
            bulk.bytes,
            bulk.ctas,
            bulk.box ? &*bulk.box : nullptr,
            bulk.mbarrier,
            bulk.group,
            bulk.map};
}

void Executor::issue_bulk(ClusterRun& cluster, PendingBulk bulk) {
    bulk.id = launch_.next_copy_id++;
    if (observer_ != nullptr) observer_->bulk_issued(event_of(bulk));
    if (launch_.options.copies == CopyPolicy::eager) {
        finish(cluster, bulk);
        return;
    }
    cluster.bulks.push_back(std::move(bulk));
    if (launch_.options.copies == CopyPolicy::random) land_bulks_randomly(cluster);
}

/// Lands pieces of a load, or takes a store one step further; true when nothing of it is left.
bool Executor::advance(ClusterRun& cluster, PendingBulk& bulk, std::uint32_t pieces) {
    bool over = false;
    if (!bulk.writes_global()) {
        over = load_pieces(cluster, bulk, pieces);
    } else if (!bulk.read) {
        read_source(cluster, bulk);
    } else {
        write_global(bulk);
        over = true;
    }
    if (over && observer_ != nullptr) observer_->bulk_landed(event_of(bulk));
    return over;
}

bool Executor::finish(ClusterRun& cluster, PendingBulk& bulk) {
    while (!launch_.stop.load(std::memory_order_relaxed))
        if (advance(cluster, bulk, ~0u)) return true;
    return false;
}

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
            machine::load_row(bulk.box->map(), *bulk.box, row, none ? nullptr : host(row.global + row.begin), into);
            bytes += bulk.box->row_bytes();
        }
    } else {
        const std::uint32_t most = pieces > bulk.bytes / piece_bytes ? bulk.bytes : pieces * piece_bytes;
        bytes = std::min(bulk.bytes - bulk.done, most);
        const std::uint8_t* const from =
            (bulk.what->source == Space::global
                 ? host(bulk.global)
                 : bulk.warp->cta->state.async_view() + machine::shared_offset(bulk.shared_source)) +
            bulk.done;
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
        const auto rank = static_cast<std::uint32_t>(std::countr_zero(left));
        if (!complete_transactions(by, machine::shared_address(rank, machine::shared_offset(bulk.mbarrier)), bytes))
            return true;
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
        if (bulk.what->reduces)
            reduce(host(global), from, bytes, update_of(bulk));
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

Step Executor::bulk_commit(Context& c) {
    for (LaneMask left = c.active; left != 0; left &= left - 1)
        ++c.warp.bulk_groups[static_cast<std::size_t>(std::countr_zero(left))];
    observe_group(c, machine::GroupEvent::Engine::bulk, machine::GroupEvent::Kind::commit);
    return Step::next;
}

/// Hands each pending copy that `choose` picks to `land`, which says whether nothing of it is left.
template <class Choose, class Land>
void Executor::land_bulks(ClusterRun& cluster, Choose choose, Land land) {
    std::erase_if(cluster.bulks, [&](PendingBulk& bulk) {
        return !launch_.stop.load(std::memory_order_relaxed) && choose(bulk) && land(bulk);
    });
}

Step Executor::bulk_wait(Context& c) {
    ClusterRun& cluster = *c.warp.cta->cluster;
    const auto keep = static_cast<std::uint64_t>(c.op().immediate);
    const bool only_read = c.op().variant != 0;
    land_bulks(
        cluster,
        [&](const PendingBulk& bulk) {
            return bulk.warp == &c.warp && bulk.writes_global() && (c.active >> bulk.lane & 1) != 0 &&
                   bulk.group + keep < c.warp.bulk_groups[bulk.lane];
        },
        [&](PendingBulk& bulk) {
            if (!only_read) return finish(cluster, bulk);
            if (!bulk.read) read_source(cluster, bulk);
            return false;
        });
    observe_group(c, machine::GroupEvent::Engine::bulk, machine::GroupEvent::Kind::wait, only_read);
    return launch_.stop.load(std::memory_order_relaxed) ? Step::fault : Step::next;
}

/// The copy that was issued first lands, whole: one at a time, so that copies are as late as they may be.
bool Executor::land_oldest_bulk(ClusterRun& cluster) {
    if (cluster.bulks.empty() || launch_.stop.load(std::memory_order_relaxed)) return false;
    PendingBulk bulk = std::move(cluster.bulks.front());
    cluster.bulks.erase(cluster.bulks.begin());
    finish(cluster, bulk);
    return true;
}

/// Some copies go on, some of them by a part, by the seed; and what was written to shared memory may show itself to the
/// async proxy without a fence.
void Executor::land_bulks_randomly(ClusterRun& cluster) {
    for (const auto& cta : cluster.ctas)
        if (random_() % 64 == 0) cta->state.fence_async_proxy();
    land_bulks(
        cluster, [&](const PendingBulk&) { return random_() % 8 == 0; },
        [&](PendingBulk& bulk) { return advance(cluster, bulk, 1 + static_cast<std::uint32_t>(random_() % 32)); });
}

/// The last thread of a CTA exits: its shared memory is gone. What would still be written to it is a fault of the
/// kernel; what it has yet to give is taken now.
void Executor::bulks_at_exit(CtaRun& cta) {
    ClusterRun& cluster = *cta.cluster;
    for (const PendingBulk& bulk : cluster.bulks) {
        if ((bulk.ctas >> cta.state.rank & 1) == 0) continue;
        return fail_at(
            *bulk.warp, *bulk.function, *bulk.code, FaultKind::exited_cta, 1u << bulk.lane,
            fmt::format(
                "the CTA of rank {} exits while {} bytes of this copy are still on their way into its shared memory",
                cta.state.rank, bulk.bytes - bulk.done));
    }
    land_bulks(
        cluster, [&](const PendingBulk& bulk) { return bulk.what->source != Space::global && bulk.warp->cta == &cta; },
        [&](PendingBulk& bulk) { return finish(cluster, bulk); });
}

}  // namespace tilepath::exec
