#pragma once
// tilepath and ptxas take and refuse the same lines.
#include "../ptxas.h"
#include "modules.h"

namespace tilepath::isa {

/// Skips the test where there is no ptxas.
inline void expect_agreement(const std::string& target, const std::string& version,
                             const std::vector<std::string>& lines) {
    auto ptxas = find_ptxas();
    if (!ptxas) GTEST_SKIP() << "no ptxas";
    const ModuleText text{[&](const auto& with) { return module_text(target, version, with); }, first_line};
    const auto theirs = refused_by_ptxas(*ptxas, target, text, lines);
    const auto ours = refused_by_us(target, version, lines);
    for (std::size_t i = 0; i < lines.size(); ++i)
        EXPECT_EQ(ours.contains(i), theirs.contains(i))
            << lines[i] << "  ptxas: " << (theirs.contains(i) ? theirs.at(i) : "takes it");
}

}  // namespace tilepath::isa
