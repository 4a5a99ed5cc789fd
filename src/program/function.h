#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "atom/mma_words.h"
#include "atom/tcgen05_words.h"
#include "base/source.h"
#include "number/fused_dot.h"
#include "program/op.h"
#include "program/types.h"

namespace tilepath::program {

using RegisterId = std::uint32_t;
using BlockId = std::uint32_t;

/// What a micro-operation reads or writes: a virtual register or a constant of its Function.
struct Operand {
    enum class Kind : std::uint8_t { none, reg, constant };
    Kind kind = Kind::none;  ///< none: a sink (`_`), or an operand left out
    bool negated = false;    ///< predicates only: `!p`
    std::uint32_t index = 0;

    static Operand none() { return {}; }
    static Operand reg(RegisterId id) { return {Kind::reg, false, id}; }
    static Operand constant(std::uint32_t index) { return {Kind::constant, false, index}; }
    friend bool operator==(Operand, Operand) = default;
};

/// Modifiers that are either there or not.
struct Flags {
    bool ftz : 1 = false, sat : 1 = false, satfinite : 1 = false, relu : 1 = false, approx : 1 = false, full : 1 = false;
    bool nan : 1 = false, xorsign_abs : 1 = false, abs : 1 = false, noftz : 1 = false;
    bool carry_in : 1 = false, carry_out : 1 = false;
    bool integer_rounding : 1 = false;  ///< .rni .rzi .rmi .rpi
    bool aligned : 1 = false;           ///< all lanes of the warp execute it together, or it is a fault
    bool is_volatile : 1 = false, nc : 1 = false;
    bool rounded : 1 = false;  ///< the rounding modifier was written: `.rn`, which forbids contraction
    bool unsigned_b : 1 = false;

    friend bool operator==(Flags, Flags) = default;
};

/// One operation on a warp. Operands lie in Function::operands: destinations, then sources.
struct MicroOp {
    Op op{};
    DataType type = DataType::none;
    DataType source_type = DataType::none;
    number::Rounding rounding = number::Rounding::rn;
    Flags flags;
    Space space = Space::generic;
    Compare compare{};
    BoolOp bool_op{};
    std::uint8_t variant = 0;  ///< the operation's own enumeration; ops.inc says which
    std::uint8_t vector = 1;
    MemoryOrder order = MemoryOrder::weak;
    MemoryScope scope = MemoryScope::none;
    std::uint16_t destinations = 0, sources = 0;
    std::uint32_t first_operand = 0;
    Operand guard;                 ///< none: always
    std::int64_t immediate = 0;
    std::uint32_t detail = 0;      ///< index into the table that the operation names
    std::uint32_t instruction = 0; ///< index into Function::instructions, for reports
};

struct Register {
    DataType type;  ///< its width and class; arithmetic reads the operation's type, never this one
    std::string name;
};

/// A value that every lane sees alike; the frame holds it as a row that nobody writes.
struct Constant {
    enum class Kind : std::uint8_t {
        value,          ///< `bits`
        global_symbol,  ///< address of Program::variables[symbol] + bits, known when the module is loaded
        shared,         ///< shared address of the CTA's byte `bits`: its rank in the cluster is put before it
        frame,          ///< local address of the frame + bits (parameters and .local variables of a .func)
        function        ///< handle of Program::functions[symbol], for indirect calls
    };
    Kind kind = Kind::value;
    std::uint8_t width = 32;  ///< 1, 32, 64, 128
    std::uint32_t symbol = 0;
    std::uint64_t bits = 0, high_bits = 0;

