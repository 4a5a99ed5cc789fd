#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "exec/tcgen05_operands.h"

namespace tilepath::program {
struct Tcgen05Mma;
}

namespace tilepath::exec {

/// What a tcgen05.mma does, worked out once of its modifiers, its instruction descriptor and the modes of its matrix
/// descriptors. Immutable; lives as long as the multiplier.
struct Tcgen05Plan {
    /// What is wrong with the descriptors, addresses or their combination; empty: nothing. The rest is then
    /// unspecified.
    std::string error;
    /// What is touched in Tensor Memory, at columns relative to the operand's address and lanes absolute.
    std::vector<machine::TensorCells> cells;
    /// Bytes of shared memory that a descriptor leads to, relative to its start: of a, then of b; the last exclusive.
    std::array<std::int64_t, 2> first_byte{}, last_byte{};
    bool shifts_a = false;  ///< once multiplied, A's rows in Tensor Memory move as tcgen05.shift moves them
    std::uint64_t id = 0;   ///< alike for the same shape, types and data path
    /// Alike for operations that differ in their addresses, factor ids and enable-input-d only: steps along k.
    std::uint64_t chain = 0;
};

/// The matrix products of tcgen05, for one host thread.
class Tcgen05Multiplier {
  public:
    /// `architecture`: of the device, 100 or 103, which alone has k of 96 and leading offsets that are addresses.
    explicit Tcgen05Multiplier(int architecture = 103);
    ~Tcgen05Multiplier();

    const Tcgen05Plan& plan(const program::Tcgen05Mma& what, const Tcgen05Operands& operands);
    /// Products with one D in a row, whose plans have the same `chain`, each adding to the one before it (but the first
    /// may not accumulate); `plan` is the first one's. D is written in place; the cells' `written` bits are the
    /// caller's. Empty, or what is wrong with the sparsity metadata, which can only be known now.
    std::string multiply(const Tcgen05Plan& plan, std::span<const Tcgen05Operands> run, const Tcgen05Ctas& ctas);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace tilepath::exec
