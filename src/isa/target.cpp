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
    if (rest == "a" || rest == "f") target.suffix = rest[0];
    else if (!rest.empty()) return {};
    return target;
}

std::string to_string(Target target) {
    return fmt::format("sm_{}{}", target.sm, target.suffix ? std::string(1, target.suffix) : "");
}

bool meets(Needs needs, int version_major, int version_minor, Target target) {
    if (std::tie(version_major, version_minor) < std::tie(needs.major, needs.minor)) return false;
    switch (needs.suffix) {
        case Suffix::any: return target.sm >= needs.sm;
        // Families share the tens: sm_100 and sm_103, sm_120 and sm_121.
        case Suffix::family: return target.sm >= needs.sm && target.sm / 10 == needs.sm / 10 && target.suffix != 0;
        case Suffix::families: return target.sm >= needs.sm && target.suffix != 0;
        case Suffix::architecture: return target.sm == needs.sm && target.suffix == 'a';
    }
    return false;
}

std::string to_string(Needs needs) {
    std::string text = fmt::format("PTX ISA {}.{}", needs.major, needs.minor);
    if (needs.sm == 0) return text;
    switch (needs.suffix) {
        case Suffix::any: return text + fmt::format(" and sm_{}", needs.sm);
        case Suffix::family: return text + fmt::format(" and sm_{}f or sm_{}a", needs.sm, needs.sm);
        case Suffix::families: return text + fmt::format(" and an f or a target from sm_{} on", needs.sm);
        case Suffix::architecture: return text + fmt::format(" and sm_{}a", needs.sm);
    }
    return text;
}

}  // namespace tilepath::isa
