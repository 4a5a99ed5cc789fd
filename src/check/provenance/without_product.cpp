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
constexpr std::uint64_t most_tried = 16;        ///< of those, where many changes of a descriptor are tried

}  // namespace

void Provenance::check_tile(const machine::EventSite& site, const char* name, DescriptorKind kind,
                            MemoryShadow::Cta cta, std::uint64_t descriptor, const ShapeOf& shape_of) {
    const auto described = shape_of(descriptor, false);
    if (!described) return;
    const atom::SharedOperand& shape = *described;
    const DescriptorView is = view_of(kind, descriptor);
    const Box* const box = box_at(cta, is.start_bytes);
    if (box != nullptr && box->swizzle != is.swizzle)
        tell(site,
             fmt::format("TMA wrote {}'s tile with swizzle {}, the descriptor reads it with {}", name,
                         layout::traits(box->swizzle).name, layout::traits(is.swizzle).name),
             {fmt::format("the tile begins at {:#x}, the descriptor at {:#x}", box->begin, is.start_bytes)},
             "give the tensor map and the descriptor the same swizzle");
    if (box != nullptr) check_mixed(site, name, kind, cta, descriptor, shape, *box);
    check_pattern(site, name, kind, cta, descriptor, shape_of);
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
}

/// An operand that begins in `box` and goes on in a tile of another tensor.
void Provenance::check_mixed(const machine::EventSite& site, const char* name, DescriptorKind kind,
                             MemoryShadow::Cta cta, std::uint64_t descriptor, const atom::SharedOperand& shape,
                             const Box& box) {
    const std::vector<std::int32_t>* const places = maps_->shared_places(kind, descriptor, shape);
    if (places == nullptr) return;
    const std::uint32_t base = MatrixMaps::base(descriptor);
    const auto [first, last] = std::ranges::minmax(*places);
    for (std::uint32_t at = base + static_cast<std::uint32_t>(first / 8);
         at <= base + static_cast<std::uint32_t>(last / 8); at += 16) {
        const Box* const there = at >= box.begin && at < box.end ? &box : box_at(cta, at);
        if (there == nullptr || there->tensor == box.tensor) continue;
        const bool read = std::ranges::any_of(
            *places, [&](std::int32_t bit) { return (base + static_cast<std::uint32_t>(bit / 8)) / 16 == at / 16; });
        if (!read) continue;
        tell(site, fmt::format("{} mixes tiles of two tensors", name),
             {fmt::format("{}'s descriptor reads: {}", name, describe(view_of(kind, descriptor))),
              fmt::format("TMA wrote {:#x} to {:#x} from the tensor at {:#x}, {:#x} to {:#x} from that at {:#x}",
                          box.begin, box.end - 1, box.tensor, there->begin, there->end - 1, there->tensor)},
             "compare the tile's size and place with what the descriptor spans: `tilepath show` draws it");
        // D in Tensor Memory may have rows that nobody reads: DeepGEMM multiplies tiles of 64 rows with M = 128.
        Tally& tally = tallies_.of(site);
        if (kind == DescriptorKind::tcgen05 && tally.times == 1) tally.severity = Severity::note;
        return;
    }
}

/// Whether elements that the operand has beside one another lie in global memory at two steady distances, along its
/// rows and along k, as they do in any matrix. Zeros, from outside a tensor, fit everywhere.
bool Provenance::reads_a_matrix(DescriptorKind kind, MemoryShadow::Cta cta, std::uint64_t descriptor,
                                const atom::SharedOperand& shape) {
    const std::vector<std::int32_t>* const places = maps_->shared_places(kind, descriptor, shape);
    if (places == nullptr || shape.mn < 2 || shape.k < 2 || shape.element_bits < 8) return false;
    const Words& shared = memory_.shared(cta);
    const std::uint32_t base = MatrixMaps::base(descriptor);
    const auto address = [&](int row, int k) -> std::optional<std::int64_t> {
        const auto at = base + static_cast<std::size_t>((*places)[static_cast<std::size_t>(row * shape.k + k)] / 8);
        const Origin origin = at < shared.size() * 4 ? shared.byte(at) : Origin{};
        if (origin.kind() == Origin::Kind::zero) return std::nullopt;
        return origin.kind() == Origin::Kind::memory ? static_cast<std::int64_t>(origin.address()) : -1;
    };
    const auto first = address(0, 0), next_row = address(1, 0), next_k = address(0, 1);
    if (!first || !next_row || !next_k) return false;
    for (int row = 0; row < shape.mn; ++row)
        for (int k = 0; k < shape.k; ++k)
            if (const auto at = address(row, k);
                at && (*at < 0 || *at != *first + row * (*next_row - *first) + k * (*next_k - *first)))
                return false;
    return *next_row != *first && *next_k != *first;
}

