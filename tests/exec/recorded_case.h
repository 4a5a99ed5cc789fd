#pragma once
// Kernels whose results an H200 gave (tests/vectors/kernels), as text: one list for the recorder (tools/record) and for
// the test that replays them. Plain C++, so that the recorder needs nothing else. The format: tests/vectors/README.md.
#include <array>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "recorded_tensor_map.h"

namespace tilepath::recorded {

/// A register that the kernel reads, and what fills it (recorded_inputs.h). Its first letter is its width: p predicate,
/// h 16 bits, r 32, q 64, x 128.
struct Input {
    std::string name, kind;
};

struct Case {
    std::string name;  ///< the instructions that it records, then perhaps #VARIANT; the inputs' seed
    std::uint32_t rows = 1, threads = 32;
    std::vector<Input> inputs;
    std::vector<std::string> outputs;
    std::uint32_t shared_bytes = 0, global_bytes = 0;
    std::string memory_kind = "b32";  ///< what memory holds before: KIND, or KIND@BYTES,KIND
    std::string target = "sm_90";
    std::array<std::uint32_t, 3> cluster{1, 1, 1};  ///< the first CTAs of a row of CTAs are one cluster
    std::string directives;                         ///< of the entry: `.maxntid 128`
    std::vector<TensorMap> tensor_maps;             ///< of each row's global memory, tm0, tm1, … in the body
    std::uint32_t keep = 4;                         ///< words of the outputs in `first`
    std::vector<std::string> body;                  ///< `r0..3` in it stands for `r0, r1, r2, r3`
    std::vector<std::vector<std::uint32_t>>
        first;               ///< of row 0: four words of the outputs, a line each; 32 words of memory
    std::uint64_t hash = 0;  ///< of the results of all rows
    std::string fault;       ///< the driver's name of the error that the kernel ends with; then there are no results

    std::uint32_t ctas_of_cluster() const { return cluster[0] * cluster[1] * cluster[2]; }
    std::uint32_t memory_bytes() const { return shared_bytes + global_bytes; }
    std::uint32_t input_words() const, output_words() const;  ///< of 32 bits, for one thread
};

/// 32-bit words that a register takes in the buffers.
std::uint32_t words_of(const std::string& register_name);

/// Throws std::runtime_error about text that is no recording.
std::vector<Case> read_cases(std::istream& from);
void write_case(std::ostream& to, const Case& each);

std::string module_head(const std::string& target = "sm_90");
/// The kernel as an entry `name` with parameters in, out, memory, and for each tensor map those of all rows. A CTA
/// computes one row. Buffers are 32-bit words: in and out [row][word][thread], memory [row][byte], the shared part
/// first. The body finds registers p h r q x, its thread in `tid`, the address of shared memory in `sm` (it begins at a
/// multiple of 1,024), of its global memory in `gm`, of its tensor maps in `tm0`, `tm1`.
std::string entry_text(const Case& each, const std::string& name);

struct Buffers {
    std::vector<std::uint32_t> in, out, memory;
};
/// Inputs as they are before the launch; `out` holds 0xA5 in every byte.
Buffers buffers_of(const Case& each);

/// Fills `first` and `hash`.
void take_results(Case& each, const Buffers& after);

}  // namespace tilepath::recorded
