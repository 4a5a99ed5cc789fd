// ldmatrix, stmatrix, movmatrix, and the operands of mma and wgmma.
#include <fmt/format.h>

#include <algorithm>

#include "atom/ldmatrix.h"
#include "atom/matrix_descriptor.h"
#include "atom/wgmma.h"
#include "check/provenance/descriptor_view.h"
#include "check/provenance/matrix_maps.h"
#include "check/provenance/provenance.h"

namespace tilepath::check {

void Provenance::load_matrix(const WarpRegisters& r, const machine::EventSite& site) {
    const LaneAddresses* const at = addresses(site);
    const MatrixMaps::Transfer* const transfer = maps_->transfer(r.op());
    if (at == nullptr || transfer == nullptr) return r.forget_destinations();
    std::array<std::array<Origin, 16>, 32> rows{};
    for (std::uint32_t left = at->lanes; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(left));
        read(site, at->spaces[lane], at->addresses[lane], 16, rows[lane].data());
    }
    for (int reg = 0; reg < r.op().destinations; ++reg) {
        r.each_lane([&](int lane) {
            Word word{};
            for (int byte = 0; byte < 4; ++byte) {
                const MatrixMaps::Transfer::Source& from = transfer->at(reg, lane, byte);
                if (from.byte >= 0) word[std::size_t(byte)] = rows[std::size_t(from.lane)][std::size_t(from.byte)];
            }
            r.set(r.place(reg), 1, lane, 0, word);
        });
    }
}

void Provenance::store_matrix(const WarpRegisters& r, const machine::EventSite& site) {
    const LaneAddresses* const at = addresses(site);
    const MatrixMaps::Transfer* const transfer = maps_->transfer(r.op());
    if (at == nullptr || transfer == nullptr) return;
    std::array<std::array<Origin, 16>, 32> rows{};
    for (int reg = 0; reg + 1 < r.op().sources; ++reg)
        for (int lane = 0; lane < 32; ++lane) {
            const Word word = r.word(r.source_place(reg + 1), 1, lane);
            for (int byte = 0; byte < 4; ++byte) {
                const MatrixMaps::Transfer::Source& to = transfer->at(reg, lane, byte);
                if (to.byte >= 0) rows[std::size_t(to.lane)][std::size_t(to.byte)] = word[std::size_t(byte)];
            }
        }
    for (std::uint32_t left = at->lanes; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(left));
        write(site, at->spaces[lane], at->addresses[lane], 16, rows[lane].data());
    }
}

void Provenance::move_matrix(const WarpRegisters& r) {
    const atom::MatrixTranspose transpose = atom::movmatrix();
    const auto from = atom::places(transpose.source), to = atom::places(transpose.destination);
    std::array<Word, 32> out{};
    for (std::size_t i = 0; i < from.size(); ++i) {
        const Word word = r.word(r.source_place(0), 1, from[i].lane);
        for (std::size_t b = 0; b < 2; ++b) out[to[i].lane][to[i].bit / 8u + b] = word[from[i].bit / 8u + b];
    }
    r.each_lane([&](int lane) { r.set(r.place(0), 1, lane, 0, out[std::size_t(lane)]); });
}

OperandCell Provenance::cell(const Origin* bytes, int width, int nibble) const {
    const Origin first = width > 1 ? whole(bytes, static_cast<unsigned>(width)) : bytes[0];
    switch (first.kind()) {
        case Origin::Kind::zero: return {OperandCell::Kind::zero, nullptr, {}};
        case Origin::Kind::unwritten: return {OperandCell::Kind::unwritten, nullptr, {}};
        case Origin::Kind::unknown:
        case Origin::Kind::sum: return {};
        case Origin::Kind::memory:
        case Origin::Kind::element: break;
    }
    if (!product_) return {};
    const Product::Found found = product_->find(first.address());
    if (found.matrix == nullptr) return {};
    return {OperandCell::Kind::element,
            found.matrix,
            {found.place.row, found.place.column + static_cast<std::uint32_t>(nibble)}};
}

OperandCells Provenance::fragment_cells(const WarpRegisters& r, const std::vector<atom::ElementPlace>& places, int rows,
                                        int columns, bool by_columns, int bits, int first_operand, int warp) const {
    OperandCells out{rows, columns, std::vector<OperandCell>(std::size_t(rows * columns)), false};
    for (std::size_t i = 0; i < places.size(); ++i) {
        const atom::ElementPlace& at = places[i];
        if (at.warp != warp) continue;
        const int row = by_columns ? int(i) % rows : int(i) / columns,
                  column = by_columns ? int(i) / rows : int(i) % columns;
        const int words = r.words(r.source(first_operand + at.reg)), byte = at.bit / 8;
        std::array<Origin, 8> bytes{};
        const int width = std::max(1, bits / 8);
        for (int b = 0; b < width; ++b)
            bytes[std::size_t(b)] = r.word(r.source_place(first_operand + at.reg), words, at.lane,
                                           (byte + b) / 4)[std::size_t((byte + b) % 4)];
        out.cells[std::size_t(row * columns + column)] = cell(bytes.data(), width, bits < 8 ? at.bit % 8 / bits : 0);
    }
    return out;
}

