#include "api/report.h"

#include <fmt/format.h>

namespace tilepath {
namespace {

Dim3 dim3(const machine::Dim3& value) { return {value.x, value.y, value.z}; }

Fault fault(const exec::Fault& from) {
    Fault out;
    out.kind = exec::name(from.kind);
    out.message = from.message;
    out.place = public_place(from.place);
    out.cta = dim3(from.cta);
    out.thread = dim3(from.thread);
    out.warp = from.warp;
    out.lane = from.lane;
    out.lanes = from.lanes;
    out.address = from.address;
    if (from.space) out.space = program::name(*from.space);
    out.bytes = from.bytes;
    out.text = exec::to_string(from);
    return out;
}

Deadlock deadlock(const exec::Deadlock& from) {
    Deadlock out;
    out.timed_out = from.timed_out;
    for (const exec::WaitingGroup& group : from.groups)
        out.waiting.push_back({public_place(group.place), dim3(group.cta), group.warp, group.lanes, group.waits_for});
    out.text = exec::to_string(from);
    return out;
}

}  // namespace

CodePlace public_place(const program::CodePlace& place) {
    return {place.function, place.ptx.file, place.ptx.line, place.operation, place.source_file, place.source_line};
}

LaunchReport public_report(const exec::LaunchReport& report) {
    LaunchReport out;
    if (report.fault) out.fault = fault(*report.fault);
    if (report.deadlock) out.deadlock = deadlock(*report.deadlock);
    out.ctas = report.ctas;
    out.cancelled = report.cancelled;
    out.operations = report.operations;
    return out;
}

std::string to_string(const LaunchReport& report) {
    if (report.fault) return report.fault->text;
    if (report.deadlock) return report.deadlock->text;
    const std::string cancelled = report.cancelled == 0 ? "" : fmt::format("{} cancelled, ", report.cancelled);
    return fmt::format("{} CTAs, {}{} micro-operations\n", report.ctas, cancelled, report.operations);
}

}  // namespace tilepath
