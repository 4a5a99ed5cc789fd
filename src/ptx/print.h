// Writes a syntax tree as PTX text, and compares trees.
#pragma once
#include <string>

#include "ptx/syntax.h"

namespace tilepath::ptx {

/// Text that reads back to the same tree.
std::string print(const Module& module);

/// One instruction as it would be printed, without its semicolon: `@%p1 ld.global.f32 %f1, [%rd1+16]`.
std::string print(const Module& module, const Instruction& instruction);

/// Equal but for spans, comments, the spelling of numbers, and how declarators are grouped.
bool same_tree(const Module& a, const Module& b);

}  // namespace tilepath::ptx
