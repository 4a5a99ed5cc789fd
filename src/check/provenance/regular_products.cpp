// Operands that are regular, and products of such: nearly all, and proven by comparison.
#include <algorithm>

#include "check/provenance/matrix_maps.h"
#include "check/provenance/provenance.h"

namespace tilepath::check {

Provenance::KnownFragment& Provenance::fragment_of_mma(const WarpRegisters& r, const MatrixMaps::Multiply& map,
                                                       const program::Mma& mma, bool of_b) {
    const int first = of_b ? map.a_registers : 0, count = of_b ? map.b_registers : map.a_registers;
    const std::vector<ElementRun>& runs = of_b ? map.runs_b : map.runs_a;
    std::array<std::pair<std::uint32_t, std::uint64_t>, KnownFragment::most_registers> registers{};
    std::array<const Words*, KnownFragment::most_registers> words{};
    bool held = count <= KnownFragment::most_registers, in_words = held && !runs.empty();
    for (int i = 0; held && i < count; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const ShadowRow& row = r.row(r.source_place(first + i));
        // What is not held is judged by its value, which may change unseen.
        held = r.words(r.source(first + i)) == 1 && row.held();
        words[at] = row.words();
        in_words = in_words && words[at] != nullptr;
        registers[at] = {r.source_place(first + i), row.changes()};
    }
    KnownFragment& known = fragments_[of_b ? 1 : 0][(r.frame() * 31 + r.source_place(first)) % fragments_[0].size()];
    if (held && known.frame == r.frame() && known.map == &map && known.registers == registers) return known;
    known.frame = held ? r.frame() : 0, known.map = &map, known.registers = registers;
    known.regular = {}, known.cells.reset();
    if (!held || !in_words) return known;
    RegularReader reader(*product_, of_b ? mma.n : mma.m, mma.k, of_b ? map.bits_b : map.bits_a);
    const auto word = [&](std::int32_t i) {
        return words[static_cast<std::size_t>(i / 32)]->packed(static_cast<std::size_t>(i % 32));
    };
    if (std::ranges::all_of(runs, [&](const ElementRun& run) { return reader.add(run, word); }))
        known.regular = reader.take();
    return known;
}

/// The operand that a descriptor describes, if it is regular; it stays so as long as shared memory does.
const RegularOperand& Provenance::regular_operand(MemoryShadow::Cta cta, DescriptorKind kind, bool of_b,
                                                  std::uint64_t descriptor, const atom::SharedOperand& shape) {
    const std::uint64_t version = memory_.version(cta);
    KnownOperand& known = operands_[of_b ? 1 : 0][(descriptor * 31 + cta.rank) % operands_[0].size()];
    if (known.cta == cta && known.kind == kind && known.descriptor == descriptor && known.version == version &&
        known.shape == shape)
        return known.regular;
    known = {cta, kind, descriptor, version, shape, {}};
    const std::vector<ElementRun>& runs = maps_->shared_runs(kind, descriptor, shape);
    if (runs.empty()) return known.regular;
    const Words& shared = memory_.shared(cta);
    const std::size_t base = MatrixMaps::base(descriptor) / 4;
    const auto word = [&](std::int32_t i) {
        const std::size_t at = base + static_cast<std::size_t>(i);
        return at < shared.size() ? shared.packed(at) : PackedWord{};
    };
    RegularReader reader(*product_, shape.mn, shape.k, shape.element_bits);
    if (std::ranges::all_of(runs, [&](const ElementRun& run) { return reader.add(run, word); }))
        known.regular = reader.take();
    return known.regular;
}

/// Whether somebody has written all of an operand; false: not known.
bool Provenance::all_written(MemoryShadow::Cta cta, DescriptorKind kind, std::uint64_t descriptor,
                             const atom::SharedOperand& shape) const {
    const std::vector<ElementRun>& runs = maps_->shared_runs(kind, descriptor, shape);
    const Words& shared = memory_.shared(cta);
    const std::size_t base = MatrixMaps::base(descriptor) / 4;
    const auto written = [&](const ElementRun& run) {
        const auto end = base + static_cast<std::size_t>((run.bit + run.count * shape.element_bits + 31) / 32);
        if (end > shared.size()) return false;
        for (auto at = base + static_cast<std::size_t>(run.bit / 32); at < end; ++at)
            if (const PackedWord word = shared.packed(at);
                !word.is_whole() || word.first().kind() == Origin::Kind::unwritten)
                return false;
        return true;
    };
    return !runs.empty() && std::ranges::all_of(runs, written);
}

/// What the accumulators of a product hold: one set of sums in all registers; null: zeros, or something else.
std::shared_ptr<Sums> Provenance::sums_before(const WarpRegisters& r, const machine::Multiply& event,
                                              const MatrixMaps::Multiply& map, bool& replaces) const {
    const program::Mma& mma = *event.mma;
    const int first = mma.warpgroup ? -1 : map.a_registers + map.b_registers;
    const auto place = [&](int reg) { return first < 0 ? r.place(reg) : r.source_place(first + reg); };
    replaces = false;
    std::shared_ptr<Sums> before = event.accumulates ? r.row(place(0)).sums() : nullptr;
    if (!before || before->held != &map.held_d ||
        before->first_lane != 32 * static_cast<int>(event.site.warp % 4) * mma.warpgroup)
        return nullptr;
    for (int reg = 0; reg < map.d_registers; ++reg) {
        const ShadowRow& row = r.row(place(reg));
        if (row.sums() != before || row.sums_register() != reg) return nullptr;
    }
    // In place where D replaces C and nobody else looks.
    replaces = before.use_count() == map.d_registers + 1;
    for (int reg = 0; replaces && reg < map.d_registers; ++reg) replaces = place(reg) == r.place(reg);
    return before;
}

/// A step of a right product, as nearly all are. False: not known to be one, and nothing is done.
bool Provenance::multiply_regular(const machine::Multiply& event, const RegularRows& a, const RegularRows& b,
                                  int first_row) {
    if (a.rows.empty() || b.rows.empty()) return false;
    if (listener_ != nullptr) return false;  // who listens is told every cell
    const WarpRegisters r(event.site, event.registers, registers_.rows(event.registers));
    bool replaces = false;
    const std::shared_ptr<Sums> before = sums_before(r, event, *maps_->multiply(*event.mma), replaces);
    std::span<const std::uint32_t> m, n;
    if (before) m = std::span(before->m).subspan(std::size_t(first_row), a.rows.size()), n = before->n;
    const auto ks = regular_product(a, b, m, n);
    if (!ks || (!before && !(a.operand->consecutive() && b.operand->consecutive()))) return false;
    ++multiplies_.of(event.site).times;
    CheckedProduct checked;
    checked.verdict = CheckedProduct::Verdict::proven;
    checked.ks = *ks;
    if (!before) checked.m.assign(a.rows.begin(), a.rows.end()), checked.n.assign(b.rows.begin(), b.rows.end());
    count(checked);
    add_product(event, r, checked, before, replaces, first_row);
    return true;
}

}  // namespace tilepath::check
