#pragma once
#include "exec/fold.h"

namespace tilepath::exec {

/// Rows that a register of so many bits takes.
inline std::uint32_t rows_of_width(int bits) { return bits <= 32 ? 1 : static_cast<std::uint32_t>(bits) / 32; }

/// Gives the constants and registers of a function their places in its frames: constants first, as rows that are
/// written once, then scratch rows for sinks, then the rows of the registers by their slots. Fills the places,
/// constants, rows and predicates of `out`.
class FrameLayout {
  public:
    FrameLayout(const program::Function& function, const ModuleImage& image, const Folding& folding,
                LoadedFunction& out);

    /// `predicate`: what a sink takes.
    std::uint32_t place(program::Operand operand, bool predicate) const;
    /// Bits of a register or constant; 0 for a sink.
    int width(program::Operand operand) const;

  private:
    void place_constants(const ModuleImage& image);
    void place_known_registers(const Folding& folding);
    void place_registers(const Folding& folding);
    std::uint32_t add_constant(int width, std::uint64_t low, std::uint64_t high);

    const program::Function& function_;
    LoadedFunction& out_;
    std::uint32_t scratch_row_ = 0, scratch_predicate_ = 0;
};

}  // namespace tilepath::exec
