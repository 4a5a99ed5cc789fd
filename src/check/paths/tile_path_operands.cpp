// What an operand of a matrix instruction was, beside what lay in shared memory where it was read.
#include <algorithm>

#include "check/paths/tile_paths.h"

namespace tilepath::check {
namespace {

using Kind = OperandCell::Kind;

constexpr std::uint32_t line_bytes = 128, atom_bytes = 1024;

Piece piece_of(const OperandCell& cell) {
    Piece out;
    switch (cell.kind) {
        case Kind::unknown: out.kind = Piece::Kind::unknown; break;
        case Kind::unwritten: out.kind = Piece::Kind::unwritten; break;
        case Kind::zero: out.kind = Piece::Kind::zero; break;
        case Kind::element: out.kind = Piece::Kind::element; break;
    }
    out.row = cell.place.row, out.column = cell.place.column;
    return out;
}

}  // namespace

void TilePaths::draw_shared(OperandPath& path, const std::vector<Piece>& expected, const std::vector<Piece>& pieces,
                            int element_bits, const std::vector<Read>& reads) const {
    const auto read = [](const Read& each) { return each.address != Read::elsewhere; };
    auto first = std::ranges::find_if(reads, read);
    if (first == reads.end()) return;
    std::uint32_t lowest = ~0u, wrong_at = ~0u;
    for (std::size_t i = 0; i < reads.size(); ++i) {
        if (!read(reads[i]) || reads[i].cta != first->cta) continue;
        const auto at = static_cast<std::uint32_t>(reads[i].address);
        lowest = std::min(lowest, at);
        if (pieces[i].wrong) wrong_at = std::min(wrong_at, at);
    }
    // Whole atoms, the first ones; further on only if what is wrong does not show there.
    SharedWindow window;
    window.begin = lowest / atom_bytes * atom_bytes;
    if (wrong_at != ~0u && wrong_at - window.begin >= SharedWindow::most_lines * line_bytes)
        window.begin = wrong_at / atom_bytes * atom_bytes;
    const Words& shared = provenance_.memory().shared(first->cta);
    const int width = std::max(1, element_bits / 8);
    window.written.resize(SharedWindow::most_lines), window.read.resize(SharedWindow::most_lines);
    for (std::size_t i = 0; i < SharedWindow::most_lines * SharedWindow::pieces; ++i) {
        const std::size_t at = window.begin + i * Writers::unit_bytes;
        if (at + Writers::unit_bytes > shared.size() * 4) continue;
        std::array<Origin, 8> bytes{};
        for (std::size_t b = 0; b < static_cast<std::size_t>(width); ++b) bytes[b] = shared.byte(at + b);
        window.written[i / 8][i % 8] = piece_of(provenance_.cell(bytes.data(), width, 0));
    }
    std::vector<std::int64_t> lowest_in(SharedWindow::most_lines * SharedWindow::pieces, INT64_MAX);
    for (std::size_t i = 0; i < reads.size(); ++i) {
        if (!read(reads[i]) || reads[i].cta != first->cta || reads[i].address < window.begin) continue;
        const auto unit = static_cast<std::size_t>(reads[i].address - window.begin) / Writers::unit_bytes;
        if (unit >= lowest_in.size()) continue;
        Piece& piece = window.read[unit / 8][unit % 8];
        piece.wrong = piece.wrong || pieces[i].wrong;
        window.written[unit / 8][unit % 8].used = true;
        if (reads[i].address >= lowest_in[unit]) continue;
        lowest_in[unit] = reads[i].address;
        piece.kind = expected[i].kind, piece.row = expected[i].row, piece.column = expected[i].column;
        piece.used = true;
    }
    while (window.written.size() > 8 && std::ranges::none_of(window.read.back(), &Piece::used))
        window.written.pop_back(), window.read.pop_back();
    path.shared = std::move(window);
}

TilePaths::Operand TilePaths::operand_of(const char* name, const OperandCells& cells, const CheckedProduct& checked,
                                         bool of_a, int element_bits, const std::vector<Read>& reads) const {
    Operand out;
    OperandPath& path = out.path;
    path.name = name;
    path.wrong = checked.verdict == CheckedProduct::Verdict::disproven && (of_a ? checked.wrong_a : checked.wrong_b);
    path.per_piece = static_cast<std::uint32_t>(std::max(1, 128 / std::max(element_bits, 1)));
    const std::vector<std::uint32_t>& rows = of_a ? checked.m : checked.n;
    std::vector<Piece> pieces(cells.cells.size()), expected(cells.cells.size());
    std::uint32_t low_row = ~0u, high_row = 0, low_column = ~0u, high_column = 0;
    int first_wrong = -1;
    for (int row = 0; row < cells.rows; ++row) {
        for (int k = 0; k < cells.columns; ++k) {
            const OperandCell& cell = cells.at(row, k);
            Piece& piece = pieces[static_cast<std::size_t>(row * cells.columns + k)] = piece_of(cell);
            if (cell.kind == Kind::element) {
                if (path.matrix.empty()) path.matrix = cell.matrix->name;
                low_row = std::min(low_row, cell.place.row), high_row = std::max(high_row, cell.place.row);
                low_column = std::min(low_column, cell.place.column);
                high_column = std::max(high_column, cell.place.column);
            }
            const bool right = cell.kind == Kind::zero || cell.kind == Kind::unknown ||
                               (cell.kind == Kind::element && cell.place.row == rows[static_cast<std::size_t>(row)] &&
                                cell.place.column == checked.each_k[static_cast<std::size_t>(k)]);
            piece.wrong = path.wrong && !right;
            if (piece.wrong && first_wrong < 0) first_wrong = row;
            Piece& belongs = expected[static_cast<std::size_t>(row * cells.columns + k)];
            belongs.row = rows[static_cast<std::size_t>(row)];
            belongs.column = checked.each_k[static_cast<std::size_t>(k)];
            const bool none =
                belongs.row == ProductMatrix::Place::nowhere || belongs.column == ProductMatrix::Place::nowhere;
            belongs.kind = none ? Piece::Kind::zero : Piece::Kind::element;
        }
    }
    if (low_row <= high_row && low_row != ~0u)
        path.first_row = low_row, path.first_column = low_column, path.rows = high_row - low_row + 1,
        path.columns = high_column - low_column + 1;
    // Side by side in memory: what follows the first element by its width.
    if (const Product* const product = provenance_.product(); product != nullptr)
        if (const ProductMatrix* const matrix = product->with(of_a ? ProductMatrix::Role::a : ProductMatrix::Role::b);
            matrix != nullptr && matrix->units.size() > 1)
            path.lines_are_rows = matrix->units[1].row == matrix->units[0].row;
    constexpr int most_rows = 16;
    path.taken_from =
        std::clamp(first_wrong < most_rows ? 0 : first_wrong / 8 * 8, 0, std::max(0, cells.rows - most_rows));
    const int step = std::min<int>(static_cast<int>(path.per_piece), cells.columns);
    for (int row = path.taken_from; row < std::min(cells.rows, path.taken_from + most_rows); ++row) {
        std::vector<Piece>& line = path.taken.emplace_back();
        for (int k = 0; k < cells.columns; k += step) {
            Piece piece = pieces[static_cast<std::size_t>(row * cells.columns + k)];
            for (int i = k; i < std::min(k + step, cells.columns); ++i)
                piece.wrong = piece.wrong || pieces[static_cast<std::size_t>(row * cells.columns + i)].wrong;
            line.push_back(piece);
        }
    }
    draw_shared(path, expected, pieces, element_bits, reads);
    return out;
}

}  // namespace tilepath::check
