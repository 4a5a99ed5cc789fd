// wmma.load and wmma.store: each register's pieces, by the layout of the fragment and the stride in memory.
#include <cstring>

#include "exec/executor.h"
#include "exec/matrix_plan.h"

namespace tilepath::exec {

Step Executor::wmma_transfer(Context& c) {
    if (!gather(c)) return Step::stop;
    const bool loads = c.op().op == program::Op::wmma_load;
    const auto kind = loads ? machine::Access::Kind::read : machine::Access::Kind::write;
    const MatrixPlan& plan = *c.code.matrix;
    const TileMap& map = plan.transfer;
    Lanes base;
    read_addresses(c, 0, c.code.offset, base);
    // The stride is the last source, in elements; without it lines follow one another.
    const int stride_source = loads ? 1 : 1 + map.registers;
    std::uint64_t stride[warp_lanes];
    for (int lane = 0; lane < warp_lanes; ++lane) {
        const auto line_elements = static_cast<std::uint32_t>(plan.line_bytes * 8 / plan.element_bits);
        const std::uint32_t elements =
            c.has_source(stride_source) ? c.row(c.source(stride_source)).lane[lane] : line_elements;
        stride[lane] = std::uint64_t{elements} * static_cast<unsigned>(plan.element_bits) / 8;
    }
    const int pieces = map.register_bytes / map.unit;
    const auto unit = static_cast<std::size_t>(map.unit);
    for (int reg = 0; reg < map.registers; ++reg) {
        auto* const registers = reinterpret_cast<std::uint8_t*>(&c.row(loads ? c.destination(reg) : c.source(1 + reg)));
        for (int piece = 0; piece < pieces; ++piece) {
            Lanes lanes;
            for (int lane = 0; lane < warp_lanes; ++lane) {
                const int offset = map.offsets[static_cast<std::size_t>((reg * warp_lanes + lane) * pieces + piece)];
                lanes.address[lane] = base.address[lane] +
                                      stride[lane] * static_cast<unsigned>(offset / plan.line_bytes) +
                                      static_cast<unsigned>(offset % plan.line_bytes);
            }
            if (!resolve_space(c, kind, c.code.space, static_cast<std::uint32_t>(unit), lanes)) return Step::fault;
            if (observer_ != nullptr) observe_access(c, kind, static_cast<std::uint32_t>(unit), lanes);
            lanes.fill_host(static_cast<std::uint32_t>(unit));
            for (int lane = 0; lane < warp_lanes; ++lane) {
                if ((c.active >> lane & 1) == 0) continue;
                std::uint8_t* const held = registers + static_cast<std::size_t>(lane * pieces + piece) * unit;
                if (loads)
                    std::memcpy(held, lanes.host[lane], unit);
                else
                    std::memcpy(lanes.host[lane], held, unit);
            }
        }
    }
    if (!loads) wrote();
    return Step::next;
}

}  // namespace tilepath::exec
