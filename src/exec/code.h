#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "exec/decoded.h"
#include "exec/launch.h"

namespace tilepath::exec {

/// How the interpreter treats an operation that is no LaneFunction.
enum class Kind : std::uint8_t {
    lanes,     ///< Decoded::lanes does it
    boundary,  ///< control falls into a block that others can branch to: where diverged lanes meet again
    bra,
    brx,
    call,
    ret,
    exit_,
    trap,
    load,
    store,
    atomic,
    other  ///< Code::body does it
};

struct MatrixPlan;
class Executor;
struct Context;
enum class Step : std::uint8_t;

/// A decoded operation and what the interpreter wants to know about it at once.
struct Code : Decoded {
    Kind kind = Kind::lanes;
    Step (Executor::*body)(Context&) = nullptr;
    program::Space space = program::Space::generic;
    bool is_signed = false;     ///< the type of a load: it extends the sign
    bool wide_address = false;  ///< the address operand is a 64-bit register
    std::uint8_t vector = 1;
    std::uint8_t element_bytes = 0;   ///< in memory
    std::uint8_t register_bytes = 0;  ///< of one register of the vector: 4 for 8- and 16-bit ones too
    std::uint8_t register_bits = 0;   ///< 16: a 16-bit register; a sign-extending load stops there
    std::uint32_t target = 0;         ///< bra: where lanes go
    std::uint32_t site = 0;           ///< loads, stores, atomics: number in the Program, for the cache of ranges
    std::int64_t offset = 0;          ///< added to the address
    const MatrixPlan* matrix = nullptr;
};

/// A function ready to run.
struct LoadedFunction {
    const program::Function* function = nullptr;
    std::uint32_t index = 0;
    std::vector<Code> code;
    std::vector<std::uint32_t> places;  ///< of all operands, by Function::operands
    std::vector<LaneMask> inverts;
    std::vector<std::uint32_t> block_start;                 ///< index into code
    std::vector<std::vector<std::uint32_t>> branch_tables;  ///< indices into code
    std::vector<Row> constants;                             ///< first rows of every frame
    struct FrameAddress {
        std::uint32_t row = 0;
        bool wide = false;
        std::uint64_t offset = 0;
    };
    std::vector<FrameAddress> frame_addresses;   ///< rows that hold local addresses, written when a frame is entered
    std::vector<FrameAddress> shared_addresses;  ///< rows that hold shared addresses, which begin with the CTA's rank
    std::uint32_t rows = 0, predicates = 0;
    bool reads_unwritten = true;  ///< some path may read a register that it has not written: frames begin with zeros
    std::vector<std::shared_ptr<const MatrixPlan>> matrix_plans;
    /// Rows and predicates that are live where a branch goes back to, by code index: what a poll must not change.
    struct LoopHead {
        std::uint32_t code = 0;
        std::vector<std::uint32_t> rows, predicates;
    };
    std::vector<LoopHead> loop_heads;

    std::vector<std::uint32_t> register_places, constant_places;  ///< row or predicate of every register and constant
};

struct LoadedProgram {
    const program::Program* program = nullptr;
    std::vector<LoadedFunction> functions;
    std::uint32_t sites = 0;
    bool synchronises_grid = false;      ///< it asks for the workspace of grid-wide barriers (%envreg1, %envreg2)
    bool reads_reserved_shared = false;  ///< it asks where the reserved bytes are, and may use them
};

/// What is the same in a whole launch, so that reading it is a move: the kernel's parameters, sizes of grid and block.
struct LaunchConstants {
    std::span<const std::uint8_t> parameters;
    LaunchShape shape;
};

/// Decodes every function. Fails where the device lacks an operation. Without `constants` every read of a parameter is
/// an access that observers see.
Result<LoadedProgram> load(const program::Program& program, const machine::Device& device, const ModuleImage& image,
                           const LaunchConstants* constants = nullptr);

}  // namespace tilepath::exec
