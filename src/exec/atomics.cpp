// atom and red. Operations on global memory are atomic on the host too: clusters run on several threads.
#include <bit>
#include <cmath>
#include <cstring>
#include <mutex>

#include "base/assert.h"
#include "exec/atomic_update.h"
#include "exec/executor.h"
#include "number/arithmetic.h"

namespace tilepath::exec {
namespace {

using number::Format;
using program::AtomicOp;
using program::DataType;

bool is_nan(double value) { return value != value; }

/// f32 addition as memory does it: global memory flushes subnormals, shared memory does not (recorded on an H200).
std::uint32_t add_f32(std::uint32_t a, std::uint32_t b, bool flush) {
    number::Arithmetic how;
    how.ftz = flush;
    return static_cast<std::uint32_t>(number::add(Format::f32, a, b, how));
}

/// f64 addition as memory does it: global memory passes a NaN on as it is, signaling or not, b's before its own; shared
/// memory is updated by an ordinary addition (recorded on an H200).
std::uint64_t add_f64(std::uint64_t old, std::uint64_t b, bool global) {
    const auto nan = [](std::uint64_t x) { return (x & 0x7FFFFFFFFFFFFFFF) > 0x7FF0000000000000; };
    if (global && (nan(b) || nan(old))) return nan(b) ? b : old;
    return number::add(Format::f64, b, old, {});
}

/// min and max of f16 and bf16: a NaN gives the other operand, −0 is less than +0.
std::uint64_t choose_float(Format format, std::uint64_t a, std::uint64_t b, bool smaller) {
    const double x = number::to_double(a, format), y = number::to_double(b, format);
    if (is_nan(x) && is_nan(y)) return number::canonical_nan(format);
    if (is_nan(x)) return b;
    if (is_nan(y)) return a;
    const bool less = x < y || (x == y && std::signbit(x) && !std::signbit(y));
    return less == smaller ? a : b;
}

std::uint64_t float_operation(AtomicOp op, Format format, std::uint64_t a, std::uint64_t b, bool global) {
    if (op == AtomicOp::add) {
        if (format == Format::f32) return add_f32(static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b), global);
        return format == Format::f64 ? add_f64(a, b, global) : number::add(format, a, b, {});
    }
    return choose_float(format, a, b, op == AtomicOp::min);
}

/// Two 16-bit numbers in 32 bits: each half for itself.
std::uint64_t packed_operation(AtomicOp op, Format format, std::uint64_t a, std::uint64_t b) {
    const std::uint64_t low = float_operation(op, format, a & 0xFFFF, b & 0xFFFF, false);
    const std::uint64_t high = float_operation(op, format, a >> 16 & 0xFFFF, b >> 16 & 0xFFFF, false);
    return high << 16 | low;
}

std::uint64_t integer_operation(AtomicOp op, DataType type, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    const auto less = [&](std::uint64_t x, std::uint64_t y) {
        if (!program::is_signed(type)) return x < y;
        if (program::bits(type) == 64) return static_cast<std::int64_t>(x) < static_cast<std::int64_t>(y);
        return static_cast<std::int32_t>(x) < static_cast<std::int32_t>(y);
    };
    switch (op) {
        case AtomicOp::exch: return b;
        case AtomicOp::cas: return a == b ? c : a;
        case AtomicOp::add: return a + b;
        case AtomicOp::inc: return a >= b ? 0 : a + 1;
        case AtomicOp::dec: return a == 0 || a > b ? b : a - 1;
        case AtomicOp::min: return less(b, a) ? b : a;
        case AtomicOp::max: return less(a, b) ? b : a;
        case AtomicOp::and_: return a & b;
        case AtomicOp::or_: return a | b;
        case AtomicOp::xor_: return a ^ b;
    }
    TILEPATH_ASSERT(false, "an atomic operation outside its enum");
}

struct Update {
    AtomicOp op;
    DataType type;
    bool global;  ///< in global memory, whose additions are not those of registers

