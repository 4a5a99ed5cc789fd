#pragma once
#include <string_view>

#include "isa/target.h"
#include "ptx/syntax.h"

namespace tilepath::isa {

/// Why a target of another generation lacks an instruction in a form with these needs, and which one does its work there; empty where generations
/// are not what keeps them apart. PTX ISA 9.7.14.5, 9.7.15, 9.7.16: the target notes.
std::string_view other_generation(const ptx::Head& head, Needs needs, Target target);

}  // namespace tilepath::isa
