#include "ptx/words.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace tilepath::ptx {
namespace {

// One table per enum, in the enum's order: the word of enumerator i is row i.

constexpr std::string_view spaces[] = {"", "reg", "sreg", "const", "global", "local", "param", "shared", "tex"};

struct TypeRow {
    std::string_view word;
    std::uint8_t bytes;
};
constexpr TypeRow types[] = {
    {"", 0},                                                    //
    {"u8", 1},   {"u16", 2},    {"u32", 4},        {"u64", 8},  //
    {"s8", 1},   {"s16", 2},    {"s32", 4},        {"s64", 8},  //
    {"b8", 1},   {"b16", 2},    {"b32", 4},        {"b64", 8},     {"b128", 16},
    {"f16", 2},  {"f16x2", 4},  {"f32", 4},        {"f64", 8},  //
    {"pred", 0}, {"texref", 8}, {"samplerref", 8}, {"surfref", 8},
};

constexpr std::string_view linkages[] = {"", "extern", "visible", "weak", "common"};

struct DirectiveRow {
    std::string_view word;
    Arity arity;
};
constexpr DirectiveRow directives[] = {
    {"maxnreg", {1, 1}},
    {"maxntid", {1, 3}},
    {"reqntid", {1, 3}},
    {"minnctapersm", {1, 1}},
    {"maxnctapersm", {1, 1}},
    {"noreturn", {0, 0}},
    {"abi_preserve", {1, 1}},
    {"abi_preserve_control", {1, 1}},
    {"reqnctapercluster", {1, 3}},
    {"explicitcluster", {0, 0}},
    {"maxclusterrank", {1, 1}},
    {"blocksareclusters", {0, 0}},
    {"pragma", {0, 0}},
};

constexpr std::string_view components[] = {"", "x", "y", "z", "w", "b0", "b1", "b2", "b3", "h0", "h1"};
constexpr std::pair<std::string_view, Component> colours[] = {
    {"r", Component::x}, {"g", Component::y}, {"b", Component::z}, {"a", Component::w}};

static_assert(std::size(spaces) == static_cast<std::size_t>(Space::tex) + 1);
static_assert(std::size(types) == static_cast<std::size_t>(Type::surfref) + 1);
static_assert(std::size(linkages) == static_cast<std::size_t>(Linkage::common) + 1);
static_assert(std::size(directives) == static_cast<std::size_t>(DirectiveKind::pragma) + 1);
static_assert(std::size(components) == static_cast<std::size_t>(Component::h1) + 1);

std::string_view word_of(std::string_view row) { return row; }
std::string_view word_of(const TypeRow& row) { return row.word; }
std::string_view word_of(const DirectiveRow& row) { return row.word; }

template <class Enum, class Row, std::size_t size>
std::optional<Enum> find(const Row (&table)[size], std::string_view word) {
    if (word.empty()) return std::nullopt;
    for (std::size_t i = 0; i < size; ++i)
        if (word_of(table[i]) == word) return static_cast<Enum>(i);
    return std::nullopt;
}

template <class Enum>
constexpr std::size_t row(Enum value) {
    return static_cast<std::size_t>(value);
}

}  // namespace

std::string_view word(Space space) { return spaces[row(space)]; }
std::string_view word(Type type) { return types[row(type)].word; }
std::string_view word(Linkage linkage) { return linkages[row(linkage)]; }
std::string_view word(DirectiveKind kind) { return directives[row(kind)].word; }
std::string_view word(Component component) { return components[row(component)]; }

std::optional<Space> space_named(std::string_view word) { return find<Space>(spaces, word); }
std::optional<Type> type_named(std::string_view word) { return find<Type>(types, word); }
std::optional<Linkage> linkage_named(std::string_view word) { return find<Linkage>(linkages, word); }
std::optional<DirectiveKind> directive_named(std::string_view word) { return find<DirectiveKind>(directives, word); }

std::optional<Component> component_named(std::string_view word) {
    for (const auto& [colour, component] : colours)
        if (colour == word) return component;
    return find<Component>(components, word);
}

unsigned size_in_bytes(Type type) { return types[row(type)].bytes; }
Arity arity(DirectiveKind kind) { return directives[row(kind)].arity; }

}  // namespace tilepath::ptx
