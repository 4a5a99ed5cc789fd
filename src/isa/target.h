#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "isa/form.h"

namespace tilepath::isa {

/// `sm_90a`: 90 and its suffix.
struct Target {
    int sm = 0;
    char suffix = 0;  ///< 'a', 'f' or 0

    friend bool operator==(Target, Target) = default;
};
std::optional<Target> target_named(std::string_view name);
std::string to_string(Target target);

/// The PTX ISA version that brought a target, as ptxas 13.0 has it; nothing for targets that it does not know.
std::optional<Needs> version_of(Target target);
/// sm_100, sm_103 and sm_110, named with `a` or `f`.
bool has_tensor_memory(Target target);
/// Whether a module of this `.version` and `.target` has a form with these needs.
bool meets(Needs needs, int version_major, int version_minor, Target target);

/// What has both.
Needs later(Needs a, Needs b);
/// What a word needs wherever it stands: `.shared::cluster` came later than most forms that take it.
Needs needs_of_word(std::string_view word);

/// `PTX ISA 8.0 and sm_90a`.
std::string to_string(Needs needs);

}  // namespace tilepath::isa
