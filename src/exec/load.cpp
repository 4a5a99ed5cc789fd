#include <algorithm>
#include <optional>

#include "base/assert.h"
#include "exec/frame_layout.h"
#include "exec/matrix_plan.h"
#include "program/slots.h"

namespace tilepath::exec {
namespace {

using program::DataType;
using program::Function;
using program::MicroOp;
using program::Op;
using program::Operand;

std::uint32_t rows_of_width(int bits) { return bits <= 32 ? 1 : static_cast<std::uint32_t>(bits) / 32; }

/// Operations of lane scope that need more than rows: the warp, the launch or the machine.
bool runs_in_executor(const MicroOp& op) {
    static constexpr Op of_lane_scope[] = {
        Op::special,
        Op::cvta,
        Op::cvta_to,
        Op::isspacep,
        Op::prefetch,
        Op::alloca_,
        Op::stacksave,
        Op::stackrestore,
        Op::nanosleep,
        Op::cp_async_mbarrier_arrive,
        Op::mbarrier_pending_count,
        Op::cp_async_commit,
        Op::cp_async_wait,
    };
    if (std::ranges::find(of_lane_scope, op.op) != std::end(of_lane_scope)) return true;
    const program::OpTraits& row = program::traits(op.op);
    return row.scope != program::Scope::lane || row.memory != program::MemoryEffect::none;
}

Kind kind_of(Op op) {
    static constexpr std::pair<Op, Kind> kinds[] = {
        {Op::bra, Kind::bra},    {Op::brx, Kind::brx},     {Op::call, Kind::call},  {Op::ret, Kind::ret},
        {Op::exit, Kind::exit_}, {Op::trap, Kind::trap},   {Op::brkpt, Kind::trap}, {Op::ld, Kind::load},
        {Op::st, Kind::store},   {Op::atom, Kind::atomic},
    };
    for (const auto& [each, kind] : kinds)
        if (each == op) return kind;
    return Kind::other;  // Executor::other() knows the rest
}

/// Lays out the frame of one function and decodes its operations.
class Loader {
  public:
    Loader(const Function& function, std::uint32_t index, LoadedProgram& program, const machine::Device& device,
           const ModuleImage& image, const LaunchConstants* constants)
        : function_(function),
          program_(program),
          device_(device),
          folding_(constants == nullptr ? no_folding(function) : fold(function, *constants)),
          layout_(function, image, folding_, out_) {
        out_.function = &function;
        out_.index = index;
    }

    Result<LoadedFunction> load() {
        resolve_operands();
        emit();
        find_live_registers();
        if (!diagnostics_.empty()) return std::unexpected(std::move(diagnostics_));
        return std::move(out_);
    }

  private:
    /// A sink (`_`) that takes a predicate: the second destination of the operations that have one.
    bool sink_is_predicate(const MicroOp& op, int i) const {
        static constexpr Op always[] = {Op::setp, Op::isspacep, Op::testp, Op::mbarrier_test_wait};
        static constexpr Op second[] = {Op::shfl, Op::match, Op::elect, Op::lop3};
        const auto among = [&](const auto& ops) { return std::ranges::find(ops, op.op) != std::end(ops); };
        const bool reduces =
            op.op == Op::barrier && op.variant >= static_cast<std::uint8_t>(program::BarrierMode::red_and);
        return op.type == DataType::pred || reduces || among(always) || (i == 1 && among(second));
    }

    void resolve_operands() {
        out_.places.resize(function_.operands.size());
        out_.inverts.resize(function_.operands.size());
        for (const MicroOp& op : function_.ops) {
            for (int i = 0; i < op.destinations + op.sources; ++i) {
                const Operand operand = function_.operands[op.first_operand + i];
                const bool predicate = i < op.destinations && sink_is_predicate(op, i);
                out_.places[op.first_operand + i] = layout_.place(operand, predicate);
                out_.inverts[op.first_operand + i] = operand.negated ? all_lanes : 0;
            }
        }
    }

