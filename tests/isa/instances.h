#pragma once
// Instructions generated from the forms themselves, for tests that walk all of them.
#include <string>
#include <string_view>
#include <vector>

#include "isa/form.h"

namespace tilepath::isa {

/// A form with a word for each modifier slot ("" where it is left out).
struct Instance {
    const Form* form = nullptr;
    std::vector<std::string_view> words;
};

/// `add.rn.f32 r0, r1, r2;` over the registers of module_text(): each operand as its form's types ask. `operands`: how
/// many; the first takes those that may not be left out.
std::string text_of(const Instance& instance);
std::string text_of(const Instance& instance, std::size_t operands);

/// Combinations of a form's words, at most `cap`, spread evenly and the same in every run. The first has no optional
/// modifier.
std::vector<Instance> instances_of(const Form& form, std::size_t cap);

/// As many instances with one word replaced, left out or added: some legal, most not.
std::vector<Instance> neighbours_of(const Form& form, std::size_t cap);

/// A neighbour has words that are not its form's: they stand here.
std::string head_of(const Instance& instance);

}  // namespace tilepath::isa
