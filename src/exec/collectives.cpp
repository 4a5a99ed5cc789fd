#include "exec/collectives.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "base/assert.h"

namespace tilepath::exec {
namespace {

using program::DataType;
using program::Op;
using program::ReduxOp;
using program::ShuffleMode;
using program::VoteMode;

template <class Visit>
void for_each_lane(LaneMask lanes, Visit visit) {
    for (; lanes != 0; lanes &= lanes - 1) visit(std::countr_zero(lanes));
}

void shuffle(const program::MicroOp& op, Exchange& x) {
    const auto mode = static_cast<ShuffleMode>(op.variant);
    for_each_lane(x.members, [&](int lane) {
        const int offset = static_cast<int>(x.b[lane] & 31), clamp = static_cast<int>(x.c[lane] & 31);
        const int segment = static_cast<int>(x.c[lane] >> 8 & 31);
        const int last = (lane & segment) | (clamp & ~segment & 31), first = lane & segment;
        int from = lane;
        bool inside = false;
        switch (mode) {
            case ShuffleMode::up: from = lane - offset, inside = from >= last; break;
            case ShuffleMode::down: from = lane + offset, inside = from <= last; break;
            case ShuffleMode::bfly: from = lane ^ offset, inside = from <= last; break;
            case ShuffleMode::idx: from = first | (offset & ~segment), inside = from <= last; break;
        }
        if (!inside) from = lane;
        // A source lane that does not take part gives an undefined value: 0 here.
        x.d[lane] = x.members >> from & 1 ? x.a[from] : 0;
        x.p |= LaneMask(inside) << lane;
    });
}

void vote(const program::MicroOp& op, Exchange& x) {
    const LaneMask yes = x.predicate & x.members;
    switch (static_cast<VoteMode>(op.variant)) {
        case VoteMode::all: x.p = yes == x.members ? all_lanes : 0; break;
        case VoteMode::any: x.p = yes != 0 ? all_lanes : 0; break;
        case VoteMode::uni: x.p = yes == x.members || yes == 0 ? all_lanes : 0; break;
        case VoteMode::ballot: std::fill_n(x.d, warp_lanes, yes); break;
    }
}

void match(const program::MicroOp& op, Exchange& x) {
    const bool wide = program::bits(op.type) == 64;
    auto value = [&](int lane) { return wide ? x.wide[lane] : x.a[lane]; };
    for_each_lane(x.members, [&](int lane) {
        LaneMask equal = 0;
        for_each_lane(x.members, [&](int other) { equal |= LaneMask(value(other) == value(lane)) << other; });
        const bool all = op.variant == 1;
        x.d[lane] = all && equal != x.members ? 0 : equal;
        x.p |= LaneMask(equal == x.members) << lane;
    });
}

float reduce_floats(const program::MicroOp& op, const Exchange& x) {
    bool first = true;
    float result = 0;
    for_each_lane(x.members, [&](int lane) {
        float value = std::bit_cast<float>(x.a[lane]);
        if (op.flags.abs) value = std::fabs(value);
        const bool smaller = static_cast<ReduxOp>(op.variant) == ReduxOp::min;
        if (first)
            result = value;
        else if (std::isnan(value) || std::isnan(result)) {
            // One NaN gives the other operand, with .NaN a NaN.
            if (op.flags.nan)
                result = std::bit_cast<float>(0x7FFFFFFFu);
            else if (std::isnan(result))
                result = value;
        } else {
            const bool less = value < result || (value == result && std::signbit(value) && !std::signbit(result));
            if (less == smaller) result = value;
        }
        first = false;
    });
    return std::isnan(result) ? std::bit_cast<float>(0x7FFFFFFFu) : result;
}

std::uint32_t reduce(const program::MicroOp& op, const Exchange& x) {
    if (program::is_float(op.type)) return std::bit_cast<std::uint32_t>(reduce_floats(op, x));
    const bool is_signed = program::is_signed(op.type);
    std::uint32_t result = x.a[std::countr_zero(x.members)];
    auto less = [&](std::uint32_t a, std::uint32_t b) {
        return is_signed ? static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b) : a < b;
    };
    for_each_lane(x.members & (x.members - 1), [&](int lane) {
        const std::uint32_t value = x.a[lane];
        switch (static_cast<ReduxOp>(op.variant)) {
            case ReduxOp::add: result += value; break;
            case ReduxOp::min: result = less(value, result) ? value : result; break;
            case ReduxOp::max: result = less(result, value) ? value : result; break;
            case ReduxOp::and_: result &= value; break;
            case ReduxOp::or_: result |= value; break;
            case ReduxOp::xor_: result ^= value; break;
        }
    });
    return result;
}

}  // namespace

void exchange(const program::MicroOp& op, Exchange& x) {
    x.p = 0;
    if (x.members == 0) return;
    if (op.op == Op::shfl)
        shuffle(op, x);
    else if (op.op == Op::vote)
        vote(op, x);
    else if (op.op == Op::match)
        match(op, x);
    else if (op.op == Op::redux)
        std::fill_n(x.d, warp_lanes, reduce(op, x));
    else if (op.op == Op::activemask)
        std::fill_n(x.d, warp_lanes, x.members);
    else if (op.op == Op::elect) {
        // Any member may be the leader; hardware and this model take the lowest.
        std::fill_n(x.d, warp_lanes, static_cast<std::uint32_t>(std::countr_zero(x.members)));
        x.p = x.members & (~x.members + 1);
    } else
        TILEPATH_ASSERT(op.op == Op::bar_warp_sync, "an operation that exchanges nothing");
}

}  // namespace tilepath::exec