    void emit() {
        std::vector<int> predecessors(function_.blocks.size());
        std::vector<std::pair<std::size_t, program::BlockId>> jumps;  // code, and the block where it goes
        for (const program::Block& block : function_.blocks)
            for (program::BlockId successor : block.successors) ++predecessors[successor];
        for (std::size_t b = 0; b < function_.blocks.size(); ++b) {
            const program::Block& block = function_.blocks[b];
            out_.block_start.push_back(static_cast<std::uint32_t>(out_.code.size()));
            for (std::uint32_t i = block.first; i < block.last; ++i) {
                if (folding_.dropped[i]) continue;
                out_.code.push_back(decode(function_.ops[i]));
                if (out_.code.back().kind == Kind::bra)
                    jumps.emplace_back(out_.code.size() - 1, block.successors.front());
            }
            if (!falls_through(block)) continue;
            Code code;
            if (block.successors.empty()) {
                // Control that runs off a function's end returns, as PTX has it.
                code.kind = function_.entry ? Kind::exit_ : Kind::ret;
                out_.code.push_back(code);
                continue;
            }
            const program::BlockId next = next_block(block);
            if (next != b + 1) {
                code.kind = Kind::bra;
                jumps.emplace_back(out_.code.size(), next);
                out_.code.push_back(code);
            } else if (predecessors[next] > 1) {
                code.kind = Kind::boundary;
                out_.code.push_back(code);
            }
        }
        for (const auto& [code, block] : jumps) out_.code[code].target = out_.block_start[block];
        for (const auto& table : function_.branch_tables) {
            std::vector<std::uint32_t> starts;
            for (program::BlockId block : table) starts.push_back(out_.block_start[block]);
            out_.branch_tables.push_back(std::move(starts));
        }
    }

    bool falls_through(const program::Block& block) const {
        if (block.first == block.last) return true;
        const MicroOp& last = function_.ops[block.last - 1];
        static constexpr Kind leaving[] = {Kind::bra, Kind::brx, Kind::ret, Kind::exit_, Kind::trap};
        if (std::ranges::find(leaving, kind_of(last.op)) == std::end(leaving)) return true;
        return last.guard.kind != Operand::Kind::none;
    }

    /// Where lanes go that no control operation takes elsewhere (ops.inc, "control").
    program::BlockId next_block(const program::Block& block) const {
        const Op last = block.first == block.last ? Op::mov : function_.ops[block.last - 1].op;
        return last == Op::bra   ? block.successors[1]
               : last == Op::brx ? block.successors.back()
                                 : block.successors.front();
    }

    Code decode(const MicroOp& op) {
        Code code;
        code.op = &op;
        code.kind = kind_of(op.op);
        if (op.guard.kind != Operand::Kind::none) {
            code.guard = layout_.place(op.guard, true);
            code.guard_invert = op.guard.negated ? all_lanes : 0;
        }
        code.places = out_.places.data() + op.first_operand;
        code.inverts = out_.inverts.data() + op.first_operand;
        const std::uint32_t* source = code.places + op.destinations;
        if (op.destinations > 0) code.d = code.places[0];
        if (op.sources > 0) code.a = source[0];
        if (op.sources > 1) code.b = source[1];
        if (op.sources > 2) code.c = source[2];
        code.space = op.space;
        code.offset = op.immediate;
        code.vector = op.vector;
        const bool is_copy = is_identity(op) && layout_.width(function_.sources(op)[0]) == program::bits(op.type);
        if (!runs_in_executor(op) || is_copy) {
            code.kind = Kind::lanes;
            code.lanes = lane_function(is_copy ? move_of(op) : op);
            if (code.lanes == nullptr) missing(op);
            return code;
        }
        if (program::traits(op.op).memory != program::MemoryEffect::none) code.site = program_.sites++;
        if (op.sources > 0) code.wide_address = layout_.width(function_.sources(op)[0]) == 64;
        if (code.kind == Kind::load || code.kind == Kind::store || code.kind == Kind::atomic) decode_memory(op, code);
        if (op.op == Op::special &&
            op.variant == static_cast<std::uint8_t>(program::SpecialRegister::reserved_smem_offset))
            program_.reads_reserved_shared = true;
        if (op.op == Op::special && op.variant == static_cast<std::uint8_t>(program::SpecialRegister::envreg) &&
            (op.immediate == 1 || op.immediate == 2))
            program_.synchronises_grid = true;
        auto plan = plan_matrix(function_, op, device_);
        if (!plan) {
            for (Diagnostic& diagnostic : plan.error()) {
                if (!diagnostic.place) diagnostic.place = text_place(op);
                diagnostics_.push_back(std::move(diagnostic));
            }
        } else if (*plan) {
            code.matrix = plan->get();
            out_.matrix_plans.push_back(*plan);
        }
        return code;
    }

