// Sheets as SVG.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "report/picture.h"

namespace tilepath::report {
namespace {

constexpr double character = 7.3, line_height = 18, margin = 24;  // of a 12-pixel monospace font

std::string hex_of_hsl(double hue, double saturation, double lightness) {
    const auto channel = [&](double n) {
        const double k = std::fmod(n + hue / 30, 12);
        const double a = saturation * std::min(lightness, 1 - lightness);
        return static_cast<int>(std::lround(255 * (lightness - a * std::max(-1.0, std::min({k - 3, 9 - k, 1.0})))));
    };
    return fmt::format("#{:02x}{:02x}{:02x}", channel(0), channel(8), channel(4));
}

/// Shade i of n: hues go round once; neighbours in a group of four differ in lightness too (a quad of lanes).
std::string palette(const std::string& prefix, int shades, bool dark) {
    std::string out;
    const int groups = std::max(1, (shades + 3) / 4);
    for (int i = 0; i < shades; ++i) {
        const bool few = shades <= 8;
        const double hue = few ? 360.0 * i / shades : std::fmod(360.0 * (i / 4) / groups + 6 * (i % 4), 360);
        const double step = few ? 0 : 0.045 * (i % 4);
        out += fmt::format("{}.{}{}{{fill:{}}}", i % 8 == 0 ? "\n" : "", prefix, i,
                           dark ? hex_of_hsl(hue, 0.50, 0.20 + 0.7 * step) : hex_of_hsl(hue, 0.72, 0.90 - step));
    }
    return out;
}

std::set<int> palettes_of(const Sheet& sheet) {
    std::set<int> sizes;
    for (const Section& section : sheet.sections)
        if (const Grid* each = std::get_if<Grid>(&section.body)) sizes.insert(each->shades);
    return sizes;
}

std::string prefix_of(int shades) { return fmt::format("s{}_", shades); }

/// Collects shapes and knows how far they reach.
struct Canvas {
    std::string body;
    double width = 0, y = 0;

    void text(double x, std::string_view words, std::string_view classes = "") {
        body += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>\n", x, y,
                            classes.empty() ? "" : fmt::format(" class=\"{}\"", classes), escaped(words));
        width = std::max(width, x + character * static_cast<double>(width_of(words)));
    }
};

void draw(Canvas& canvas, const Lines& lines) {
    for (const std::string& line : lines.lines) {
        canvas.text(margin, line);
        canvas.y += line_height;
    }
}

void draw(Canvas& canvas, const Facts& facts) {
    std::size_t width = 0;
    for (const auto& [name, value] : facts.rows) width = std::max(width, width_of(name));
    for (const auto& [name, value] : facts.rows) {
        canvas.text(margin, name, "dim");
        canvas.text(margin + character * static_cast<double>(width + 2), to_string(value));
        canvas.y += line_height;
    }
}

void draw(Canvas& canvas, const Listing& listing) {
    std::vector<double> left;
    double x = margin;
    for (std::size_t column = 0; column < listing.columns.size(); ++column) {
        std::size_t width = width_of(listing.columns[column]);
        for (const auto& row : listing.rows) width = std::max(width, width_of(to_string(row[column])));
        left.push_back(x);
        x += character * static_cast<double>(width + 2);
    }
    for (std::size_t column = 0; column < left.size(); ++column)
        canvas.text(left[column], listing.columns[column], "dim");
    canvas.y += line_height;
    for (const auto& row : listing.rows) {
        for (std::size_t column = 0; column < row.size(); ++column) canvas.text(left[column], to_string(row[column]));
        canvas.y += line_height;
    }
}

void draw(Canvas& canvas, const Grid& grid) {
    std::size_t label = width_of(grid.row_name) + 2, widest = 2;  // with its arrow
    for (const std::string& text : grid.row_labels) label = std::max(label, width_of(text));
    for (const std::string& text : grid.column_labels) widest = std::max(widest, width_of(text));
    for (const Cell& cell : grid.cells) widest = std::max(widest, width_of(cell.text));
    const double left = margin + character * static_cast<double>(label + 1);
    const double w = character * static_cast<double>(widest) + 8, h = 22;
    canvas.text(left,
                fmt::format("{} →{}", grid.column_name,
                            grid.shade_name.empty() ? "" : fmt::format("   colour: {}", grid.shade_name)),
                "dim");
    canvas.y += line_height;
    canvas.text(left - character, grid.row_name + " ↓", "dim end");
    for (std::size_t column = 0; column < grid.column_labels.size(); ++column)
        canvas.text(left + w * (static_cast<double>(column) + 0.5), grid.column_labels[column], "dim mid");
    canvas.y += 6;
    std::string marks;
    for (std::size_t row = 0; row < grid.row_labels.size(); ++row) {
        const double top = canvas.y;
        canvas.y = top + 15;
        canvas.text(left - character, grid.row_labels[row], "dim end");
        for (std::size_t column = 0; column < grid.column_labels.size(); ++column) {
            const Cell& cell = grid.at(row, column);
            const double x = left + w * static_cast<double>(column);
            const std::string colour =
                cell.shade < 0 ? "none" : fmt::format("{}{}", prefix_of(grid.shades), cell.shade % grid.shades);
            canvas.body +=
                fmt::format("<g><rect class=\"cell {}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\"/>",
                            colour, x, top, w, h);
            if (!cell.title.empty()) canvas.body += fmt::format("<title>{}</title>", escaped(cell.title));
            canvas.text(x + w / 2, cell.text, "mid");
            canvas.body += "</g>\n";
            if (cell.marked)
                marks +=
                    fmt::format("<rect class=\"mark\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\"/>\n",
                                x + 1, top + 1, w - 2, h - 2);
        }
        canvas.y = top + h;
    }
    canvas.body += marks;  // over their neighbours' edges
    canvas.width = std::max(canvas.width, left + w * static_cast<double>(grid.column_labels.size()));
    canvas.y += line_height;
}

std::string svg_of(const Canvas& canvas, std::string_view style) {
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
        "{1:.0f}\">\n"
        "<style>{2}</style>\n<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n{3}</svg>\n",
        canvas.width + margin, canvas.y + margin / 2, style, canvas.body);
}

}  // namespace

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '"': out += "&quot;"; break;
            default: out += c;
        }
    }
    return out;
}

