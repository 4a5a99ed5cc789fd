#include "ptx/literal.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>

#include "ptx/lexer.h"

namespace tilepath::ptx {
namespace {

constexpr Constant signed_(std::uint64_t bits) { return {ImmediateKind::s64, bits}; }
constexpr Constant truth(bool value) { return signed_(value ? 1 : 0); }
Constant floating(double value) { return {ImmediateKind::f64, std::bit_cast<std::uint64_t>(value)}; }
double as_double(Constant c) { return std::bit_cast<double>(c.bits); }
std::int64_t as_signed(Constant c) { return static_cast<std::int64_t>(c.bits); }

std::unexpected<std::string> wrong(std::string message) { return std::unexpected(std::move(message)); }

OrMessage<Constant> read_integer(std::string_view text, std::string_view digits, int base) {
    const bool is_unsigned = digits.ends_with('U');
    if (is_unsigned) digits.remove_suffix(1);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (error == std::errc::result_out_of_range) return wrong(fmt::format("'{}' does not fit in 64 bits", text));
    if (error != std::errc{} || end != digits.data() + digits.size())
        return wrong(fmt::format("'{}' is not a number: expected digits of base {}", text, base));
    return Constant{is_unsigned || value >> 63 ? ImmediateKind::u64 : ImmediateKind::s64, value};
}

OrMessage<Constant> read_exact_float(std::string_view text, std::size_t digits, ImmediateKind kind) {
    std::uint64_t bits = 0;
    const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), bits, 16);
    if (text.size() != digits + 2 || error != std::errc{} || end != text.data() + text.size())
        return wrong(fmt::format("'{}' is not a number: expected exactly {} hexadecimal digits after '{}'", text,
                                 digits, text.substr(0, 2)));
    return Constant{kind, bits};
}

OrMessage<Constant> read_decimal_float(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::result_out_of_range) {
        value = std::strtod(std::string(text).c_str(), nullptr);  // tells too large from too small
        if (std::isinf(value)) return wrong(fmt::format("'{}' does not fit in f64", text));
    } else if (error != std::errc{} || end != text.data() + text.size()) {
        return wrong(fmt::format("'{}' is not a number", text));
    }
    return floating(value);
}

}  // namespace

OrMessage<Constant> read_literal(std::string_view text) {
    if (text.size() < 19 && text[0] != '0') {  // nearly always: a decimal number that needs no thought
        std::uint64_t value = 0;
        std::size_t at = 0;
        for (; at < text.size() && chars::is(text[at], chars::digit); ++at)
            value = value * 10 + static_cast<unsigned>(text[at] - '0');
        if (at == text.size()) return signed_(value);
    }
    if (text.size() > 1 && text[0] == '0') switch (text[1]) {
            case 'x':
            case 'X': return read_integer(text, text.substr(2), 16);
            case 'b':
            case 'B': return read_integer(text, text.substr(2), 2);
            case 'f':
            case 'F': return read_exact_float(text, 8, ImmediateKind::f32);
            case 'd':
            case 'D': return read_exact_float(text, 16, ImmediateKind::f64);
        }
    if (text.find_first_of(".eE") != std::string_view::npos) return read_decimal_float(text);
    const bool octal = text.size() > 1 && text[0] == '0' && text[1] != 'U';
    return read_integer(text, text, octal ? 8 : 10);
}

OrMessage<Constant> apply_unary(char symbol, Constant a) {
    if (a.kind == ImmediateKind::f32)
        return wrong("an exact 0f… literal cannot take part in an expression; write its own bits, or use 0d…");
    if (!a.is_integer()) {
        if (symbol == '-') return Constant{a.kind, a.bits ^ std::uint64_t{1} << 63};
        if (symbol == '+') return a;
        return wrong(fmt::format("'{}' needs an integer, not a floating-point value", symbol));
    }
    if (symbol == '-') return Constant{a.kind, -a.bits};
    if (symbol == '!') return truth(a.bits == 0);
    if (symbol == '~') return Constant{ImmediateKind::u64, ~a.bits};
    return a;
}

