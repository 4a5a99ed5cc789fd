// One tcgen05.mma on random operands, beside plain loops over D. Places are worked out from the rules of PTX ISA
// 9.7.16.4 to 9.7.16.10 written down here once more, not from src/atom.
#pragma once
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "exec/tcgen05_multiply.h"
#include "number/recipe.h"
#include "program/function.h"

namespace tilepath::exec {

/// Of a descriptor: its bits 61-63.
enum class Swizzle : std::uint8_t { none = 0, b128_atom_32 = 1, b128 = 2, b64 = 4, b32 = 6 };

struct Tcgen05Case {
    atom::Tcgen05Kind kind = atom::Tcgen05Kind::f16;
    number::Format a = number::Format::f16, b = number::Format::f16, d = number::Format::f32;
    int m = 128, n = 64, cta_group = 1;
    bool sparse = false, ws = false, a_in_tmem = false, ashift = false, k96 = false;
    bool a_mn_major = false, b_mn_major = false;
    Swizzle a_swizzle = Swizzle::b128, b_swizzle = Swizzle::b128;
    bool negate_a = false, negate_b = false, accumulates = true, saturate = false;
    int block = 0, sfa_id = 0, sfb_id = 0;  ///< elements per factor
    number::Format scale = number::Format::ue8m0;
    int selector = 0, lane = 0, scale_input_d = 0;
    std::uint64_t zero_columns = 0;
    int max_shift = 0;
    std::array<std::uint32_t, 8> disabled{};
    int steps = 1;             ///< operations of one run, along k
    bool within_row = false;   ///< steps are 32 bytes apart in the swizzle's row, and factor ids count on from 0
    bool two_buffers = false;  ///< what leaves the row of 128 bytes lies in another buffer (bit 52)
    double specials = 0;       ///< the share of infinities and NaNs among the elements
    std::uint32_t phase = 0;   ///< bytes that the operands begin after their swizzle's pattern
};

/// The words of the instruction, and its registers for step `i`.
program::Tcgen05Mma words_of(const Tcgen05Case& c);
std::uint32_t instruction_descriptor_of(const Tcgen05Case& c);

/// Both CTAs' memories, filled, and what D has to be.
class Tcgen05Bench {
  public:
    Tcgen05Bench(const Tcgen05Case& c, unsigned seed);

    /// Plans and multiplies; nothing but D may have changed. The first difference in words, or nothing.
    std::string run(Tcgen05Multiplier& multiplier);

    std::vector<Tcgen05Operands> operands;  ///< by step
    Tcgen05Ctas ctas();
    std::array<machine::TensorMemory, 2> tensor;
    std::array<std::vector<std::uint8_t>, 2> shared;

  private:
    using Matrix = std::vector<std::uint64_t>;  ///< row-major
    std::uint64_t draw(number::Format format);
    Matrix draw_matrix(number::Format format, int rows, int columns);
    void put_shared(int cta, std::uint32_t start, bool mn_major, Swizzle swizzle, number::Format format, int rows,
                    int row, int k, std::uint64_t bits);
    void put_tmem(int cta, int lane, int column, int bit, int width, std::uint64_t bits);
    void put_a(int step);
    void put_b(int step);
    void put_scales(int step);
    void put_metadata(int step);
    void compute(int step);

    int k() const;         ///< logical
    int stored_k() const;  ///< of A
    int factors() const;
    int rows_per_cta() const { return case_.m / case_.cta_group; }
    int parts() const;  ///< of D's columns
    struct Place {
        int cta, lane, column;
    };
    Place d_place(int m, int n) const;
    bool zeroed(int n) const;
    int column_shift() const { return static_cast<int>(case_.zero_columns >> 56 & 63); }

    Tcgen05Case case_;
    std::mt19937_64 random_;
    Matrix a_, b_, scale_a_, scale_b_;  ///< of the last step; b_ has the columns that a shift reaches too
    std::vector<int> selected_;         ///< by (m, stored k)
    std::array<std::vector<std::uint32_t>, 2> expected_;  ///< all cells
};

}  // namespace tilepath::exec
