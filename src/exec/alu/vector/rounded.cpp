// f32 and f64 rounded toward zero, minus or plus infinity (.rz, .rm, .rp), by the processor's own rounding modes.
// Compiled with -frounding-math, and each loop stands in a function of its own that reads and writes memory, so that no
// arithmetic moves across a change of mode.
#include <cfenv>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "exec/alu/rounded_model.h"
#include "exec/alu/vector/choosers.h"
#include "exec/alu/vector/float_lanes.h"

namespace tilepath::exec::alu::TILEPATH_ALU_TARGET {
namespace {

using number::Rounding;
using program::DataType;
using program::MicroOp;
using program::Op;

/// The mode while it lives. On x86-64 all arithmetic here is SSE's, whose control word is quicker set than the whole
/// environment.
class RoundingMode {
  public:
#if defined(__x86_64__)
    explicit RoundingMode(Rounding rounding) : before_(_mm_getcsr()) {
        _mm_setcsr((before_ & ~0x6000u) | bits(rounding));
    }
    ~RoundingMode() { _mm_setcsr(before_); }

  private:
    static u32 bits(Rounding rounding) {
        return rounding == Rounding::rz ? 0x6000 : rounding == Rounding::rp ? 0x4000 : 0x2000;
    }
    u32 before_;
#else
    explicit RoundingMode(Rounding rounding) {
        fesetround(rounding == Rounding::rz ? FE_TOWARDZERO : rounding == Rounding::rp ? FE_UPWARD : FE_DOWNWARD);
    }
    ~RoundingMode() { fesetround(FE_TONEAREST); }
#endif
};

/// All elements of the operands: 32, or 64 of a packed type.
template <class T, int count>
struct Operands {
    alignas(64) T a[count], b[count], c[count], result[count];
};

struct Sum {
    template <class T>
    TILEPATH_BODY T operator()(T a, T b, T) const {
        return a + b;
    }
};
struct Difference {
    template <class T>
    TILEPATH_BODY T operator()(T a, T b, T) const {
        return a - b;
    }
};
struct Product {
    template <class T>
    TILEPATH_BODY T operator()(T a, T b, T) const {
        return a * b;
    }
};
struct Quotient {
    template <class T>
    TILEPATH_BODY T operator()(T a, T b, T) const {
        return a / b;
    }
};
struct Reciprocal {
    template <class T>
    TILEPATH_BODY T operator()(T a, T, T) const {
        return T(1) / a;
    }
};
struct Root {
    TILEPATH_BODY float operator()(float a, float, float) const { return __builtin_sqrtf(a); }
    TILEPATH_BODY double operator()(double a, double, double) const { return __builtin_sqrt(a); }
};
struct Fused {
    TILEPATH_BODY float operator()(float a, float b, float c) const { return __builtin_fmaf(a, b, c); }
    TILEPATH_BODY double operator()(double a, double b, double c) const { return __builtin_fma(a, b, c); }
};

template <class F, class T, int count>
[[gnu::noinline]] void compute(Operands<T, count>& x) {
    for (int i = 0; i < count; ++i) x.result[i] = F{}(x.a[i], x.b[i], x.c[i]);
}

template <class T, int count>
TILEPATH_BODY void load(const Row* rows, u32 index, bool ftz, T (&to)[count]) {
    const auto* from = reinterpret_cast<const Aliased<T>*>(rows + index);
    for (int i = 0; i < count; ++i) to[i] = from[i];
    if constexpr (sizeof(T) == 4)
        if (ftz)
            for (int i = 0; i < count; ++i) to[i] = flush(to[i]);
}

/// Whether number/ has to look: at every NaN of f64, and with .ftz at what may have been rounded up to the least normal
/// f32.
TILEPATH_BODY bool doubtful(double result, bool) { return result != result; }
TILEPATH_BODY bool doubtful(float result, bool ftz) { return ftz && (bits_of(result) & 0x7FFFFFFF) == 0x00800000; }

template <class T, int count>
TILEPATH_BODY void review(const MicroOp& op, Operands<T, count>& x) {
    u32 any = 0;
    for (int i = 0; i < count; ++i) any |= doubtful(x.result[i], op.flags.ftz) ? ~0u : 0;
    for (int i = 0; any != 0 && i < count; ++i) {
        if (!doubtful(x.result[i], op.flags.ftz)) continue;
        const u64 bits = rounded_model(op, sizeof(T) == 8, bits_of(x.a[i]), bits_of(x.b[i]), bits_of(x.c[i]));
        x.result[i] = __builtin_bit_cast(T, std::conditional_t<sizeof(T) == 8, u64, u32>(bits));
    }
    if constexpr (sizeof(T) == 4) {
        if (op.flags.ftz)
            for (int i = 0; i < count; ++i) x.result[i] = flush(x.result[i]);
        if (op.flags.sat)
            for (int i = 0; i < count; ++i) {
                const float value = x.result[i];
                x.result[i] = !(value > 0.0f) ? 0.0f : value < 1.0f ? value : 1.0f;
            }
        for (int i = 0; i < count; ++i) x.result[i] = as_float(canonical(bits_of(x.result[i])));
    }
}

template <class F, class T, int count>
void rounded(const Decoded& decoded, Row* rows, LaneMask*, LaneMask active) {
    const MicroOp& op = *decoded.op;
    Operands<T, count> x;
    load(rows, decoded.a, op.flags.ftz, x.a);
    load(rows, op.sources > 1 ? decoded.b : decoded.a, op.flags.ftz, x.b);
    load(rows, op.sources > 2 ? decoded.c : decoded.a, op.flags.ftz, x.c);
    {
        const RoundingMode mode(op.rounding);
        compute<F, T, count>(x);
    }
    review(op, x);
    using Stored = std::conditional_t<sizeof(T) * count == 4 * warp_lanes, u32, u64>;
    alignas(64) Stored result[warp_lanes];
    static_assert(sizeof result == sizeof x.result);
    __builtin_memcpy(result, x.result, sizeof result);
    write_lanes(rows, decoded.d, result, active);
}

template <class T, int count>
LaneFunction by_operation(Op op) {
    switch (op) {
        case Op::add: return rounded<Sum, T, count>;
        case Op::sub: return rounded<Difference, T, count>;
        case Op::mul: return rounded<Product, T, count>;
        case Op::fma: return rounded<Fused, T, count>;
        case Op::div: return rounded<Quotient, T, count>;
        case Op::rcp: return rounded<Reciprocal, T, count>;
        case Op::sqrt: return rounded<Root, T, count>;
        default: return nullptr;  // the other operations have no rounding modifier
    }
}

}  // namespace

LaneFunction choose_rounded(const MicroOp& op) {
    const Rounding rounding = op.rounding;
    if (rounding != Rounding::rz && rounding != Rounding::rm && rounding != Rounding::rp) return nullptr;
    if (op.type == DataType::f32) return by_operation<float, warp_lanes>(op.op);
    if (op.type == DataType::f32x2) return by_operation<float, 2 * warp_lanes>(op.op);
    return op.type == DataType::f64 ? by_operation<double, warp_lanes>(op.op) : nullptr;
}

}  // namespace tilepath::exec::alu::TILEPATH_ALU_TARGET