    friend bool operator==(const Constant&, const Constant&) = default;
};

struct Block {
    std::uint32_t first = 0, last = 0;      ///< half-open range of ops; blocks lie in reverse post-order
    std::vector<BlockId> successors;        ///< taken branch first
};

/// A piece of a parameter or local variable in the frame's bytes.
struct FrameVariable {
    std::string name;
    std::uint32_t offset = 0, bytes = 0, alignment = 1;
    DataType element = DataType::none;  ///< as declared; an array's element
    std::uint32_t symbol = 0;           ///< in the module that it comes from
};

/// One call site: bytes copied into the callee's parameters before, and out of its results after.
struct Call {
    struct Argument {
        Operand reg;                         ///< a .reg argument; none: `frame_offset` counts
        DataType type = DataType::none;      ///< of a .reg argument
        std::uint32_t frame_offset = 0, bytes = 0;
    };
    enum class Builtin : std::uint8_t { none, vprintf, malloc, free, assertfail };
    std::int32_t callee = -1;    ///< index into Program::functions; −1: builtin or indirect
    Builtin builtin = Builtin::none;
    std::vector<std::uint32_t> candidates;  ///< an indirect call's possible callees (empty: any function of fitting signature)
    std::vector<Argument> arguments, results;
};

/// Which elements and arithmetic a matrix operation has, as its names in PTX say; exec asks atom/ for its fragments.
struct Mma {
    int m = 0, n = 0, k = 0;
    DataType a{}, b{}, c{}, d{};
    bool a_column_major = false, b_row_major = false, c_column_major = false;  ///< wmma and m8n8k4; else row.col
    bool sparse = false, saturate = false, wmma = false;
    enum class BitOp : std::uint8_t { none, and_popc, xor_popc } bit_op = BitOp::none;
    number::Rounding rounding = number::Rounding::rn;  ///< f64
    int selector = 0;                                   ///< sparsity selector
    atom::MmaKind kind = atom::MmaKind::none;
    DataType scale = DataType::none;                    ///< of block scales
    int scale_factors = 0;                              ///< of each row of A and column of B: 1, 2, 4; 0: no scales
    bool warpgroup = false;                             ///< wgmma: A and B in shared memory, MN-major where the layouts above say so
    bool a_in_registers = false, negate_a = false, negate_b = false;  ///< of wgmma

    friend bool operator==(const Mma&, const Mma&) = default;
};

/// A bulk copy, as its modifiers say: cp.async.bulk, cp.reduce.async.bulk, and those of tensors (TMA).
struct Bulk {
    enum class Mode : std::uint8_t { tile, im2col, im2col_w, im2col_w_128, four_rows };  ///< four_rows: tile::gather4, tile::scatter4
    Space destination{}, source{};     ///< global, shared or shared_cluster
    bool prefetch = false;             ///< to a cache: no result depends on it
    std::uint8_t dimensions = 0;       ///< of a tensor; 0: bytes in a row
    std::uint8_t offsets = 0;          ///< how many im2col offsets, or wHalo and wOffset, follow the coordinates
    Mode mode = Mode::tile;
    bool byte_mask = false;            ///< .cp_mask: a 16-bit mask of bytes follows the CTA mask
    bool pair_mbarrier = false;        ///< .cta_group::2: the mbarrier may lie in the other CTA of the pair
    bool reduces = false;
    AtomicOp reduction = AtomicOp::add;
    DataType type = DataType::none;    ///< of a reduction that is no tensor's
};

/// tcgen05.ld, .ld.red or .st, as its words say; who has which cell is atom::tmem_transfer's to tell.
struct TmemTransfer {
    atom::TmemShape shape{};
    int repeats = 1;
    bool packed = false;       ///< .pack::16b, .unpack::16b
    std::int64_t half_split = 0;  ///< immHalfSplitoff: columns from the first block of .16x32bx2 to the second
    bool reduces = false;      ///< .ld.red: the last destination is the reduction, of the operation's type
    bool maximum = false, absolute = false, nan = false;

    friend bool operator==(const TmemTransfer&, const TmemTransfer&) = default;
};

/// tcgen05.cp, as its words say.
struct TmemCopy {
    int cta_group = 1;
    atom::TmemCopyShape shape{};
    atom::MatrixData data = atom::MatrixData::b8;

    friend bool operator==(const TmemCopy&, const TmemCopy&) = default;
};

/// tcgen05.mma, as its words say; shape, types and layouts stand in its instruction descriptor, a register.
struct Tcgen05Mma {
    enum class Buffer : std::uint8_t { none, a, b0, b1, b2, b3 };
    enum class Collect : std::uint8_t { discard, fill, use, lastuse };
    int cta_group = 1;
    atom::Tcgen05Kind kind{};
    bool sparse = false, weight_stationary = false;  ///< .sp, .ws
    bool a_in_tensor_memory = false, ashift = false;
    int block = 0;  ///< of a block-scaled kind: elements of K that share a factor, 16 or 32 (also as .scale_vec says it)
    int scale_input_d = 0;  ///< D counts times 2^−this
    Buffer collector = Buffer::none;
    Collect collect = Collect::discard;

