// What device code calls without a body of its own: vprintf, malloc, free, __assertfail.
#include <fmt/format.h>

#include <bit>
#include <cstdio>
#include <cstring>

#include "base/assert.h"
#include "exec/executor.h"
#include "exec/format_text.h"
#include "exec/lane_value.h"

namespace tilepath::exec {

using program::Call;

/// A call's argument in one lane.
std::uint64_t Executor::argument(Context& c, const Call& call, std::size_t i, int lane) {
    if (i >= call.arguments.size()) return 0;
    const Call::Argument& argument = call.arguments[i];
    const std::uint32_t bytes = std::min<std::uint32_t>(argument.bytes, 8);
    if (argument.reg.kind != program::Operand::Kind::none)
        return lane_value(argument_row(c.frame, argument.reg), lane, bytes);
    std::uint64_t value = 0;
    std::memcpy(&value, c.warp.local.at(lane, c.frame.local_base + argument.frame_offset), bytes);
    return value;
}

void Executor::give_result(Context& c, const Call& call, int lane, std::uint64_t value) {
    if (call.results.empty()) return;
    const Call::Argument& result = call.results[0];
    if (result.reg.kind != program::Operand::Kind::none)
        set_lane_value(c.frame, result, lane, &value);
    else
        std::memcpy(c.warp.local.at(lane, c.frame.local_base + result.frame_offset), &value,
                    std::min<std::uint32_t>(result.bytes, 8));
}

/// A byte at a generic address, checked as any access is. Null after a fault.
const std::uint8_t* Executor::generic_byte(Context& c, int lane, machine::Address address) {
    return resolve_one(c, machine::Access::Kind::read, lane, machine::place_of_generic(address), 1);
}

bool Executor::read_string(Context& c, int lane, machine::Address address, std::string& out) {
    constexpr std::size_t longest = 1 << 16;
    while (out.size() < longest) {
        const std::uint8_t* const byte = generic_byte(c, lane, address++);
        if (byte == nullptr) return false;
        if (*byte == 0) return true;
        out += static_cast<char>(*byte);
    }
    return true;
}

Step Executor::builtin(Context& c, const Call& call) {
    for (LaneMask left = c.active; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        switch (call.builtin) {
            case Call::Builtin::vprintf:
                if (!print(c, call, lane)) return Step::fault;
                break;
            case Call::Builtin::malloc:
                give_result(c, call, lane, launch_.memory.heap_allocate(argument(c, call, 0, lane)));
                break;
            case Call::Builtin::free: {
                const machine::Address address = argument(c, call, 0, lane);
                if (address != 0 && !launch_.memory.heap_release(address))
                    return fail(
                        c, FaultKind::device_heap, 1u << lane,
                        fmt::format("free({:#x}): malloc did not give that address, or it was freed before", address));
                break;
            }
            case Call::Builtin::assertfail: return assertion(c, call, lane);
            case Call::Builtin::none: TILEPATH_ASSERT(false, "a call of no builtin");
        }
    }
    wrote();
    return Step::next;
}

/// vprintf(format, arguments): the arguments lie at their natural alignment behind the second pointer.
bool Executor::print(Context& c, const Call& call, int lane) {
    std::string format;
    if (!read_string(c, lane, argument(c, call, 0, lane), format)) return false;
    machine::Address at = argument(c, call, 1, lane);
    bool readable = true;
    std::string text;
    const int printed = format_text(
        format,
        [&](std::uint32_t bytes) {
            at = (at + bytes - 1) / bytes * bytes;
            std::uint64_t value = 0;
            for (std::uint32_t i = 0; i < bytes && readable; ++i) {
                const std::uint8_t* const byte = generic_byte(c, lane, at + i);
                readable = byte != nullptr;
                if (readable) value |= std::uint64_t{*byte} << 8 * i;
            }
            at += bytes;
            return value;
        },
        [&](machine::Address string) {
            std::string out;
            readable = readable && read_string(c, lane, string, out);
            return out;
        },
        text);
    if (!readable) return false;
    {
        const std::lock_guard lock(launch_.mutex);
        if (launch_.options.print)
            launch_.options.print(text);
        else
            std::fwrite(text.data(), 1, text.size(), stdout);
    }
    give_result(c, call, lane, static_cast<std::uint64_t>(static_cast<std::uint32_t>(printed)));
    return true;
}

/// __assertfail(message, file, line, function, size of a character), told as CUDA tells it.
Step Executor::assertion(Context& c, const Call& call, int lane) {
    std::string message, file, function;
    if (!read_string(c, lane, argument(c, call, 0, lane), message) ||
        !read_string(c, lane, argument(c, call, 1, lane), file) ||
        !read_string(c, lane, argument(c, call, 3, lane), function))
        return Step::fault;
    const auto line = static_cast<std::uint32_t>(argument(c, call, 2, lane));
    return fail(c, FaultKind::assertion, 1u << lane,
                fmt::format("{}:{}: {}: assertion `{}` failed", file, line, function, message));
}

}  // namespace tilepath::exec
