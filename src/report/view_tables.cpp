// The matrix with places, and the places with elements.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "report/view.h"

namespace tilepath::report {
namespace {

using layout::Axis;
using layout::Location;

constexpr std::int64_t most_cells = 1 << 16;

/// The thread or memory row that a place belongs to, and the column in it.
struct Holder {
    std::int64_t row = 0, column = 0, within = 0;
};
struct HolderNames {
    std::string row, column, title;
};

Holder holder_of(const View& view, const Location& place) {
    if (view.uses(Axis::laneid))
        return {place[Axis::wid_in_wg] * 32 + place[Axis::laneid], place[Axis::reg], place[Axis::bit]};
    if (view.uses(Axis::tlane))
        return {place[Axis::tlane], place[Axis::tcol], 8 * place[Axis::byte] + place[Axis::bit]};
    const std::int64_t at = place[Axis::m];
    if (view.bytes) return {at / 128, at % 128 / 16, at % 16 * 8 + place[Axis::bit]};
    const std::int64_t width = std::max<std::int64_t>(1, std::min<std::int64_t>(view.shape.back(), 64));
    return {at / width, at % width, place[Axis::bit]};
}

HolderNames names_of(const View& view) {
    if (view.uses(Axis::laneid)) return {"lane", "register", "What each register holds, low bits first"};
    if (view.uses(Axis::tlane)) return {"lane", "column", "What each cell of Tensor Memory holds, low bits first"};
    if (view.bytes)
        return {"line", "chunk", "What each 16-byte chunk of shared memory holds, by lines of 128 bytes (32 banks)"};
    return {"row", "column", "What each place holds"};
}

/// Coordinates in one phrase: `3,8..9` where they run along one dimension.
std::string phrase(const View& view, const std::vector<std::int64_t>& elements) {
    std::vector<std::vector<std::int64_t>> at;
    for (const std::int64_t element : elements) at.push_back(layout::unflatten(element, view.shape));
    std::size_t runs = view.shape.size();
    for (std::size_t i = 1; i < at.size(); ++i) {
        std::size_t moved = view.shape.size(), count = 0;
        for (std::size_t d = 0; d < view.shape.size(); ++d) {
            if (at[i][d] == at[i - 1][d]) continue;
            ++count;
            if (at[i][d] == at[i - 1][d] + 1) moved = d;
        }
        if (count != 1 || moved == view.shape.size() || (i > 1 && moved != runs)) {
            std::vector<std::string> all;
            for (const auto& each : at) all.push_back(fmt::format("{}", fmt::join(each, ",")));
            return fmt::format("{}", fmt::join(all, " "));
        }
        runs = moved;
    }
    std::vector<std::string> parts;
    for (std::size_t d = 0; d < view.shape.size(); ++d)
        parts.push_back(d == runs && at.size() > 1 ? fmt::format("{}..{}", at.front()[d], at.back()[d])
                                                   : std::to_string(at.front()[d]));
    return fmt::format("{}", fmt::join(parts, ","));
}

struct Shade {
    int value = -1;
    int of = 32;
    std::string name;
};

Shade shade_of(const View& view, const Location& place, Colour colour) {
    if (colour == Colour::automatic)
        colour = view.uses(Axis::laneid) || view.uses(Axis::tlane) ? Colour::lane : Colour::bank;
    switch (colour) {
        case Colour::lane:
            if (view.uses(Axis::tlane)) return {static_cast<int>(place[Axis::tlane] / 4), 32, "TMEM lane / 4"};
            return {static_cast<int>(place[Axis::laneid]), 32, "lane"};
        case Colour::reg:
            if (view.uses(Axis::tcol)) return {static_cast<int>(place[Axis::tcol] % 32), 32, "TMEM column"};
            return {static_cast<int>(place[Axis::reg] % 8), 8, "register"};
        case Colour::bank:
            return {static_cast<int>(view.bytes ? place[Axis::m] / 4 % 32 : place[Axis::m] % 32), 32,
                    view.bytes ? "bank" : "m mod 32"};
        case Colour::automatic: break;
    }
    return {};
}

}  // namespace

Result<void> add_lane(Sheet& sheet, const View& view, std::int64_t lane) {
    if (!view.uses(Axis::laneid) && !view.uses(Axis::tlane))
        return fail(fmt::format("{} lies in memory, no lane holds it", view.name), "ask for --element or --table");
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::int64_t>> held;
    std::int64_t lanes = 0;
    for (std::int64_t element = 0; element < view.size(); ++element) {
        for (const Location& place : view.at(element)) {
            const Holder at = holder_of(view, place);
            lanes = std::max(lanes, at.row + 1);
            if (at.row == lane) held[{at.column, at.within}].push_back(element);
        }
    }
    const std::int64_t all = lanes > 32 ? 128 : view.uses(Axis::tlane) ? 128 : 32;
    if (lane < 0 || lane >= all) return fail(fmt::format("expected a lane of 0 to {}, found {}", all - 1, lane));
    const std::string column = view.uses(Axis::tlane) ? "column" : "register";
    Listing listing{{column, "bits", "element"}, {}};
    for (const auto& [where, elements] : held)
        for (const std::int64_t element : elements) {
            const int width = view.element_bits == 0 ? 32 : view.element_bits;
            listing.rows.push_back(
                {where.first,
                 width == 1 ? std::to_string(where.second)
                            : fmt::format("{}-{}", where.second, where.second + width - 1),
                 fmt::format("{}[{}]", view.name, fmt::join(layout::unflatten(element, view.shape), ","))});
        }
    if (listing.rows.empty()) {
        sheet.add("lane", "", Lines{{fmt::format("lane {} holds nothing of {}", lane, view.name)}});
        return {};
    }
    sheet.add("lane", fmt::format("Lane {} holds of {}", lane, view.name), std::move(listing));
    return {};
}

Result<void> add_tables(Sheet& sheet, const View& view, Colour colour) {
    const std::int64_t size = view.size();
    if (size > most_cells) return fail(fmt::format("expected at most {} elements to draw, found {}", most_cells, size));
    const std::int64_t columns = view.shape.back(), rows = size / columns;
    const std::string row_name =
        view.dimensions.size() < 2
            ? ""
            : fmt::format("{}", fmt::join(view.dimensions.begin(), view.dimensions.end() - 1, ","));
    Grid matrix = grid(row_name, rows, view.dimensions.back(), columns);
    if (view.shape.size() != 2)
        for (std::int64_t row = 0; row < rows; ++row) {
            std::vector<std::int64_t> at = layout::unflatten(row * columns, view.shape);
            at.pop_back();
            matrix.row_labels[static_cast<std::size_t>(row)] = fmt::format("{}", fmt::join(at, ","));
        }
    struct Held {
        std::map<std::int64_t, std::vector<std::int64_t>> elements;  // by bit
        Shade shade;
    };
    std::map<std::pair<std::int64_t, std::int64_t>, Held> holders;
    std::int64_t first_row = 0, last_row = 0, first_column = 0, last_column = 0;
    bool first = true;
    for (std::int64_t element = 0; element < size; ++element) {
        const std::vector<Location> places = view.at(element);
        Cell& cell = matrix.cells[static_cast<std::size_t>(element)];
        std::vector<std::string> words, full;
        for (const Location& place : places) {
            words.push_back(place_short(view, place));
            full.push_back(place_words(view, place));
            const Holder at = holder_of(view, place);
            if (first) first_row = last_row = at.row, first_column = last_column = at.column, first = false;
            first_row = std::min(first_row, at.row), last_row = std::max(last_row, at.row);
            first_column = std::min(first_column, at.column), last_column = std::max(last_column, at.column);
            Held& held = holders[{at.row, at.column}];
            held.elements[at.within].push_back(element);
            held.shade = shade_of(view, place, colour);
        }
        const Shade shade = shade_of(view, places.front(), colour);
        // Copies: all but the first are in the title and in the other table.
        cell = {places.size() > 1 ? fmt::format("{} ×{}", words.front(), places.size()) : words.front(), shade.value,
                fmt::format("{}{}: {}", view.name, view.coordinate_text(element), fmt::join(full, " and ")), false};
        matrix.shade_name = shade.name;
        matrix.shades = shade.of;
    }
    if ((last_row - first_row + 1) > most_cells / (last_column - first_column + 1))
        return fail("the places are too far apart to draw", "ask for --element or --lane");
    const HolderNames names = names_of(view);
    Grid places = grid(names.row, last_row - first_row + 1, names.column, last_column - first_column + 1);
    for (std::size_t row = 0; row < places.row_labels.size(); ++row)
        places.row_labels[row] = std::to_string(first_row + static_cast<std::int64_t>(row));
    for (std::size_t column = 0; column < places.column_labels.size(); ++column)
        places.column_labels[column] = std::to_string(first_column + static_cast<std::int64_t>(column));
    for (const auto& [where, held] : holders) {
        Cell& cell = places.at(static_cast<std::size_t>(where.first - first_row),
                               static_cast<std::size_t>(where.second - first_column));
        std::vector<std::int64_t> elements;
        for (const auto& [bit, some] : held.elements) elements.insert(elements.end(), some.begin(), some.end());
        cell.text = phrase(view, elements);
        cell.shade = held.shade.value;
        cell.title = fmt::format("{} {}, {} {}: {}", names.row, where.first, names.column, where.second, cell.text);
        places.shade_name = held.shade.name;
        places.shades = held.shade.of;
    }
    sheet.add("matrix", fmt::format("{}: where each element lies", view.name), std::move(matrix));
    sheet.add("held", names.title, std::move(places));
    return {};
}

}  // namespace tilepath::report
