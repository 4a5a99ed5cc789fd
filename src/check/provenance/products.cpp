// mma and wgmma: their operands, and the sums that their accumulators hold.
#include <fmt/format.h>

#include <algorithm>

#include "check/provenance/descriptor_view.h"
#include "check/provenance/matrix_maps.h"
#include "check/provenance/provenance.h"

namespace tilepath::check {

void Provenance::multiply(const machine::Multiply& event) {
    const program::Mma& mma = *event.mma;
    WarpRegisters r(event.site, event.registers, registers_.rows(event.registers));
    const MatrixMaps::Multiply* const map = maps_->multiply(mma);
    if (map == nullptr) {
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
        KnownFragment &a = fragment_of_mma(r, *map, mma, false), &b = fragment_of_mma(r, *map, mma, true);
        // Scale factors, and what metadata name, are looked at element by element.
        if (!map->sparse && mma.scale_factors == 0 &&
            multiply_regular(event, {a.regular.rows, &a.regular}, {b.regular.rows, &b.regular}, 0))
            return;
        if (!a.cells) a.cells = fragment_cells(r, map->a, mma.m, map->a_columns(mma), false, map->bits_a, 0, 0);
        if (!b.cells) b.cells = fragment_cells(r, map->b, mma.n, mma.k, true, map->bits_b, map->a_registers, 0);
        if (map->sparse)
            return multiply_checked(
                event, spread(r, *map, mma, *a.cells, map->a_registers + map->b_registers + map->c_registers, 0),
                *b.cells, 0);
        return multiply_checked(event, *a.cells, *b.cells, 0);
    }
    const int warp = static_cast<int>(event.site.warp % 4), rows = mma.m / 4;
    const MemoryShadow::Cta cta{event.site.cluster, event.site.rank};
    const atom::SharedOperand b_shape = map->shape(mma, false, event.b);
    if (!mma.a_in_registers && !map->sparse) {
        const RegularOperand& a =
            regular_operand(cta, DescriptorKind::wgmma, false, event.a, map->shape(mma, true, event.a));
        const RegularOperand& b = regular_operand(cta, DescriptorKind::wgmma, true, event.b, b_shape);
        if (a.holds() && b.holds() &&
            multiply_regular(event, {std::span(a.rows).subspan(std::size_t(warp * rows), std::size_t(rows)), &a},
                             {b.rows, &b}, warp * rows))
            return;
    }
    const OperandCells all_a =
        mma.a_in_registers ? fragment_cells(r, map->a, mma.m, map->a_columns(mma), false, map->bits_a, 0, warp)
                           : shared_cells(cta, DescriptorKind::wgmma, {event.a}, map->shape(mma, true, event.a));
    OperandCells a = all_a.part(warp * rows, rows);
    // Metadata come behind A's registers or descriptor, B's descriptor and scale-d.
    if (map->sparse) a = spread(r, *map, mma, a, (mma.a_in_registers ? map->a_registers : 1) + 2, warp * rows);
    const std::uint64_t version = memory_.version(cta);
    if (shared_b_.cta != cta || shared_b_.descriptor != event.b || shared_b_.version != version ||
        shared_b_.mma != &mma)
        shared_b_ = {cta, event.b, version, &mma, shared_cells(cta, DescriptorKind::wgmma, {event.b}, b_shape)};
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

/// Whether accumulators hold something of unknown origin, so that what is added to them is not all. Those that D is
/// written over hold it already: the value of one that is not followed says nothing.
bool Provenance::accumulators_lost(const WarpRegisters& r, const program::Mma& mma, const MatrixMaps::Multiply& map) {
    for (int reg = 0; reg < map.d_registers; ++reg) {
        const std::uint32_t place =
            mma.warpgroup ? r.place(reg) : r.source_place(map.a_registers + map.b_registers + reg);
        const bool overwritten = mma.warpgroup || place == r.place(reg);
        if (overwritten && !r.row(place).held()) continue;
        for (int lane = 0; lane < 32; ++lane)
            for (const Origin& byte : r.word(place, 1, lane))
                if (byte.kind() == Origin::Kind::unknown) return true;
    }
    return false;
}

/// The accumulators hold the product too. `before`: what they held; m and n are known from there if `checked` has none.
void Provenance::add_product(const machine::Multiply& event, const WarpRegisters& r, const CheckedProduct& checked,
                             const std::shared_ptr<Sums>& before, bool replaces, int first_row) {
    const program::Mma& mma = *event.mma;
    const MatrixMaps::Multiply& map = *maps_->multiply(mma);
    const auto sums = replaces ? before : before ? std::make_shared<Sums>(*before) : std::make_shared<Sums>();
    sums->held = &map.held_d, sums->columns = mma.n,
    sums->first_lane = mma.warpgroup ? 32 * static_cast<int>(event.site.warp % 4) : 0;
    if (!checked.m.empty()) {
        sums->m.resize(std::size_t(mma.m));
        std::ranges::copy(checked.m, sums->m.begin() + first_row);
        sums->n = checked.n;
    }
    sums->ks = add_ks(event.site, before ? before->ks : 0, checked).set;
    const bool lost = event.accumulates && !before && accumulators_lost(r, mma, map);
    for (int reg = 0; reg < map.d_registers; ++reg) {
        if (lost || r.words(r.destination(reg)) != 1 || checked.verdict == CheckedProduct::Verdict::unknown) {
            r.forget(r.place(reg), r.words(r.destination(reg)));
            if (mma.warpgroup) r.each_lane([&](int lane) { r.set(r.place(reg), 1, lane, 0, Word{}); });
        } else {
            r.row(r.place(reg)).set_sums(sums, reg);
        }
    }
}

/// The accumulators' sums before, the product's contribution, the sums after.
void Provenance::multiply_checked(const machine::Multiply& event, const OperandCells& a, const OperandCells& b,
                                  int first_row) {
    const program::Mma& mma = *event.mma;
    WarpRegisters r(event.site, event.registers, registers_.rows(event.registers));
    const MatrixMaps::Multiply& map = *maps_->multiply(mma);
    bool replaces = false;
    const std::shared_ptr<Sums> before = sums_before(r, event, map, replaces);
    std::vector<std::uint32_t> known_m;
    if (before) known_m.assign(before->m.begin() + first_row, before->m.begin() + first_row + a.rows);
    CheckedProduct checked = check_operands(a, b, before ? &known_m : nullptr, before ? &before->n : nullptr);
    if (map.sparse && checked.ks.begin != checked.ks.end) {
        // No row need have the first or the last of a chunk's columns.
        const auto chunk = static_cast<std::uint32_t>(map.sparse->chunk);
        checked.ks = {checked.ks.begin / chunk * chunk, (checked.ks.end + chunk - 1) / chunk * chunk};
    }
    if (checked.verdict != CheckedProduct::Verdict::disproven) check_selected_factors(r, map, mma, checked);
    count(checked);
    if (listener_ != nullptr) listener_->multiplied(event, a, b, checked);
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
    add_product(event, r, checked, before, replaces, first_row);
}

}  // namespace tilepath::check
