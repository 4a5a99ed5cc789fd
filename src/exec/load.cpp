#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

#include "base/assert.h"
#include "exec/code.h"
#include "exec/matrix_plan.h"
#include "machine/address_map.h"
#include "program/slots.h"

namespace tilepath::exec {
namespace {

using program::Constant;
using program::DataType;
using program::Function;
using program::MicroOp;
using program::Op;
using program::Operand;

constexpr std::uint32_t scratch_rows = 4;  // a 128-bit sink

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
        : function_(function), program_(program), device_(device), image_(image), constants_(constants) {
        out_.function = &function;
        out_.index = index;
    }

    Result<LoadedFunction> load() {
        lay_out_constants();
        lay_out_known_results();
        lay_out_registers();
        resolve_operands();
        emit();
        find_live_registers();
        if (!diagnostics_.empty()) return std::unexpected(std::move(diagnostics_));
        return std::move(out_);
    }

  private:
    void lay_out_constants() {
        constant_place_.resize(function_.constants.size());
        for (std::size_t i = 0; i < function_.constants.size(); ++i) {
            const Constant& constant = function_.constants[i];
            if (constant.width == 1) {
                constant_place_[i] = constant.bits & 1 ? predicate_true : predicate_false;
                continue;
            }
            const auto place = static_cast<std::uint32_t>(out_.constants.size());
            constant_place_[i] = place;
            out_.constants.resize(place + rows_of_width(constant.width));
            if (constant.kind == Constant::Kind::frame) {
                out_.frame_addresses.push_back({place, constant.width == 64, constant.bits});
            } else {
                write(place, constant.width, value_of(constant), constant.high_bits);
            }
        }
    }

    /// Results that are the same in the whole launch get rows like constants.
    void lay_out_known_results() {
        known_place_.assign(function_.ops.size(), 0);
        if (constants_ == nullptr) return;
        std::map<std::pair<int, std::uint64_t>, std::uint32_t> place_of_value;
        for (std::size_t i = 0; i < function_.ops.size(); ++i) {
            const std::optional<std::uint64_t> value = known_result(function_.ops[i]);
            if (!value) continue;
            const int bits = width(function_.destinations(function_.ops[i])[0]);
            const auto [at, fresh] = place_of_value.try_emplace({bits, *value}, static_cast<std::uint32_t>(out_.constants.size()));
            if (fresh) {
                out_.constants.resize(at->second + rows_of_width(bits));
                write(at->second, bits, *value, 0);
            }
            known_place_[i] = at->second + 1;
        }
    }

    std::optional<std::uint64_t> known_result(const MicroOp& op) const {
        if (op.destinations != 1 || function_.destinations(op)[0].kind != Operand::Kind::reg) return {};
        const int bits = program::bits(op.type);
        if (width(function_.destinations(op)[0]) != bits || bits < 16 || bits > 64) return {};
        if (op.op == Op::ld && op.space == program::Space::param && op.vector == 1) {
            const Operand address = function_.sources(op)[0];
            if (address.kind != Operand::Kind::constant) return {};
            const Constant& constant = function_.constants[address.index];
            if (constant.kind != Constant::Kind::value) return {};
            const std::uint64_t at = constant.bits + static_cast<std::uint64_t>(op.immediate);
            const auto bytes = static_cast<std::size_t>(bits / 8);
            const std::size_t size = constants_->parameters.size();
            if (at % bytes != 0 || at > size || size - at < bytes) return {};  // faults when it is executed
            std::uint64_t value = 0;
            std::memcpy(&value, constants_->parameters.data() + at, bytes);
            return value;
        }
        if (op.op != Op::special || op.immediate > 2) return {};
        const auto of = [&](const machine::Dim3& value) {
            return op.immediate == 0 ? value.x : op.immediate == 1 ? value.y : value.z;
        };
        if (op.variant == static_cast<std::uint8_t>(program::SpecialRegister::ntid)) return of(constants_->shape.block);
        if (op.variant == static_cast<std::uint8_t>(program::SpecialRegister::nctaid)) return of(constants_->shape.grid);
        return {};
    }

    std::uint64_t value_of(const Constant& constant) const {
        switch (constant.kind) {
            case Constant::Kind::value:
            case Constant::Kind::frame: return constant.bits;
            case Constant::Kind::global_symbol: return image_.variables[constant.symbol] + constant.bits;
            case Constant::Kind::function: return machine::function_address(constant.symbol) + constant.bits;
        }
        TILEPATH_ASSERT(false, "a kind of constant outside its enum");
    }

    void write(std::uint32_t place, int width, std::uint64_t low, std::uint64_t high) {
        Row* rows = &out_.constants[place];
        for (int lane = 0; lane < warp_lanes; ++lane) {
            if (width <= 32)
                rows->lane[lane] = static_cast<std::uint32_t>(low);
            else if (width == 64)
                reinterpret_cast<std::uint64_t*>(rows)[lane] = low;
            else {
                reinterpret_cast<std::uint64_t*>(rows)[2 * lane] = low;
                reinterpret_cast<std::uint64_t*>(rows)[2 * lane + 1] = high;
            }
        }
    }

