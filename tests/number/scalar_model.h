#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "number/format.h"

namespace tilepath::number {

/// A scalar PTX instruction as its opcode is written: `fma.rn.ftz.f32`, `cvt.rzi.s32.f32`,
/// `cvt.rn.satfinite.e4m3x2.f32`.
struct ScalarForm {
    std::string opcode;
    std::string operation;               ///< add … cvt
    std::vector<std::string> modifiers;  ///< between operation and types
    std::vector<std::string> types;      ///< d's, then a's where it differs

    bool has(std::string_view modifier) const;
};

ScalarForm scalar_form(const std::string& opcode);

/// What number/ gives for one instruction; operands and result as register bits.
std::uint64_t model(const ScalarForm& form, std::span<const std::uint64_t> operands);

}  // namespace tilepath::number
