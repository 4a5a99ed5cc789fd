// One operation of a Program, ready to run.
#include <algorithm>

#include "exec/executor.h"
#include "exec/loader.h"

namespace tilepath::exec {

Kind Loader::kind_of(Op op) {
    static constexpr std::pair<Op, Kind> kinds[] = {
        {Op::bra, Kind::bra},    {Op::brx, Kind::brx},     {Op::call, Kind::call},  {Op::ret, Kind::ret},
        {Op::exit, Kind::exit_}, {Op::trap, Kind::trap},   {Op::brkpt, Kind::trap}, {Op::ld, Kind::load},
        {Op::st, Kind::store},   {Op::atom, Kind::atomic},
    };
    for (const auto& [each, kind] : kinds)
        if (each == op) return kind;
    return Executor::body_of(op) != nullptr ? Kind::other : Kind::lanes;
}

/// A sink (`_`) that takes a predicate: the second destination of the operations that have one.
bool Loader::sink_is_predicate(const MicroOp& op, int i) const {
    static constexpr Op always[] = {Op::setp, Op::isspacep, Op::testp, Op::mbarrier_test_wait};
    static constexpr Op second[] = {Op::shfl, Op::match, Op::elect, Op::lop3};
    const auto among = [&](const auto& ops) { return std::ranges::find(ops, op.op) != std::end(ops); };
    const bool reduces = op.op == Op::barrier && op.variant >= static_cast<std::uint8_t>(program::BarrierMode::red_and);
    return op.type == DataType::pred || reduces || among(always) || (i == 1 && among(second));
}

Code Loader::decode(const MicroOp& op) {
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
    if (code.kind == Kind::lanes || is_copy) {
        code.kind = Kind::lanes;
        code.lanes = lane_function(is_copy ? move_of(op) : op);
        if (code.lanes == nullptr) missing(op);
        return code;
    }
    code.body = Executor::body_of(op.op);
    if (program::traits(op.op).memory != program::MemoryEffect::none) code.site = program_.sites++;
    if (op.sources > 0) code.wide_address = layout_.width(function_.sources(op)[0]) == 64;
    if (code.kind == Kind::load || code.kind == Kind::store || code.kind == Kind::atomic) decode_memory(op, code);
    if (op.op == Op::special && op.variant == static_cast<std::uint8_t>(program::SpecialRegister::reserved_smem_offset))
        program_.reads_reserved_shared = true;
    if (op.op == Op::special && op.variant == static_cast<std::uint8_t>(program::SpecialRegister::envreg) &&
        (op.immediate == 1 || op.immediate == 2))
        program_.synchronises_grid = true;
    if (op.op == Op::wgmma) {
        // A K loop's operations are alike, and share what is large: their tables.
        const auto alike = [&](const auto& each) { return each->wgmma == function_.mmas[op.detail]; };
        const auto known = std::ranges::find_if(out_.matrix_plans, alike);
        if (known != out_.matrix_plans.end()) return code.matrix = known->get(), code;
    }
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

MicroOp Loader::move_of(const MicroOp& op) {
    MicroOp move = op;
    move.op = Op::mov;
    const int bits = program::bits(op.type);
    move.type = bits == 64 ? DataType::b64 : bits == 32 ? DataType::b32 : DataType::b16;
    return move;
}

void Loader::decode_memory(const MicroOp& op, Code& code) {
    code.element_bytes = static_cast<std::uint8_t>(program::bytes(op.type));
    code.is_signed = program::is_signed(op.type);
    int bits = program::bits(op.type);
    const auto registers = code.kind == Kind::store ? function_.sources(op).subspan(1) : function_.destinations(op);
    for (Operand operand : registers)
        if (operand.kind != Operand::Kind::none) bits = std::max(layout_.width(operand), program::bits(op.type));
    code.register_bits = static_cast<std::uint8_t>(bits);
    code.register_bytes = static_cast<std::uint8_t>(std::max(4, bits / 8));
}

std::optional<Place> Loader::text_place(const MicroOp& op) const {
    if (program_.program->source == nullptr || op.instruction >= function_.instructions.size()) return {};
    return program_.program->source->place(function_.instructions[op.instruction].span);
}

void Loader::missing(const MicroOp& op) {
    Diagnostic diagnostic{Severity::error, {}, text_place(op), {}};
    diagnostic.message = "the interpreter has no " + std::string(program::traits(op.op).name) + "." +
                         std::string(program::traits(op.type).name);
    diagnostics_.push_back(std::move(diagnostic));
}

}  // namespace tilepath::exec
