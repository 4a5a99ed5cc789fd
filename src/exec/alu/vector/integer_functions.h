#pragma once
#include "exec/alu/vector/lanes.h"

namespace tilepath::exec::alu::TILEPATH_ALU_TARGET {

template <class T>
using Unsigned = std::make_unsigned_t<T>;

/// Arithmetic that wraps, also where C++ would promote to int or leave the overflow undefined.
template <class T>
using Wrap = std::conditional_t<sizeof(T) == 8, u64, u32>;

struct Add {
    template <class T>
    TILEPATH_BODY T operator()(T a, T b) const {
        return T(Wrap<T>(a) + Wrap<T>(b));
    }
};
struct Sub {
    template <class T>
    TILEPATH_BODY T operator()(T a, T b) const {
        return T(Wrap<T>(a) - Wrap<T>(b));
    }
};
struct MulLo {
    template <class T>
    TILEPATH_BODY T operator()(T a, T b) const {
        return T(Wrap<T>(a) * Wrap<T>(b));
    }
};

TILEPATH_BODY s32 clamp_s32(s64 value) {
    constexpr s64 low = -s64(1u << 31), high = (1u << 31) - 1;
    return s32(value < low ? low : value > high ? high : value);
}

struct AddSat {
    TILEPATH_BODY s32 operator()(s32 a, s32 b) const {
        const u32 sum = u32(a) + u32(b);
        const u32 bound = (u32(a) >> 31) + 0x7FFFFFFF;  // on overflow both signs are a's
        return s32(s32((u32(a) ^ sum) & (u32(b) ^ sum)) < 0 ? bound : sum);
    }
};
struct SubSat {
    TILEPATH_BODY s32 operator()(s32 a, s32 b) const {
        const u32 difference = u32(a) - u32(b);
        const u32 bound = (u32(a) >> 31) + 0x7FFFFFFF;
        return s32(s32((u32(a) ^ u32(b)) & (u32(a) ^ difference)) < 0 ? bound : difference);
    }
};

struct MulHi {
    template <class T>
    TILEPATH_BODY T operator()(T a, T b) const {
        if constexpr (sizeof(T) == 2) return T((s64(a) * s64(b)) >> 16);
        if constexpr (sizeof(T) == 4 && std::is_signed_v<T>) return T((s64(a) * s64(b)) >> 32);
        if constexpr (sizeof(T) == 4) return T((u64(a) * u64(b)) >> 32);
        if constexpr (sizeof(T) == 8 && std::is_signed_v<T>) return T((s128(a) * s128(b)) >> 64);
        if constexpr (sizeof(T) == 8) return T((u128(a) * u128(b)) >> 64);
    }
};

template <class D>
struct MulWide {
    template <class T>
    TILEPATH_BODY D operator()(T a, T b) const {
        return D(D(a) * D(b));
    }
};
template <class D>
struct MadWide {
    template <class T>
    TILEPATH_BODY D operator()(T a, T b, D c) const {
        return Add{}(D(D(a) * D(b)), c);
    }
};

/// mad.hi adds c without the carry of the low half.
template <class Product>
struct Mad {
    template <class T>
    TILEPATH_BODY T operator()(T a, T b, T c) const {
        return Add{}(Product{}(a, b), c);
    }
};
struct MadHiSat {
    TILEPATH_BODY s32 operator()(s32 a, s32 b, s32 c) const { return AddSat{}(MulHi{}(a, b), c); }
};

/// The product of the low 24 bits: its low 32 bits, or bits 47..16.
template <bool high>
struct Mul24 {
    TILEPATH_BODY u32 operator()(u32 a, u32 b) const {
        const u64 product = u64(a & 0xFFFFFF) * (b & 0xFFFFFF);
        return u32(high ? product >> 16 : product);
    }
    TILEPATH_BODY s32 operator()(s32 a, s32 b) const {
        const s64 product = s64(s32(u32(a) << 8) >> 8) * (s32(u32(b) << 8) >> 8);
        return s32(high ? product >> 16 : product);
    }
};
struct Mad24HiSat {
    TILEPATH_BODY s32 operator()(s32 a, s32 b, s32 c) const { return AddSat{}(Mul24<true>{}(a, b), c); }
};

struct Abs {
    template <class T>
    TILEPATH_BODY T operator()(T a) const {
        return a < 0 ? T(Wrap<T>(0) - Wrap<T>(a)) : a;
    }
};
struct Neg {
    template <class T>
    TILEPATH_BODY T operator()(T a) const {
        return T(Wrap<T>(0) - Wrap<T>(a));
    }
};
struct Min {
    template <class T>
    TILEPATH_BODY T operator()(T a, T b) const {
        return a < b ? a : b;
    }
};
struct Max {
    template <class T>
    TILEPATH_BODY T operator()(T a, T b) const {
        return a > b ? a : b;
    }
};
template <class F>
struct Relu {
    template <class T>
    TILEPATH_BODY T operator()(T a, T b) const {
        return Max{}(F{}(a, b), T(0));
    }
};
struct Sad {
    template <class T>
    TILEPATH_BODY T operator()(T a, T b, T c) const {
        return Add{}(c, a < b ? Sub{}(b, a) : Sub{}(a, b));
    }
};

// Recorded on an H200: x / 0 and x % 0 give all ones, MININT / -1 gives MININT. Nothing may trap, whatever an inactive
// lane holds. Up to 32 bits the quotient goes through double, which vector units divide: it is exact, because a
// quotient that is no integer lies at least 1/b, far more than half an ulp, below the next one.
template <class T>
TILEPATH_BODY T quotient(T a, T b) {
    const bool zero = b == 0;
    if constexpr (sizeof(T) == 8) {
        const bool minus_one = std::is_signed_v<T> && b == T(-1);
        const T safe = zero || minus_one ? T(1) : b;
        return zero ? T(-1) : minus_one ? Neg{}(a) : T(a / safe);
    } else if constexpr (sizeof(T) == 4 && !std::is_signed_v<T>) {
        // Vector units convert signed words: shift the range of u32 to s32's and back.
        const double x = double(s32(a ^ 0x80000000u)) + 2147483648.0, y = double(s32(b ^ 0x80000000u)) + 2147483648.0;
        const double q = x / (zero ? 1.0 : y);
        const u32 high = q >= 2147483648.0 ? 0x80000000u : 0;
        return zero ? T(-1) : T(u32(s32(high != 0 ? q - 2147483648.0 : q)) ^ high);
    } else {
        const bool minus_one = std::is_signed_v<T> && b == T(-1);
        const double y = zero || minus_one ? 1.0 : double(s32(b));
        const T q = T(s32(double(s32(a)) / y));
        return zero ? T(-1) : minus_one ? Neg{}(a) : q;
    }
}

struct Div {
    template <class T>
    TILEPATH_BODY T operator()(T a, T b) const {
        return quotient(a, b);
    }
};
struct Rem {
    template <class T>
    TILEPATH_BODY T operator()(T a, T b) const {
        return b == 0 ? T(-1) : Sub{}(a, MulLo{}(quotient(a, b), b));
    }
};

template <class T>
using Byte = std::conditional_t<std::is_signed_v<T>, s8, u8>;
template <class T>
using HalfWord = std::conditional_t<std::is_signed_v<T>, s16, u16>;

template <class A, class B>
struct Dp4a {
    TILEPATH_BODY u32 operator()(u32 a, u32 b, u32 c) const {
        for (int i = 0; i < 32; i += 8) c += u32(int(Byte<A>(a >> i)) * int(Byte<B>(b >> i)));
        return c;
    }
};

template <class A, class B, int half>
struct Dp2a {
    TILEPATH_BODY u32 operator()(u32 a, u32 b, u32 c) const {
        for (int i = 0; i < 2; ++i) c += u32(int(HalfWord<A>(a >> (16 * i))) * int(Byte<B>(b >> (16 * half + 8 * i))));
        return c;
    }
};
template <class A, class B>
struct Dp2aLo : Dp2a<A, B, 0> {};
template <class A, class B>
struct Dp2aHi : Dp2a<A, B, 1> {};

template <class A, class B>
TILEPATH_BODY u32 byte_difference(u32 a, u32 b, int shift) {
    const int difference = int(Byte<A>(a >> shift)) - int(Byte<B>(b >> shift));
    return u32(difference < 0 ? -difference : difference);
}

template <class A, class B>
struct AbsDiff4Add {
    TILEPATH_BODY u32 operator()(u32 a, u32 b, u32 c) const {
        for (int i = 0; i < 32; i += 8) c += byte_difference<A, B>(a, b, i);
        return c;
    }
};

/// All four bytes are written, so that c does not matter.
template <class A, class B>
struct AbsDiff4 {
    TILEPATH_BODY u32 operator()(u32 a, u32 b, u32) const {
        u32 d = 0;
        for (int i = 0; i < 32; i += 8) d |= (byte_difference<A, B>(a, b, i) & 0xFF) << i;
        return d;
    }
};

}  // namespace tilepath::exec::alu::TILEPATH_ALU_TARGET
