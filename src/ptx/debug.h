// Syntax of the directives that carry debugging information (PTX ISA 11.5).
#pragma once
#include "ptx/instruction.h"

namespace tilepath::ptx {

/// `.loc file line column {, function_name label+offset, inlined_at file line column}`
struct Location {
    Span span;
    std::uint32_t file = 0, line = 0, column = 0;
    std::uint32_t inlined_file = 0, inlined_line = 0, inlined_column = 0;
    Id function_name = none;  ///< in Module::names: a label of .debug_str; none: not inlined
    std::uint64_t function_name_offset = 0;
    Id inlined_at = none;  ///< in Module::locations: the preceding `.loc` that `inlined_at` speaks of, if there is one
};

/// One value of a `.b8 …` line: an integer, `label`, `label+4`, or `label1-label2`. Labels may be section names
/// (`.debug_loc`).
struct SectionValue {
    Id name = none;
    Id minus_name = none;
    std::int64_t value = 0;
};

struct SectionLine {
    Span span;
    Id label = none;         ///< a line `label:`
    Type type = Type::none;  ///< b8, b16, b32 or b64 for data
    Range values{};          ///< in Module::section_values
};

struct Section {
    Span span;
    std::string_view name;  ///< with its dot: `.debug_str`
    Range lines{};          ///< in Module::section_lines
};

/// `.file index "name", timestamp, size`
struct File {
    Span span;
    std::uint32_t index = 0;
    std::string_view name;
    bool has_details = false;
    std::uint64_t timestamp = 0, size = 0;
};

}  // namespace tilepath::ptx
