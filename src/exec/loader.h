#pragma once
#include <optional>

#include "exec/frame_layout.h"
#include "exec/matrix_plan.h"

namespace tilepath::exec {

using program::DataType;
using program::Function;
using program::MicroOp;
using program::Op;
using program::Operand;

/// Lays out the frame of one function and decodes its operations.
class Loader {
  public:
    Loader(const Function& function, std::uint32_t index, LoadedProgram& program, const machine::Device& device,
           const ModuleImage& image, const LaunchConstants* constants);

    Result<LoadedFunction> load();

  private:
    // load.cpp
    void resolve_operands();
    void emit();
    bool falls_through(const program::Block& block) const;
    /// Where lanes go that no control operation takes elsewhere (ops.inc, "control").
    program::BlockId next_block(const program::Block& block) const;
    void find_live_registers();
    // decode.cpp
    static Kind kind_of(Op op);
    /// A sink (`_`) that takes a predicate: the second destination of the operations that have one.
    bool sink_is_predicate(const MicroOp& op, int i) const;
    Code decode(const MicroOp& op);
    static MicroOp move_of(const MicroOp& op);
    void decode_memory(const MicroOp& op, Code& code);
    std::optional<Place> text_place(const MicroOp& op) const;
    void missing(const MicroOp& op);

    const Function& function_;
    LoadedProgram& program_;
    const machine::Device& device_;
    LoadedFunction out_;
    Folding folding_;
    FrameLayout layout_;
    Diagnostics diagnostics_;
};

}  // namespace tilepath::exec
