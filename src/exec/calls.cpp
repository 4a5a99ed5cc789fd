// Calls and returns: frames, parameters, indirect callees.
#include <algorithm>
#include <bit>
#include <cstring>

#include "base/assert.h"
#include "exec/executor.h"
#include "exec/lane_value.h"

namespace tilepath::exec {

using program::Call;

namespace {

/// What a call takes of local memory besides its frame, so that endless recursion ends.
constexpr std::uint32_t call_bytes = 64;

/// Rows that a register of this type takes.
int row_count(program::DataType type) { return std::max(1, program::bits(type) / 32); }

void copy_register(const Row* from, Row* to, LaneMask lanes, program::DataType type) {
    const int words = row_count(type);  // a wide register's lane is as many 32-bit words side by side
    for (LaneMask left = lanes; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        std::memcpy(reinterpret_cast<std::uint32_t*>(to) + lane * words,
                    reinterpret_cast<const std::uint32_t*>(from) + lane * words, 4u * static_cast<unsigned>(words));
    }
}

}  // namespace

/// Where an argument's or result's register lies in the frame of the call site.
const Row* argument_row(const Frame& frame, program::Operand operand) {
    const LoadedFunction& function = *frame.function;
    const auto place = operand.kind == program::Operand::Kind::reg ? function.register_places[operand.index]
                                                                   : function.constant_places[operand.index];
    return &frame.rows[place];
}

std::uint64_t lane_value(const Row* row, int lane, std::uint32_t bytes) {
    if (bytes == 8) return reinterpret_cast<const std::uint64_t*>(row)[lane];
    return row->lane[lane] & (bytes >= 4 ? ~0u : (1u << 8 * bytes) - 1);
}

namespace {

void set_addresses(Frame& frame, std::span<const LoadedFunction::FrameAddress> addresses, std::uint32_t base) {
    for (const LoadedFunction::FrameAddress& address : addresses) {
        Row* const row = &frame.rows[address.row];
        for (int lane = 0; lane < warp_lanes; ++lane) {
            if (address.wide)
                reinterpret_cast<std::uint64_t*>(row)[lane] = base + address.offset;
            else
                row->lane[lane] = static_cast<std::uint32_t>(base + address.offset);
        }
    }
}

}  // namespace

/// A frame is entered: its constants that are addresses get their values.
void Executor::place_frame(const Warp& warp, Frame& frame, std::uint32_t base) {
    frame.local_base = base;
    std::ranges::fill(frame.local_top, base + frame.function->function->frame_bytes);
    set_addresses(frame, frame.function->frame_addresses, base);
    const std::uint32_t rank = warp.cta->state.rank;
    if (frame.rank == rank) return;
    frame.rank = rank;
    set_addresses(frame, frame.function->shared_addresses, machine::shared_address(rank, 0));
}

/// The lanes leave their group for a new frame of `callee`.
bool Executor::enter(Context& c, const Call& call, std::uint32_t callee, LaneMask lanes) {
    const LoadedFunction& function = launch_.loaded.functions[callee];
    std::uint32_t top = 0;
    for (LaneMask left = lanes; left != 0; left &= left - 1)
        top = std::max(top, c.frame.local_top[std::countr_zero(left)]);
    const std::uint32_t base = (top + call_bytes + 15) / 16 * 16;
    if (!c.warp.local.reserve(std::uint64_t{base} + function.function->frame_bytes)) {
        fail(c, FaultKind::stack_overflow, lanes,
             "a thread has at most " + std::to_string(machine::LocalMemory::limit) + " bytes of local memory");
        return false;
    }
    Frame* const frame = frames_.take(function);
    frame->caller = &c.frame;
    frame->call_site = &c.code;
    frame->depth = c.frame.depth + 1;
    frame->lanes = lanes;
    place_frame(c.warp, *frame, base);
    const program::Function& body = *function.function;
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
        const Call::Argument& argument = call.arguments[i];
        const bool in_register = argument.reg.kind != program::Operand::Kind::none;
        if (i < body.register_parameters.size()) {
            if (!in_register) continue;  // the builder passes registers to registers
            copy_register(argument_row(c.frame, argument.reg),
                          &frame->rows[function.register_places[body.register_parameters[i]]], lanes, argument.type);
            continue;
        }
        if (i >= body.parameters.size()) break;
        const program::FrameVariable& parameter = body.parameters[i];
        const std::uint32_t bytes = std::min(argument.bytes, parameter.bytes);
        for (LaneMask left = lanes; left != 0; left &= left - 1) {
            const int lane = std::countr_zero(left);
            std::uint8_t* const to = c.warp.local.at(lane, base + parameter.offset);
            if (in_register) {
                const std::uint64_t value = lane_value(argument_row(c.frame, argument.reg), lane, bytes);
                std::memcpy(to, &value, std::min<std::uint32_t>(bytes, 8));
            } else {
                std::memcpy(to, c.warp.local.at(lane, c.frame.local_base + argument.frame_offset), bytes);
            }
        }
    }
    Group* entering = &c.group;
    if (lanes != c.group.lanes) entering = &split(c.warp, c.group, lanes, 0);
    entering->frame = frame;
    entering->pc = 0;
    return true;
}

