#pragma once
// Reads small modules for tests: a text, or the body of one entry.
#include <gtest/gtest.h>

#include <string>

#include "ptx/print.h"
#include "ptx/read.h"

namespace tilepath::ptx {

inline Module read_text(std::string text) {
    auto module = read(Source("test.ptx", std::move(text)));
    if (module) return std::move(*module);
    ADD_FAILURE() << to_string(module.error());
    return {};
}

inline std::string wrap(const std::string& body, const std::string& before = "") {
    return ".version 9.0\n.target sm_90a\n.address_size 64\n" + before +
           "\n.visible .entry k(.param .u64 p0)\n{\n"
           ".reg .b32 %r<10>; .reg .b64 %rd<10>; .reg .pred %p<4>; .reg .f32 %f<4>; .reg .b16 %h<4>;\n" +
           body + "\nret;\n}\n";
}

inline Module read_body(const std::string& body, const std::string& before = "") {
    return read_text(wrap(body, before));
}

/// All errors of a text that must not be read, as the user sees them.
inline std::string errors_of(std::string text) {
    const auto module = read(Source("test.ptx", std::move(text)));
    if (!module) return to_string(module.error());
    ADD_FAILURE() << "no error was found";
    return {};
}

/// The first instruction of the module.
inline std::span<const Operand> operands_of_first(const Module& module) {
    return module.operands_in(module.instructions.at(0).operands);
}

}  // namespace tilepath::ptx