    void lay_out_registers() {
        const auto constants = static_cast<std::uint32_t>(out_.constants.size());
        scratch_row_ = constants;
        const std::uint32_t first_row = constants + scratch_rows;
        register_place_.resize(function_.registers.size());
        std::uint32_t rows = function_.slots.rows, predicates = function_.slots.predicates;
        const bool assigned = function_.slots.of_register.size() == function_.registers.size();
        if (!assigned) rows = predicates = 0;
        for (std::size_t r = 0; r < function_.registers.size(); ++r) {
            const DataType type = function_.registers[r].type;
            const bool predicate = type == DataType::pred;
            std::uint32_t slot = 0;
            if (assigned)
                slot = function_.slots.of_register[r];
            else if (predicate)
                slot = predicates++;
            else
                slot = std::exchange(rows, rows + rows_of_width(program::bits(type)));
            register_place_[r] = slot + (predicate ? reserved_predicates : first_row);
        }
        out_.register_places = register_place_;
        out_.constant_places = constant_place_;
        out_.rows = first_row + rows;
        scratch_predicate_ = reserved_predicates + predicates;
        out_.predicates = scratch_predicate_ + 1;
    }

    std::uint32_t place(Operand operand, bool predicate) const {
        switch (operand.kind) {
            case Operand::Kind::none: return predicate ? scratch_predicate_ : scratch_row_;
            case Operand::Kind::reg: return register_place_[operand.index];
            case Operand::Kind::constant: return constant_place_[operand.index];
        }
        TILEPATH_ASSERT(false, "a kind of operand outside its enum");
    }

    int width(Operand operand) const {
        switch (operand.kind) {
            case Operand::Kind::none: return 0;
            case Operand::Kind::reg: return program::bits(function_.registers[operand.index].type);
            case Operand::Kind::constant: return function_.constants[operand.index].width;
        }
        TILEPATH_ASSERT(false, "a kind of operand outside its enum");
    }

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
                out_.places[op.first_operand + i] = place(operand, predicate);
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
                out_.code.push_back(decode(function_.ops[i]));
                if (out_.code.back().kind == Kind::bra) jumps.emplace_back(out_.code.size() - 1, block.successors.front());
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
        return last == Op::bra ? block.successors[1] : last == Op::brx ? block.successors.back() : block.successors.front();
    }

    Code decode(const MicroOp& op) {
        Code code;
        code.op = &op;
        code.kind = kind_of(op.op);
        if (op.guard.kind != Operand::Kind::none) {
            code.guard = place(op.guard, true);
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
        if (const std::uint32_t known = known_place_[static_cast<std::size_t>(&op - function_.ops.data())]; known != 0) {
            code.kind = Kind::lanes;
            code.lanes = lane_function(move_of(op));
            code.a = known - 1;
            return code;
        }
        if (!runs_in_executor(op) || is_copy(op)) {
            code.kind = Kind::lanes;
            code.lanes = lane_function(is_copy(op) ? move_of(op) : op);
            if (code.lanes == nullptr) missing(op);
            return code;
        }
        if (program::traits(op.op).memory != program::MemoryEffect::none) code.site = program_.sites++;
        if (op.sources > 0) code.wide_address = width(function_.sources(op)[0]) == 64;
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

    /// Generic addresses of global and constant memory are those addresses: their cvta only moves.
    bool is_copy(const MicroOp& op) const {
        const bool same = op.space == program::Space::global || op.space == program::Space::constant;
        const bool converts = op.op == Op::cvta || op.op == Op::cvta_to;
        return converts && same && width(function_.sources(op)[0]) == program::bits(op.type);
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
            if (operand.kind != Operand::Kind::none) bits = std::max(width(operand), program::bits(op.type));
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
        out_.reads_unwritten = !live.live_in.empty() && std::ranges::any_of(live.live_in[0], [](auto word) { return word != 0; });
        std::sort(heads.begin(), heads.end());
        heads.erase(std::unique(heads.begin(), heads.end()), heads.end());
        for (program::BlockId head : heads) {
            LoadedFunction::LoopHead out{out_.block_start[head], {}, {}};
            for (std::size_t r = 0; r < function_.registers.size(); ++r) {
                if ((live.live_in[head][r / 64] >> (r % 64) & 1) == 0) continue;
                const DataType type = function_.registers[r].type;
                if (type == DataType::pred) out.predicates.push_back(register_place_[r]);
                for (std::uint32_t i = 0; type != DataType::pred && i < rows_of_width(program::bits(type)); ++i)
                    out.rows.push_back(register_place_[r] + i);
            }
            out_.loop_heads.push_back(std::move(out));
        }
    }

    const Function& function_;
    LoadedProgram& program_;
    const machine::Device& device_;
    const ModuleImage& image_;
    const LaunchConstants* constants_;
    std::vector<std::uint32_t> known_place_;  ///< by operation: the row that holds its result in the whole launch, or 0
    LoadedFunction out_;
    std::vector<std::uint32_t> constant_place_, register_place_;
    std::uint32_t scratch_row_ = 0, scratch_predicate_ = 0;
    Diagnostics diagnostics_;
};

}  // namespace

Result<LoadedProgram> load(const program::Program& program, const machine::Device& device, const ModuleImage& image,
                           const LaunchConstants* constants) {
    LoadedProgram out;
    out.program = &program;
    Diagnostics diagnostics;
    for (std::size_t i = 0; i < program.functions.size(); ++i) {
        auto function = Loader(program.functions[i], static_cast<std::uint32_t>(i), out, device, image, constants).load();
        if (function)
            out.functions.push_back(std::move(*function));
        else
            diagnostics.insert(diagnostics.end(), function.error().begin(), function.error().end());
    }
    if (has_error(diagnostics)) return std::unexpected(std::move(diagnostics));
    return out;
}

}  // namespace tilepath::exec
