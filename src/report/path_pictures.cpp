#include "report/path_pictures.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/picture.h"
#include "report/show_instruction.h"

namespace tilepath::report {

using check::OperandPath;
using check::Piece;
using check::SharedWindow;

namespace {

void fill(Cell& cell, const Piece& piece, const OperandPath& path, bool marks_use) {
    switch (piece.kind) {
        case Piece::Kind::none: return;
        case Piece::Kind::unknown: cell.text = "?", cell.title = "no element that is followed"; break;
        case Piece::Kind::unwritten: cell.text = "·", cell.title = "nobody has written this"; break;
        case Piece::Kind::zero: cell.text = "0", cell.title = "zero"; break;
        case Piece::Kind::element: {
            cell.text = fmt::format("{},{}", piece.row, piece.column);
            cell.title =
                fmt::format("{}[{}, {}] and what follows it in memory, 16 bytes", path.matrix, piece.row, piece.column);
            const std::uint32_t along = path.lines_are_rows ? piece.column : piece.row;
            cell.shade = static_cast<int>(along / path.per_piece % path_shades);
            break;
        }
    }
    cell.marked = piece.wrong || (marks_use && piece.used);
}

Grid coloured(Grid picture) {
    picture.shades = path_shades;
    return picture;
}

}  // namespace

std::string global_picture(const OperandPath& path) {
    constexpr std::uint32_t most_lines = 16, most_pieces = 8;
    const std::uint32_t along = path.lines_are_rows ? path.columns : path.rows,
                        across = path.lines_are_rows ? path.rows : path.columns;
    const std::uint32_t pieces = std::min(most_pieces, (along + path.per_piece - 1) / path.per_piece),
                        lines = std::min(most_lines, across);
    Grid picture = coloured(grid(path.lines_are_rows ? "row" : "column", lines, "16 bytes", pieces));
    for (std::uint32_t line = 0; line < lines; ++line) {
        picture.row_labels[line] = std::to_string((path.lines_are_rows ? path.first_row : path.first_column) + line);
        for (std::uint32_t i = 0; i < pieces; ++i) {
            Piece piece{Piece::Kind::element, path.first_row, path.first_column, false, false};
            (path.lines_are_rows ? piece.row : piece.column) += line;
            (path.lines_are_rows ? piece.column : piece.row) += i * path.per_piece;
            fill(picture.at(line, i), piece, path, false);
        }
    }
    return svg_of(picture) + (across > lines ? fmt::format("<p>… {} more</p>", across - lines) : "");
}

std::string shared_picture(const OperandPath& path, bool read) {
    const auto& lines = read ? path.shared->read : path.shared->written;
    Grid picture = coloured(grid("address", std::int64_t(lines.size()), "16 bytes", SharedWindow::pieces));
    for (std::size_t line = 0; line < lines.size(); ++line) {
        picture.row_labels[line] = fmt::format("{:#x}", path.shared->begin + 128 * line);
        for (std::size_t i = 0; i < SharedWindow::pieces; ++i) fill(picture.at(line, i), lines[line][i], path, false);
    }
    return svg_of(picture);
}

std::string taken_picture(const OperandPath& path) {
    if (path.taken.empty()) return {};
    Grid picture = coloured(grid(path.name == "A" ? "m" : "n", std::int64_t(path.taken.size()), "k, by 16 bytes",
                                 std::int64_t(path.taken.front().size())));
    for (std::size_t row = 0; row < path.taken.size(); ++row) {
        picture.row_labels[row] = std::to_string(path.taken_from + static_cast<int>(row));
        for (std::size_t i = 0; i < path.taken[row].size(); ++i)
            fill(picture.at(row, i), path.taken[row][i], path, false);
    }
    return svg_of(picture);
}

std::string accumulator_picture(const check::TilePath& path) {
    InstructionQuestion question;
    question.instruction = path.name;
    question.operand = "D";
    question.view.table = true;
    const auto sheet = instruction_sheet(question);
    if (!sheet) return {};
    constexpr std::size_t most = 8;
    for (const Section& section : sheet->sections) {
        const Grid* const whole = std::get_if<Grid>(&section.body);
        if (whole == nullptr) continue;
        const std::size_t rows = std::min(most, whole->row_labels.size()),
                          columns = std::min(most, whole->column_labels.size());
        Grid part = grid(whole->row_name, std::int64_t(rows), whole->column_name, std::int64_t(columns));
        part.shades = path_shades, part.shade_name = "";
        for (std::size_t row = 0; row < rows; ++row)
            for (std::size_t column = 0; column < columns; ++column) {
                part.at(row, column) = whole->at(row, column);
                if (Cell& cell = part.at(row, column); cell.shade >= 0) cell.shade %= path_shades;
            }
        return svg_of(part);
    }
    return {};
}

std::string result_picture(const check::Provenance::ResultMap& map) {
    if (map.parts.empty()) return {};
    Grid picture = grid("m", map.rows, "n", map.columns);
    picture.shades = path_shades;
    for (std::uint32_t row = 0; row < map.rows; ++row) picture.row_labels[row] = std::to_string(row * map.part_rows);
    for (std::uint32_t column = 0; column < map.columns; ++column)
        picture.column_labels[column] = std::to_string(column * map.part_columns);
    for (std::uint32_t i = 0; i < map.parts.size(); ++i) {
        const check::Provenance::Counts& part = map.parts[i];
        Cell& cell = picture.cells[i];
        const bool unknown = part.unknown != 0;
        cell.text = part.disproven != 0 ? "✗" : unknown ? "?" : part.proven != 0 ? "✓" : "";
        cell.shade = part.disproven != 0 ? 0 : unknown ? -1 : part.proven != 0 ? 3 : -1;  // red, none, green
        cell.marked = part.disproven != 0;
        cell.title = fmt::format("proven right {}, wrong {}, unknown {}", part.proven, part.disproven, part.unknown);
    }
    return svg_of(picture);
}

}  // namespace tilepath::report
