#pragma once
// The words of an instruction's name, for instruction_named.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "atom/instruction.h"

namespace tilepath::atom {

using Words = std::vector<std::string_view>;

bool has(const Words& words, std::string_view word);
std::vector<number::Format> formats_in(const Words& words);
std::optional<Shape> shape_in(const Words& words);
/// `x4`.
std::optional<int> repeats_of(std::string_view word);
/// 1 if there is none.
int repeats_in(const Words& words);
/// What follows `kind::`; nothing if nothing does.
std::string kind_of(const Words& words);

/// An error at the first word, from `first` on, that is none of the known ones and that `other` does not take.
template <class Other>
Result<void> check_words(const Words& words, std::size_t first, const Words& known, Other other) {
    for (std::size_t i = first; i < words.size(); ++i)
        if (!has(known, words[i]) && !other(words[i]))
            return fail(fmt::format("{} has no word '{}'",
                                    fmt::join(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(first), "."),
                                    words[i]),
                        fmt::format("its words: {}", fmt::join(known, " ")));
    return {};
}

/// The one of the choices that is among the words; an error if two are. Nothing if none is.
Result<std::string_view> one_of(const Words& words, const Words& choices);
/// 1 or 2, from `cta_group::`; 1 if there is none.
Result<int> cta_group_in(const Words& words);

/// By opcode: words[0] is mma, wmma, wgmma; ldmatrix or stmatrix; tcgen05.
Result<Instruction> mma_named(const Words& words);
Result<Instruction> wmma_named(const Words& words);
Result<Instruction> wgmma_named(const Words& words);
Result<Instruction> matrix_named(const Words& words);
Result<Instruction> tcgen05_named(const Words& words);

}  // namespace tilepath::atom
