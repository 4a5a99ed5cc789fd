// Cuts PTX text into tokens (PTX ISA 4.1 to 4.5), on demand and without copying.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/span.h"

namespace tilepath::ptx {

enum class TokenKind : std::uint8_t {
    end,
    identifier,   ///< `add`, `%r1`, `$L__BB0_2`, `_`
    dot_word,     ///< `.global`, `.v4`, `.shared::cta`, `.2d`
    number,       ///< any literal: what it is worth is for literal.h
    string,       ///< with its quotes
    punctuation,  ///< `symbol` says which; two-character operators have one token
    bad,          ///< a byte or an unclosed string or comment that PTX has no use for
};

struct Token {
    TokenKind kind = TokenKind::end;
    std::uint16_t symbol = 0;  ///< a character, or `two('<', '<')`
    Span span;

    bool is(char c) const { return kind == TokenKind::punctuation && symbol == static_cast<unsigned char>(c); }
};

/// The `symbol` of a two-character operator.
constexpr std::uint16_t two(char a, char b) {
    return static_cast<std::uint16_t>(static_cast<unsigned char>(a) << 8 | static_cast<unsigned char>(b));
}

/// Character classes, one byte per character.
namespace chars {
enum : std::uint8_t {
    word = 1,
    digit = 2,
    space = 4,
    letter = 8,
    single = 16,  ///< punctuation that is never the first half of an operator
    blank = 32,   ///< may begin what is skipped besides spaces
};
constexpr auto classes = [] {
    std::array<std::uint8_t, 256> table{};
    for (char c = 'a'; c <= 'z'; ++c) table[c] = table[c - 'a' + 'A'] = word | letter;
    for (char c = '0'; c <= '9'; ++c) table[c] = word | digit;
    for (char c : {'_', '$'}) table[c] = word;
    for (char c : std::string_view(",;:()[]{}@-+~*%^?")) table[static_cast<unsigned char>(c)] = single;
    for (char c : {'/', '#', '\\'}) table[static_cast<unsigned char>(c)] = blank;
    for (char c : {' ', '\t', '\n', '\r', '\f', '\v'}) table[c] = space;
    return table;
}();
constexpr bool is(char c, std::uint8_t mask) { return (classes[static_cast<unsigned char>(c)] & mask) != 0; }
}  // namespace chars

inline constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

/// The text must be followed by a NUL in memory, as std::string's is, and be shorter than 4 GiB.
class Lexer {
  public:
    explicit Lexer(std::string_view text) : begin_(text.data()), at_(text.data()), end_(text.data() + text.size()) {}

    void next(Token& token);
    /// Continues at a byte offset: to read again what was a token in another context.
    void go_to(std::uint32_t offset) { at_ = begin_ + offset; }
    /// The character at an offset; NUL at the end.
    char peek(std::uint32_t offset) const { return begin_[offset]; }
    std::string_view text(Span span) const { return {begin_ + span.begin, span.end - span.begin}; }
    std::uint32_t size() const { return static_cast<std::uint32_t>(end_ - begin_); }

    /// The end of an instruction's head (`ld.global.v4.f32`) that begins with the identifier at `offset`, as far as it
    /// is written without spaces.
    std::uint32_t head_end(std::uint32_t offset) const;

  private:
    /// Skips white space, comments, line markers and continued lines. False: a comment is not closed; at_ is on it.
    bool skip_blanks();
    bool skip_comment();
    bool skip_line_marker();
    void skip_line();
    void take(Token& token, TokenKind kind, const char* to, std::uint16_t symbol = 0);
    void take_number(Token& token);
    void take_string(Token& token);
    void take_punctuation(Token& token);
    const char* dot_word_end(const char* at) const;

    const char* begin_;
    const char* at_;
    const char* end_;
};

}  // namespace tilepath::ptx