    friend bool operator==(const Tcgen05Mma&, const Tcgen05Mma&) = default;
};
/// Where the sources of a tcgen05_mma stand; one that it does not have is Operand::none. The words of
/// disable-output-lane, if it has any, come last.
enum class Tcgen05Source : std::uint8_t { d, a, b, descriptor, accumulates, scale_a, scale_b, metadata, zero_columns };
inline constexpr std::size_t tcgen05_fixed_sources = 9;

/// Where an instruction stands: in the PTX, and through `.loc` in the source that it was compiled from.
struct InstructionPlace {
    Span span;
    std::int32_t location = -1;  ///< index into Program::locations
};

struct SourceLocation {
    std::string file;
    unsigned line = 0, column = 0;
    std::int32_t inlined_at = -1;
};

/// Which rows a function's registers occupy in a warp's frame, shared by liveness.
struct Slots {
    std::vector<std::uint32_t> of_register;  ///< predicates: index of a mask; else of the first row of 32 × 32 bits
    std::uint32_t rows = 0;                  ///< rows of 32 lanes × 32 bits; a 64-bit register takes two
    std::uint32_t predicates = 0;
};

struct Function {
    std::string name;
    bool entry = false;
    std::vector<Register> registers;
    std::vector<Constant> constants;
    std::vector<MicroOp> ops;
    std::vector<Operand> operands;
    std::vector<Block> blocks;
    std::vector<Call> calls;
    std::vector<std::vector<BlockId>> branch_tables;
    std::vector<Mma> mmas;
    std::vector<Bulk> bulks;
    std::vector<TmemTransfer> tmem_transfers;
    std::vector<TmemCopy> tmem_copies;
    std::vector<Tcgen05Mma> tcgen05_mmas;
    std::vector<InstructionPlace> instructions;
    std::vector<FrameVariable> parameters, results, locals;  ///< entry: parameters lie in the launch's parameter bytes
    std::vector<RegisterId> register_parameters, register_results;  ///< of a .func that declares .reg parameters
    std::uint32_t frame_bytes = 0;  ///< parameters, results and locals of a .func; locals of an entry
    Slots slots;                    ///< filled by assign_slots()

    std::span<const Operand> destinations(const MicroOp& op) const {
        return std::span(operands).subspan(op.first_operand, op.destinations);
    }
    std::span<const Operand> sources(const MicroOp& op) const {
        return std::span(operands).subspan(op.first_operand + op.destinations, op.sources);
    }
};

/// A variable of the module that lives in device memory (.global, .const).
struct Variable {
    std::string name;
    Space space = Space::global;
    std::uint64_t bytes = 0;
    std::uint32_t alignment = 1;
    DataType element{};
    std::vector<std::uint8_t> initial;  ///< shorter than `bytes`: the rest is zero
    struct Relocation {
        enum class Target : std::uint8_t { variable, function } target = Target::variable;
        std::uint64_t offset = 0;   ///< where in `initial`
        std::uint8_t width = 8;     ///< bytes written
        std::uint32_t symbol = 0;
        std::int64_t addend = 0;
    };
    std::vector<Relocation> relocations;
    bool external = false;
};

/// Limits and shapes that an entry demands.
struct LaunchBounds {
    std::uint32_t max_threads[3] = {0, 0, 0}, required_threads[3] = {0, 0, 0};  ///< 0: none
    std::uint32_t required_cluster[3] = {0, 0, 0};
    std::uint32_t max_cluster_ctas = 0;  ///< .maxclusterrank
    std::uint32_t max_registers = 0;     ///< .maxnreg
    std::uint32_t min_ctas = 0;          ///< .minnctapersm
    bool explicit_cluster = false;       ///< .explicitcluster
    bool blocks_are_clusters = false;    ///< the grid of a launch counts clusters
};

/// A .shared variable, for reports.
struct SharedVariable {
    std::string name;
    std::uint32_t offset = 0, bytes = 0;  ///< 0 bytes: of the dynamic part, to its end
};

/// Everything one entry needs, ready to run.
struct Program {
    std::shared_ptr<const Source> source;
    std::string target;                ///< as written: sm_80, sm_90a
    std::vector<Function> functions;   ///< [0] is the entry
    std::vector<Variable> variables;
    std::vector<SourceLocation> locations;
    std::uint32_t shared_bytes = 0;    ///< static shared memory of the entry and all it calls
    std::uint32_t shared_alignment = 1;
    std::uint32_t dynamic_shared_offset = 0;  ///< where `extern .shared` arrays begin, 1,024 reserved bytes included
    std::vector<SharedVariable> shared_variables;  ///< by offset
    LaunchBounds bounds;
};

/// The first byte of shared memory that a kernel can use; those before are reserved (recorded on an H200).
inline constexpr std::uint32_t reserved_shared_bytes = 1024;

}  // namespace tilepath::program