std::string style_of(const Sheet& sheet) { return style_of(palettes_of(sheet)); }

std::string style_of(const std::set<int>& palettes) {
    std::string light, dark;
    for (const int shades : palettes) {
        light += palette(prefix_of(shades), shades, false);
        dark += palette(prefix_of(shades), shades, true);
    }
    return fmt::format(
        "text{{font:12px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;fill:#1b1f24;white-space:pre}}\n"
        ".page{{fill:#ffffff}}.h{{font-weight:700;font-size:14px}}.t{{font-weight:700;font-size:17px}}"
        ".dim{{fill:#5b6470}}.cell{{stroke:#ffffff;stroke-width:1}}.none{{fill:#f1f3f5}}"
        ".mark{{fill:none;stroke:#111;stroke-width:2.5}}.mid{{text-anchor:middle}}.end{{text-anchor:end}}"
        "{}\n@media screen and "
        "(prefers-color-scheme:dark){{text{{fill:#e8ebef}}.page{{fill:#14171b}}.dim{{fill:#9aa4b0}}"
        ".cell{{stroke:#14171b}}.none{{fill:#20252b}}.mark{{stroke:#fff}}{}}}\n"
        "@media print{{.page{{fill:#ffffff}}}}\n",
        light, dark);
}

std::string svg_of(const Grid& grid) {
    Canvas canvas;
    canvas.y = line_height;
    draw(canvas, grid);
    return svg_of(canvas, "");
}

std::string to_svg(const Sheet& sheet) {
    Canvas canvas;
    canvas.y = margin + 10;
    if (!sheet.title.empty()) {
        canvas.text(margin, sheet.title, "t");
        canvas.width *= 1.4;
        canvas.y += line_height + 8;
    }
    for (const Section& section : sheet.sections) {
        if (!section.title.empty()) {
            canvas.y += 6;
            canvas.text(margin, section.title, "h");
            canvas.width =
                std::max(canvas.width, margin + 1.2 * character * static_cast<double>(width_of(section.title)));
            canvas.y += line_height + 4;
        }
        std::visit([&](const auto& body) { draw(canvas, body); }, section.body);
        canvas.y += 8;
    }
    return svg_of(canvas, style_of(sheet));
}

}  // namespace tilepath::report
