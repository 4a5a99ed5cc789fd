#pragma once
#include <span>
#include <string_view>

namespace tilepath::check {

/// What there is of checks, for those who list them.
struct Rule {
    std::string_view check;  ///< its name in findings
    std::string_view title;
    bool wrong_result = false;  ///< its findings can make results wrong; else the kernel is slower than it need be
};
std::span<const Rule> rules();
const Rule& rule_of(std::string_view check);
std::size_t rule_index(std::string_view check);

}  // namespace tilepath::check
