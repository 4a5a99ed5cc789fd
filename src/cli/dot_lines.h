#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "base/source.h"
#include "number/recipe.h"

namespace tilepath::cli {

/// One line of `tilepath dot`'s input: a b c [d], with block scales a b c sfa sfb [d].
struct DotLine {
    unsigned number = 0;  ///< 1-based
    std::vector<std::uint64_t> a, b, scale_a, scale_b;
    std::uint64_t c = 0;
    std::optional<std::uint64_t> d;
};

/// How many hexadecimal digits an element takes: one for 4-bit formats, else those of its container. b1: one digit
/// holds four elements, the first in its highest bit.
int hex_digits(number::Format format);

/// All lines; blank ones and those that begin with # are passed over. Errors name line and column, every bad line once.
Result<std::vector<DotLine>> read_dot_lines(const Source& source, const number::DotRecipe& recipe);

}  // namespace tilepath::cli
