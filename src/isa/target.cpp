#include "isa/target.h"

#include <fmt/format.h>

#include <charconv>
#include <tuple>

namespace tilepath::isa {

std::optional<Target> target_named(std::string_view name) {
    if (!name.starts_with("sm_") && !name.starts_with("compute_")) return {};
    std::string_view digits = name.substr(name.find('_') + 1);
    Target target;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), target.sm);
    if (error != std::errc{} || target.sm < 10) return {};
    std::string_view rest(end, static_cast<std::size_t>(digits.data() + digits.size() - end));
    if (rest == "a" || rest == "f")
        target.suffix = rest[0];
    else if (!rest.empty())
        return {};
    return target;
}

std::string to_string(Target target) {
    return fmt::format("sm_{}{}", target.sm, target.suffix ? std::string(1, target.suffix) : "");
}

std::optional<Needs> version_of(Target target) {
    struct Row {
        int sm;
        Needs plain, named_f;  ///< `a` came with the plain target, but for sm_90a
    };
    static constexpr Row rows[] = {
        {75, since(6, 3), {}},           {80, since(7, 0), {}},           {86, since(7, 1), {}},
        {87, since(7, 4), {}},           {88, since(7, 3), {}},           {89, since(7, 8), {}},
        {90, since(7, 8), {}},           {100, since(8, 6), since(8, 8)}, {103, since(8, 8), since(8, 8)},
        {110, since(9, 0), since(9, 0)}, {120, since(8, 7), since(8, 8)}, {121, since(8, 8), since(8, 8)}};
    for (const Row& row : rows) {
        if (row.sm != target.sm) continue;
        if (target == Target{90, 'a'}) return since(8, 0);
        return target.suffix == 'f' ? row.named_f : row.plain;
    }
    return {};
}

bool has_tensor_memory(Target target) { return target.sm >= 100 && target.sm < 120 && target.suffix != 0; }

bool meets(Needs needs, int version_major, int version_minor, Target target) {
    if (std::tie(version_major, version_minor) < std::tie(needs.major, needs.minor)) return false;
    switch (needs.suffix) {
        case Suffix::any: return target.sm >= needs.sm;
        // Families share the tens: sm_100 and sm_103, sm_120 and sm_121.
        case Suffix::family: return target.sm >= needs.sm && target.sm / 10 == needs.sm / 10 && target.suffix != 0;
        case Suffix::families: return target.sm >= needs.sm && target.suffix != 0;
        case Suffix::architecture: return target.sm == needs.sm && target.suffix == 'a';
        case Suffix::tensor_memory: return has_tensor_memory(target) && target.sm >= needs.sm;
        case Suffix::tensor_memory_specific:
            return has_tensor_memory(target) && target.sm >= needs.sm && target.suffix == 'a';
        case Suffix::tensor_memory_bytes: return (target.sm == 100 || target.sm == 110) && target.suffix == 'a';
    }
    return false;
}

Needs later(Needs a, Needs b) {
    const bool a_is_newer = std::tie(a.major, a.minor) > std::tie(b.major, b.minor);
    Needs both = a.suffix != Suffix::any || a.sm > b.sm ? a : b;
    both.major = (a_is_newer ? a : b).major;
    both.minor = (a_is_newer ? a : b).minor;
    return both;
}

Needs needs_of_word(std::string_view word) {
    struct Row {
        std::string_view word;
        Needs needs;
    };
    static constexpr Row rows[] = {
        {"shared::cta", since(7, 8, 30)},
        {"shared::cluster", since(7, 8, 90)},
        {"cluster", since(7, 8, 90)},
        {"param::entry", since(8, 3)},
        {"param::func", since(8, 3)},
        {"b128", since(8, 3, 70)},
        {"L2::cache_hint", since(7, 4, 80)},
        {"kind::mxf4nvf4", since(8, 7)},
        {"block16", since(8, 8)},
        {"block32", since(8, 8)},
    };
    for (const Row& row : rows)
        if (row.word == word) return row.needs;
    return {};
}

std::string to_string(Needs needs) {
    std::string text;
    switch (needs.suffix) {
        case Suffix::any: text = fmt::format("sm_{}", needs.sm); break;
        case Suffix::family: text = fmt::format("sm_{0}f or sm_{0}a", needs.sm); break;
        case Suffix::families: text = fmt::format("an f or a target from sm_{} on", needs.sm); break;
        case Suffix::architecture: text = fmt::format("sm_{}a", needs.sm); break;
        case Suffix::tensor_memory:
            text = needs.sm <= 100 ? "sm_100a, sm_103a, sm_110a or their f targets"
                                   : "sm_103a, sm_110a or their f targets";
            break;
        case Suffix::tensor_memory_specific: text = "sm_100a, sm_103a or sm_110a"; break;
        case Suffix::tensor_memory_bytes: text = "sm_100a or sm_110a"; break;
    }
    const std::string version = fmt::format("PTX ISA {}.{}", needs.major, needs.minor);
    if (needs.sm == 0) return version;
    return needs.major == 1 && needs.minor == 0 ? text : fmt::format("{} and {}", version, text);
}

}  // namespace tilepath::isa
