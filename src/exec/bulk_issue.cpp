// Bulk copies as they are issued: every operand is judged here, so that landing finds nothing wrong but an mbarrier.
#include <fmt/format.h>

#include <bit>

#include "exec/bulk_operands.h"
#include "exec/executor.h"

namespace tilepath::exec {

using machine::Access;
using machine::Place;
using program::Bulk;
using program::Space;

bool Executor::wrong_bulk(Context& c, int lane, FaultKind kind, std::string message) {
    fail(c, kind, 1u << lane, std::move(message));
    return false;
}

/// A lane's value of a source register or constant of 16, 32 or 64 bits.
std::uint64_t Executor::source_value(const Context& c, int which, int lane) const {
    const program::Operand operand = c.function().sources(c.op())[static_cast<std::size_t>(which)];
    const int width = operand.kind == program::Operand::Kind::reg
                          ? program::bits(c.function().registers[operand.index].type)
                          : c.function().constants[operand.index].width;
    if (width == 64) return c.wide(c.source(which))[lane];
    const std::uint32_t value = c.row(c.source(which)).lane[lane];
    return width == 16 ? value & 0xFFFF : value;
}

Step Executor::bulk_copy(Context& c) {
    const Bulk& what = c.function().bulks[c.op().detail];
    for (LaneMask left = c.active; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        PendingBulk bulk;
        bulk.what = &what;
        bulk.function = c.frame.function;
        bulk.code = &c.code;
        bulk.warp = &c.warp;
        bulk.lane = static_cast<std::uint8_t>(lane);
        bulk.group = c.warp.bulk_groups[static_cast<std::size_t>(lane)];
        if (!prepare_bulk(c, what, lane, bulk)) return Step::fault;
        if (!what.prefetch && bulk.bytes != 0) issue_bulk(*c.warp.cta->cluster, std::move(bulk));
    }
    return launch_.stop.load(std::memory_order_relaxed) ? Step::fault : Step::next;
}

/// Whether `bytes` bytes lie in one piece of memory, from a multiple of `unit` on.
bool Executor::check_bytes(Context& c, int lane, Place at, std::uint32_t bytes, std::uint32_t unit, Access::Kind kind) {
    if (at.address % unit != 0) {
        fail_access(c, FaultKind::misaligned, kind, lane, at, bytes,
                    fmt::format("a bulk copy's address here is a multiple of {}", unit));
        return false;
    }
    if (bytes == 0) return true;
    if (at.space == Space::global) {
        const auto range = launch_.memory.find(at.address);
        const bool fits = range && range->end - at.address >= bytes;
        if (fits && (kind == Access::Kind::read || !range->read_only)) return true;
        fail_access(c, fits ? FaultKind::read_only : FaultKind::out_of_bounds, kind, lane, at, bytes,
                    !range ? "no allocation holds the address"
                    : fits ? "the memory can only be read"
                           : "the copy reaches past the end of the allocation");
        return false;
    }
    if (resolve_one(c, kind, lane, at, 1) == nullptr) return false;
    return resolve_one(c, kind, lane, {at.space, at.address + bytes - 1}, 1) != nullptr;
}

bool Executor::prepare_bulk(Context& c, const Bulk& what, int lane, PendingBulk& out) {
    if (what.dimensions != 0) {
        if (!prepare_box(c, what, lane, out)) return false;
    } else {
        const std::uint64_t bytes = source_value(c, bytes_source, lane);
        if (bytes % 16 != 0)
            return wrong_bulk(c, lane, FaultKind::bulk_copy,
                              fmt::format("a bulk copy moves a multiple of 16 bytes, found {}", bytes));
        out.bytes = static_cast<std::uint32_t>(bytes);
        if (what.byte_mask) out.byte_mask = static_cast<std::uint32_t>(source_value(c, byte_mask_source, lane));
        const bool to_global = what.destination == Space::global;
        if (to_global || what.source == Space::global) {
            out.global = source_value(c, to_global ? destination : source, lane);
            const Access::Kind kind = !to_global     ? Access::Kind::read
                                      : what.reduces ? Access::Kind::atomic
                                                     : Access::Kind::write;
            if (!check_bytes(c, lane, {Space::global, out.global}, out.bytes, 16, kind)) return false;
        }
    }
    return what.prefetch || prepare_shared(c, what, lane, out);
}

/// The sides in shared memory, the mbarrier, and which CTAs a load goes to.
bool Executor::prepare_shared(Context& c, const Bulk& what, int lane, PendingBulk& out) {
    const std::uint32_t own = c.warp.cta->state.rank, unit = what.dimensions == 0 ? 16 : 128;
    const auto place = [&](std::uint32_t address) {
        return Place{machine::shared_rank(address) == own ? Space::shared : Space::shared_cluster, address};
    };
    const std::uint32_t extent = out.box ? out.box->shared_bytes() : out.bytes;
    if (what.source != Space::global) {
        out.shared_source = static_cast<std::uint32_t>(source_value(c, source, lane));
        if (machine::shared_rank(out.shared_source) != own)
            return wrong_bulk(c, lane, FaultKind::out_of_bounds, "the source is not in the CTA's own shared memory");
        if (!check_bytes(c, lane, place(out.shared_source), extent, unit, Access::Kind::read)) return false;
    }
    if (what.destination == Space::global) return true;
    out.shared_destination = static_cast<std::uint32_t>(source_value(c, destination, lane));
    out.mbarrier = static_cast<std::uint32_t>(source_value(c, mbarrier_source, lane));
    const auto& ctas = c.warp.cta->cluster->ctas;
    // .cta_group::2: either CTA of a pair may hold the mbarrier.
    const std::uint32_t pair = what.pair_mbarrier ? 1 : 0;
    if (what.pair_mbarrier && ctas.size() % 2 != 0)
        return wrong_bulk(c, lane, FaultKind::bulk_copy,
                          fmt::format(".cta_group::2 is for clusters of pairs of CTAs, found {}", ctas.size()));
    if (c.function().sources(c.op())[mask_source].kind == program::Operand::Kind::none) {
        out.ctas = 1u << std::min(31u, machine::shared_rank(out.shared_destination));
        if (!check_bytes(c, lane, place(out.shared_destination), extent, unit, Access::Kind::write)) return false;
        if (machine::shared_rank(out.mbarrier) >> pair == machine::shared_rank(out.shared_destination) >> pair)
            return true;
        return wrong_bulk(
            c, lane, FaultKind::bulk_copy,
            fmt::format("the mbarrier lies in the CTA of rank {}, the destination in that of rank {}",
                        machine::shared_rank(out.mbarrier), machine::shared_rank(out.shared_destination)));
    }
    out.ctas = static_cast<std::uint32_t>(source_value(c, mask_source, lane));
    if (out.ctas >> ctas.size() != 0)
        return wrong_bulk(
            c, lane, FaultKind::bulk_copy,
            fmt::format("the CTA mask {:#x} names CTAs that a cluster of {} does not have", out.ctas, ctas.size()));
    for (std::uint32_t left = out.ctas; left != 0; left &= left - 1) {
        const std::uint32_t address = machine::shared_address(static_cast<std::uint32_t>(std::countr_zero(left)),
                                                              machine::shared_offset(out.shared_destination));
        if (!check_bytes(c, lane, place(address), extent, unit, Access::Kind::write)) return false;
    }
    return true;
}

}  // namespace tilepath::exec