const OperandCells& Provenance::fragment_of_mma(const WarpRegisters& r, const MatrixMaps::Multiply& map,
                                                const program::Mma& mma, bool of_b) {
    const int first = of_b ? map.a_registers : 0, count = of_b ? map.b_registers : map.a_registers;
    std::vector<std::pair<std::uint32_t, std::uint64_t>> registers;
    bool held = true;  // what is not held is judged by its value, which may change unseen
    for (int i = 0; i < count; ++i) {
        const std::uint32_t place = r.source_place(first + i);
        held = held && r.words(r.source(first + i)) == 1 && r.row(place).held();
        registers.emplace_back(place, r.row(place).changes());
    }
    KnownFragment& known = fragments_[(r.frame() * 31 + registers.front().first) % fragments_.size()];
    if (held && known.frame == r.frame() && known.map == &map && known.registers == registers) return known.cells;
    known.frame = held ? r.frame() : 0, known.map = &map, known.registers = std::move(registers);
    known.cells = of_b ? fragment_cells(r, map.b, mma.n, mma.k, true, map.bits_b, first, 0)
                       : fragment_cells(r, map.a, mma.m, mma.k, false, map.bits_a, first, 0);
    return known.cells;
}

OperandCells Provenance::shared_cells(MemoryShadow::Cta cta, DescriptorKind kind, const Reading& reading,
                                      const atom::SharedOperand& shape) const {
    const auto& [descriptor, transposed, box, swizzle] = reading;
    OperandCells out{shape.mn, shape.k, std::vector<OperandCell>(std::size_t(shape.mn * shape.k)),
                     maps_->overlaps(kind, descriptor, shape)};
    const std::vector<std::int32_t>* const places = maps_->shared_places(kind, descriptor, shape);
    if (places == nullptr) return out;
    const std::uint32_t base = MatrixMaps::base(descriptor);
    const std::vector<Origin>& shared = memory_.shared(cta);
    const int width = std::max(1, shape.element_bits / 8);
    std::array<Origin, 8> bytes{};
    for (std::size_t i = 0; i < out.cells.size(); ++i) {
        const std::int64_t bit = (*places)[i];
        std::size_t at = base + static_cast<std::size_t>(bit / 8);
        if (box != nullptr && at >= box->begin && at < box->end)
            at = layout::swizzled(box->swizzle, layout::swizzled(swizzle, at));
        if (at + std::size_t(width) > shared.size()) {
            out.cells[i].kind = OperandCell::Kind::unwritten;
            continue;
        }
        std::copy_n(shared.begin() + std::ptrdiff_t(at), width, bytes.begin());
        out.cells[i] = cell(bytes.data(), width, shape.element_bits < 8 ? int(bit % 8) / shape.element_bits : 0);
    }
    return out;
}

void Provenance::multiply(const machine::Multiply& event) {
    const program::Mma& mma = *event.mma;
    WarpRegisters r(event.site, event.registers, registers_.rows(event.registers));
    const MatrixMaps::Multiply* const map = maps_->multiply(mma);
    if (map == nullptr || mma.sparse) {
        ++counts_.unknown;
        return r.forget_destinations();
    }
    if (mma.warpgroup && event.site.warp % 4 == 0) {
        for (const bool of_a : {true, false}) {
            if (of_a && mma.a_in_registers) continue;
            const std::uint64_t descriptor = of_a ? event.a : event.b;
            const DescriptorView is = view_of(DescriptorKind::wgmma, descriptor);
            tile_reads_.add(event.site.op, of_a ? "A" : "B", is.start_bytes, is.base_offset,
                            map->shape(mma, of_a, descriptor));
        }
    }
    if (!product_) return check_without_product(event);
    if (!mma.warpgroup) {
        const OperandCells& a = fragment_of_mma(r, *map, mma, false);
        const OperandCells& b = fragment_of_mma(r, *map, mma, true);
        return multiply_checked(event, a, b, 0);
    }
    const int warp = static_cast<int>(event.site.warp % 4), rows = mma.m / 4;
    const MemoryShadow::Cta cta{event.site.cluster, event.site.rank};
    const OperandCells all_a =
        mma.a_in_registers ? fragment_cells(r, map->a, mma.m, mma.k, false, map->bits_a, 0, warp)
                           : shared_cells(cta, DescriptorKind::wgmma, {event.a}, map->shape(mma, true, event.a));
    const OperandCells a = all_a.part(warp * rows, rows);
    const std::uint64_t version = memory_.version(cta);
    if (shared_b_.cta != cta || shared_b_.descriptor != event.b || shared_b_.version != version ||
        shared_b_.mma != &mma)
        shared_b_ = {cta, event.b, version, &mma,
                     shared_cells(cta, DescriptorKind::wgmma, {event.b}, map->shape(mma, false, event.b))};
    multiply_checked(event, a, shared_b_.cells, warp * rows);
}

