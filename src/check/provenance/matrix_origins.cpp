// ldmatrix, stmatrix, movmatrix, and the elements of the operands of mma and wgmma.
#include <algorithm>

#include "atom/ldmatrix.h"
#include "check/provenance/matrix_maps.h"
#include "check/provenance/provenance.h"

namespace tilepath::check {

void Provenance::load_matrix(const WarpRegisters& r, const machine::EventSite& site) {
    const LaneAddresses* const at = addresses(site);
    const MatrixMaps::Transfer* const transfer = maps_->transfer(r.op());
    if (at == nullptr || transfer == nullptr) return r.forget_destinations();
    if (transfer->whole_words) {
        for (int reg = 0; reg < r.op().destinations; ++reg) {
            Words& to = r.row(r.place(reg)).change();
            r.each_lane([&](int lane) {
                const MatrixMaps::Transfer::Source& from = transfer->at(reg, lane, 0);
                const auto row = static_cast<std::size_t>(from.lane);
                read_words(site, at->spaces[row], at->addresses[row] + static_cast<std::uint32_t>(from.byte), 1, to,
                           static_cast<std::size_t>(lane));
            });
        }
        return;
    }
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
        if (std::ranges::count(rows[lane], Origin::unwritten_cell()) != 0) {
            tell_unwritten(site, at->spaces[lane], at->addresses[lane]);
            std::ranges::replace(rows[lane], Origin::unwritten_cell(), Origin{});
        }
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

OperandCells Provenance::shared_cells(MemoryShadow::Cta cta, DescriptorKind kind, const Reading& reading,
                                      const atom::SharedOperand& shape) const {
    const auto& [descriptor, transposed, box, swizzle] = reading;
    OperandCells out{shape.mn, shape.k, std::vector<OperandCell>(std::size_t(shape.mn * shape.k)),
                     maps_->overlaps(kind, descriptor, shape)};
    const std::vector<std::int32_t>* const places = maps_->shared_places(kind, descriptor, shape);
    if (places == nullptr) return out;
    const std::uint32_t base = MatrixMaps::base(descriptor);
    const Words& shared = memory_.shared(cta);
    const int width = std::max(1, shape.element_bits / 8);
    std::array<Origin, 8> bytes{};
    for (std::size_t i = 0; i < out.cells.size(); ++i) {
        const std::int64_t bit = (*places)[i];
        std::size_t at = base + static_cast<std::size_t>(bit / 8);
        if (box != nullptr && at >= box->begin && at < box->end)
            at = layout::swizzled(box->swizzle, layout::swizzled(swizzle, at));
        if (at + std::size_t(width) > shared.size() * 4) {
            out.cells[i].kind = OperandCell::Kind::unwritten;
            continue;
        }
        for (int b = 0; b < width; ++b) bytes[std::size_t(b)] = shared.byte(at + std::size_t(b));
        out.cells[i] = cell(bytes.data(), width, shape.element_bits < 8 ? int(bit % 8) / shape.element_bits : 0);
    }
    return out;
}

}  // namespace tilepath::check
