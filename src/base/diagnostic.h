#pragma once
#include <optional>
#include <string>
#include <vector>

namespace tilepath {

enum class Severity { note, warning, error };

/// A place in a text, self-contained so that a Diagnostic outlives the Source it speaks of.
struct Place {
    std::string file;
    unsigned line = 0;    ///< 1-based; 0: the file as a whole
    unsigned column = 0;  ///< 1-based, in bytes
    unsigned length = 0;  ///< bytes to underline on that line
    std::string text;     ///< the source line
};

/// Bad input, told so that its author can mend it: what was expected, what was found, what to do.
struct Diagnostic {
    Severity severity = Severity::error;
    std::string message;             ///< one line: what is wrong, expected and found
    std::optional<Place> place;      ///< where, if the input is a text
    std::vector<std::string> notes;  ///< what to do, or what else to know; a line each
};

using Diagnostics = std::vector<Diagnostic>;

/// `file:line:column: error: message`, the source line with a caret, then the notes. Ends with a newline.
std::string to_string(const Diagnostic& diagnostic);
std::string to_string(const Diagnostics& diagnostics);

bool has_error(const Diagnostics& diagnostics);

}  // namespace tilepath
