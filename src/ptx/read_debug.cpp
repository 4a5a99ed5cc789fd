// Directives that carry debugging information (PTX ISA 11.5).
#include <fmt/format.h>

#include <cstring>

#include "ptx/reader.h"

namespace tilepath::ptx {
namespace {

constexpr std::uint64_t most_u32 = ~std::uint32_t{0};

// Line numbers below 2^24, columns below 2^16 and files below 2^24 do not collide; others only lose an `inlined_at`
// link.
std::uint64_t place_key(std::uint32_t file, std::uint32_t line, std::uint32_t column) {
    return static_cast<std::uint64_t>(file) << 40 ^ static_cast<std::uint64_t>(line) << 16 ^ column;
}

}  // namespace

bool Reader::read_location_numbers(std::uint32_t& file, std::uint32_t& line, std::uint32_t& column) {
    std::uint64_t values[3];
    constexpr std::string_view what[] = {"a file index", "a line number", "a column"};
    for (int i = 0; i < 3; ++i)
        if (!read_unsigned(what[i], most_u32, values[i])) return false;
    file = static_cast<std::uint32_t>(values[0]);
    line = static_cast<std::uint32_t>(values[1]);
    column = static_cast<std::uint32_t>(values[2]);
    return true;
}

bool Reader::read_location() {
    Location location;
    const std::uint32_t start = begin();
    advance();
    if (!read_location_numbers(location.file, location.line, location.column)) return false;
    if (take(',') && !read_inlining(location)) return false;
    location.span = since(start);
    location_ = static_cast<Id>(module_.locations.size());
    locations_[place_key(location.file, location.line, location.column)] = location_;
    module_.locations.push_back(location);
    return true;
}

bool Reader::read_inlining(Location& location) {
    if (token_.kind != TokenKind::identifier || text() != "function_name") return fail_expected("'function_name'");
    advance();
    if (!read_section_name(location.function_name)) return false;
    if (token_.is('+') && !read_offset(location.function_name_offset)) return false;
    if (!expect(',', "before 'inlined_at'")) return false;
    if (token_.kind != TokenKind::identifier || text() != "inlined_at") return fail_expected("'inlined_at'");
    advance();
    if (!read_location_numbers(location.inlined_file, location.inlined_line, location.inlined_column)) return false;
    const auto at = locations_.find(place_key(location.inlined_file, location.inlined_line, location.inlined_column));
    if (at != locations_.end()) location.inlined_at = at->second;
    return true;
}

bool Reader::read_file() {
    File file;
    const std::uint32_t start = begin();
    advance();
    std::uint64_t index = 0;
    if (!read_unsigned("a file index", most_u32, index)) return false;
    file.index = static_cast<std::uint32_t>(index);
    if (token_.kind != TokenKind::string) return fail_expected("a file name in double quotes");
    file.name = text().substr(1, text().size() - 2);
    advance();
    if (take(',')) {
        file.has_details = true;
        if (!read_unsigned("a timestamp", ~std::uint64_t{0}, file.timestamp) ||
            !expect(',', "before the file's size") || !read_unsigned("a size in bytes", ~std::uint64_t{0}, file.size))
            return false;
    }
    file.span = since(start);
    add_item(ItemKind::file, module_.files.size());
    module_.files.push_back(file);
    return true;
}

bool Reader::read_section() {
    Section section;
    const std::uint32_t start = begin();
    advance();
    if (token_.kind != TokenKind::dot_word) return fail_expected("the name of a section, such as .debug_str");
    section.name = text();
    advance();
    if (!expect('{', "to begin the section")) return false;
    section.lines.first = static_cast<Id>(module_.section_lines.size());
    while (!token_.is('}')) {
        if (token_.kind == TokenKind::end)
            return fail_expected(fmt::format("'}}' to close the section '{}'", section.name));
        if (!read_section_line()) return false;
    }
    advance();
    section.lines.count = static_cast<std::uint32_t>(module_.section_lines.size()) - section.lines.first;
    section.span = since(start);
    add_item(ItemKind::section, module_.sections.size());
    module_.sections.push_back(section);
    return true;
}

bool Reader::read_section_line() {
    SectionLine line;
    const std::uint32_t start = begin();
    line.values.first = static_cast<Id>(module_.section_values.size());
    if (token_.kind == TokenKind::identifier) {
        Span span;
        if (!expect_name("a label", line.label, span) || !expect(':', "after a label")) return false;
    } else {
        const auto type = type_named(dot_word());
        if (!type || (*type != Type::b8 && *type != Type::b16 && *type != Type::b32 && *type != Type::b64))
            return fail_expected("a label, .b8, .b16, .b32, .b64, or '}' to close the section");
        line.type = *type;
        advance();
        do {
            if (!read_section_value(line.type)) return false;
        } while (take(','));
    }
    line.values.count = static_cast<std::uint32_t>(module_.section_values.size()) - line.values.first;
    line.span = since(start);
    module_.section_lines.push_back(line);
    return true;
}

bool Reader::read_section_name(Id& name) {
    if (token_.kind != TokenKind::identifier && token_.kind != TokenKind::dot_word)
        return fail_expected("a label or the name of a section");
    name = intern_token();
    advance();
    return true;
}

bool Reader::read_section_value(Type type) {
    SectionValue value;
    const std::uint32_t start = begin();
    if (token_.kind == TokenKind::identifier || token_.kind == TokenKind::dot_word) {
        if (type != Type::b32 && type != Type::b64)
            return fail_expected(fmt::format("an integer; only .b32 and .b64 hold addresses, not .{}", word(type)));
        if (!read_section_name(value.name)) return false;
        std::uint64_t offset = 0;
        if (token_.is('+')) {
            if (!read_offset(offset)) return false;
        } else if (take('-')) {
            if (!read_section_name(value.minus_name)) return false;
        }
        value.value = static_cast<std::int64_t>(offset);
    } else {
        Constant constant;
        if (!read_constant(constant)) return false;
        if (!constant.is_integer()) return fail(since(start), "a section holds integers, not floating-point values");
        value.value = static_cast<std::int64_t>(constant.bits);
    }
    module_.section_values.push_back(value);
    return true;
}

// The legacy `@@DWARF …` up to the end of its line, kept as text.
bool Reader::read_dwarf_line() {
    const std::uint32_t start = begin();
    advance();
    if (!take('@') || text() != "DWARF")
        return fail({start, last_end_}, "expected a directive, found '@'",
                    "a guarded instruction belongs in a function body");
    std::uint32_t end = token_.span.end;
    while (end < lexer_.size() && lexer_.peek(end) != '\n' && lexer_.peek(end) != '\r') ++end;
    module_.dwarf_lines.push_back({start, end});
    add_item(ItemKind::dwarf, module_.dwarf_lines.size() - 1);
    last_end_ = end;
    reread_from(end);
    return true;
}

}  // namespace tilepath::ptx
