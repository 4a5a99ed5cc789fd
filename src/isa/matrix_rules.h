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
bool has_target(Lowering& to, Needs needs, const std::string& name);

/// Reads or writes a fragment's registers; an error if there are more or fewer.
std::vector<Operand> read_fragment(Lowering& to, const ptx::Operand& operand, const atom::Fragment& fragment,
                                   DataType element);
std::vector<Operand> write_fragment(Lowering& to, const ptx::Operand& operand, const atom::Fragment& fragment);
void check_registers(Lowering& to, const ptx::Operand& operand, std::size_t found, int expected);

/// Shape, types, layouts, .satfinite, rounding and bit operation as the instruction's words say. Types that have no
/// word stay none.
program::Mma describe_mma(const Bound& in);
/// Reads the scales of A and B and what selects them; an error if they are none that the kind takes.
void append_scales(Lowering& to, const Bound& in, const program::Mma& mma, std::vector<Operand>& sources);
/// Appends an mma of these operands; of a kind that scales blocks, its scales and what selects them too.
void emit_mma(Lowering& to, const Bound& in, const program::Mma& mma, const atom::Fragment& a, const atom::Fragment& b,
              const atom::Fragment& c, const atom::Fragment& d);

/// mma and mma.sp, with or without a kind.
void lower_mma(Lowering& to, const Bound& in);
void lower_sparse_mma(Lowering& to, const Bound& in);

}  // namespace tilepath::isa
