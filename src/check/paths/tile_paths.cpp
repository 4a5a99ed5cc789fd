// By which instructions bytes go: registers, shared memory and Tensor Memory remember who wrote them last.
#include "check/paths/tile_paths.h"

#include <algorithm>
#include <bit>

#include "machine/tma.h"

namespace tilepath::check {
namespace {

using machine::TensorCells;
using machine::TensorOperation;
using program::Op;
using program::Space;

bool is_shared(Space space) { return space == Space::shared || space == Space::shared_cluster; }

MemoryShadow::Cta cta_of(const machine::EventSite& site, machine::Address shared) {
    return {site.cluster, machine::shared_rank(static_cast<std::uint32_t>(shared))};
}

std::uint32_t offset_of(machine::Address shared) { return machine::shared_offset(static_cast<std::uint32_t>(shared)); }

const TensorCells* cells_of(const TensorOperation& event, TensorCells::Role role) {
    const auto found = std::ranges::find(event.cells, role, &TensorCells::role);
    return found == event.cells.end() ? nullptr : &*found;
}

/// The CTA of a pair that cells lie in.
MemoryShadow::Cta cta_of(const TensorOperation& event, const TensorCells& cells) {
    const std::uint32_t first = event.cta_group == 1 ? event.site.rank : event.site.rank & ~1u;
    return {event.site.cluster, first + cells.cta};
}

}  // namespace

void TilePaths::write_shared(Cta cta, std::uint32_t begin, std::uint32_t bytes, Ways::Id way) {
    constexpr std::uint32_t unit = Writers::unit_bytes;
    for (std::uint32_t at = begin / unit * unit; at < begin + bytes; at += unit) writers_.shared(cta, at) = way;
}

void TilePaths::wrote_global(machine::Address address, Ways::Id way) {
    const Product* const product = provenance_.product();
    const ProductMatrix* const d = product == nullptr ? nullptr : product->with(ProductMatrix::Role::d);
    if (d == nullptr || address < d->base || address - d->base >= d->units.size() * d->unit_bytes) return;
    if (writers_.ways.at(way).multiplied) results_.insert(way);
}

void TilePaths::access(const machine::Access& event) {
    const bool same = last_access_.op == event.site.op && last_access_.cta == event.site.cta &&
                      last_access_.warp == event.site.warp && (lanes_.lanes & event.site.lanes) == 0;
    if (!same) last_access_ = {event.site.op, event.site.cta, event.site.warp}, lanes_ = {};
    lanes_.lanes |= event.site.lanes;
    for (std::uint32_t left = event.site.lanes; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(left));
        lanes_.spaces[lane] = event.space;
        lanes_.addresses[lane] = event.addresses[lane];
    }
}

void TilePaths::executed(const machine::Executed& event) {
    const WarpRegisters r(event.site, event.registers, no_origins_);
    switch (event.site.op->op) {
        case Op::ld:
        case Op::ldmatrix: return load(r, event);
        case Op::st:
        case Op::stmatrix:
        case Op::atom: return store(r, event);
        case Op::mma:
        case Op::wgmma:
        case Op::tcgen05_ld: return;  // told by multiplied() and tensor_landed()
        default: return compute(r, event);
    }
}

void TilePaths::load(const WarpRegisters& r, const machine::Executed& event) {
    const bool here = last_access_.op == event.site.op && last_access_.cta == event.site.cta &&
                      last_access_.warp == event.site.warp && lanes_.lanes != 0;
    std::shared_ptr<const LaneAddresses> from;
    Ways::Id before = 0;
    if (here) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(lanes_.lanes));
        if (is_shared(lanes_.spaces[lane])) {
            from = std::make_shared<LaneAddresses>(lanes_);
            before = writers_.shared(cta_of(event.site, lanes_.addresses[lane]), offset_of(lanes_.addresses[lane]));
        } else if (lanes_.spaces[lane] != Space::global) {
            return compute(r, event);  // parameters and constants are on no way
        }
    }
    const Ways::Id way = writers_.ways.then(before, StepKind::load, event.site);
    for (int i = 0; i < r.op().destinations; ++i)
        if (r.words(r.destination(i)) != 0) writers_.reg(event.registers, r.place(i)) = {way, from, &r.op(), i};
}

/// Of the sources from `first` on: the way that comes from a product, else from memory.
Ways::Id TilePaths::way_of_sources(const WarpRegisters& r, const machine::Registers& registers, int first) {
    Ways::Id best = 0;
    for (int i = first; i < r.op().sources; ++i) {
        if (r.words(r.source(i)) == 0 || r.source(i).kind != program::Operand::Kind::reg) continue;
        const Ways::Id each = writers_.reg(registers, r.source_place(i)).way;
        if (best == 0 || (writers_.ways.at(each).multiplied && !writers_.ways.at(best).multiplied)) best = each;
    }
    return best;
}

