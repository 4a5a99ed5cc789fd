#pragma once
#include <string>
#include <vector>

#include "../ptxas.h"

namespace tilepath::atom {

/// An entry with registers of every kind (r0… and f0… of 32 bits, g0… and q0… of 64, p0… predicates) and these lines.
inline ModuleText module_text(const std::string& target) {
    return {[target](const std::vector<std::string>& lines) {
                std::string text = ".version 9.0\n.target " + target +
                                   "\n.address_size 64\n.visible .entry k() {\n"
                                   ".reg .b32 r<200>; .reg .f32 f<200>; .reg .f64 g<99>; .reg .b64 q<9>; .reg .pred "
                                   "p<9>;\n.shared .align 128 .b8 s[4096];\n";
                for (const std::string& line : lines) text += line + "\n";
                return text + "ret;\n}\n";
            },
            7};
}

}  // namespace tilepath::atom
