// Special registers, conversions between address spaces, the stack, and sleep.
#include <algorithm>
#include <bit>

#include "base/assert.h"
#include "exec/executor.h"

namespace tilepath::exec {

using machine::Dim3;
using program::Op;
using program::SpecialRegister;

namespace {

/// PTX ISA 10.1 to 10.7: the fourth is always zero.
std::uint32_t component(const Dim3& value, std::int64_t index) {
    return index == 0 ? value.x : index == 1 ? value.y : index == 2 ? value.z : 0;
}

Dim3 divide(const Dim3& a, const Dim3& b) { return {a.x / b.x, a.y / b.y, a.z / b.z}; }
Dim3 remainder(const Dim3& a, const Dim3& b) { return {a.x % b.x, a.y % b.y, a.z % b.z}; }
constexpr std::uint32_t round_up(std::uint32_t value, std::uint32_t unit) { return (value + unit - 1) / unit * unit; }

/// Where a special register differs by lane: its value in each.
void lane_values(const Warp& warp, SpecialRegister which, std::int64_t index, Row& out) {
    if (which == SpecialRegister::tid) {
        out = index < 3 ? warp.tid[index] : Row{};
        return;
    }
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
        const LaneMask self = 1u << lane;
        if (which == SpecialRegister::laneid) out.lane[lane] = lane;
        if (which == SpecialRegister::lanemask_eq) out.lane[lane] = self;
        if (which == SpecialRegister::lanemask_lt) out.lane[lane] = self - 1;
        if (which == SpecialRegister::lanemask_le) out.lane[lane] = (self - 1) | self;
        if (which == SpecialRegister::lanemask_gt) out.lane[lane] = ~((self - 1) | self);
        if (which == SpecialRegister::lanemask_ge) out.lane[lane] = ~(self - 1);
    }
}

}  // namespace

/// The value of a special register that is the same in all lanes.
std::uint64_t Executor::uniform_special(Context& c, SpecialRegister which, std::int64_t index) {
    const CtaRun& cta = *c.warp.cta;
    const LaunchShape& shape = launch_.shape;
    // Shared memory is given out in units of 128 bytes: 32 static and 2,048 dynamic ones count 2,176 (recorded on an
    // H200).
    const std::uint32_t shared = round_up(launch_.static_shared_bytes + shape.dynamic_shared_bytes, 128);
    constexpr std::uint64_t reserved[] = {0, 288, 1024};  // begin, end, capacity; offset_<1>: as begin of what is free
    switch (which) {
        case SpecialRegister::ntid: return component(shape.block, index);
        case SpecialRegister::warpid: return c.warp.index;
        case SpecialRegister::nwarpid: return launch_.device.warps_per_multiprocessor();
        case SpecialRegister::ctaid: return component(cta.state.id, index);
        case SpecialRegister::nctaid: return component(shape.grid, index);
        case SpecialRegister::smid: return cta.state.linear % launch_.device.multiprocessors;
        case SpecialRegister::nsmid: return launch_.device.multiprocessors;
        case SpecialRegister::gridid: return 1;
        case SpecialRegister::clock:
        case SpecialRegister::clock64:
        case SpecialRegister::globaltimer:
        case SpecialRegister::globaltimer_lo: ++c.warp.clock_reads; return now();
        case SpecialRegister::clock_hi:
        case SpecialRegister::globaltimer_hi: ++c.warp.clock_reads; return now() >> 32;
        case SpecialRegister::pm:
        case SpecialRegister::pm64: return 0;
        // The driver hands cooperative kernels their workspace so: low half in %envreg2, high half in %envreg1.
        case SpecialRegister::envreg:
            return index == 1 ? launch_.grid_workspace >> 32 : index == 2 ? launch_.grid_workspace & 0xFFFFFFFF : 0;
        case SpecialRegister::total_smem_size: return shared;
        case SpecialRegister::aggr_smem_size:
            // 32 + 2,048 bytes: 3,104 recorded, i.e. what was asked for and the reserved bytes.
            return launch_.static_shared_bytes + shape.dynamic_shared_bytes + program::reserved_shared_bytes;
        case SpecialRegister::dynamic_smem_size: return shape.dynamic_shared_bytes;
        case SpecialRegister::reserved_smem_offset: return index < 3 ? reserved[index] : 0;
        case SpecialRegister::current_graph_exec: return 0;
        case SpecialRegister::is_explicit_cluster:
            return shape.cluster.count() > 1 || launch_.loaded.program->bounds.required_cluster[0] != 0;
        case SpecialRegister::clusterid: return component(divide(cta.state.id, shape.cluster), index);
        case SpecialRegister::nclusterid: return component(divide(shape.grid, shape.cluster), index);
        case SpecialRegister::cluster_ctaid: return component(remainder(cta.state.id, shape.cluster), index);
        case SpecialRegister::cluster_nctaid: return component(shape.cluster, index);
        case SpecialRegister::cluster_ctarank: return cta.state.rank;
        case SpecialRegister::cluster_nctarank: return shape.cluster.count();
        case SpecialRegister::tid:
        case SpecialRegister::laneid:
        case SpecialRegister::lanemask_eq:
        case SpecialRegister::lanemask_le:
        case SpecialRegister::lanemask_lt:
        case SpecialRegister::lanemask_ge:
        case SpecialRegister::lanemask_gt: break;
    }
    TILEPATH_ASSERT(false, "a special register that differs by lane");
}

