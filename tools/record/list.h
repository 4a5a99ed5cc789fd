// What is recorded of each form: lists of cases without results, made from the forms and from atom/.
#pragma once
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "../../kernels/inputs.h"
#include "../../tests/exec/recorded_case.h"
#include "isa/bind.h"

namespace tilepath::recorded {

using Words = std::vector<std::string_view>;  ///< by modifier slot, "" where it is left out

/// `shfl.sync.idx.b32`.
std::string head_of(const isa::Form& form, const Words& words);
std::string_view word_in(const isa::Form& form, const Words& words, std::string_view slot);

/// Combinations of a form's words, at most `cap`: then spread evenly, each word among them.
std::vector<Words> combinations(const isa::Form& form, std::size_t cap);

/// Whether an sm_90 has the form.
bool on_sm_90(const isa::Form& form);

/// Whether tilepath takes the case's kernel.
bool builds(const Case& each);

/// Registers by width, each number once.
class Names {
  public:
    /// Of the width of that many bits; 1: a predicate.
    std::string next(int bits);

  private:
    int predicates_ = 0, halves_ = 0, words_ = 0, doubles_ = 0, quads_ = 0;
};

/// Choices that are the same in every run.
class Draw {
  public:
    explicit Draw(std::uint64_t seed) : seed_(seed) {}
    std::uint64_t below(std::uint64_t n) {
        return (kernels::input_bits(seed_, kernels::InputOperand::a, index_++) >> 32) * n >> 32;
    }
    int between(int least, int most) { return least + int(below(std::uint64_t(most - least + 1))); }
    bool one_in(std::uint64_t n) { return below(n) == 0; }
    template <class T>
    const T& of(const std::vector<T>& choices) {
        return choices[below(choices.size())];
    }

  private:
    std::uint64_t seed_, index_ = 0;
};

using Cases = std::vector<Case>;
void list_scalar(Cases& into);  ///< registers to registers, lane by lane
void list_approximations(Cases& into);
void list_matrix(Cases& into);        ///< mma, mma.sp, wmma.mma
void list_matrix_moves(Cases& into);  ///< ldmatrix, stmatrix, movmatrix
void list_warp(Cases& into);
void list_barriers(Cases& into);
void list_atomics(Cases& into);
void list_copies(Cases& into);  ///< cp.async
void list_wgmma(Cases& into);
void list_tma_loads(Cases& into);   ///< cp.async.bulk.tensor from global memory, tiles
void list_tma_im2col(Cases& into);  ///< and im2col, both ways
void list_tma_stores(Cases& into);  ///< and reductions
void list_tensor_map(Cases& into);  ///< tensormap.replace
void list_bulk(Cases& into);        ///< cp.async.bulk, cp.reduce.async.bulk
void list_mbarrier(Cases& into);
void list_cluster(Cases& into);

/// Maps that the driver may take or refuse.
std::vector<TensorMap> list_maps();

}  // namespace tilepath::recorded