void TilePaths::store(const WarpRegisters& r, const machine::Executed& event) {
    const bool here =
        last_access_.op == event.site.op && last_access_.cta == event.site.cta && last_access_.warp == event.site.warp;
    if (!here) return;
    const Ways::Id way = writers_.ways.then(way_of_sources(r, event.registers, 1), StepKind::store, event.site);
    const auto bytes = r.op().op == Op::stmatrix
                           ? 16
                           : static_cast<std::uint32_t>(std::max(1, program::bits(r.op().type) / 8)) *
                                 std::max<std::uint32_t>(1, r.op().vector);
    for (std::uint32_t left = lanes_.lanes; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(left));
        const machine::Address at = lanes_.addresses[lane];
        if (is_shared(lanes_.spaces[lane])) write_shared(cta_of(event.site, at), offset_of(at), bytes, way);
        if (lanes_.spaces[lane] == Space::global) wrote_global(at, way);
    }
}

void TilePaths::compute(const WarpRegisters& r, const machine::Executed& event) {
    if (r.op().destinations == 0) return;
    const Ways::Id before = way_of_sources(r, event.registers, 0);
    if (r.op().op == Op::mov && before != 0) {
        const Writers::Register from = writers_.reg(event.registers, r.source_place(0));
        writers_.reg(event.registers, r.place(0)) = from;
        return;
    }
    const Ways::Id way = before == 0 ? 0 : writers_.ways.then(before, StepKind::compute, event.site);
    for (int i = 0; i < r.op().destinations; ++i)
        if (r.words(r.destination(i)) != 0) writers_.reg(event.registers, r.place(i)) = {way, {}, nullptr, 0};
}

void TilePaths::copy_landed(const machine::Copy& event) {
    write_shared(cta_of(event.site, event.destination), offset_of(event.destination), event.bytes,
                 writers_.ways.then(0, StepKind::copy, event.site));
}

void TilePaths::bulk_landed(const machine::BulkCopy& event) {
    if (event.bulk->prefetch) return;
    const bool stores = event.bulk->destination == Space::global;
    const StepKind kind = event.box != nullptr ? StepKind::tensor : StepKind::bulk;
    const auto swizzle = event.box != nullptr ? event.box->map().swizzle : layout::SwizzleMode::none;
    const Cta own{event.site.cluster, event.site.rank};
    if (stores) {
        const std::uint32_t from = event.box != nullptr ? event.box->place().shared : std::uint32_t(event.source);
        const Ways::Id way = writers_.ways.then(writers_.shared(own, offset_of(from)), kind, event.site, swizzle);
        return wrote_global(event.box != nullptr ? event.box->map().address : event.destination, way);
    }
    const Ways::Id before = is_shared(event.bulk->source) ? writers_.shared(own, offset_of(event.source)) : 0;
    const Ways::Id way = writers_.ways.then(before, kind, event.site, swizzle);
    std::uint32_t bytes = event.bytes;
    if (event.box != nullptr) bytes = machine::BoxWalk(event.box->map(), event.box->place()).shared_bytes();
    for (std::uint32_t left = event.ctas; left != 0; left &= left - 1)
        write_shared({event.site.cluster, static_cast<std::uint32_t>(std::countr_zero(left))},
                     offset_of(event.destination), bytes, way);
}

void TilePaths::tensor_issued(const TensorOperation& event) {
    const TensorCells* const cells = cells_of(event, TensorCells::Role::data);
    if (event.kind != TensorOperation::Kind::store || event.registers.rows == nullptr || cells == nullptr) return;
    const WarpRegisters r(event.site, event.registers, no_origins_);
    const Ways::Id way = writers_.ways.then(way_of_sources(r, event.registers, 1), StepKind::tensor_store, event.site);
    for (std::uint32_t column = cells->column; column < cells->column + cells->columns; ++column)
        writers_.tensor_column({event.site.cluster, event.site.rank}, column) = way;
}

void TilePaths::tensor_landed(const TensorOperation& event) {
    if (event.kind == TensorOperation::Kind::load && event.registers.rows != nullptr) {
        const TensorCells* const cells = cells_of(event, TensorCells::Role::data);
        if (cells == nullptr) return;
        const WarpRegisters r(event.site, event.registers, no_origins_);
        const Ways::Id before = writers_.tensor_column({event.site.cluster, event.site.rank}, cells->column);
        const Ways::Id way = writers_.ways.then(before, StepKind::load, event.site);
        for (int i = 0; i < r.op().destinations; ++i)
            if (r.words(r.destination(i)) != 0) writers_.reg(event.registers, r.place(i)) = {way, {}, nullptr, 0};
        return;
    }
    const bool copies = event.kind == TensorOperation::Kind::copy;
    if (!copies && event.kind != TensorOperation::Kind::multiply) return;
    for (const TensorCells& cells : event.cells) {
        if (!cells.write) continue;
        const Cta cta = cta_of(event, cells);
        const Ways::Id before = copies ? writers_.shared(cta, TensorMaps::base(event.a)) : 0;
        const Ways::Id way =
            writers_.ways.then(before, copies ? StepKind::tensor_copy : StepKind::multiply, event.site);
        for (std::uint32_t column = cells.column; column < cells.column + cells.columns; ++column)
            writers_.tensor_column(cta, column) = way;
    }
}

}  // namespace tilepath::check