Step Executor::special(Context& c) {
    const auto which = static_cast<SpecialRegister>(c.op().variant);
    const bool by_lane = which == SpecialRegister::tid || which == SpecialRegister::laneid ||
                         (which >= SpecialRegister::lanemask_eq && which <= SpecialRegister::lanemask_gt);
    const int width = program::bits(c.op().type);
    Row values;
    if (by_lane) {
        lane_values(c.warp, which, c.op().immediate, values);
    } else {
        const std::uint64_t value = uniform_special(c, which, c.op().immediate);
        if (width == 1) {
            c.set_predicate(c.code.d, value != 0 ? all_lanes : 0);
            return Step::next;
        }
        if (width == 64) {
            for (LaneMask left = c.active; left != 0; left &= left - 1)
                c.wide(c.code.d)[std::countr_zero(left)] = value;
            return Step::next;
        }
        std::fill_n(values.lane, warp_lanes, static_cast<std::uint32_t>(width == 16 ? value & 0xFFFF : value));
    }
    Row& d = c.row(c.code.d);
    if (c.active == all_lanes && width != 64) {
        d = values;
        return Step::next;
    }
    for (LaneMask left = c.active; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        if (width == 64)
            c.wide(c.code.d)[lane] = values.lane[lane];
        else
            d.lane[lane] = values.lane[lane];
    }
    return Step::next;
}

/// cvta, cvta.to and isspacep.
Step Executor::address_space(Context& c) {
    const program::Space space = c.op().space;
    const auto own_rank = [&](machine::Address address) {
        return machine::shared_rank(static_cast<std::uint32_t>(address)) == c.warp.cta->state.rank;
    };
    const auto lies_in = [&](machine::Address generic) {
        const machine::Place place = machine::place_of_generic(generic);
        if (space == program::Space::shared) return place.space == space && own_rank(place.address);
        if (space == program::Space::shared_cluster) return place.space == program::Space::shared;
        if (space == program::Space::constant) {
            const auto range = launch_.memory.find(generic);
            return range && range->read_only;
        }
        return place.space == space;
    };
    const bool wide_result = program::bits(c.op().type) == 64;
    LaneMask inside = 0;
    for (LaneMask left = c.active; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        const machine::Address address = c.code.wide_address ? c.wide(c.code.a)[lane] : c.row(c.code.a).lane[lane];
        if (c.op().op == Op::isspacep) {
            inside |= LaneMask(lies_in(address)) << lane;
            continue;
        }
        const machine::Address result =
            c.op().op == Op::cvta ? machine::generic_address(space, address) : machine::space_address(space, address);
        if (wide_result)
            c.wide(c.code.d)[lane] = result;
        else
            c.row(c.code.d).lane[lane] = static_cast<std::uint32_t>(result);
    }
    if (c.op().op == Op::isspacep) c.set_predicate(c.code.d, inside);
    return Step::next;
}