namespace {

OrMessage<Constant> apply_floating(std::uint16_t symbol, double a, double b) {
    switch (symbol) {
        case '+': return floating(a + b);
        case '-': return floating(a - b);
        case '*': return floating(a * b);
        case '/': return floating(a / b);
        case '<': return truth(a < b);
        case '>': return truth(a > b);
        case two('<', '='): return truth(a <= b);
        case two('>', '='): return truth(a >= b);
        case two('=', '='): return truth(a == b);
        case two('!', '='): return truth(a != b);
    }
    return wrong("this operator needs integers, not floating-point values");
}

OrMessage<Constant> divide(Constant a, Constant b, ImmediateKind kind) {
    if (b.bits == 0) return wrong("division by zero in a constant expression");
    if (kind == ImmediateKind::u64) return Constant{kind, a.bits / b.bits};
    if (as_signed(b) == -1) return Constant{kind, -a.bits};  // INT64_MIN / -1 wraps
    return signed_(static_cast<std::uint64_t>(as_signed(a) / as_signed(b)));
}

// Shift distances are unsigned; those of 64 and more shift everything out.
Constant shift_right(Constant a, std::uint64_t distance) {
    if (a.kind == ImmediateKind::u64) return {a.kind, distance < 64 ? a.bits >> distance : 0};
    return signed_(static_cast<std::uint64_t>(as_signed(a) >> (distance < 64 ? distance : 63)));
}

}  // namespace

OrMessage<Constant> apply_binary(std::uint16_t symbol, Constant a, Constant b) {
    if (a.kind == ImmediateKind::f32 || b.kind == ImmediateKind::f32)
        return wrong("an exact 0f… literal cannot take part in an expression; write its own bits, or use 0d…");
    if (a.is_integer() != b.is_integer())
        return wrong("an expression cannot mix integers and floating-point values; PTX has no cast between them");
    if (!a.is_integer()) return apply_floating(symbol, as_double(a), as_double(b));
    const bool both_signed = a.kind == ImmediateKind::s64 && b.kind == ImmediateKind::s64;
    const ImmediateKind kind = both_signed ? ImmediateKind::s64 : ImmediateKind::u64;
    const bool less = both_signed ? as_signed(a) < as_signed(b) : a.bits < b.bits;
    switch (symbol) {
        case '+': return Constant{kind, a.bits + b.bits};
        case '-': return Constant{kind, a.bits - b.bits};
        case '*': return Constant{kind, a.bits * b.bits};
        case '/': return divide(a, b, kind);
        case '%':
            if (b.bits == 0) return wrong("division by zero in a constant expression");
            return signed_(a.bits % b.bits);
        case '&': return Constant{kind, a.bits & b.bits};
        case '|': return Constant{kind, a.bits | b.bits};
        case '^': return Constant{kind, a.bits ^ b.bits};
        case '<': return truth(less);
        case '>': return truth(!less && a.bits != b.bits);
        case two('<', '='): return truth(less || a.bits == b.bits);
        case two('>', '='): return truth(!less);
        case two('=', '='): return truth(a.bits == b.bits);
        case two('!', '='): return truth(a.bits != b.bits);
        case two('&', '&'): return truth(a.bits != 0 && b.bits != 0);
        case two('|', '|'): return truth(a.bits != 0 || b.bits != 0);
        case two('<', '<'): return Constant{a.kind, b.bits < 64 ? a.bits << b.bits : 0};
        case two('>', '>'): return shift_right(a, b.bits);
    }
    return wrong("not an operator of constant expressions");
}

OrMessage<Constant> apply_conditional(Constant condition, Constant a, Constant b) {
    if (!condition.is_integer()) return wrong("the condition of '? :' must be an integer");
    const Constant chosen = condition.bits != 0 ? a : b;
    if (a.kind == b.kind && a.kind != ImmediateKind::f32) return chosen;
    if (!a.is_integer() || !b.is_integer())
        return wrong("both values of '? :' must be integers, or both double-precision floating point");
    return Constant{ImmediateKind::u64, chosen.bits};
}

OrMessage<Constant> apply_cast(ImmediateKind to, Constant a) {
    if (!a.is_integer()) return wrong("only integers can be cast; PTX has no cast from floating point");
    return Constant{to, a.bits};
}

int precedence(std::uint16_t symbol) {
    switch (symbol) {
        case '*':
        case '/':
        case '%': return 10;
        case '+':
        case '-': return 9;
        case two('<', '<'):
        case two('>', '>'): return 8;
        case '<':
        case '>':
        case two('<', '='):
        case two('>', '='): return 7;
        case two('=', '='):
        case two('!', '='): return 6;
        case '&': return 5;
        case '^': return 4;
        case '|': return 3;
        case two('&', '&'): return 2;
        case two('|', '|'): return 1;
    }
    return 0;
}

}  // namespace tilepath::ptx
