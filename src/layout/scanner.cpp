#include "layout/scanner.h"

#include <fmt/format.h>

#include <algorithm>

namespace tilepath::layout {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

}  // namespace

void Scanner::skip_blanks() {
    std::string_view text = source_.text();
    while (at_ < text.size() && (text[at_] == ' ' || text[at_] == '\t' || text[at_] == '\n' || text[at_] == '\r'))
        ++at_;
}

char Scanner::peek() {
    skip_blanks();
    return at_ < source_.text().size() ? source_.text()[at_] : '\0';
}

bool Scanner::accept(char c) {
    if (offset() >= source_.text().size() || source_.text()[at_] != c) return false;
    ++at_;
    return true;
}

bool Scanner::accept(std::string_view word) {
    if (!source_.text().substr(offset()).starts_with(word)) return false;
    at_ += static_cast<std::uint32_t>(word.size());
    return true;
}

Result<void> Scanner::expect(char c, std::string_view why) {
    if (accept(c)) return {};
    return error_here(fmt::format("expected '{}'{}{}, found {}", c, why.empty() ? "" : " ", why, found()));
}

Result<std::int64_t> Scanner::number(std::string_view what) {
    std::uint32_t begin = offset();
    bool negative = accept('-');
    std::string_view text = source_.text();
    if (at_ >= text.size() || !is_digit(text[at_]))
        return error_here(fmt::format("expected {}, found {}", what, found()));
    std::int64_t value = 0;
    bool fits = true;
    for (; at_ < text.size() && is_digit(text[at_]); ++at_) {
        fits = fits && value < (std::int64_t{1} << 62) / 10;
        if (fits) value = value * 10 + (text[at_] - '0');
    }
    if (!fits) return error_from(begin, fmt::format("expected {} within 62 bits", what));
    return negative ? -value : value;
}

std::string_view Scanner::name() {
    std::uint32_t begin = offset();
    std::string_view text = source_.text();
    if (begin >= text.size() || !is_letter(text[begin])) return {};
    while (at_ < text.size() && (is_letter(text[at_]) || is_digit(text[at_]) || text[at_] == '_')) ++at_;
    return text.substr(begin, at_ - begin);
}

Result<void> Scanner::end() {
    if (offset() == source_.text().size()) return {};
    return error_here(fmt::format("expected the end of the text, found {}", found()));
}

std::uint32_t Scanner::offset() {
    skip_blanks();
    return at_;
}

std::unexpected<Diagnostics> Scanner::error_from(std::uint32_t begin, std::string message, std::string note) const {
    return fail_at(source_.place({begin, std::max(at_, begin + 1)}), std::move(message), std::move(note));
}

std::unexpected<Diagnostics> Scanner::error_here(std::string message, std::string note) {
    std::uint32_t begin = offset();
    return fail_at(source_.place({begin, begin + 1}), std::move(message), std::move(note));
}

std::string Scanner::found() {
    if (offset() >= source_.text().size()) return "the end of the text";
    char c = source_.text()[at_];
    if (c < ' ' || c > '~') return fmt::format("byte 0x{:02x}", static_cast<unsigned char>(c));
    return fmt::format("'{}'", c);
}

}  // namespace tilepath::layout
