#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "atom/instruction.h"
#include "atom/scale_factors.h"
#include "base/result.h"
#include "report/view.h"

namespace tilepath::report {

/// Where an operand is, for instructions that leave a choice, and how it lies in shared memory.
struct OperandPlacement {
    std::optional<std::string> from;  ///< registers, shared or tmem
    atom::OperandMajor major = atom::OperandMajor::k;
    layout::SwizzleMode swizzle = layout::SwizzleMode::b128;
    std::uint32_t start_bytes = 0;
    int selector = 0;   ///< of sparsity metadata
    int scale_id = 0;   ///< of scale factors: byte-id, SFA_ID, SFB_ID
    int thread_id = 0;  ///< of mma.sync's scale factors
    atom::ScaleVector vector = atom::ScaleVector::x1;
    bool vector_given = false;
};

/// A, B, C, D, meta, sfa or sfb of an instruction as a matrix with places; matrices, source and destination, TMEM of
/// those that move. An error names the operands that there are.
Result<View> operand_view(const atom::Instruction& instruction, std::string_view operand,
                          const OperandPlacement& placement);
std::vector<std::string_view> operand_names(const atom::Instruction& instruction);

/// A fragment as a matrix; dimension names are for its rows and columns.
View fragment_view(std::string name, const atom::Fragment& fragment, std::string rows, std::string columns);
/// A shared operand at an address, swizzled.
Result<View> shared_view(std::string name, const atom::SharedOperand& operand, std::uint32_t start_bytes,
                         std::string mn);

}  // namespace tilepath::report
