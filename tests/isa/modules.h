#pragma once
// Small modules around instructions under test.
#include <fmt/format.h>

#include <set>
#include <string>
#include <vector>

#include "isa/build.h"
#include "ptx/read.h"

namespace tilepath::isa {

/// The line of the first instruction in `module_text`.
constexpr unsigned first_line = 11;

/// An entry `k` with registers of every kind (p0… predicates, h0… 16 bits, r0… 32, q0… 64, x0… 128, c0… 8) and these
/// lines.
inline std::string module_text(const std::string& target, const std::string& version,
                               const std::vector<std::string>& lines) {
    std::string text = fmt::format(".version {}\n.target {}\n.address_size 64\n", version, target);
    text += ".global .align 16 .b8 g[4096];\n.visible .entry k(.param .align 16 .b8 a[64])\n{\n";
    text += ".reg .pred p<16>; .reg .b8 c<4>; .reg .b16 h<16>; .reg .b32 r<64>;\n.reg .b64 q<32>; ";
    text += version < "8.3" ? ".reg .b64 x<8>;\n" : ".reg .b128 x<8>;\n";  // .b128 came with PTX ISA 8.3
    text += ".shared .align 128 .b8 s[4096];\n.local .align 16 .b8 l[256];\n";
    for (const std::string& line : lines) text += line + "\n";
    return text + "ret;\n}\n";
}

/// Everything wrong with a module: what reading, binding and lowering say.
inline Diagnostics faults_of(const std::string& text) {
    auto module = ptx::read(Source("test.ptx", text));
    if (!module) return module.error();
    auto program = build(*module, "k");
    return program ? Diagnostics{} : program.error();
}

/// Indices of the lines that tilepath refuses. Lines of cta_group::2, which may not stand beside those of cta_group::1,
/// get a module of their own.
inline std::set<std::size_t> refused_by_us(const std::string& target, const std::string& version,
                                           const std::vector<std::string>& lines) {
    std::set<std::size_t> refused;
    for (const bool pairs : {false, true}) {
        std::vector<std::string> some = lines;
        for (std::string& line : some)
            if ((line.find("cta_group::2") != std::string::npos) != pairs) line.clear();
        for (const Diagnostic& fault : faults_of(module_text(target, version, some)))
            if (fault.severity == Severity::error && fault.place && fault.place->line >= first_line)
                refused.insert(fault.place->line - first_line);
    }
    return refused;
}

}  // namespace tilepath::isa
