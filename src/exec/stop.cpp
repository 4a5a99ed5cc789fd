#include "exec/stop.h"

#include "exec/executor.h"

namespace tilepath::exec {

const program::Function& StoppedWarp::function() const { return *frame_.function->function; }
machine::Dim3 StoppedWarp::cta() const { return warp_.cta->state.id; }
std::uint32_t StoppedWarp::warp() const { return warp_.index; }

std::uint64_t StoppedWarp::value(program::RegisterId id, int lane) const {
    const std::uint32_t place = frame_.function->register_places[id];
    const int bits = program::bits(function().registers[id].type);
    if (bits == 1) return frame_.predicates[place] >> lane & 1;
    if (bits <= 32) return frame_.rows[place].lane[lane];
    const auto* wide = reinterpret_cast<const std::uint64_t*>(&frame_.rows[place]);
    return wide[bits == 128 ? 2 * lane : lane];
}

std::span<const std::uint8_t> StoppedWarp::shared() const { return warp_.cta->state.shared; }

std::span<const std::uint8_t> StoppedWarp::local(int lane) const {
    const std::uint32_t used = warp_.local.used();
    if (used == 0) return {};
    return {warp_.local.at(lane, 0), used};
}

bool Executor::stops_before(Warp& warp, const Frame& frame, const Code& code, LaneMask lanes) {
    Breakpoint* const breakpoint = launch_.options.breakpoint;
    if (breakpoint == nullptr || code.op == nullptr || !breakpoint->is_at(code.op)) return false;
    if (!breakpoint->reached({warp, frame, *code.op, lanes, launch_.parameters, launch_.memory})) return false;
    launch_.stopped = true;
    launch_.stop = true;
    return true;
}

}  // namespace tilepath::exec
