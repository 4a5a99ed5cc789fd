#include "ptx/special_registers.h"

#include <unordered_map>
#include <vector>

namespace tilepath::ptx {
namespace {

struct Spelling {
    std::string_view prefix, suffix;
    unsigned count;
};
constexpr Spelling spellings[] = {
#define TILEPATH_SPECIAL(id, prefix, count, suffix, first, vector, type, major, minor, sm) {prefix, suffix, count},
#include "ptx/special_registers.inc"
#undef TILEPATH_SPECIAL
};

/// Every name, for each row its numbers.
using Names = std::unordered_map<std::string, SpecialRegisterName>;

Names all_names() {
    Names names;
    for (std::size_t row = 0; row < std::size(spellings); ++row) {
        const Spelling& each = spellings[row];
        if (each.count == 0) names.emplace(each.prefix, SpecialRegisterName{row, 0});
        for (unsigned i = 0; i < each.count; ++i)
            names.emplace(std::string(each.prefix) + std::to_string(i) + std::string(each.suffix),
                          SpecialRegisterName{row, i});
    }
    return names;
}

}  // namespace

std::optional<SpecialRegisterName> special_register_named(std::string_view name) {
    static const Names names = all_names();
    if (!name.starts_with('%')) return {};
    const auto found = names.find(std::string(name));
    return found == names.end() ? std::nullopt : std::optional(found->second);
}

std::span<const std::string_view> special_registers() {
    static const std::vector<std::string_view> plain = [] {
        std::vector<std::string_view> list;
        for (const Spelling& each : spellings)
            if (each.count == 0) list.push_back(each.prefix);
        return list;
    }();
    return plain;
}

}  // namespace tilepath::ptx
