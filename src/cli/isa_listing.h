#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "isa/form.h"

namespace tilepath::cli {

/// Forms that a pattern names: an opcode (`*` stands for any characters), then words that the form must take together
/// (`mma.m16n8k16.bf16`). Empty: all. None found is an error that offers the nearest opcodes.
Result<std::vector<const isa::Form*>> forms_named(std::string_view pattern);

/// One form a line, its words beneath it.
std::string forms_as_text(const std::vector<const isa::Form*>& forms);
/// An array of objects: form, opcode, words, needs, manual, evidence.
std::string forms_as_json(const std::vector<const isa::Form*>& forms);
/// docs/isa.md.
std::string forms_as_markdown(const std::vector<const isa::Form*>& forms);

}  // namespace tilepath::cli
