#include "ptx/lexer.h"

#include <cstring>

namespace tilepath::ptx {

using chars::is;

// Field by field into the caller's token: a copy of the whole would have to wait for the narrower stores.
inline void Lexer::take(Token& token, TokenKind kind, const char* to, std::uint16_t symbol) {
    token.kind = kind;
    token.symbol = symbol;
    token.span.begin = static_cast<std::uint32_t>(at_ - begin_);
    token.span.end = static_cast<std::uint32_t>(to - begin_);
    at_ = to;
}

void Lexer::next(Token& token) {
    while (is(*at_, chars::space)) ++at_;
    if (is(*at_, chars::blank) && !skip_blanks()) return take(token, TokenKind::bad, end_);
    const char c = *at_;
    if (is(c, chars::word)) {
        if (is(c, chars::digit)) return take_number(token);
        const char* to = at_ + 1;
        while (is(*to, chars::word)) ++to;
        return take(token, TokenKind::identifier, to);
    }
    if (c == '%' && is(at_[1], chars::word)) {
        const char* to = at_ + 2;
        while (is(*to, chars::word)) ++to;
        return take(token, TokenKind::identifier, to);
    }
    if (is(c, chars::single)) return take(token, TokenKind::punctuation, at_ + 1, static_cast<unsigned char>(c));
    if (c == '.') {
        const char* to = dot_word_end(at_);
        return to                         ? take(token, TokenKind::dot_word, to)
               : is(at_[1], chars::digit) ? take_number(token)
                                          : take(token, TokenKind::bad, at_ + 1);
    }
    if (c == '"') return take_string(token);
    if (at_ == end_) return take(token, TokenKind::end, at_);
    return take_punctuation(token);
}

bool Lexer::skip_blanks() {
    for (;;) {
        while (is(*at_, chars::space)) ++at_;
        switch (*at_) {
            case '/':
                if (at_[1] == '/')
                    skip_line();
                else if (at_[1] != '*')
                    return true;
                else if (!skip_comment())
                    return false;
                break;
            case '#':
                if (!skip_line_marker()) return true;
                break;
            case '\\':  // a line continued on the next
                if (at_[1] == '\n')
                    at_ += 2;
                else if (at_[1] == '\r' && at_[2] == '\n')
                    at_ += 3;
                else
                    return true;
                break;
            default: return true;
        }
    }
}

void Lexer::skip_line() {
    const void* newline = std::memchr(at_, '\n', static_cast<std::size_t>(end_ - at_));
    at_ = newline ? static_cast<const char*>(newline) : end_;
}

bool Lexer::skip_comment() {
    const std::string_view rest(at_ + 2, static_cast<std::size_t>(end_ - at_ - 2));
    const std::size_t close = rest.find("*/");
    if (close == std::string_view::npos) return false;
    at_ += close + 4;
    return true;
}

// `# 5 "a.cu"` and `#line 5 "a.cu"`, as cpp leaves them. Other directives are for cpp to run before we see the text.
bool Lexer::skip_line_marker() {
    const bool has_mark = std::string_view(begin_, size()).starts_with(byte_order_mark);
    const char* first = begin_ + (has_mark ? byte_order_mark.size() : 0);
    for (const char* before = at_; before != first && *--before != '\n';)
        if (!is(*before, chars::space)) return false;
    const char* after = at_ + 1;
    while (*after == ' ' || *after == '\t') ++after;
    if (!is(*after, chars::digit) && std::strncmp(after, "line", 4) != 0) return false;
    skip_line();
    return true;
}

// `.5` and `.5e-3` are numbers; `.2d`, `.16x64b` and `.global` are words. nullptr: not a word.
const char* Lexer::dot_word_end(const char* at) const {
    const char* to = at + 1;
    if (is(*to, chars::digit)) {
        const char* digits = to;
        while (is(*digits, chars::digit)) ++digits;
        if (!is(*digits, chars::word)) return nullptr;
        if (*digits == 'e' || *digits == 'E') {
            const char* exponent = digits + 1;
            if (*exponent == '+' || *exponent == '-') return nullptr;
            while (is(*exponent, chars::digit)) ++exponent;
            if (exponent > digits + 1 && !is(*exponent, chars::word)) return nullptr;
        }
    } else if (!is(*to, chars::word)) {
        return nullptr;
    }
    for (;;) {
        while (is(*to, chars::word)) ++to;
        if (to[0] != ':' || to[1] != ':' || !is(to[2], chars::word)) return to;
        to += 2;
    }
}

std::uint32_t Lexer::head_end(std::uint32_t offset) const {
    const char* to = begin_ + offset + 1;
    while (is(*to, chars::word)) ++to;
    while (*to == '.') {
        const char* word = dot_word_end(to);
        if (!word) break;
        to = word;
    }
    return static_cast<std::uint32_t>(to - begin_);
}

// Anything that begins like a number and runs on like one; literal.h judges it.
void Lexer::take_number(Token& token) {
    const char* to = at_;
    while (is(*to, chars::digit)) ++to;
    if (!is(*to, chars::word) && *to != '.') return take(token, TokenKind::number, to);
    to = at_;
    const bool prefixed = to[0] == '0' && is(to[1], chars::letter) && to[1] != 'e' && to[1] != 'E';
    for (;;) {
        const char c = *to;
        const bool exponent = !prefixed && (c == 'e' || c == 'E') && (to[1] == '+' || to[1] == '-');
        if (exponent)
            to += 2;
        else if (is(c, chars::word) || (c == '.' && !prefixed))
            ++to;
        else
            return take(token, TokenKind::number, to);
    }
}

void Lexer::take_string(Token& token) {
    const char* to = at_ + 1;
    while (to != end_ && *to != '"' && *to != '\n') ++to;
    return *to == '"' ? take(token, TokenKind::string, to + 1) : take(token, TokenKind::bad, to);
}

void Lexer::take_punctuation(Token& token) {
    const char a = at_[0], b = at_[1];
    const bool doubled = (a == b && (a == '<' || a == '>' || a == '&' || a == '|')) ||
                         (b == '=' && (a == '<' || a == '>' || a == '=' || a == '!'));
    if (doubled) return take(token, TokenKind::punctuation, at_ + 2, two(a, b));
    constexpr std::string_view known = "/!<>=&|";
    if (a != '\0' && known.find(a) != std::string_view::npos)
        return take(token, TokenKind::punctuation, at_ + 1, static_cast<unsigned char>(a));
    // A multi-byte character is one bad token, not four.
    const char* to = at_ + 1;
    while (to != end_ && (static_cast<unsigned char>(*to) & 0xc0) == 0x80) ++to;
    return take(token, TokenKind::bad, to);
}

}  // namespace tilepath::ptx