/// An operand that is no matrix of global memory as its descriptor reads it, and is one with a single field changed.
void Provenance::check_pattern(const machine::EventSite& site, const char* name, DescriptorKind kind,
                               MemoryShadow::Cta cta, std::uint64_t descriptor, const ShapeOf& shape_of) {
    if (multiplies_.of(site).times > most_tried) return;
    const auto shape = shape_of(descriptor, false);
    Origin corner;
    memory_.read_shared(cta, view_of(kind, descriptor).start_bytes, 1, &corner);
    if (!shape || corner.kind() != Origin::Kind::memory || reads_a_matrix(kind, cta, descriptor, *shape)) return;
    const bool written = all_written(cta, kind, descriptor, *shape);
    for (const DescriptorChange& change : single_changes(kind, descriptor)) {
        // Where a part was never written the other major-ness, which reads less, may be right by chance.
        if (view_of(kind, change.bits).start_bytes != view_of(kind, descriptor).start_bytes ||
            (change.transposed && !written))
            continue;
        const auto changed = shape_of(change.bits, change.transposed);
        if (!changed || maps_->overlaps(kind, change.bits, *changed) ||
            !reads_a_matrix(kind, cta, change.bits, *changed))
            continue;
        return tell(
            site, fmt::format("{} lies in shared memory otherwise than its descriptor reads it", name),
            {fmt::format("{}'s descriptor reads: {}", name, describe(view_of(kind, descriptor)))},
            fmt::format("{}: one field makes it a matrix of global memory, its descriptor: {}", name, change.text));
    }
}

void Provenance::check_without_product(const machine::Multiply& event) {
    ++counts_.unknown;
    const program::Mma& mma = *event.mma;
    if (!mma.warpgroup || event.site.warp % 4 != 0 || ++multiplies_.of(event.site).times > most_looked_at) return;
    const MatrixMaps::Multiply& map = *maps_->multiply(mma);
    const MemoryShadow::Cta cta{event.site.cluster, event.site.rank};
    for (const bool of_a : {true, false}) {
        if (of_a && mma.a_in_registers) continue;
        const auto shape_of = [&](std::uint64_t descriptor, bool transposed) {
            program::Mma as = mma;
            if (transposed) (of_a ? as.a_column_major : as.b_row_major) ^= true;
            return std::optional(map.shape(as, of_a, descriptor));
        };
        check_tile(event.site, of_a ? "A" : "B", DescriptorKind::wgmma, cta, of_a ? event.a : event.b, shape_of);
    }
}

void Provenance::check_without_product(const machine::TensorOperation& event,
                                       const std::vector<MemoryShadow::Cta>& ctas, const TensorMaps::Multiply& map) {
    if (++multiplies_.of(event.site).times > most_looked_at) return;
    const program::Tcgen05Mma& what = event.site.function->tcgen05_mmas[event.site.op->detail];
    for (const bool of_a : {true, false}) {
        if (of_a && what.a_in_tensor_memory) continue;
        const std::uint64_t descriptor = of_a ? event.a : event.b;
        const auto shape_of = [&](std::uint64_t bits, bool transposed) {
            return map.shared(of_a, bits, transposed, static_cast<int>(ctas.size()));
        };
        for (const MemoryShadow::Cta& cta : ctas)
            check_tile(event.site, of_a ? "A" : "B", DescriptorKind::tcgen05, cta, descriptor, shape_of);
    }
}

}  // namespace tilepath::check
