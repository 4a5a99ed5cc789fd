#include "report/sheet.h"
#include "report/json_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace tilepath::report {
namespace {

std::string padded(std::string_view text, std::size_t width, bool right) {
    const std::size_t have = width_of(text);
    const std::string blanks(width > have ? width - have : 0, ' ');
    return right ? blanks + std::string(text) : std::string(text) + blanks;
}

void trim(std::string& line) {
    while (!line.empty() && line.back() == ' ') line.pop_back();
}

std::string text_of(const Facts& facts) {
    std::size_t width = 0;
    for (const auto& [name, value] : facts.rows) width = std::max(width, width_of(name));
    std::string out;
    for (const auto& [name, value] : facts.rows) {
        std::string line = padded(name, width + 2, false) + to_string(value);
        trim(line);
        out += line + "\n";
    }
    return out;
}

std::string text_of(const Listing& listing) {
    std::vector<std::size_t> widths;
    std::vector<bool> right;
    for (std::size_t column = 0; column < listing.columns.size(); ++column) {
        widths.push_back(width_of(listing.columns[column]));
        right.push_back(true);
        for (const auto& row : listing.rows) {
            widths[column] = std::max(widths[column], width_of(to_string(row[column])));
            right[column] = right[column] && std::holds_alternative<std::int64_t>(row[column]);
        }
    }
    std::string out;
    const auto line_of = [&](const auto& text) {
        std::string line;
        for (std::size_t column = 0; column < widths.size(); ++column)
            line += padded(text(column), widths[column], right[column]) + "  ";
        trim(line);
        out += line + "\n";
    };
    line_of([&](std::size_t column) { return listing.columns[column]; });
    for (const auto& row : listing.rows) line_of([&](std::size_t column) { return to_string(row[column]); });
    return out;
}

std::string text_of(const Grid& grid) {
    std::size_t label = width_of(grid.row_name) + 1 + width_of(grid.column_name), width = 0;
    for (const std::string& text : grid.row_labels) label = std::max(label, width_of(text));
    for (const std::string& text : grid.column_labels) width = std::max(width, width_of(text));
    for (const Cell& cell : grid.cells) width = std::max(width, width_of(cell.text) + (cell.marked ? 2 : 0));
    std::string out = padded(grid.row_name + "\\" + grid.column_name, label, false);
    for (const std::string& text : grid.column_labels) out += "  " + padded(text, width, false);
    trim(out);
    out += "\n";
    for (std::size_t row = 0; row < grid.row_labels.size(); ++row) {
        std::string line = padded(grid.row_labels[row], label, true);
        for (std::size_t column = 0; column < grid.column_labels.size(); ++column) {
            const Cell& cell = grid.at(row, column);
            line += "  " + padded(cell.marked ? "[" + cell.text + "]" : cell.text, width, false);
        }
        trim(line);
        out += line + "\n";
    }
    return out;
}

std::string text_of(const Lines& lines) {
    std::string out;
    for (const std::string& line : lines.lines) out += line + "\n";
    return out;
}

using Json = nlohmann::ordered_json;

Json json_of(const Value& value) {
    return std::visit([](const auto& each) { return Json(each); }, value);
}

Json json_of(const Facts& facts) {
    Json out = Json::object();
    for (const auto& [name, value] : facts.rows) out[name] = json_of(value);
    return out;
}

Json json_of(const Listing& listing) {
    Json out = Json::array();
    for (const auto& row : listing.rows) {
        Json object = Json::object();
        for (std::size_t column = 0; column < row.size(); ++column)
            object[listing.columns[column]] = json_of(row[column]);
        out.push_back(std::move(object));
    }
    return out;
}

Json json_of(const Grid& grid) {
    Json rows = Json::array();
    for (std::size_t row = 0; row < grid.row_labels.size(); ++row) {
        Json cells = Json::array();
        for (std::size_t column = 0; column < grid.column_labels.size(); ++column)
            cells.push_back(grid.at(row, column).text);
        rows.push_back(std::move(cells));
    }
    return {{"rows", grid.row_name},
            {"columns", grid.column_name},
            {"row_labels", grid.row_labels},
            {"column_labels", grid.column_labels},
            {"cells", std::move(rows)}};
}

Json json_of(const Lines& lines) { return lines.lines; }

}  // namespace

std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string to_string(const Value& value) {
    return std::visit([](const auto& each) { return fmt::format("{}", each); }, value);
}

Grid grid(std::string row_name, std::int64_t rows, std::string column_name, std::int64_t columns) {
    Grid made;
    made.row_name = std::move(row_name);
    made.column_name = std::move(column_name);
    for (std::int64_t row = 0; row < rows; ++row) made.row_labels.push_back(std::to_string(row));
    for (std::int64_t column = 0; column < columns; ++column) made.column_labels.push_back(std::to_string(column));
    made.cells.resize(static_cast<std::size_t>(rows * columns));
    return made;
}

std::string to_text(const Sheet& sheet) {
    std::string out = sheet.title.empty() ? "" : sheet.title + "\n";
    for (const Section& section : sheet.sections) {
        if (!out.empty()) out += "\n";
        if (!section.title.empty()) out += section.title + "\n";
        out += std::visit([](const auto& body) { return text_of(body); }, section.body);
    }
    return out;
}

std::string to_json(const Sheet& sheet) {
    Json out = {{"title", sheet.title}};
    for (const Section& section : sheet.sections)
        out[section.key] = std::visit([](const auto& body) { return json_of(body); }, section.body);
    return json_text(out) + "\n";
}

}  // namespace tilepath::report