/// mapa puts a rank into bits 31 … 24 of a shared or generic address, getctarank reads them (recorded on an H200).
Step Executor::cluster_address(Context& c) {
    const bool wide = program::bits(c.op().type) == 64;
    for (LaneMask left = c.active; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        const machine::Address address = c.code.wide_address ? c.wide(c.code.a)[lane] : c.row(c.code.a).lane[lane];
        if (c.op().op == Op::getctarank) {
            c.row(c.code.d).lane[lane] = machine::shared_rank(static_cast<std::uint32_t>(address));
            continue;
        }
        const std::uint32_t rank = c.row(c.code.b).lane[lane];
        const std::uint32_t low =
            machine::shared_address(rank, machine::shared_offset(static_cast<std::uint32_t>(address)));
        if (wide)
            c.wide(c.code.d)[lane] = (address & ~std::uint64_t{0xFFFFFFFF}) | low;
        else
            c.row(c.code.d).lane[lane] = low;
    }
    return Step::next;
}

/// alloca, stacksave and stackrestore: the end of the frame's bytes, lane by lane.
Step Executor::stack(Context& c) {
    const bool wide = program::bits(c.op().type) == 64;
    const auto source = [&](int lane) -> std::uint64_t {
        return c.code.wide_address ? c.wide(c.code.a)[lane] : c.row(c.code.a).lane[lane];
    };
    const auto give = [&](int lane, std::uint64_t value) {
        if (wide)
            c.wide(c.code.d)[lane] = value;
        else
            c.row(c.code.d).lane[lane] = static_cast<std::uint32_t>(value);
    };
    for (LaneMask left = c.active; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        std::uint32_t& top = c.frame.local_top[lane];
        if (c.op().op == Op::stacksave) {
            give(lane, top);
        } else if (c.op().op == Op::stackrestore) {
            top = static_cast<std::uint32_t>(source(lane));
        } else {
            const std::uint64_t alignment = std::max<std::uint64_t>(8, static_cast<std::uint64_t>(c.op().immediate));
            const std::uint64_t begin = (top + alignment - 1) / alignment * alignment;
            const std::uint64_t end = begin + source(lane);
            if (!c.warp.local.reserve(end))
                return fail(c, FaultKind::stack_overflow, 1u << lane,
                            "alloca: a thread has at most " + std::to_string(machine::LocalMemory::limit) +
                                " bytes of local memory");
            top = static_cast<std::uint32_t>(end);
            ++c.warp.local_changes;
            give(lane, begin);
        }
    }
    return Step::next;
}

/// nanosleep: the lanes wait until virtual time has moved on, which is at once if nothing else can run.
Step Executor::sleep(Context& c) {
    std::uint32_t longest = 0;
    for (int lane = 0; lane < warp_lanes; ++lane)
        if (c.active >> lane & 1) longest = std::max(longest, c.row(c.code.a).lane[lane]);
    constexpr std::uint32_t most = 1'000'000;  // PTX ISA: at most a millisecond
    Group* sleeper = &c.group;
    if (c.active != c.group.lanes) sleeper = &split(c.warp, c.group, c.active, c.pc() + 1);
    c.group.pc = c.pc() + 1;
    sleeper->state = GroupState::sleeping;
    sleeper->until = now() + std::min(longest, most);
    return Step::stop;
}

}  // namespace tilepath::exec
