#pragma once
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "isa/bind.h"
#include "program/function.h"
#include "ptx/syntax.h"

namespace tilepath::isa {

using program::MicroOp;
using program::Op;
using program::Operand;
using program::Space;

/// Where an address points: base (register or constant) + offset, in a space.
struct Address {
    Operand base;
    std::int64_t offset = 0;
    Space space = Space::generic;
};

/// What the functions of one Program share while it is built.
class ProgramBuilder;

/// Turns the instructions of one function into micro-operations. A family's `lower` gets one, positioned at an
/// instruction: it reads operands, emits operations (the instruction's guard is put on each), and reports what a form
/// cannot say. After an error it may go on; nothing of the function is used then.
class Lowering {
  public:
    Lowering(ProgramBuilder& builder, const ptx::Module& module, const ptx::Function& function, program::Function& out);

    /// Lowers one instruction that `bound` describes.
    void instruction(const Bound& bound);

    // ---- reading operands
    /// A source: register, immediate, address of a symbol, or special register (read into a temporary). The width of a
    /// register must be that of `type`, where that is not none.
    Operand read(const ptx::Operand& operand, DataType type);
    /// As `read`, where a register may be wider than the type (st, cvt) .
    Operand read_wider(const ptx::Operand& operand, DataType type);
    /// A destination: a register or `_`.
    Operand write(const ptx::Operand& operand, DataType type);
    Operand write_wider(const ptx::Operand& operand, DataType type);
    /// A predicate source: `p`, `!p`, or an immediate.
    Operand read_predicate(const ptx::Operand& operand);
    /// The parts of a vector, or the scalar itself.
    std::vector<Operand> read_vector(const ptx::Operand& operand, DataType type);
    std::vector<Operand> write_vector(const ptx::Operand& operand, DataType type);
    std::vector<Operand> read_vector_wider(const ptx::Operand& operand, DataType type);
    std::vector<Operand> write_vector_wider(const ptx::Operand& operand, DataType type);
    /// `[a]` in a space; generic if the instruction names none. A symbol's own space counts where the instruction is
    /// generic.
    Address address(const ptx::Operand& operand, Space space);
    /// The integer value of an immediate operand; an error (and 0) if it is none.
    std::int64_t immediate(const ptx::Operand& operand, std::string_view what);

    // ---- making operands
    Operand constant(std::uint64_t bits, DataType type);
    Operand predicate_constant(bool value);
    Operand temporary(DataType type);

    /// The low bits of a 64- or 128-bit register, for an operation on a type that fits one row; other operands as they
    /// are.
    Operand low_part(Operand operand, DataType type);

    // ---- emitting
    /// Appends an operation with the bound instruction's flags, rounding and guard. Its reference is good until the
    /// next.
    MicroOp& emit(Op op, DataType type, std::span<const Operand> destinations, std::span<const Operand> sources);
    MicroOp& emit(Op op, DataType type, std::initializer_list<Operand> destinations,
                  std::initializer_list<Operand> sources) {
        return emit(op, type, std::span(destinations.begin(), destinations.size()),
                    std::span(sources.begin(), sources.size()));
    }
    /// The plain case: the form's first operand is the destination, the others are sources, each of its form's type.
    MicroOp& simple(Op op);
    /// As `simple`, with the operation's type given (mul.wide: the sources').
    MicroOp& simple(Op op, DataType type);

    // ---- control flow
    /// Ends the block: lanes go to a label.
    void branch(const ptx::Operand& label);
    void branch_indexed(const ptx::Operand& index, const ptx::Operand& targets);
    void leave(Op op);  ///< ret, exit, trap, brkpt
    void call(const Bound& bound);
    void label(std::uint32_t number);

    // ---- telling
    void error(Span span, std::string message, std::string note = {});
    const Bound& bound() const { return *bound_; }
    const ptx::Module& module() const { return module_; }
    const ptx::Function& function() const { return function_; }
    program::Function& out() { return out_; }
    bool in_entry() const { return function_.kind == ptx::FunctionKind::entry; }
    /// The CC.CF flag of the carry instructions.
    Operand carry_flag();

    /// Cuts the operations into blocks in reverse post-order. Last step.
    void finish();

  private:
    struct Jump {
        std::uint32_t op;                   ///< that ends its block
        std::vector<std::uint32_t> labels;  ///< where it goes, taken branch first
    };

    Operand read_any(const ptx::Operand& operand, DataType type, bool wider);
    Operand write_any(const ptx::Operand& operand, DataType type, bool wider);
    Operand symbol_address(const ptx::Operand& operand, const ptx::Symbol& symbol, DataType type, Space& space);
    void check_selection(const ptx::Operand& operand, DataType declared);
    void check_sink(const ptx::Operand& operand);
    void check_elements(const ptx::Operand& operand, const std::vector<Operand>& elements);
    Operand immediate_operand(const ptx::Operand& operand, DataType type);
    Operand with_offset(Operand value, const ptx::Operand& operand);
    Operand address_as_value(const ptx::Operand& operand, DataType type);
    Address symbol_place(const ptx::Operand& operand, const ptx::Symbol& symbol, Space space);
    Address indexed_address(const ptx::Operand& operand, Space space);
    ptx::Operand element_of_array(const ptx::Operand& array, std::int64_t index);
    Operand register_operand(const ptx::Operand& operand, DataType type, bool wider);
    Operand special_register(const ptx::Operand& operand, DataType type, bool wider);
    /// What the symbol that an operand names is: "the label 'done'".
    std::string describe(const ptx::Operand& operand) const;
    std::vector<Operand> parts(const ptx::Operand& operand, DataType type, bool wider, bool writes);
    std::uint32_t add_constant(const program::Constant& constant);
    bool describe_call_arguments(const ptx::Operand& list, std::vector<program::Call::Argument>& out,
                                 ptx::Range formal);
    void end_block(std::vector<std::uint32_t> labels);

    ProgramBuilder& builder_;
    const ptx::Module& module_;
    const ptx::Function& function_;
    program::Function& out_;
    const Bound* bound_ = nullptr;
    std::map<std::pair<std::uint8_t, std::uint64_t>, std::uint32_t> value_constants_;
    std::map<std::uint32_t, std::uint32_t> label_at_;  ///< label number → op index
    std::vector<Jump> jumps_;
    std::int64_t carry_ = -1;
};

}  // namespace tilepath::isa
