#include "base/diagnostic.h"

#include <fmt/format.h>

#include <algorithm>

namespace tilepath {
namespace {

const char* name(Severity severity) {
    switch (severity) {
        case Severity::note: return "note";
        case Severity::warning: return "warning";
        case Severity::error: return "error";
    }
    return "";
}

// A machine-made line can have thousands of characters: show a window of it around the column.
constexpr unsigned window_columns = 120;

void append_source_line(std::string& out, const Place& place) {
    unsigned first = 0;
    if (place.text.size() > window_columns && place.column > window_columns / 2) first = place.column - window_columns / 2;
    std::string shown = place.text.substr(std::min<std::size_t>(first, place.text.size()), window_columns);
    // Tabs become one space and bytes that a terminal would act on become dots, so that the caret stands under its character.
    for (char& c : shown)
        if (c == '\t') c = ' ';
        else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '.';
    const unsigned column = place.column - 1 - first;
    const unsigned room = column < window_columns ? window_columns - column : 1;
    fmt::format_to(std::back_inserter(out), "{:5} | {}\n      | {}^{}\n", place.line, shown, std::string(column, ' '),
                   std::string(std::min(place.length > 0 ? place.length - 1 : 0, room), '~'));
}

}  // namespace

std::string to_string(const Diagnostic& diagnostic) {
    std::string out;
    if (const auto& place = diagnostic.place) {
        out += place->file;
        if (place->line) fmt::format_to(std::back_inserter(out), ":{}:{}", place->line, place->column);
        out += ": ";
    }
    fmt::format_to(std::back_inserter(out), "{}: {}\n", name(diagnostic.severity), diagnostic.message);
    if (diagnostic.place && diagnostic.place->line) append_source_line(out, *diagnostic.place);
    for (const std::string& note : diagnostic.notes) fmt::format_to(std::back_inserter(out), "      = {}\n", note);
    return out;
}

std::string to_string(const Diagnostics& diagnostics) {
    std::string out;
    for (const Diagnostic& diagnostic : diagnostics) out += to_string(diagnostic);
    return out;
}

bool has_error(const Diagnostics& diagnostics) {
    return std::any_of(diagnostics.begin(), diagnostics.end(),
                       [](const Diagnostic& d) { return d.severity == Severity::error; });
}

}  // namespace tilepath
