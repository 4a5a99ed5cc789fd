// What mma, mma.sp and wmma share: their words become a program::Mma and a question to atom/, which knows the shapes.
#pragma once
#include "atom/mma.h"
#include "isa/lowering.h"

namespace tilepath::isa {

/// `m16n8k16`.
atom::Shape shape_named(std::string_view word);
number::Format number_format(DataType type);
DataType data_type(number::Format format);

/// Reports what atom/ found wrong, at the instruction.
void refuse(Lowering& to, const Diagnostics& diagnostics);
/// Whether the module's target has a shape; an error if not.
bool has_target(Lowering& to, int minimum_sm, const std::string& name);

/// Reads or writes a fragment's registers; an error if there are more or fewer.
std::vector<Operand> read_fragment(Lowering& to, const ptx::Operand& operand, const atom::Fragment& fragment,
                                   DataType element);
std::vector<Operand> write_fragment(Lowering& to, const ptx::Operand& operand, const atom::Fragment& fragment);
void check_registers(Lowering& to, const ptx::Operand& operand, std::size_t found, int expected);

/// Shape, types, layouts, .satfinite, rounding and bit operation as the instruction's words say. Types that have no
/// word stay none.
program::Mma describe_mma(const Bound& in);
/// Appends an mma of these operands.
void emit_mma(Lowering& to, const Bound& in, const program::Mma& mma, const atom::Fragment& a, const atom::Fragment& b,
              const atom::Fragment& c, const atom::Fragment& d);

}  // namespace tilepath::isa
