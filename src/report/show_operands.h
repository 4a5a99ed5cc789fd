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
    std::optional<atom::ScaleVector> vector;
    std::vector<std::string> given;  ///< the options that were given, by name: those that say nothing here are refused
};

/// A, B, C, D, meta, sfa or sfb of an instruction as a matrix with places; matrices, source and destination, TMEM of
/// those that move. An error names the operands that there are.
Result<View> operand_view(const atom::Instruction& instruction, std::string_view operand,
                          const OperandPlacement& placement);
/// An error for a given option that says nothing of the operand, with what it needs.
Result<void> check_relevance(const atom::Instruction& instruction, std::string_view operand,
                             const OperandPlacement& placement);
/// The same where no operand is asked for.
Result<void> check_no_placement(const OperandPlacement& placement);
std::vector<std::string_view> operand_names(const atom::Instruction& instruction);

/// A fragment as a matrix; dimension names are for its rows and columns.
View fragment_view(std::string name, const atom::Fragment& fragment, std::string rows, std::string columns);
/// Scale factors in Tensor Memory, in as many parts as they have runs.
View scale_factor_view(const atom::ScaleFactors& scales, std::string name, std::string rows);
/// A shared operand at an address, swizzled.
Result<View> shared_view(std::string name, const atom::SharedOperand& operand, std::uint32_t start_bytes,
                         std::string mn);

}  // namespace tilepath::report
