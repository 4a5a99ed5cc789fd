// Values of literals and constant expressions (PTX ISA 4.5).
#pragma once
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "ptx/instruction.h"

namespace tilepath::ptx {

struct Constant {
    ImmediateKind kind = ImmediateKind::s64;
    std::uint64_t bits = 0;

    bool is_integer() const { return kind == ImmediateKind::s64 || kind == ImmediateKind::u64; }
    friend bool operator==(const Constant&, const Constant&) = default;
};

/// What is wrong, in one line, ready for a Diagnostic.
template <class T>
using OrMessage = std::expected<T, std::string>;

/// One literal: decimal, 0x, 0b, octal, a U suffix, 0f and 0d, decimal floating point.
OrMessage<Constant> read_literal(std::string_view text);

// Operators as PTX ISA 4.5.5 and table 5 define them; `symbol` as Token has it.
OrMessage<Constant> apply_unary(char symbol, Constant a);
OrMessage<Constant> apply_binary(std::uint16_t symbol, Constant a, Constant b);
OrMessage<Constant> apply_conditional(Constant condition, Constant a, Constant b);
OrMessage<Constant> apply_cast(ImmediateKind to, Constant a);

/// Binary operators bind tighter the higher this is; 0: not a binary operator.
int precedence(std::uint16_t symbol);

}  // namespace tilepath::ptx
