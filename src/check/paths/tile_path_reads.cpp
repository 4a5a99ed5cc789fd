// One execution of a matrix instruction: where its operands were read.
#include <algorithm>

#include "atom/tcgen05_descriptor.h"
#include "check/paths/tile_paths.h"

namespace tilepath::check {

TilePaths::Known* TilePaths::to_fill(const machine::EventSite& site, const OperandCells& a, const OperandCells& b,
                                     const CheckedProduct& checked) {
    const auto [at, fresh] = known_.try_emplace(site.op);
    Known& known = at->second;
    if (fresh) known.site = site, known.order = known_.size();
    switch (checked.verdict) {
        case CheckedProduct::Verdict::proven: ++known.proven; break;
        case CheckedProduct::Verdict::disproven: ++known.disproven; break;
        case CheckedProduct::Verdict::unknown: ++known.unknown; break;
    }
    const bool wrong = checked.verdict == CheckedProduct::Verdict::disproven;
    if (!fresh && (known.wrong || !wrong) && !known.empty) return nullptr;
    const auto holds = [](const OperandCells& operand) {
        return std::ranges::count(operand.cells, OperandCell::Kind::element, &OperandCell::kind) != 0;
    };
    known.empty = !holds(a) || !holds(b);
    known.wrong = wrong;
    return &known;
}

std::vector<TilePaths::Read> TilePaths::reads_of_descriptor(Cta cta, DescriptorKind kind, std::uint64_t descriptor,
                                                            const atom::SharedOperand& shape, int first_row, int rows) {
    std::vector<Read> out(static_cast<std::size_t>(rows * shape.k));
    const std::vector<std::int32_t>* const places = maps_.shared_places(kind, descriptor, shape);
    if (places == nullptr) return out;
    for (std::size_t i = 0; i < out.size(); ++i) {
        const std::size_t at = static_cast<std::size_t>(first_row * shape.k) + i;
        out[i] = {std::int64_t{MatrixMaps::base(descriptor)} + (*places)[at] / 8, cta};
    }
    return out;
}

/// What of a fragment's registers ldmatrix or ld has loaded from shared memory.
std::vector<TilePaths::Read> TilePaths::reads_of_fragment(const machine::Multiply& event,
                                                          const MatrixMaps::Multiply& map, bool of_a, Ways::Id& way) {
    const program::Mma& mma = *event.mma;
    const WarpRegisters r(event.site, event.registers, no_origins_);
    const std::vector<atom::ElementPlace>& places = of_a ? map.a : map.b;
    const int rows = of_a ? (mma.warpgroup ? mma.m / 4 : mma.m) : mma.n, first = of_a ? 0 : map.a_registers;
    const int warp = mma.warpgroup ? static_cast<int>(event.site.warp % 4) : 0;
    std::vector<Read> out(static_cast<std::size_t>(rows * mma.k));
    for (std::size_t i = 0; i < places.size(); ++i) {
        const atom::ElementPlace& at = places[i];
        if (at.warp != warp) continue;
        const int all = static_cast<int>(i), row = (of_a ? all / mma.k : all % mma.n) - warp * rows,
                  k = of_a ? all % mma.k : all / mma.n;
        const Writers::Register& held = writers_.reg(event.registers, r.source_place(first + at.reg));
        if (way == 0) way = held.way;
        if (held.addresses == nullptr || row < 0 || row >= rows) continue;
        int lane = at.lane, byte = at.bit / 8;
        if (held.load->op == program::Op::ldmatrix) {
            const MatrixMaps::Transfer* const transfer = maps_.transfer(*held.load);
            if (transfer == nullptr) continue;
            const MatrixMaps::Transfer::Source from = transfer->at(held.reg, lane, byte);
            lane = from.lane, byte = from.byte;
            if (byte < 0) continue;
        } else {
            byte += held.reg * std::max(1, program::bits(held.load->type) / 8);
        }
        const auto address = static_cast<std::uint32_t>(held.addresses->addresses[static_cast<std::size_t>(lane)]);
        out[static_cast<std::size_t>(row * mma.k + k)] = {std::int64_t{machine::shared_offset(address)} + byte,
                                                          {event.site.cluster, machine::shared_rank(address)}};
    }
    return out;
}

void TilePaths::multiplied(const machine::Multiply& event, const OperandCells& a, const OperandCells& b,
                           const CheckedProduct& checked) {
    const program::Mma& mma = *event.mma;
    const MatrixMaps::Multiply* const map = maps_.multiply(mma);
    if (map == nullptr) return;
    const Cta cta{event.site.cluster, event.site.rank};
    if (Known* const known = to_fill(event.site, a, b, checked)) {
        for (const bool of_a : {true, false}) {
            const bool described = mma.warpgroup && !(of_a && mma.a_in_registers);
            const std::uint64_t descriptor = of_a ? event.a : event.b;
            const OperandCells& cells = of_a ? a : b;
            const int warp = static_cast<int>(event.site.warp % 4);
            Ways::Id way = 0;
            const std::vector<Read> reads = described ? reads_of_descriptor(cta, DescriptorKind::wgmma, descriptor,
                                                                            map->shape(mma, of_a, descriptor),
                                                                            of_a ? warp * cells.rows : 0, cells.rows)
                                                      : reads_of_fragment(event, *map, of_a, way);
            Operand& out = of_a ? known->a : known->b;
            out = operand_of(of_a ? "A" : "B", cells, checked, of_a, of_a ? map->bits_a : map->bits_b, reads);
            if (described) {
                out.path.by_descriptor = true;
                out.path.reading = describe(view_of(DescriptorKind::wgmma, descriptor));
                if (!reads.empty() && reads.front().address != Read::elsewhere)
                    way = writers_.shared(cta, static_cast<std::uint32_t>(reads.front().address));
            }
            out.way = way;
        }
    }
    const WarpRegisters r(event.site, event.registers, no_origins_);
    const Ways::Id way = writers_.ways.then(0, StepKind::multiply, event.site);
    for (int i = 0; i < r.op().destinations; ++i)
        if (r.words(r.destination(i)) != 0) writers_.reg(event.registers, r.place(i)) = {way, {}, nullptr, 0};
}

void TilePaths::multiplied(const machine::TensorOperation& event, const TensorMaps::Multiply& map,
                           const OperandCells& a, const OperandCells& b, const CheckedProduct& checked) {
    Known* const known = to_fill(event.site, a, b, checked);
    if (known == nullptr) return;
    known->name = map.atom.name;
    const program::Tcgen05Mma& what = event.site.function->tcgen05_mmas[event.site.op->detail];
    const std::uint32_t rank = event.cta_group == 1 ? event.site.rank : event.site.rank & ~1u;
    const Cta cta{event.site.cluster, rank};
    for (const bool of_a : {true, false}) {
        const OperandCells& cells = of_a ? a : b;
        const std::uint64_t descriptor = of_a ? event.a : event.b;
        const int bits = of_a ? map.bits_a : map.bits_b;
        const bool described = !(of_a && what.a_in_tensor_memory);
        Ways::Id way = 0;
        std::vector<Read> reads(cells.cells.size());
        if (described) {
            const int rows = cells.rows / static_cast<int>(event.cta_group);
            const bool transposed = of_a ? map.transpose_a : map.transpose_b;
            const auto shape = atom::described(atom::decode_tcgen05_descriptor(descriptor),
                                               transposed ? atom::OperandMajor::mn : atom::OperandMajor::k, bits, rows,
                                               map.atom.shape.k, of_a ? map.padded_a : map.padded_b);
            if (shape) {
                const auto own = reads_of_descriptor(cta, DescriptorKind::tcgen05, descriptor, *shape, 0, rows);
                std::ranges::copy(own, reads.begin());
            }
            if (!reads.empty() && reads.front().address != Read::elsewhere)
                way = writers_.shared(cta, static_cast<std::uint32_t>(reads.front().address));
        } else {
            for (const machine::TensorCells& each : event.cells)
                if (each.role == machine::TensorCells::Role::a) way = writers_.tensor_column(cta, each.column);
        }
        Operand& out = of_a ? known->a : known->b;
        out = operand_of(of_a ? "A" : "B", cells, checked, of_a, bits, reads);
        out.way = way;
        if (!described) continue;
        out.path.by_descriptor = true;
        out.path.reading = describe(view_of(DescriptorKind::tcgen05, descriptor));
    }
}

}  // namespace tilepath::check