void Provenance::tell(const machine::EventSite& site, std::string message, std::vector<std::string> facts,
                      std::string advice) {
    Tally& tally = tallies_.of(site);
    if (tally.times++ != 0) return;
    tally.message = std::move(message), tally.facts = std::move(facts), tally.advice = std::move(advice);
}

void Provenance::count(const CheckedProduct& checked) {
    switch (checked.verdict) {
        case CheckedProduct::Verdict::proven: ++counts_.proven; break;
        case CheckedProduct::Verdict::disproven: ++counts_.disproven; break;
        case CheckedProduct::Verdict::unknown: ++counts_.unknown; break;
    }
}

/// The ks that an accumulator holds afterwards; none may come twice.
KSets::Added Provenance::add_ks(const machine::EventSite& site, std::uint32_t before, const CheckedProduct& checked) {
    const KSets::Added added = sets_.add(before, checked.ks);
    if (added.twice && checked.verdict == CheckedProduct::Verdict::proven)
        tell(site,
             fmt::format("k from {} to {} is added a second time to an accumulator that holds k {}", checked.ks.begin,
                         checked.ks.end - 1, sets_.describe(before)),
             {});
    return added;
}

/// The accumulators' sums before, the product's contribution, the sums after.
void Provenance::multiply_checked(const machine::Multiply& event, const OperandCells& a, const OperandCells& b,
                                  int first_row) {
    const program::Mma& mma = *event.mma;
    WarpRegisters r(event.site, event.registers, registers_.rows(event.registers));
    const MatrixMaps::Multiply& map = *maps_->multiply(mma);
    // What the accumulators hold: one set of sums in all registers, or zeros, or something else.
    const int first = mma.warpgroup ? -1 : map.a_registers + map.b_registers;
    const auto place = [&](int reg) { return first < 0 ? r.place(reg) : r.source_place(first + reg); };
    const bool accumulates = event.accumulates;
    std::shared_ptr<Sums> before = accumulates ? r.row(place(0)).sums() : nullptr;
    for (int reg = 1; before && reg < map.d_registers; ++reg) {
        const ShadowRow& row = r.row(place(reg));
        if (row.sums() != before || row.sums_register() != reg) before.reset();
    }
    if (before && (before->held != &map.held_d ||
                   before->first_lane != 32 * static_cast<int>(event.site.warp % 4) * mma.warpgroup))
        before.reset();
    std::vector<std::uint32_t> known_m;
    if (before) known_m.assign(before->m.begin() + first_row, before->m.begin() + first_row + a.rows);
    CheckedProduct checked = check_operands(a, b, before ? &known_m : nullptr, before ? &before->n : nullptr);
    count(checked);
    if (checked.verdict == CheckedProduct::Verdict::disproven) {
        Tally& tally = tallies_.of(event.site);
        if (tally.times++ == 0) {
            tally.message = checked.message;
            tally.facts = checked.facts;
            explain_shared(event, a, b, checked, tally);
        }
    }
    ++multiplies_.of(event.site).times;
    if (!before) note_strays(event.site, a, b, checked);
    // In place where D replaces C and nobody else looks.
    bool replaces = before != nullptr && before.use_count() == map.d_registers + 1;
    for (int reg = 0; replaces && reg < map.d_registers; ++reg) replaces = place(reg) == r.place(reg);
    const auto sums = replaces ? before : std::make_shared<Sums>();
    sums->held = &map.held_d, sums->columns = mma.n,
    sums->first_lane = mma.warpgroup ? 32 * static_cast<int>(event.site.warp % 4) : 0;
    sums->m.resize(std::size_t(mma.m));
    std::ranges::copy(checked.m, sums->m.begin() + first_row);
    sums->n = checked.n;
    const KSets::Added added = add_ks(event.site, before ? before->ks : 0, checked);
    sums->ks = added.set;
    for (int reg = 0; reg < map.d_registers; ++reg) {
        if (r.words(r.destination(reg)) != 1 || checked.verdict == CheckedProduct::Verdict::unknown)
            r.forget(r.place(reg), r.words(r.destination(reg)));
        else
            r.row(r.place(reg)).set_sums(sums, reg);
    }
}

}  // namespace tilepath::check
