// wmma.load and wmma.store, and the scale factors that mma.sync selects.
#include <fmt/format.h>

#include <algorithm>

#include "check/provenance/provenance.h"

namespace tilepath::check {
namespace {

constexpr std::uint32_t all_lanes = ~0u;

/// `visit(register, byte in it, piece)` for each piece of each register; false if they do not fill `registers` whole.
template <class Pieces, class Visit>
bool each_piece(const Pieces& pieces, int registers, Visit visit) {
    std::uint32_t at = 0;
    for (const auto& piece : pieces) {
        if (piece.lanes.lanes != all_lanes || piece.bytes > 4) return false;
        visit(static_cast<int>(at / 4), at % 4, piece);
        at += piece.bytes;
    }
    return at == static_cast<std::uint32_t>(registers) * 4;
}

}  // namespace

void Provenance::load_tile(const WarpRegisters& r, const machine::EventSite& site) {
    std::vector<Word> words(static_cast<std::size_t>(r.op().destinations) * 32);
    const bool whole = each_piece(pieces_, r.op().destinations, [&](int reg, std::uint32_t byte, const Piece& piece) {
        for (std::size_t lane = 0; reg < r.op().destinations && lane < 32; ++lane)
            read(site, piece.lanes.spaces[lane], piece.lanes.addresses[lane], piece.bytes,
                 words[static_cast<std::size_t>(reg) * 32 + lane].data() + byte);
    });
    pieces_.clear();
    if (!whole) return r.forget_destinations();
    for (int reg = 0; reg < r.op().destinations; ++reg)
        for (int lane = 0; lane < 32; ++lane) r.set(r.place(reg), 1, lane, 0, words[std::size_t(reg * 32 + lane)]);
}

void Provenance::store_tile(const WarpRegisters& r, const machine::EventSite& site) {
    each_piece(pieces_, r.op().sources - 1, [&](int reg, std::uint32_t byte, const Piece& piece) {
        if (reg + 1 >= r.op().sources) return;
        for (int lane = 0; lane < 32; ++lane) {
            const Word word = r.word(r.source_place(reg + 1), 1, lane);
            write(site, piece.lanes.spaces[std::size_t(lane)], piece.lanes.addresses[std::size_t(lane)], piece.bytes,
                  word.data() + byte);
        }
    });
    pieces_.clear();
}

/// All columns of a sparse A: those that metadata do not name are zeros. Where memory holds the stored half alone, an
/// element's k follows from its own place and from what the metadata say of its chunk.
OperandCells Provenance::spread(const WarpRegisters& r, const MatrixMaps::Multiply& map, const program::Mma& mma,
                                const OperandCells& stored, int metadata_source, int first_row) const {
    OperandCells out{stored.rows, mma.k, std::vector<OperandCell>(std::size_t(stored.rows * mma.k)), stored.overlap};
    const int chunk = map.sparse->chunk, chunks = mma.k / chunk, kept = chunk / 2;
    for (int row = 0; row < stored.rows; ++row) {
        for (int c = 0; c < chunks; ++c) {
            const atom::ElementPlace& at = map.sparse->metadata[std::size_t((first_row + row) * chunks + c)];
            const std::uint32_t bits = r.value(r.source_place(metadata_source), at.lane) >> at.bit & 15;
            const auto columns = atom::selected_columns(map.sparse->sparsity, bits);
            if (!columns) continue;  // a fault, which execution tells
            OperandCell* const cells = out.cells.data() + row * mma.k + c * chunk;
            for (int i = 0; i < chunk; ++i) cells[i].kind = OperandCell::Kind::zero;
            for (int j = 0; j < columns->count; ++j) {
                OperandCell cell = stored.at(row, c * kept + j);
                if (cell.kind == OperandCell::Kind::element && cell.matrix->divisor == 2) {
                    const auto its = static_cast<int>(cell.place.column);
                    cell.place.column = static_cast<std::uint32_t>(its / kept * chunk +
                                                                   columns->columns[std::size_t(its % columns->count)]);
                }
                cells[columns->columns[std::size_t(j)]] = cell;
            }
        }
    }
    return out;
}

/// Of mma.sync with block scales: each factor comes from the byte of the lane that the selectors name (PTX ISA
/// 9.7.14.3), and is that of its row and block.
void Provenance::check_selected_factors(const WarpRegisters& r, const MatrixMaps::Multiply& map,
                                        const program::Mma& mma, CheckedProduct& checked) const {
    if (mma.scale_factors == 0 || checked.ks.begin == checked.ks.end) return;
    const auto block = static_cast<std::uint32_t>(mma.k / mma.scale_factors);
    for (const bool of_b : {false, true}) {
        const ProductMatrix* const matrix = product_->with(of_b ? ProductMatrix::Role::sfb : ProductMatrix::Role::sfa);
        const int data = map.a_registers + map.b_registers + map.c_registers + (of_b ? 3 : 0);
        const std::uint32_t byte = r.value(r.source_place(data + 1), 0) & 0xFFFF,
                            thread = r.value(r.source_place(data + 2), 0) & 0xFFFF;
        const std::vector<atom::ElementPlace>* const places = map.scales(of_b, byte, thread);
        const std::vector<std::uint32_t>& rows = of_b ? checked.n : checked.m;
        for (std::size_t i = 0; matrix != nullptr && places != nullptr && i < places->size(); ++i) {
            const std::size_t row = i / static_cast<std::size_t>(mma.scale_factors);
            const auto factor = static_cast<std::uint32_t>(i % static_cast<std::size_t>(mma.scale_factors));
            const std::uint32_t expected = checked.ks.begin / block + factor;
            if (row >= rows.size() || rows[row] == ProductMatrix::Place::nowhere || expected * block >= checked.ks.end)
                continue;
            const Word word = r.word(r.source_place(data), 1, (*places)[i].lane);
            const Origin origin = word[(*places)[i].bit / 8u];
            if (origin.kind() != Origin::Kind::memory && origin.kind() != Origin::Kind::element) {
                if (checked.verdict == CheckedProduct::Verdict::proven)
                    checked.verdict = CheckedProduct::Verdict::unknown;
                continue;
            }
            const Product::Found found = product_->find(origin.address());
            if (found.matrix == matrix && found.place.row == rows[row] && found.place.column == expected) continue;
            checked.verdict = CheckedProduct::Verdict::disproven;
            if (checked.message.empty())
                checked.message = "scale factors are not those of the rows and blocks that they multiply";
            constexpr std::size_t most = 4;
            if (checked.facts.size() < most)
                checked.facts.push_back(fmt::format(
                    "factor {} of row {} of {}: expected {}[{}, {}], found {}; byte-id {}, thread-id {}", factor, row,
                    of_b ? "B" : "A", matrix->name, rows[row], expected,
                    found.matrix == nullptr ? "something else" : describe(*found.matrix, found.place), byte, thread));
        }
        if (matrix == nullptr || places == nullptr) checked.verdict = CheckedProduct::Verdict::unknown;
    }
}

}  // namespace tilepath::check