    static MicroOp move_of(const MicroOp& op) {
        MicroOp move = op;
        move.op = Op::mov;
        const int bits = program::bits(op.type);
        move.type = bits == 64 ? DataType::b64 : bits == 32 ? DataType::b32 : DataType::b16;
        return move;
    }

    void decode_memory(const MicroOp& op, Code& code) {
        code.element_bytes = static_cast<std::uint8_t>(program::bytes(op.type));
        code.is_signed = program::is_signed(op.type);
        int bits = program::bits(op.type);
        const auto registers = code.kind == Kind::store ? function_.sources(op).subspan(1) : function_.destinations(op);
        for (Operand operand : registers)
            if (operand.kind != Operand::Kind::none) bits = std::max(layout_.width(operand), program::bits(op.type));
        code.register_bits = static_cast<std::uint8_t>(bits);
        code.register_bytes = static_cast<std::uint8_t>(std::max(4, bits / 8));
    }

    std::optional<Place> text_place(const MicroOp& op) const {
        if (program_.program->source == nullptr || op.instruction >= function_.instructions.size()) return {};
        return program_.program->source->place(function_.instructions[op.instruction].span);
    }

    void missing(const MicroOp& op) {
        Diagnostic diagnostic{Severity::error, {}, text_place(op), {}};
        diagnostic.message = "the interpreter has no " + std::string(program::traits(op.op).name) + "." +
                             std::string(program::traits(op.type).name);
        diagnostics_.push_back(std::move(diagnostic));
    }

    void find_live_registers() {
        std::vector<program::BlockId> heads;
        for (std::size_t b = 0; b < function_.blocks.size(); ++b)
            for (program::BlockId successor : function_.blocks[b].successors)
                if (successor <= b) heads.push_back(successor);
        const program::Liveness live = program::liveness(function_);
        out_.reads_unwritten =
            !live.live_in.empty() && std::ranges::any_of(live.live_in[0], [](auto word) { return word != 0; });
        std::sort(heads.begin(), heads.end());
        heads.erase(std::unique(heads.begin(), heads.end()), heads.end());
        for (program::BlockId head : heads) {
            LoadedFunction::LoopHead out{out_.block_start[head], {}, {}};
            for (std::size_t r = 0; r < function_.registers.size(); ++r) {
                if ((live.live_in[head][r / 64] >> (r % 64) & 1) == 0) continue;
                const DataType type = function_.registers[r].type;
                if (type == DataType::pred) out.predicates.push_back(out_.register_places[r]);
                for (std::uint32_t i = 0; type != DataType::pred && i < rows_of_width(program::bits(type)); ++i)
                    out.rows.push_back(out_.register_places[r] + i);
            }
            out_.loop_heads.push_back(std::move(out));
        }
    }

    const Function& function_;
    LoadedProgram& program_;
    const machine::Device& device_;
    LoadedFunction out_;
    Folding folding_;
    FrameLayout layout_;
    Diagnostics diagnostics_;
};

}  // namespace

Result<LoadedProgram> load(const program::Program& program, const machine::Device& device, const ModuleImage& image,
                           const LaunchConstants* constants) {
    LoadedProgram out;
    out.program = &program;
    Diagnostics diagnostics;
    for (std::size_t i = 0; i < program.functions.size(); ++i) {
        auto function =
            Loader(program.functions[i], static_cast<std::uint32_t>(i), out, device, image, constants).load();
        if (function)
            out.functions.push_back(std::move(*function));
        else
            diagnostics.insert(diagnostics.end(), function.error().begin(), function.error().end());
    }
    if (has_error(diagnostics)) return std::unexpected(std::move(diagnostics));
    return out;
}

}  // namespace tilepath::exec
