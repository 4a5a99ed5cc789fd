// setmaxnreg: the registers that the warps of a warpgroup give back and ask for together (PTX ISA 9.7.19.5).
//
// How many a kernel has at its entry is what ptxas 13.0 does: it goes by .maxnreg, else by .minnctapersm with .maxntid
// or .reqntid, and takes no more than the greatest setmaxnreg; without these it ignores setmaxnreg. Recorded on an
// H200: the CTA's pool is empty at first, whatever else the multiprocessor has free; an .inc waits for it without end;
// and the registers of warps that have exited do not come back.
#include <fmt/format.h>

#include <algorithm>

#include "exec/executor.h"
#include "exec/register_budget.h"

namespace tilepath::exec {
namespace {

constexpr std::uint32_t warps_of_group = 4, unit = 8;

}  // namespace

std::uint32_t registers_at_entry(const program::Program& program) {
    constexpr std::uint64_t per_multiprocessor = 65'536;
    std::int64_t greatest = 0;
    for (const program::Function& function : program.functions)
        for (const program::MicroOp& op : function.ops)
            if (op.op == program::Op::setmaxnreg) greatest = std::max(greatest, op.immediate);
    const program::LaunchBounds& bounds = program.bounds;
    const auto& threads = bounds.required_threads[0] != 0 ? bounds.required_threads : bounds.max_threads;
    std::uint64_t budget = 0;
    if (bounds.max_registers != 0) {
        budget = (bounds.max_registers + unit - 1) / unit * unit;
    } else if (bounds.min_ctas != 0 && threads[0] != 0) {
        const std::uint64_t warps = (std::uint64_t{threads[0]} * threads[1] * threads[2] + warp_lanes - 1) / warp_lanes;
        budget = per_multiprocessor / (warps * warp_lanes * bounds.min_ctas) / unit * unit;
    }
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(budget, static_cast<std::uint64_t>(greatest)));
}

/// The warps of a warpgroup execute the same ones.
Step Executor::set_registers(Context& c) {
    if (!gather(c)) return Step::stop;
    auto& groups = c.warp.cta->register_requests;
    groups.resize((c.warp.cta->warps.size() + warps_of_group - 1) / warps_of_group);
    auto& requests = groups[c.warp.index / warps_of_group];
    const std::int64_t count = c.op().variant == 1 ? c.op().immediate : -c.op().immediate;
    const std::uint32_t number = c.warp.register_changes;
    if (number == requests.size()) requests.push_back({c.frame.function, &c.code, count});
    const std::int64_t first = requests[number].count;
    if (first == count) return change_registers(c);
    return fail(c, FaultKind::diverged, c.active,
                fmt::format("the warps of a warpgroup execute the same setmaxnreg; another warp has executed "
                            "setmaxnreg.{} {} here",
                            first > 0 ? "inc" : "dec", first > 0 ? first : -first));
}

Step Executor::change_registers(Context& c) {
    Warp& warp = c.warp;
    CtaRun& cta = *warp.cta;
    const auto count = static_cast<std::uint32_t>(c.op().immediate);
    const bool more = c.op().variant == 1;
    if (warp.registers != 0) {
        if (more ? count < warp.registers : count > warp.registers)
            return fail(c, FaultKind::registers, c.active,
                        fmt::format("setmaxnreg.{} asks for {} registers per thread, but the warp has {}",
                                    more ? "inc" : "dec", count, warp.registers));
        if (more && count - warp.registers > cta.free_registers) {
            c.group.state = GroupState::registers;
            return Step::stop;
        }
        cta.free_registers += warp.registers - count;  // modulo 2^32: an .inc takes
        warp.registers = count;
        for (Warp& each : cta.warps)
            for (Group& group : each.groups)
                if (!more && group.state == GroupState::registers) group.state = GroupState::ready;
        wrote();
    }
    ++warp.register_changes;
    return Step::next;
}

std::string Executor::describe_registers(const Warp& warp, const Group& group) const {
    const CtaRun& cta = *warp.cta;
    const auto wanted = static_cast<std::uint32_t>(group.frame->function->code[group.pc].op->immediate);
    std::string held;
    for (std::size_t first = 0; first < cta.warps.size(); first += warps_of_group) {
        const std::size_t end = std::min(first + warps_of_group, cta.warps.size());
        const auto from = cta.warps.begin() + static_cast<std::ptrdiff_t>(first),
                   to = cta.warps.begin() + static_cast<std::ptrdiff_t>(end);
        const bool gone = std::all_of(from, to, [](const Warp& each) { return each.finished(); });
        const auto [least, most] =
            std::minmax_element(from, to, [](const Warp& a, const Warp& b) { return a.registers < b.registers; });
        held += fmt::format("{}warps {} to {} have {}{}{}", held.empty() ? "" : ", ", first, end - 1, least->registers,
                            least->registers == most->registers ? "" : fmt::format(" to {}", most->registers),
                            gone ? " (and have exited without giving them back)" : "");
    }
    return fmt::format(
        "waits for registers: it has {} per thread and wants {}, but the CTA's pool holds {} of the {} "
        "more that each of its warps needs; {}",
        warp.registers, wanted, cta.free_registers, wanted - warp.registers, held);
}

/// A CTA has ended: every warp of a warpgroup must have executed as many setmaxnreg as the others. One that gives
/// registers back is let pass: an H200 runs DeepGEMM's sm90_tf32_hc_prenorm_gemm, where one warp alone executes it.
void Executor::check_register_requests(CtaRun& cta) {
    for (Warp& warp : cta.warps) {
        const std::size_t group = warp.index / warps_of_group;
        if (group >= cta.register_requests.size()) return;
        const auto& requests = cta.register_requests[group];
        if (warp.register_changes == requests.size()) continue;
        const RegisterRequest& missing = requests[warp.register_changes];
        if (missing.count < 0) continue;
        fail_at(warp, *missing.function, *missing.code, FaultKind::diverged, all_lanes,
                fmt::format("every warp of a warpgroup executes this, but warp {} has ended without", warp.index));
        return;
    }
}

}  // namespace tilepath::exec
