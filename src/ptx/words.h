// The closed sets of words that declarations use: state spaces, types, linkage, tuning directives. Each enum has one
// table of its words (words.cpp). Instruction modifiers are an open set and stay text: isa/ gives them meaning.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace tilepath::ptx {

/// State spaces of variables (PTX ISA 5.1). `sreg` is the space of special registers; `tex` is the legacy texture
/// space.
enum class Space : std::uint8_t { none, reg, sreg, const_, global, local, param, shared, tex };

/// Types of variables (PTX ISA 5.2, 5.3). Alternate and packed formats are types of
/// instructions only: their registers are declared with bit-size types.
enum class Type : std::uint8_t {
    none,
    u8,
    u16,
    u32,
    u64,
    s8,
    s16,
    s32,
    s64,
    b8,
    b16,
    b32,
    b64,
    b128,
    f16,
    f16x2,
    f32,
    f64,
    pred,
    texref,
    samplerref,
    surfref,
};

/// PTX ISA 11.6.
enum class Linkage : std::uint8_t { none, extern_, visible, weak, common };

/// What may stand between a function's parameters and its body (PTX ISA 11.4, 11.7, 11.8).
enum class DirectiveKind : std::uint8_t {
    maxnreg,
    maxntid,
    reqntid,
    minnctapersm,
    maxnctapersm,
    noreturn,
    abi_preserve,
    abi_preserve_control,
    reqnctapercluster,
    explicitcluster,
    maxclusterrank,
    blocksareclusters,
    pragma,
};

/// One part of a register: a vector's element (PTX ISA 6.4.3; `.r .g .b .a` are read as `.x .y .z .w`), or the byte or
/// halfword that a video instruction selects (PTX ISA 9.7.18).
enum class Component : std::uint8_t { none, x, y, z, w, b0, b1, b2, b3, h0, h1 };

// The word as PTX writes it, without its dot; empty for `none`.
std::string_view word(Space space);
std::string_view word(Type type);
std::string_view word(Linkage linkage);
std::string_view word(DirectiveKind kind);
std::string_view word(Component component);

std::optional<Space> space_named(std::string_view word);
std::optional<Type> type_named(std::string_view word);
std::optional<Linkage> linkage_named(std::string_view word);
std::optional<DirectiveKind> directive_named(std::string_view word);
std::optional<Component> component_named(std::string_view word);

/// Bytes of one element of a variable; opaque handles take 8, a predicate none (it lives in registers only).
unsigned size_in_bytes(Type type);

/// How many integers a tuning directive takes, {least, most}.
struct Arity {
    unsigned least, most;
};
Arity arity(DirectiveKind kind);

}  // namespace tilepath::ptx
