#pragma once
#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "exec/tcgen05_plan.h"

namespace tilepath::exec {

/// Multiplies operations of one chain as one longer product, and keeps the memory for the next.
class Tcgen05Product {
  public:
    /// Empty, or what is wrong with the sparsity metadata.
    std::string multiply(std::span<const Tcgen05Step> run, const Tcgen05Ctas& ctas);

  private:
    static constexpr int windows = 4;  // of 32 lanes, one for each warp of a warpgroup

    void read_b(std::span<const Tcgen05Step> run, const Tcgen05Ctas& ctas);
    void read_scales_b(std::span<const Tcgen05Step> run, const machine::TensorMemory& memory);
    bool copies_differ(const Tcgen05FullPlan& plan, std::size_t run, const Tcgen05Rows& rows, int part) const;
    /// Empty, or what is wrong with the sparsity metadata.
    std::string prepare_a(std::span<const Tcgen05Step> run, const Tcgen05Ctas& ctas, std::size_t cta,
                          const Tcgen05Rows& rows, int part);
    void prepare_b(const Tcgen05FullPlan& plan, std::size_t run, int part, int lane);
    void multiply_rows(const Tcgen05FullPlan& plan, const Tcgen05Operands& first, machine::TensorMemory& memory,
                       int cta, const Tcgen05Rows& rows, int part);
    void multiply_aside(const Tcgen05FullPlan& plan, const Tcgen05Operands& first, machine::TensorMemory& memory,
                        int cta, const Tcgen05Rows& rows, int part);

    std::vector<std::uint8_t> a_, spread_a_, scales_a_, b_, read_;
    std::array<std::vector<std::uint8_t>, windows> scales_b_;  ///< by column and factor, of a window's copies
    number::PreparedOperand prepared_a_;
    /// Parts of B's columns; of which recipe, columns per part and scales they were prepared.
    std::array<number::PreparedOperand, windows> prepared_b_;
    std::array<std::vector<std::uint8_t>, windows> prepared_scales_;
    std::array<bool, windows> is_prepared_{};
    std::optional<number::DotRecipe> prepared_recipe_;
    bool special_b_ = false;  ///< B holds an infinity or a NaN
    int prepared_columns_ = 0;
    std::size_t prepared_stride_ = 0;
    std::vector<std::uint32_t> words_;
    std::vector<std::uint16_t> halves_;
};

}  // namespace tilepath::exec
