#pragma once
#include <expected>
#include <string>
#include <utility>

#include "base/diagnostic.h"

namespace tilepath {

/// A value, or everything that is wrong with the input (never only the first fault).
template <class T>
using Result = std::expected<T, Diagnostics>;

/// An error without a place: `return fail("expected …, found …", "write … instead");`
inline std::unexpected<Diagnostics> fail(std::string message, std::string note = {}) {
    Diagnostic diagnostic{Severity::error, std::move(message), {}, {}};
    if (!note.empty()) diagnostic.notes.push_back(std::move(note));
    return std::unexpected(Diagnostics{std::move(diagnostic)});
}

/// An error at a place in a text.
inline std::unexpected<Diagnostics> fail_at(Place place, std::string message, std::string note = {}) {
    Diagnostic diagnostic{Severity::error, std::move(message), std::move(place), {}};
    if (!note.empty()) diagnostic.notes.push_back(std::move(note));
    return std::unexpected(Diagnostics{std::move(diagnostic)});
}

}  // namespace tilepath
