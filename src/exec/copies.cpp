// cp.async: each lane's copy from global to shared memory lands when the policy says, at the latest when it is waited
// for.
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "exec/executor.h"
#include "exec/survey.h"

namespace tilepath::exec {

using machine::Access;
using machine::CopyPolicy;
using machine::GroupEvent;
using machine::PendingCopy;
using program::Op;
using program::Space;

namespace {

/// Bytes from the source, then zeros. Where none are read there is no source, not even an address.
void copy_and_fill(std::uint8_t* to, const std::uint8_t* from, std::size_t read, std::size_t bytes) {
    if (read != 0) std::memcpy(to, from, read);
    if (read != bytes) std::memset(to + read, 0, bytes - read);
}

}  // namespace

void Executor::read_addresses(Context& c, int source, std::int64_t offset, Lanes& out) {
    const program::Operand operand = c.function().sources(c.op())[static_cast<std::size_t>(source)];
    const bool wide = operand.kind == program::Operand::Kind::reg
                          ? program::bits(c.function().registers[operand.index].type) == 64
                          : c.function().constants[operand.index].width == 64;
    if (wide)
        add_offset(c.wide(c.source(source)), offset, out.address);
    else
        add_offset(c.row(c.source(source)).lane, offset, out.address);
}

/// How many bytes of its source each lane reads; the rest are zeros. False after a fault.
bool Executor::source_bytes(Context& c, std::uint32_t bytes, std::uint8_t* out) {
    std::fill_n(out, warp_lanes, static_cast<std::uint8_t>(bytes));
    if (!c.has_source(2)) return true;
    const program::Operand operand = c.function().sources(c.op())[2];
    const bool ignores = operand.kind == program::Operand::Kind::reg
                             ? c.function().registers[operand.index].type == program::DataType::pred
                             : c.function().constants[operand.index].width == 1;
    const LaneMask ignored = ignores ? c.source_predicate(2) : 0;
    for (int lane = 0; lane < warp_lanes; ++lane) {
        if ((c.active >> lane & 1) == 0) continue;
        const std::uint32_t wanted = ignores ? (ignored >> lane & 1 ? 0 : bytes) : c.row(c.source(2)).lane[lane];
        if (wanted > bytes) {
            fail(c, FaultKind::out_of_bounds, 1u << lane,
                 fmt::format("cp.async: {} source bytes are more than the {} that are copied", wanted, bytes));
            return false;
        }
        out[lane] = static_cast<std::uint8_t>(wanted);
    }
    return true;
}

Step Executor::copy_async(Context& c) {
    if (c.op().op == Op::cp_async_mbarrier_arrive) return copy_arrive(c);
    const std::uint32_t bytes = c.code.vector;
    Lanes to, from;
    std::uint8_t wanted[warp_lanes];
    read_addresses(c, 0, c.code.offset, to);
    if (!resolve_space(c, Access::Kind::write, Space::shared, bytes, to)) return Step::fault;
    if (!source_bytes(c, bytes, wanted)) return Step::fault;
    // A lane that reads nothing may have any source address; ragged tiles rely on it.
    LaneMask whole = 0, partial = 0;
    for (int lane = 0; lane < warp_lanes; ++lane) {
        whole |= LaneMask(wanted[lane] == bytes) << lane;
        partial |= LaneMask(wanted[lane] != bytes && wanted[lane] != 0) << lane;
    }
    read_addresses(c, 1, 0, from);
    Context reading{c.warp, c.group, c.frame, c.rows, c.predicates, c.code, c.active & whole};
    alignas(64) machine::Address sources[warp_lanes];
    std::memcpy(sources, from.address, sizeof sources);
    if (reading.active != 0 && !resolve_space(reading, Access::Kind::read, Space::global, bytes, from))
        return Step::fault;
    to.fill_host(bytes);
    if (reading.active != 0) from.fill_host(bytes);
    for (LaneMask left = c.active & partial; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        if (sources[lane] % bytes != 0)
            return fail_access(c, FaultKind::misaligned, Access::Kind::read, lane, {Space::global, sources[lane]},
                               bytes, fmt::format("the address is no multiple of {}", bytes));
        from.host[lane] = resolve_one(c, Access::Kind::read, lane, {Space::global, sources[lane]}, 1);
        if (from.host[lane] == nullptr ||
            resolve_one(c, Access::Kind::read, lane, {Space::global, sources[lane] + wanted[lane] - 1}, 1) == nullptr)
            return Step::fault;
    }
    const CopyPolicy policy = launch_.options.copies;
    for (LaneMask left = c.active; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        if (policy == CopyPolicy::eager && observer_ == nullptr) {
            copy_and_fill(to.host[lane], from.host[lane], wanted[lane], bytes);
            continue;
        }
        PendingCopy copy;
        copy.id = launch_.next_copy_id++;
        copy.instruction = &c.code;
        copy.function = c.frame.function;
        copy.destination = to.host[lane];
        copy.source = wanted[lane] == 0 ? nullptr : from.host[lane];
        copy.destination_address = to.address[lane];
        copy.source_address = sources[lane];
        copy.lane = static_cast<std::uint8_t>(lane);
        copy.bytes = static_cast<std::uint8_t>(bytes);
        copy.source_bytes = wanted[lane];
        if (observer_ != nullptr) observer_->copy_issued(event_of(c.warp, copy));
        if (policy == CopyPolicy::eager)
            land(c.warp, copy);
        else
            c.warp.copies.issue(copy);
    }
    if (policy == CopyPolicy::eager) wrote();
    if (policy == CopyPolicy::random) land_randomly(c.warp);
    return Step::next;
}

/// cp.async.mbarrier.arrive: arrives once the lane's copies so far have landed.
Step Executor::copy_arrive(Context& c) {
    Lanes at;
    if (!resolve(c, Access::Kind::atomic, 8, at)) return Step::fault;
    at.fill_host(8);
    const bool raises = c.op().variant == 0;
    for (LaneMask left = c.active; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        FoundMbarrier mbarrier;
        const Issuer by{c.warp, *c.frame.function, c.code, 1u << lane};
        const auto address = static_cast<std::uint32_t>(at.address[lane]);
        if (!find_mbarrier(by, address, mbarrier)) return Step::fault;
        if (raises) {
            const machine::MbarrierError error = machine::raise_pending(mbarrier.state, 1);
            if (!change_mbarrier(by, mbarrier, error, false, machine::BarrierEvent::Kind::expect)) return Step::fault;
        }
        PendingCopy arrival;
        arrival.arrival = true;
        arrival.instruction = &c.code;
        arrival.function = c.frame.function;
        arrival.destination = at.host[lane];
        arrival.destination_address = at.address[lane];
        arrival.lane = static_cast<std::uint8_t>(lane);
        c.warp.copies.issue(arrival);
    }
    c.warp.copies.land_if([](const PendingCopy&) { return false; },
                          [&](const PendingCopy& copy) { land(c.warp, copy); });
    wrote();
    return launch_.stop.load(std::memory_order_relaxed) ? Step::fault : Step::next;
}

Step Executor::copy_wait(Context& c) {
    if (c.op().op == Op::cp_async_commit) {
        c.warp.copies.commit(c.active);
        observe_group(c, GroupEvent::Engine::cp_async, GroupEvent::Kind::commit);
        return Step::next;
    }
    const auto land_it = [&](const PendingCopy& copy) { land(c.warp, copy); };
    if (c.op().immediate < 0)
        c.warp.copies.wait_all(c.active, land_it);
    else
        c.warp.copies.wait_groups(c.active, static_cast<std::uint64_t>(c.op().immediate), land_it);
    observe_group(c, GroupEvent::Engine::cp_async, GroupEvent::Kind::wait);
    return launch_.stop.load(std::memory_order_relaxed) ? Step::fault : Step::next;
}

/// Also for who looks at groups of bulk copies and of wgmma.
void Executor::observe_group(const Context& c, GroupEvent::Engine engine, GroupEvent::Kind kind, bool only_read) {
    if (observer_ != nullptr) observer_->group({site(c), engine, kind, c.op().immediate, only_read});
}

machine::Copy Executor::event_of(const Warp& warp, const PendingCopy& copy) const {
    const auto& code = *static_cast<const Code*>(copy.instruction);
    const auto& function = *static_cast<const LoadedFunction*>(copy.function);
    return {event_site(warp, function, code, 1u << copy.lane),
            copy.id,
            copy.lane,
            copy.bytes,
            copy.source_bytes,
            copy.destination_address,
            copy.source_address};
}

/// The source is read now, the destination written.
void Executor::land(Warp& warp, const PendingCopy& copy) {
    wrote();
    if (copy.arrival) {
        FoundMbarrier mbarrier;
        const Issuer by{warp, *static_cast<const LoadedFunction*>(copy.function),
                        *static_cast<const Code*>(copy.instruction), 1u << copy.lane};
        if (!find_mbarrier(by, static_cast<std::uint32_t>(copy.destination_address), mbarrier)) return;
        bool completed = false;
        const machine::MbarrierError error = machine::arrive(mbarrier.state, 1, completed);
        (void)change_mbarrier(by, mbarrier, error, completed, machine::BarrierEvent::Kind::arrive);
        return;
    }
    copy_and_fill(copy.destination, copy.source, copy.source_bytes, copy.bytes);
    if (observer_ != nullptr) observer_->copy_landed(event_of(warp, copy));
}

/// Some of the warp's copies land, by the seed.
void Executor::land_randomly(Warp& warp) {
    Warpgroup& group = warp.cta->warpgroups[warp.index / warpgroup_warps];
    if (!group.pending.empty() && random_() % 2 == 0) land(*warp.cta, group, std::min<std::size_t>(group.whole(), 1));
    if (warp.copies.empty()) return;
    warp.copies.land_if([&](const PendingCopy&) { return random_() % 8 == 0; },
                        [&](const PendingCopy& copy) { land(warp, copy); });
}

}  // namespace tilepath::exec
