#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tilepath::report {

/// What `show` and `layout` say, before anyone prints it: text, JSON, SVG and HTML are made from one sheet, so that
/// they cannot disagree.
using Value = std::variant<std::int64_t, std::string>;

/// `name  value` lines.
struct Facts {
    std::vector<std::pair<std::string, Value>> rows;

    void add(std::string name, Value value) { rows.emplace_back(std::move(name), std::move(value)); }
};

/// A table: every row has a value per column.
struct Listing {
    std::vector<std::string> columns;
    std::vector<std::vector<Value>> rows;
};

/// One square of a picture.
struct Cell {
    std::string text;
    int shade = -1;       ///< its colour: equal numbers, equal colours; -1: none
    std::string title;    ///< the whole story of it
    bool marked = false;  ///< drawn with a heavy frame: what the question was about
};

/// A matrix drawn square by square.
struct Grid {
    std::string row_name, column_name;
    std::vector<std::string> row_labels, column_labels;
    std::vector<Cell> cells;  ///< row-major
    std::string shade_name;   ///< what a colour stands for: "lane", "register", "bank"
    int shades = 32;          ///< how many colours

    Cell& at(std::size_t row, std::size_t column) { return cells[row * column_labels.size() + column]; }
    const Cell& at(std::size_t row, std::size_t column) const { return cells[row * column_labels.size() + column]; }
};
/// A grid of empty cells, labelled by number.
Grid grid(std::string row_name, std::int64_t rows, std::string column_name, std::int64_t columns);

/// Formulae, notations, sentences.
struct Lines {
    std::vector<std::string> lines;
};

struct Section {
    std::string title;  ///< may be empty in print; `key` names it in JSON
    std::string key;
    std::variant<Facts, Listing, Grid, Lines> body;
};

struct Sheet {
    std::string title;
    std::vector<Section> sections;
    bool disagrees = false;  ///< the answer to a question of equality or legality is no

    template <class Body>
    void add(std::string key, std::string heading, Body body) {
        sections.push_back({std::move(heading), std::move(key), std::move(body)});
    }
};

std::string to_text(const Sheet& sheet);
/// An object with the title and one member per section: objects of facts, arrays of rows, grids as arrays of arrays.
std::string to_json(const Sheet& sheet);
/// A picture that stands alone: text that can be selected, colours for light and dark, readable in print.
std::string to_svg(const Sheet& sheet);
std::string to_html(const Sheet& sheet);

/// Display columns of UTF-8 text.
std::size_t width_of(std::string_view text);
std::string to_string(const Value& value);

}  // namespace tilepath::report
