// Syntax of instructions and their operands.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/span.h"
#include "ptx/words.h"

namespace tilepath::ptx {

using Id = std::uint32_t;
constexpr Id none = ~Id{0};

/// `count` nodes of one vector, from `first`.
struct Range {
    Id first;
    std::uint32_t count;
};

enum class OperandKind : std::uint8_t {
    identifier,      ///< register, variable, label, function, …: `name`, `symbol`, `component`; `bits`: the offset of
                     ///< `foo+8`
    sink,            ///< `_`
    immediate,       ///< `bits`, `immediate`
    address,         ///< `[base+offset]`: `name` (none: the address is `bits` alone), `bits` the offset; `unified` for
                     ///< `[a].unified`
    tensor_address,  ///< `[base, {c0, c1}]`, `[tex, sampler, {…}]`, `[base+8, {…}]`: `children`, in order
    indexed,  ///< `a[i]`, `a[i+4]`: `children` are the array and the index (an immediate or an identifier with offset)
    vector,   ///< `{a, b, _}`: `children`
    list,     ///< `(a, b)` of a call: `children`
    pair,     ///< `p|q`: two `children`
};

/// What a literal or constant expression evaluates to (PTX ISA 4.5). `f32` comes only from `0f…`, which is exact.
enum class ImmediateKind : std::uint8_t { s64, u64, f32, f64 };

struct Operand {
    OperandKind kind = OperandKind::sink;
    ImmediateKind immediate = ImmediateKind::s64;
    Component component = Component::none;
    bool not_ : 1 = false;     ///< `!p`; in a guard: `@!p`
    bool minus : 1 = false;    ///< `-a` on a register (video instructions only; a minus on an immediate is folded)
    bool unified : 1 = false;  ///< `[a].unified`
    Span span;
    Id name = none;             ///< in Module::names; `identifier` and `address`
    Id symbol = none;           ///< in Module::symbols, once resolved
    std::uint32_t element = 0;  ///< which register of a parameterised declaration: 57 for `%r57` of `%r<100>`
    union {
        std::uint64_t bits = 0;  ///< immediate: its value (f32: the low 32); otherwise a two's complement byte offset
        Range children;          ///< in Module::operands
    };

    std::int64_t offset() const { return static_cast<std::int64_t>(bits); }
    bool has_children() const { return kind >= OperandKind::tensor_address; }
};

struct Modifier {
    std::string_view text;     ///< without its dot: `global`, `v4`, `shared::cluster`, `L2::128B`
    std::uint32_t offset = 0;  ///< of `text` from the opcode's first byte
};

/// `ld.global.v4.f32`: opcode and modifiers in the order written. Each distinct spelling is stored once, so an
/// instruction's `head` is a key under which a consumer can remember what it found out about the form.
struct Head {
    std::string_view opcode;
    std::vector<Modifier> modifiers;
};

struct Instruction {
    Span span;            ///< from the guard, or the opcode, through the semicolon
    std::uint32_t begin;  ///< of the opcode in the source
    Id head = none;       ///< in Module::heads
    Id guard = none;      ///< in Module::operands: an identifier, `not_` for `@!p`
    Range operands{};     ///< in Module::operands
    Id location = none;   ///< in Module::locations: the nearest preceding `.loc` of the function
};

}  // namespace tilepath::ptx
