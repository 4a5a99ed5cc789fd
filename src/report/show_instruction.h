#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "report/sheet.h"
#include "report/show_descriptors.h"
#include "report/show_operands.h"

namespace tilepath::report {

/// What `tilepath show INSTRUCTION` is asked. Without an operand: the instruction as a whole.
struct InstructionQuestion {
    std::string instruction;  ///< PTX's or CuTe's name, or a part of it
    std::optional<std::string> operand;
    ViewQuestion view;
    OperandPlacement placement;
};
Result<Sheet> instruction_sheet(const InstructionQuestion& question);

/// The bank conflicts of ldmatrix, stmatrix, or of `ld.shared` and `st.shared` with a pattern.
struct ConflictQuestion {
    std::string instruction;  ///< `ldmatrix.x4`; `ld.shared.v4.b32`
    int pitch_bytes = 128;    ///< of a stored row
    layout::SwizzleMode swizzle = layout::SwizzleMode::none;
    std::uint32_t start_bytes = 0;
    std::optional<std::string> pattern;  ///< a layout of 32 elements (or fewer): lane to m in bytes
};
Result<Sheet> conflict_sheet(const ConflictQuestion& question);

/// A swizzle under which none of some accesses has a conflict, with its proof.
struct SwizzleQuestion {
    std::vector<std::string> patterns;  ///< lane to byte address
    std::vector<int> bytes;             ///< per lane, of each
    int address_bits = 12;              ///< of the buffer
};
Result<Sheet> swizzle_sheet(const SwizzleQuestion& question);

/// The three generations side by side.
Sheet compare_sheet();

}  // namespace tilepath::report
