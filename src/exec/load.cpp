#include <algorithm>

#include "exec/loader.h"
#include "program/slots.h"

namespace tilepath::exec {

Loader::Loader(const Function& function, std::uint32_t index, LoadedProgram& program, const machine::Device& device,
               const ModuleImage& image, const LaunchConstants* constants)
    : function_(function),
      program_(program),
      device_(device),
      folding_(constants == nullptr ? no_folding(function) : fold(function, *constants)),
      layout_(function, image, folding_, out_) {
    out_.function = &function;
    out_.index = index;
}

Result<LoadedFunction> Loader::load() {
    resolve_operands();
    emit();
    find_live_registers();
    if (!diagnostics_.empty()) return std::unexpected(std::move(diagnostics_));
    return std::move(out_);
}

void Loader::resolve_operands() {
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

void Loader::emit() {
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

bool Loader::falls_through(const program::Block& block) const {
    if (block.first == block.last) return true;
    const MicroOp& last = function_.ops[block.last - 1];
    static constexpr Kind leaving[] = {Kind::bra, Kind::brx, Kind::ret, Kind::exit_, Kind::trap};
    if (std::ranges::find(leaving, kind_of(last.op)) == std::end(leaving)) return true;
    return last.guard.kind != Operand::Kind::none;
}

/// Where lanes go that no control operation takes elsewhere (ops.inc, "control").
program::BlockId Loader::next_block(const program::Block& block) const {
    const Op last = block.first == block.last ? Op::mov : function_.ops[block.last - 1].op;
    return last == Op::bra ? block.successors[1] : last == Op::brx ? block.successors.back() : block.successors.front();
}

void Loader::find_live_registers() {
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
