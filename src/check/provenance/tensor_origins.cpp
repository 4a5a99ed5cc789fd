// Tensor Memory: tcgen05.ld, st, cp, shift, and the operands of tcgen05.mma.
#include <fmt/format.h>

#include <algorithm>

#include "atom/tcgen05_descriptor.h"
#include "check/provenance/descriptor_view.h"
#include "check/provenance/provenance.h"

namespace tilepath::check {
namespace {

using machine::TensorCells;
using machine::TensorOperation;

/// The CTAs that an operation works on: its own, or its pair, the even one first.
std::vector<MemoryShadow::Cta> ctas_of(const TensorOperation& event) {
    if (event.cta_group == 1) return {{event.site.cluster, event.site.rank}};
    const std::uint32_t even = event.site.rank & ~1u;
    return {{event.site.cluster, even}, {event.site.cluster, even + 1}};
}

const TensorCells* cells_of(const TensorOperation& event, TensorCells::Role role) {
    const auto found = std::ranges::find(event.cells, role, &TensorCells::role);
    return found == event.cells.end() ? nullptr : &*found;
}

std::uint32_t lowest_lane(const TensorCells& cells) {
    for (std::uint32_t word = 0; word < 4; ++word)
        if (cells.lanes[word] != 0) return 32 * word + static_cast<std::uint32_t>(std::countr_zero(cells.lanes[word]));
    return 0;
}

}  // namespace

void Provenance::tensor_landed(const TensorOperation& event) {
    switch (event.kind) {
        case TensorOperation::Kind::multiply:
            multiply_tensor(event);
            return forget_tensor(event, TensorCells::Role::a);  // what .ashift has moved
        case TensorOperation::Kind::copy: return copy_tensor(event);
        case TensorOperation::Kind::shift: return forget_tensor(event);
        case TensorOperation::Kind::load: return transfer_tensor(event, false);
        case TensorOperation::Kind::store:
        case TensorOperation::Kind::commit: return;
    }
}

/// A store's registers are told when it is issued.
void Provenance::tensor_issued(const TensorOperation& event) {
    if (event.kind == TensorOperation::Kind::store) transfer_tensor(event, true);
}

/// What it writes comes from nowhere that is followed.
void Provenance::forget_tensor(const TensorOperation& event, std::optional<TensorCells::Role> only) {
    const std::vector<MemoryShadow::Cta> ctas = ctas_of(event);
    for (const TensorCells& cells : event.cells)
        if (cells.write && (!only || cells.role == *only)) tensor_.forget(ctas[cells.cta], cells);
}

void Provenance::transfer_tensor(const TensorOperation& event, bool store) {
    const TensorCells* const cells = cells_of(event, TensorCells::Role::data);
    if (event.registers.rows == nullptr || cells == nullptr) return;
    const WarpRegisters r(event.site, event.registers, registers_.rows(event.registers));
    const auto* const transfer =
        tensor_maps_.transfer(event.site.function->tmem_transfers[event.site.op->detail], store);
    if (transfer == nullptr) return store ? forget_tensor(event) : r.forget_destinations();
    const MemoryShadow::Cta cta{event.site.cluster, event.site.rank};
    const std::uint32_t first_lane = lowest_lane(*cells), first_column = cells->column;
    for (int reg = 0; reg < transfer->registers; ++reg) {
        const std::uint32_t place = store ? r.source_place(1 + reg) : r.place(reg);
        if (!store && r.words(r.destination(reg)) != 1) continue;
        if (transfer->whole_words && !store) {
            Words& to = r.row(place).change();
            r.each_lane([&](int lane) {
                const auto& at = transfer->at(reg, lane, 0);
                tensor_.read(cta, first_lane + static_cast<std::uint32_t>(at.lane),
                             first_column + static_cast<std::uint32_t>(at.column), to, static_cast<std::size_t>(lane));
            });
            continue;
        }
        r.each_lane([&](int lane) {
            Word word = store ? r.word(place, 1, lane) : Word{};
            for (std::size_t byte = 0; byte < 4; ++byte) {
                const auto& at = transfer->at(reg, lane, static_cast<int>(byte));
                if (at.column < 0) continue;
                const std::uint32_t l = first_lane + static_cast<std::uint32_t>(at.lane),
                                    c = first_column + static_cast<std::uint32_t>(at.column);
                Word cell = tensor_.read(cta, l, c);
                if (store) {
                    cell[at.byte] = word[byte];
                    tensor_.write(cta, l, c, cell);
                } else {
                    word[byte] = cell[at.byte];
                }
            }
            if (!store) r.set(place, 1, lane, 0, word);
        });
    }
}

void Provenance::copy_tensor(const TensorOperation& event) {
    const auto* const copy = tensor_maps_.copy(event.site.function->tmem_copies[event.site.op->detail], event.a);
    const TensorCells* const cells = cells_of(event, TensorCells::Role::data);
    if (copy == nullptr || cells == nullptr) return forget_tensor(event);
    const std::uint32_t base = TensorMaps::base(event.a);
    for (const MemoryShadow::Cta& cta : ctas_of(event)) {
        for (const TensorMaps::Copy::Byte& byte : copy->bytes) {
            Origin from;
            memory_.read_shared(cta, base + byte.from, 1, &from);
            for (const std::uint8_t lane : byte.lanes) {
                Word word = tensor_.read(cta, lane, cells->column + byte.column);
                word[byte.byte] = from;
                tensor_.write(cta, lane, cells->column + byte.column, word);
            }
        }
    }
}

/// A product of operands in shared memory that are regular and belong together; nothing if they are not known to be.
std::optional<CheckedProduct> Provenance::regular_tensor_product(const std::vector<MemoryShadow::Cta>& ctas,
                                                                 const TensorMaps::Multiply& map,
                                                                 const TensorOperation& event,
                                                                 const TensorSums* before) {
    std::array<RegularOperand, 2> both;
    for (const bool of_b : {false, true}) {
        const std::uint64_t descriptor = of_b ? event.b : event.a;
        const auto shape = map.shared(!of_b, descriptor, false, static_cast<int>(ctas.size()));
        if (!shape) return std::nullopt;
        RegularOperand& whole = both[of_b ? 1 : 0];
        for (const MemoryShadow::Cta& cta : ctas) {
            const RegularOperand& part = regular_operand(cta, DescriptorKind::tcgen05, of_b, descriptor, *shape);
            if (!part.holds()) return std::nullopt;
            if (!whole.holds())
                whole = part;
            else if (part.k != whole.k || part.role != whole.role)
                return std::nullopt;
            else
                whole.rows.insert(whole.rows.end(), part.rows.begin(), part.rows.end());
        }
    }
    std::span<const std::uint32_t> m, n;
    if (before != nullptr) m = before->m, n = before->n;
    const auto ks = regular_product({both[0].rows, &both[0]}, {both[1].rows, &both[1]}, m, n);
    if (!ks || (before == nullptr && !(both[0].consecutive() && both[1].consecutive()))) return std::nullopt;
    CheckedProduct out;
    out.verdict = CheckedProduct::Verdict::proven;
    out.m = std::move(both[0].rows), out.n = std::move(both[1].rows);
    out.ks = *ks;
    return out;
}

/// The operand of all CTAs that a descriptor describes in each.
OperandCells Provenance::tensor_operand(const std::vector<MemoryShadow::Cta>& ctas, const TensorMaps::Multiply& map,
                                        bool of_a, const Reading& reading) const {
    const atom::Shape& shape = map.atom.shape;
    const int rows = (of_a ? shape.m : shape.n) / static_cast<int>(ctas.size());
    const auto operand = map.shared(of_a, reading.descriptor, reading.transposed, static_cast<int>(ctas.size()));
    OperandCells out{0, shape.k, {}};
    for (const MemoryShadow::Cta& cta : ctas) {
        OperandCells part{rows, shape.k, std::vector<OperandCell>(static_cast<std::size_t>(rows * shape.k))};
        if (operand) part = shared_cells(cta, DescriptorKind::tcgen05, reading, *operand);
        out.rows += part.rows, out.overlap = out.overlap || part.overlap;
        out.cells.insert(out.cells.end(), part.cells.begin(), part.cells.end());
    }
    return out;
}

OperandCells Provenance::tensor_operand_a(const std::vector<MemoryShadow::Cta>& ctas, const TensorMaps::Multiply& map,
                                          const TensorCells& cells) const {
    const atom::Shape& shape = map.atom.shape;
    OperandCells out{shape.m, shape.k, std::vector<OperandCell>(static_cast<std::size_t>(shape.m * shape.k))};
    const int width = std::max(1, map.a_bits / 8);
    std::uint32_t lowest = 127;
    for (const TensorPlace& place : map.a) lowest = std::min(lowest, place.lane);
    const std::uint32_t shift = lowest_lane(cells) - lowest;
    for (std::size_t i = 0; i < out.cells.size(); ++i) {
        const TensorPlace& at = map.a[i];
        const Word word = tensor_.read(ctas[at.part], at.lane + shift, cells.column + at.column);
        if (at.bit / 8 + static_cast<std::uint32_t>(width) <= 4)
            out.cells[i] =
                cell(word.data() + at.bit / 8, width, map.a_bits < 8 ? static_cast<int>(at.bit % 8) / map.a_bits : 0);
    }
    return out;
}

/// Whether an accumulator holds something of unknown origin, so that what is added to it is not all.
bool Provenance::accumulator_lost(const std::vector<MemoryShadow::Cta>& ctas, const TensorCells& d) const {
    for (std::uint32_t column = d.column; column < d.column + d.columns; ++column)
        for (std::uint32_t lane = 0; lane < TensorShadow::lanes; ++lane)
            if ((d.lanes[lane / 32] >> lane % 32 & 1) != 0 &&
                tensor_.read(ctas[d.cta], lane, column)[0].kind() == Origin::Kind::unknown)
                return true;
    return false;
}

void Provenance::multiply_tensor(const TensorOperation& event) {
    const program::Tcgen05Mma& what = event.site.function->tcgen05_mmas[event.site.op->detail];
    const TensorMaps::Multiply* const map = tensor_maps_.multiply(what, event.instruction);
    const TensorCells* const d = cells_of(event, TensorCells::Role::d);
    const std::vector<MemoryShadow::Cta> ctas = ctas_of(event);
    if (event.unwritten)
        tell(event.site, "multiplies with cells of Tensor Memory that nobody has written", {},
             "compare the columns and lanes of what was stored or copied there with what the instruction reads: "
             "`tilepath show`");
    for (const bool of_a : {true, false}) {
        if (map == nullptr || (of_a && what.a_in_tensor_memory)) continue;
        const std::uint64_t descriptor = of_a ? event.a : event.b;
        const DescriptorView is = view_of(DescriptorKind::tcgen05, descriptor);
        if (const auto shape = map->shared(of_a, descriptor, false, static_cast<int>(ctas.size())))
            tile_reads_.add(event.site.op, of_a ? "A" : "B", is.start_bytes, is.base_offset, *shape);
    }
    if (map == nullptr || d == nullptr || !product_ || lowest_lane(*d) != map->d->lowest_lane) {
        if (map != nullptr && !product_) check_without_product(event, ctas, *map);
        ++counts_.unknown;
        return forget_tensor(event);
    }
    const TensorCells* const a_cells = cells_of(event, TensorCells::Role::a);
    const std::shared_ptr<TensorSums> before =
        event.accumulates ? tensor_.sums(ctas[0], d->column, map->d.get()) : nullptr;
    OperandCells a, b;
    std::optional<CheckedProduct> regular;
    if (!what.a_in_tensor_memory && listener_ == nullptr)
        regular = regular_tensor_product(ctas, *map, event, before.get());
    if (!regular) {
        a = what.a_in_tensor_memory && a_cells != nullptr ? tensor_operand_a(ctas, *map, *a_cells)
                                                          : tensor_operand(ctas, *map, true, {event.a});
        b = tensor_operand(ctas, *map, false, {event.b});
    }
    CheckedProduct checked = regular
                                 ? std::move(*regular)
                                 : check_operands(a, b, before ? &before->m : nullptr, before ? &before->n : nullptr);
    const std::string factor_advice = judge_factors(event, ctas, *map, checked);
    count(checked);
    if (listener_ != nullptr) listener_->multiplied(event, *map, a, b, checked);
    if (checked.verdict == CheckedProduct::Verdict::disproven) {
        Tally& tally = tallies_.of(event.site);
        if (tally.times++ == 0) {
            tally.message = checked.message, tally.facts = checked.facts, tally.advice = factor_advice;
            for (const bool of_a : {true, false}) {
                if (!(of_a ? checked.wrong_a && !what.a_in_tensor_memory : checked.wrong_b)) continue;
                const auto right = [&](const Reading& reading) {
                    return becomes_right(of_a, tensor_operand(ctas, *map, of_a, reading), of_a ? b : a, checked);
                };
                const std::uint64_t descriptor = of_a ? event.a : event.b;
                const auto shape = map->shared(of_a, descriptor, false, static_cast<int>(ctas.size()));
                if (!shape) continue;
                explain_operand({of_a ? "A" : "B", DescriptorKind::tcgen05, ctas[0], descriptor, *shape, of_a ? a : b,
                                 of_a ? checked.m : checked.n, checked.each_k},
                                right, tally);
            }
        }
    }
    ++multiplies_.of(event.site).times;
    if (!before) note_strays(event.site, a, b, checked);
    const KSets::Added added = add_ks(event.site, before ? before->ks : 0, checked);
    const auto sums = before ? before : std::make_shared<TensorSums>();
    sums->map = map->d, sums->m = checked.m, sums->n = checked.n, sums->ks = added.set;
    const bool lost = event.accumulates && !before && accumulator_lost(ctas, *d);
    if (lost || checked.verdict == CheckedProduct::Verdict::unknown) return forget_tensor(event);
    for (std::size_t c = 0; c < ctas.size(); ++c)
        tensor_.set_sums(ctas[c], d->column, static_cast<std::uint32_t>(c), sums);
}

}  // namespace tilepath::check
