// The processor's own rounding modes do the work; number/ has the cases where PTX goes beyond IEEE 754. Compiled with
// -frounding-math, and each loop stands in a function of its own that reads and writes memory, so that no arithmetic
// moves across a change of mode.
#include "exec/alu/rounded.h"

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "number/arithmetic.h"

namespace tilepath::exec::alu {
namespace {

using number::Format;
using number::Rounding;
using program::DataType;
using program::MicroOp;
using program::Op;

/// All elements of the operands: 32, or 64 of a packed type. `result` is rounded in the mode of the moment.
template <class T, int count>
struct Operands {
    alignas(64) T a[count], b[count], c[count], result[count];
};

template <class T, int count>
[[gnu::noinline]] void add(Operands<T, count>& x) {
    for (int i = 0; i < count; ++i) x.result[i] = x.a[i] + x.b[i];
}
template <class T, int count>
[[gnu::noinline]] void sub(Operands<T, count>& x) {
    for (int i = 0; i < count; ++i) x.result[i] = x.a[i] - x.b[i];
}
template <class T, int count>
[[gnu::noinline]] void mul(Operands<T, count>& x) {
    for (int i = 0; i < count; ++i) x.result[i] = x.a[i] * x.b[i];
}
template <class T, int count>
[[gnu::noinline]] void div(Operands<T, count>& x) {
    for (int i = 0; i < count; ++i) x.result[i] = x.a[i] / x.b[i];
}
template <class T, int count>
[[gnu::noinline]] void rcp(Operands<T, count>& x) {
    for (int i = 0; i < count; ++i) x.result[i] = T(1) / x.a[i];
}
template <class T, int count>
[[gnu::noinline]] void sqrt(Operands<T, count>& x) {
    for (int i = 0; i < count; ++i) x.result[i] = std::sqrt(x.a[i]);
}
template <class T, int count>
[[gnu::noinline]] void fma(Operands<T, count>& x) {
    for (int i = 0; i < count; ++i) x.result[i] = std::fma(x.a[i], x.b[i], x.c[i]);
}

int mode_of(Rounding rounding) {
    switch (rounding) {
        case Rounding::rz: return FE_TOWARDZERO;
        case Rounding::rm: return FE_DOWNWARD;
        case Rounding::rp: return FE_UPWARD;
        case Rounding::rn:
        case Rounding::rna:
        case Rounding::rs: break;
    }
    return FE_TONEAREST;
}

std::uint64_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }
std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }
template <class T>
T number_of(std::uint64_t bits) {
    if constexpr (sizeof(T) == 4)
        return std::bit_cast<float>(std::uint32_t(bits));
    else
        return std::bit_cast<double>(bits);
}

/// The operation on one element by number/, which knows NaN and what .ftz flushes.
template <class T>
T modelled(const MicroOp& op, T a, T b, T c) {
    constexpr Format format = sizeof(T) == 4 ? Format::f32 : Format::f64;
    const number::Arithmetic how{.rounding = op.rounding, .ftz = op.flags.ftz};
    switch (op.op) {
        case Op::add: return number_of<T>(number::add(format, bits(a), bits(b), how));
        case Op::sub: return number_of<T>(number::sub(format, bits(a), bits(b), how));
        case Op::mul: return number_of<T>(number::mul(format, bits(a), bits(b), how));
        case Op::fma: return number_of<T>(number::fma(format, bits(a), bits(b), bits(c), how));
        case Op::sqrt: return number_of<T>(number::sqrt(format, bits(a), how));
        case Op::rcp: return number_of<T>(number::div(format, bits(T(1)), bits(a), how));
        default: return number_of<T>(number::div(format, bits(a), bits(b), how));
    }
}

template <class T>
T flushed(T value) {
    return std::abs(value) < std::numeric_limits<T>::min() ? std::copysign(T(0), value) : value;
}

template <class T>
T finished(const MicroOp& op, T a, T b, T c, T result) {
    // A result that the mode rounds up to the least normal number may be one that .ftz flushes.
    const bool least = std::abs(result) == std::numeric_limits<T>::min();
    if (std::isnan(result) || (op.flags.ftz && least)) result = modelled(op, a, b, c);
    if (op.flags.ftz) result = flushed(result);
    return !op.flags.sat ? result : !(result > T(0)) ? T(0) : result < T(1) ? result : T(1);
}

template <class T, int count>
void load(const MicroOp& op, const Row* row, T (&to)[count]) {
    std::memcpy(to, row, sizeof to);
    if (op.flags.ftz)
        for (T& value : to) value = flushed(value);
}

template <class T, int count, void (*loop)(Operands<T, count>&)>
void rounded(const Decoded& decoded, Row* rows, LaneMask*, LaneMask active) {
    const MicroOp& op = *decoded.op;
    Operands<T, count> x;
    load(op, rows + decoded.a, x.a);
    load(op, rows + (op.sources > 1 ? decoded.b : decoded.a), x.b);
    load(op, rows + (op.sources > 2 ? decoded.c : decoded.a), x.c);
    std::fesetround(mode_of(op.rounding));
    loop(x);
    std::fesetround(FE_TONEAREST);
    auto* to = reinterpret_cast<unsigned char*>(rows + decoded.d);
    for (int i = 0; i < count; ++i) {
        if ((active >> (i * warp_lanes / count) & 1) == 0) continue;
        const T value = finished(op, x.a[i], x.b[i], x.c[i], x.result[i]);
        std::memcpy(to + std::size_t(i) * sizeof(T), &value, sizeof(T));
    }
}

template <class T, int count>
LaneFunction choose(Op op) {
    switch (op) {
        case Op::add: return rounded<T, count, add<T, count>>;
        case Op::sub: return rounded<T, count, sub<T, count>>;
        case Op::mul: return rounded<T, count, mul<T, count>>;
        case Op::fma: return rounded<T, count, fma<T, count>>;
        case Op::div: return rounded<T, count, div<T, count>>;
        case Op::rcp: return rounded<T, count, rcp<T, count>>;
        case Op::sqrt: return rounded<T, count, sqrt<T, count>>;
        default: return nullptr;  // the other operations have no rounding modifier
    }
}

}  // namespace

LaneFunction choose_rounded(const MicroOp& op) {
    const Rounding rounding = op.rounding;
    if (rounding != Rounding::rz && rounding != Rounding::rm && rounding != Rounding::rp) return nullptr;
    if (op.type == DataType::f32) return choose<float, warp_lanes>(op.op);
    if (op.type == DataType::f32x2) return choose<float, 2 * warp_lanes>(op.op);
    return op.type == DataType::f64 ? choose<double, warp_lanes>(op.op) : nullptr;
}

}  // namespace tilepath::exec::alu
