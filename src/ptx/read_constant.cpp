// Constant expressions (PTX ISA 4.5.4), evaluated as they are read.
#include <fmt/format.h>

#include "ptx/reader.h"

namespace tilepath::ptx {

bool Reader::keep(Span span, const OrMessage<Constant>& result, Constant& value) {
    if (!result) return fail(span, result.error());
    value = *result;
    return true;
}

bool Reader::read_constant(Constant& value, int least_precedence) {
    if (token_.kind == TokenKind::number) {
        const char after = lexer_.peek(token_.span.end);
        if (after == ',' || after == ';' || after == ']' || after == '}' || after == ')' || after == '>') {
            if (!keep(token_.span, read_literal(text()), value)) return false;
            advance();
            return true;
        }
    }
    return least_precedence == 0 ? read_conditional(value) : read_binary(value, least_precedence);
}

bool Reader::read_conditional(Constant& value) {
    const std::uint32_t start = begin();
    if (!read_binary(value, 1)) return false;
    if (!take('?')) return true;
    if (depth_ >= deepest_nesting) return fail(token_.span, "this expression is nested too deeply");
    ++depth_;
    Constant a, b;
    const bool good = read_conditional(a) && expect(':', "between the values of '? :'") && read_conditional(b);
    --depth_;
    return good && keep(since(start), apply_conditional(value, a, b), value);
}

bool Reader::read_binary(Constant& value, int least_precedence) {
    const std::uint32_t start = begin();
    if (!read_unary(value)) return false;
    for (;;) {
        // `7%3`: what follows an operand cannot be the name `%3`.
        if (token_.kind == TokenKind::identifier && text()[0] == '%') {
            token_ = {TokenKind::punctuation, '%', {begin(), begin() + 1}};
            lexer_.go_to(token_.span.end);
        }
        const int binds = token_.kind == TokenKind::punctuation ? precedence(token_.symbol) : 0;
        if (binds == 0 || binds < least_precedence) return true;
        const std::uint16_t symbol = token_.symbol;
        advance();
        Constant right;
        if (!read_binary(right, binds + 1)) return false;
        if (!keep(since(start), apply_binary(symbol, value, right), value)) return false;
    }
}

bool Reader::read_unary(Constant& value) {
    const std::uint32_t start = begin();
    if (!(token_.is('-') || token_.is('+') || token_.is('!') || token_.is('~'))) return read_primary(value);
    if (depth_ >= deepest_nesting) return fail(token_.span, "this expression is nested too deeply");
    const char symbol = static_cast<char>(token_.symbol);
    advance();
    ++depth_;
    const bool good = read_unary(value);
    --depth_;
    return good && keep(since(start), apply_unary(symbol, value), value);
}

bool Reader::read_primary(Constant& value) {
    if (token_.kind == TokenKind::number) {
        if (!keep(token_.span, read_literal(text()), value)) return false;
        advance();
        return true;
    }
    if (token_.kind == TokenKind::identifier && text() == "WARP_SZ") {
        value = {ImmediateKind::s64, 32};  // on every target so far (PTX ISA 4.5.1)
        advance();
        return true;
    }
    if (!token_.is('(')) return fail_expected("a constant");
    if (depth_ >= deepest_nesting) return fail(token_.span, "this expression is nested too deeply");
    advance();
    ++depth_;
    const bool good = read_parenthesised(value);
    --depth_;
    return good;
}

bool Reader::read_parenthesised(Constant& value) {
    const std::uint32_t start = begin();
    const std::string_view cast = dot_word();
    if (cast == "s64" || cast == "u64") {
        advance();
        if (!expect(')', "after the type of a cast") || !read_unary(value)) return false;
        return keep(since(start), apply_cast(cast == "s64" ? ImmediateKind::s64 : ImmediateKind::u64, value), value);
    }
    return read_conditional(value) && expect(')', "to close the expression");
}

bool Reader::read_unsigned(std::string_view what, std::uint64_t most, std::uint64_t& value, int least_precedence) {
    const std::uint32_t start = begin();
    Constant constant;
    if (token_.kind != TokenKind::number && !token_.is('(') && text() != "WARP_SZ") return fail_expected(what);
    if (!read_constant(constant, least_precedence)) return false;
    const bool negative = constant.kind == ImmediateKind::s64 && constant.bits >> 63;
    if (!constant.is_integer() || negative || constant.bits > most)
        return fail(since(start),
                    fmt::format("expected {} from 0 to {}, found {}", what, most, quoted(lexer_.text(since(start)))));
    value = constant.bits;
    return true;
}

// After a base: `+4`, `+-4`, `-4`, `+4*2`, or nothing.
bool Reader::read_offset(std::uint64_t& offset) {
    const std::uint32_t start = begin();
    if (!token_.is('-')) advance();
    Constant constant;
    if (!read_constant(constant, 1)) return false;
    if (!constant.is_integer()) return fail(since(start), "an offset must be an integer of bytes");
    offset = constant.bits;
    return true;
}

}  // namespace tilepath::ptx