Step Executor::call(Context& c) {
    const Call& call = c.function().calls[c.op().detail];
    if (call.builtin != Call::Builtin::none) return builtin(c, call);
    c.group.pc = c.pc() + 1;  // lanes whose guard is false
    if (call.callee >= 0)
        return enter(c, call, static_cast<std::uint32_t>(call.callee), c.active) ? Step::stop : Step::fault;
    const std::uint64_t* const targets = c.wide(c.code.a);
    for (LaneMask left = c.active; left != 0;) {
        const int first = std::countr_zero(left);
        const std::int64_t index = machine::function_index(targets[first]);
        LaneMask together = 0;
        for (int lane = first; lane < warp_lanes; ++lane) together |= LaneMask(targets[lane] == targets[first]) << lane;
        together &= left;
        left &= ~together;
        const bool exists = index >= 0 && static_cast<std::size_t>(index) < launch_.loaded.functions.size();
        const bool listed =
            call.candidates.empty() || std::ranges::find(call.candidates, index) != call.candidates.end();
        if (!exists || !listed)
            return fail(c, FaultKind::bad_call, together,
                        exists ? "an indirect call of a function that its .calltargets do not list"
                               : "an indirect call of something that is no function");
        const program::Function& callee = *launch_.loaded.functions[static_cast<std::size_t>(index)].function;
        const std::size_t parameters = std::max(callee.parameters.size(), callee.register_parameters.size());
        if (parameters != call.arguments.size())
            return fail(c, FaultKind::bad_call, together,
                        "an indirect call with " + std::to_string(call.arguments.size()) + " arguments of " +
                            callee.name + ", which has " + std::to_string(parameters) + " parameters");
        if (!enter(c, call, static_cast<std::uint32_t>(index), together)) return Step::fault;
    }
    return Step::stop;
}

Step Executor::ret(Context& c) {
    Frame& frame = c.frame;
    Frame* const caller = frame.caller;
    if (caller == nullptr) {
        exit_lanes(c, c.active);
        return Step::stop;
    }
    const LaneMask lanes = c.active;
    const program::Function& body = c.function();
    const Call& call = caller->function->function->calls[frame.call_site->op->detail];
    for (std::size_t i = 0; i < call.results.size(); ++i) {
        const Call::Argument& result = call.results[i];
        const bool to_register = result.reg.kind == program::Operand::Kind::reg;
        if (i < body.register_results.size()) {
            const Row* const from = &frame.rows[frame.function->register_places[body.register_results[i]]];
            if (to_register)
                copy_register(from, &caller->rows[caller->function->register_places[result.reg.index]], lanes,
                              result.type);
            continue;
        }
        if (i >= body.results.size()) break;
        for (LaneMask left = lanes; left != 0; left &= left - 1) {
            const int lane = std::countr_zero(left);
            const std::uint8_t* const from = c.warp.local.at(lane, frame.local_base + body.results[i].offset);
            if (to_register)
                set_lane_value(*caller, result, lane, from);
            else {
                std::uint8_t* const to = c.warp.local.at(lane, caller->local_base + result.frame_offset);
                if (std::memcmp(to, from, result.bytes) != 0) ++c.warp.local_changes;
                std::memcpy(to, from, result.bytes);
            }
        }
    }
    Group* returning = &c.group;
    c.group.pc = c.pc() + 1;
    const auto behind = static_cast<std::uint32_t>(frame.call_site - caller->function->code.data()) + 1;
    if (lanes != c.group.lanes) returning = &split(c.warp, c.group, lanes, 0);
    returning->frame = caller;
    returning->pc = behind;
    frame.lanes &= ~lanes;
    if (frame.lanes == 0) frames_.give_back(&frame);
    return Step::stop;
}

/// The bytes at `from` into the register that takes the result.
void set_lane_value(Frame& frame, const Call::Argument& result, int lane, const void* from) {
    Row* const row = &frame.rows[frame.function->register_places[result.reg.index]];
    std::uint64_t value = 0;
    std::memcpy(&value, from, std::min<std::uint32_t>(result.bytes, 8));
    if (row_count(result.type) == 2)
        reinterpret_cast<std::uint64_t*>(row)[lane] = value;
    else
        row->lane[lane] = static_cast<std::uint32_t>(value);
}

}  // namespace tilepath::exec