    std::uint64_t operator()(std::uint64_t old, std::uint64_t b, std::uint64_t c) const {
        const auto format = program::is_float(type) ? program::format_of(type) : std::nullopt;
        if (!format || op == AtomicOp::exch || op == AtomicOp::cas) return integer_operation(op, type, old, b, c);
        if (program::traits(type).elements == 2) return packed_operation(op, *format, old, b);
        return float_operation(op, *format, old, b, global);
    }
};

/// Returns the old value; `changed` is set if memory holds another one now.
template <class T>
std::uint64_t update(std::uint8_t* at, const Update& compute, std::uint64_t b, std::uint64_t c, bool& changed) {
    T* const memory = reinterpret_cast<T*>(at);
    T old = __atomic_load_n(memory, __ATOMIC_RELAXED);
    for (;;) {
        const T fresh = static_cast<T>(compute(old, b, c));
        if (fresh == old) return old;
        if (__atomic_compare_exchange_n(memory, &old, fresh, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) break;
    }
    changed = true;
    return old;
}

struct Quad {
    std::uint64_t low, high;
    friend bool operator==(Quad, Quad) = default;
};

/// 128 bits: exch and cas only.
Quad update_128(std::uint8_t* at, AtomicOp op, Quad b, Quad c, bool& changed) {
    static std::mutex one_at_a_time;
    const std::lock_guard lock(one_at_a_time);
    Quad old;
    std::memcpy(&old, at, sizeof old);
    const Quad fresh = op == AtomicOp::exch ? b : old == b ? c : old;
    if (fresh == old) return old;
    std::memcpy(at, &fresh, sizeof fresh);
    changed = true;
    return old;
}

std::uint64_t register_value(const Row* row, int lane, int bytes) {
    return bytes == 8 ? reinterpret_cast<const std::uint64_t*>(row)[lane] : row->lane[lane];
}

}  // namespace

std::uint64_t update_memory(std::uint8_t* at, AtomicOp op, DataType type, bool global, std::uint64_t b, std::uint64_t c,
                            bool& changed) {
    const Update compute{op, type, global};
    switch (program::bytes(type)) {
        case 2: return update<std::uint16_t>(at, compute, b, c, changed);
        case 4: return update<std::uint32_t>(at, compute, b, c, changed);
        default: return update<std::uint64_t>(at, compute, b, c, changed);
    }
}

Step Executor::atomic(Context& c) {
    const program::MicroOp& op = c.op();
    const std::uint32_t element = c.code.element_bytes, bytes = element * c.code.vector;
    Lanes lanes;
    if (!resolve(c, machine::Access::Kind::atomic, bytes, lanes)) return Step::fault;
    if (observer_ != nullptr) observe_access(c, machine::Access::Kind::atomic, bytes, lanes);
    if (launch_.stale) before_global_write(c, bytes, lanes);
    lanes.fill_host(bytes);
    const auto which = static_cast<AtomicOp>(op.variant);
    const bool compares = which == AtomicOp::cas;
    bool changed = false;
    for (std::uint32_t i = 0; i < c.code.vector; ++i) {
        Row* const d = op.destinations > 0 ? &c.rows[c.destination(static_cast<int>(i))] : nullptr;
        const Row* const b = &c.rows[c.source(static_cast<int>(1 + i))];
        const Row* const third = compares ? &c.rows[c.source(2)] : b;
        for (LaneMask left = c.active; left != 0; left &= left - 1) {
            const int lane = std::countr_zero(left);
            std::uint8_t* const at = lanes.host[lane] + i * element;
            if (element == 16) {
                const auto quad = [&](const Row* row) { return reinterpret_cast<const Quad*>(row)[lane]; };
                const Quad old = update_128(at, which, quad(b), quad(third), changed);
                if (d != nullptr) reinterpret_cast<Quad*>(d)[lane] = old;
                continue;
            }
            const program::Space space = lanes.mixed ? lanes.spaces[lane] : lanes.space;
            const int width = element == 8 ? 8 : 4;
            const std::uint64_t mask = element == 8 ? ~0ull : (1ull << 8 * element) - 1;
            const std::uint64_t x = register_value(b, lane, width) & mask,
                                y = register_value(third, lane, width) & mask;
            const bool global = space == program::Space::global;
            const std::uint64_t old = update_memory(at, which, op.type, global, x, y, changed);
            if (d == nullptr) continue;
            if (element == 8)
                reinterpret_cast<std::uint64_t*>(d)[lane] = old;
            else
                d->lane[lane] = static_cast<std::uint32_t>(old);
        }
    }
    if (changed) wrote();
    return Step::next;
}

}  // namespace tilepath::exec
