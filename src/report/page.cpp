// Sheets as HTML pages: tables as tables, grids as the pictures that they are in SVG.
#include <fmt/format.h>

#include "report/picture.h"

namespace tilepath::report {
namespace {

std::string html_of(const Facts& facts) {
    std::string out = "<table>";
    for (const auto& [name, value] : facts.rows)
        out += fmt::format("<tr><th>{}</th><td>{}</td></tr>\n", escaped(name), escaped(to_string(value)));
    return out + "</table>\n";
}

std::string html_of(const Listing& listing) {
    std::string out = "<div class=\"wide\"><table><tr>";
    for (const std::string& name : listing.columns) out += fmt::format("<th>{}</th>", escaped(name));
    out += "</tr>\n";
    for (const auto& row : listing.rows) {
        out += "<tr>";
        for (const Value& value : row) out += fmt::format("<td>{}</td>", escaped(to_string(value)));
        out += "</tr>\n";
    }
    return out + "</table></div>\n";
}

std::string html_of(const Lines& lines) {
    std::string out = "<pre>";
    for (const std::string& line : lines.lines) out += escaped(line) + "\n";
    return out + "</pre>\n";
}

std::string html_of(const Grid& grid) { return "<div class=\"wide\">" + svg_of(grid) + "</div>\n"; }

}  // namespace

std::string html_of(const Sheet& sheet) {
    std::string out;
    for (const Section& section : sheet.sections) {
        if (!section.title.empty()) out += fmt::format("<h2>{}</h2>\n", escaped(section.title));
        out += std::visit([](const auto& body) { return html_of(body); }, section.body);
    }
    return out;
}

std::string html_page(std::string_view title, std::string_view style, std::string_view body) {
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
        "<meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n<style>\n"
        "body{{font:15px/1.5 system-ui,'DejaVu Sans',sans-serif;margin:2em auto;max-width:150em;padding:0 1.5em;"
        "color:#1b1f24;background:#fff}}h1{{font-size:1.5em}}h2{{font-size:1.1em;margin:1.6em 0 .4em}}"
        "table{{border-collapse:collapse;font-size:.93em;margin:.6em "
        "0}}td{{overflow-wrap:anywhere}}td:first-child{{white-space:nowrap}}th,td{{padding:.15em 1.2em .15em "
        "0;text-align:left;"
        "vertical-align:top;border-bottom:1px solid #e3e7eb}}th{{color:#5b6470;font-weight:500;white-space:nowrap}}"
        "td,pre{{font-family:ui-monospace,'DejaVu Sans Mono',Menlo,monospace}}pre{{overflow-x:auto}}"
        ".wide{{overflow-x:auto}}g:hover>.cell{{stroke:#111;stroke-width:2}}\n{}"
        "@media screen and (prefers-color-scheme:dark){{body{{color:#e8ebef;background:#14171b}}th{{color:#9aa4b0}}"
        "th,td{{border-color:#2b3138}}}}\n</style></head>\n<body>\n{}{}</body></html>\n",
        title.empty() ? "tilepath" : escaped(title), style,
        title.empty() ? "" : fmt::format("<h1>{}</h1>\n", escaped(title)), body);
}

std::string to_html(const Sheet& sheet) { return html_page(sheet.title, style_of(sheet), html_of(sheet)); }

}  // namespace tilepath::report
