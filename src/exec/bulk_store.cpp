// st.bulk: zeros in shared memory. PTX ISA 9.7.9.13.
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "exec/executor.h"

namespace tilepath::exec {

Step Executor::store_bulk(Context& c) {
    constexpr std::uint32_t step = 8;
    constexpr std::uint64_t most = 16777216;
    const std::uint64_t* const sizes = c.wide(c.source(1));
    for (LaneMask left = c.active; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        const std::uint64_t size = sizes[lane];
        if (size == 0) continue;
        if (size % step != 0 || size > most) {
            fail(c, FaultKind::unsupported, 1u << lane,
                 fmt::format("st.bulk of {} bytes: the size is a multiple of {} up to {}", size, step, most));
            return Step::fault;
        }
        // The first and the last bytes lie in one CTA's shared memory; so do those between.
        Context one{c.warp, c.group, c.frame, c.rows, c.predicates, c.code, 1u << lane};
        Lanes first, last;
        if (!resolve(one, machine::Access::Kind::write, step, first)) return Step::fault;
        const program::Space space = first.mixed ? first.spaces[lane] : first.space;
        if (space != program::Space::shared) {
            fail_access(c, FaultKind::out_of_bounds, machine::Access::Kind::write, lane, {space, first.address[lane]},
                        static_cast<std::uint32_t>(size), "st.bulk writes the shared memory of its own CTA");
            return Step::fault;
        }
        first.fill_host(step);
        for (int i = 0; i < warp_lanes; ++i) last.address[i] = first.address[lane] + size - step;
        if (!resolve_space(one, machine::Access::Kind::write, program::Space::shared, step, last)) return Step::fault;
        for (std::uint64_t at = 0; observer_ != nullptr && at < size; at += step) {
            Lanes part = first;
            for (int i = 0; i < warp_lanes; ++i)
                part.address[i] = first.address[lane] + at, part.host[i] = first.host[lane] + at;
            observe_access(one, machine::Access::Kind::write, step, part);
        }
        std::memset(first.host[lane], 0, size);
    }
    wrote();
    return Step::next;
}

}  // namespace tilepath::exec
