#include "program/types.h"

#include <array>
#include <string>
#include <unordered_map>

#include "base/assert.h"

namespace tilepath::program {
namespace {

constexpr TypeTraits table[] = {
    {"none", TypeKind::bits, 0, 0},
#define TILEPATH_TYPE(identifier, kind, bits, elements) {#identifier, TypeKind::kind, bits, elements},
#include "program/types.inc"
#undef TILEPATH_TYPE
};

}  // namespace

const TypeTraits& traits(DataType type) { return table[static_cast<int>(type)]; }

std::optional<DataType> type_named(std::string_view name) {
    static const auto by_name = [] {
        std::unordered_map<std::string_view, DataType> map;
        for (std::size_t i = 1; i < std::size(table); ++i) map.emplace(table[i].name, static_cast<DataType>(i));
        return map;
    }();
    auto found = by_name.find(name);
    if (found == by_name.end()) return {};
    return found->second;
}

std::optional<number::Format> format_of(DataType type) {
    const TypeTraits& row = traits(type);
    if (row.kind == TypeKind::predicate || row.kind == TypeKind::bits) return {};
    // A packed type is named after its element: f16x2, e4m3x4.
    std::string_view element = row.name;
    if (row.elements > 1) element = element.substr(0, element.rfind('x'));
    return number::format_named(element);
}

std::string_view name(Space space) {
    switch (space) {
        case Space::generic: return "generic";
        case Space::global: return "global";
        case Space::shared: return "shared";
        case Space::shared_cluster: return "shared::cluster";
        case Space::local: return "local";
        case Space::param: return "param";
        case Space::constant: return "const";
    }
    TILEPATH_ASSERT(false, "a Space outside its enum");
}

}  // namespace tilepath::program
