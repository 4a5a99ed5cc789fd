// What can be said of a matrix instruction without knowing the product: what it reads was written, as it is read, and
// belongs together.
#include <fmt/format.h>

#include <algorithm>

#include "atom/matrix_descriptor.h"
#include "check/provenance/descriptor_view.h"
#include "check/provenance/provenance.h"

namespace tilepath::check {
namespace {

constexpr std::uint64_t most_looked_at = 4096;  ///< executions of an instruction, which are much the same

}  // namespace

void Provenance::check_tile(const machine::EventSite& site, const char* name, DescriptorKind kind,
                            MemoryShadow::Cta cta, std::uint64_t descriptor, const atom::SharedOperand& shape) {
    const DescriptorView is = view_of(kind, descriptor);
    const Box* const box = box_at(cta, is.start_bytes);
    if (box != nullptr && box->swizzle != is.swizzle)
        tell(site,
             fmt::format("TMA wrote {}'s tile with swizzle {}, the descriptor reads it with {}", name,
                         layout::traits(box->swizzle).name, layout::traits(is.swizzle).name),
             {fmt::format("the tile begins at {:#x}, the descriptor at {:#x}", box->begin, is.start_bytes)},
             "give the tensor map and the descriptor the same swizzle");
    if (!all_written(cta, kind, descriptor, shape)) {
        const OperandCells cells = shared_cells(cta, kind, {descriptor}, shape);
        const auto unwritten = std::ranges::count(cells.cells, OperandCell::Kind::unwritten, &OperandCell::kind);
        if (unwritten != 0)
            tell(site,
                 fmt::format("{} of {} elements of {} are bytes that nobody has written", unwritten, cells.cells.size(),
                             name),
                 {fmt::format("{}'s descriptor reads: {}", name, describe(is))},
                 "compare the tile's size and place with what the descriptor spans: `tilepath show` draws it");
    }
    const std::vector<std::int32_t>* const places = maps_->shared_places(kind, descriptor, shape);
    if (box == nullptr || places == nullptr) return;
    const std::uint32_t base = MatrixMaps::base(descriptor);
    const auto [first, last] = std::ranges::minmax(*places);
    for (std::uint32_t at = base + static_cast<std::uint32_t>(first / 8);
         at <= base + static_cast<std::uint32_t>(last / 8); at += 16) {
        const Box* const there = at >= box->begin && at < box->end ? box : box_at(cta, at);
        if (there == nullptr || there->tensor == box->tensor) continue;
        const bool read = std::ranges::any_of(
            *places, [&](std::int32_t bit) { return (base + static_cast<std::uint32_t>(bit / 8)) / 16 == at / 16; });
        if (!read) continue;
        tell(site, fmt::format("{} mixes tiles of two tensors", name),
             {fmt::format("{}'s descriptor reads: {}", name, describe(is)),
              fmt::format("TMA wrote {:#x} to {:#x} from the tensor at {:#x}, {:#x} to {:#x} from that at {:#x}",
                          box->begin, box->end - 1, box->tensor, there->begin, there->end - 1, there->tensor)},
             "compare the tile's size and place with what the descriptor spans: `tilepath show` draws it");
        return;
    }
}

void Provenance::check_without_product(const machine::Multiply& event) {
    ++counts_.unknown;
    const program::Mma& mma = *event.mma;
    if (!mma.warpgroup || event.site.warp % 4 != 0 || ++multiplies_.of(event.site).times > most_looked_at) return;
    const MatrixMaps::Multiply& map = *maps_->multiply(mma);
    const MemoryShadow::Cta cta{event.site.cluster, event.site.rank};
    if (!mma.a_in_registers)
        check_tile(event.site, "A", DescriptorKind::wgmma, cta, event.a, map.shape(mma, true, event.a));
    check_tile(event.site, "B", DescriptorKind::wgmma, cta, event.b, map.shape(mma, false, event.b));
}

void Provenance::check_without_product(const machine::TensorOperation& event,
                                       const std::vector<MemoryShadow::Cta>& ctas, const TensorMaps::Multiply& map) {
    if (++multiplies_.of(event.site).times > most_looked_at) return;
    const program::Tcgen05Mma& what = event.site.function->tcgen05_mmas[event.site.op->detail];
    for (const bool of_a : {true, false}) {
        if (of_a && what.a_in_tensor_memory) continue;
        const std::uint64_t descriptor = of_a ? event.a : event.b;
        const auto shape = map.shared(of_a, descriptor, false, static_cast<int>(ctas.size()));
        for (const MemoryShadow::Cta& cta : ctas)
            if (shape) check_tile(event.site, of_a ? "A" : "B", DescriptorKind::tcgen05, cta, descriptor, *shape);
    }
}

}  // namespace tilepath::check
