#pragma once
// The fragments of mma.sync as the PTX manual's formulae give them, shape by shape (PTX ISA 9.7.14.5.1 to 9.7.14.5.14),
// written without looking at atom/: (lane, element i of the lane) to (row, column).
#include <string>

#include "atom/fragment.h"
#include "number/format.h"

namespace tilepath::atom::manual {

struct At {
    int block = 0, row = 0, column = 0;
};

inline int group(int lane) { return lane >> 2; }
inline int in_group(int lane) { return lane % 4; }

/// Element a_i. `bits`: of an element as it lies in the register.
inline At a(int m, int k, int bits, int lane, int i) {
    int g = group(lane), t = in_group(lane);
    if (m == 8) {
        if (bits == 64) return {0, g, t};         // m8n8k4 f64
        if (bits == 8) return {0, g, t * 4 + i};  // m8n8k16
        if (bits == 4) return {0, g, t * 8 + i};  // m8n8k32
        return {0, g, t * 32 + i};                // m8n8k128
    }
    if (bits >= 32) {  // tf32 m16n8k4, m16n8k8; f64 m16n8k4, m16n8k8, m16n8k16
        return {0, i % 2 == 0 ? g : g + 8, i < 2 ? t : i < 4 ? t + 4 : i < 6 ? t + 8 : t + 12};
    }
    if (bits == 16 && k == 8) return {0, i < 2 ? g : g + 8, t * 2 + (i & 1)};
    if (bits == 16) return {0, i < 2 || (4 <= i && i < 6) ? g : g + 8, i < 4 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8};
    if (bits == 8 && k == 16) return {0, i < 4 ? g : g + 8, t * 4 + (i & 3)};
    if (bits == 8) return {0, i < 4 || (8 <= i && i < 12) ? g : g + 8, i < 8 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16};
    if (bits == 4 && k == 32) return {0, i < 8 ? g : g + 8, t * 8 + (i & 7)};
    if (bits == 4)
        return {0, i < 8 || (16 <= i && i < 24) ? g : g + 8, i < 16 ? t * 8 + (i & 7) : t * 8 + (i & 7) + 32};
    if (k == 128) return {0, i < 32 ? g : g + 8, t * 32 + (i & 31)};
    return {0, i < 32 || (64 <= i && i < 96) ? g : g + 8, i < 64 ? t * 32 + (i & 31) : t * 32 + (i & 31) + 128};
}

/// Element b_i: row is k, column is n.
inline At b(int k, int bits, int lane, int i) {
    int g = group(lane), t = in_group(lane);
    if (bits >= 32) return {0, t + 4 * i, g};
    if (bits == 16) return {0, i < 2 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8, g};
    if (bits == 8) return {0, i < 4 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16, g};
    if (bits == 4) return {0, i < 8 ? t * 8 + (i & 7) : t * 8 + (i & 7) + 32, g};
    (void)k;
    return {0, i < 32 ? t * 32 + i : t * 32 + (i & 31) + 128, g};
}

/// Element c_i and d_i of every shape with n = 8 but f16's m8n8k4.
inline At c(int m, int lane, int i) {
    int g = group(lane), t = in_group(lane);
    if (m == 8) return {0, g, t * 2 + (i & 1)};
    return {0, i < 2 ? g : g + 8, t * 2 + (i & 1)};
}

/// f16's m8n8k4: the product that a lane takes part in, and where its elements lie in it.
inline int quad(int lane) { return lane % 16 / 4; }
inline At quad_a(bool row_major, int lane, int i) {
    if (row_major) return {quad(lane), lane < 16 ? lane % 4 : lane % 4 + 4, i};
    return {quad(lane), lane < 16 ? i % 4 : i % 4 + 4, lane % 4};
}
inline At quad_b(bool row_major, int lane, int i) {
    if (row_major) return {quad(lane), lane % 4, lane < 16 ? i : i + 4};
    return {quad(lane), i, lane < 16 ? lane % 4 : lane % 4 + 4};
}
inline At quad_c(number::Format format, int lane, int i) {
    if (format == number::Format::f16) return {quad(lane), lane < 16 ? lane % 4 : lane % 4 + 4, i};
    int x = (lane & 1) + (i & 2);
    return {quad(lane), lane < 16 ? x : x + 4, (i & 4) + (lane & 2) + (i & 1)};
}

/// Sparsity metadata of mma.sp, as recorded on an H200: where the four bits of (row, chunk) lie. `chunks`: per row;
/// `wide`: elements of 16 bits or more.
inline ElementPlace metadata(int chunks, bool wide, int selector, int row, int chunk) {
    int g = row % 8, high = row / 8, half = chunks / 2, lane = 0, bit = 0;
    if (wide && chunks == 8) {  // m16n8k32 f16, m16n8k16 tf32: t = 2·sel + K half; low half row g, high half row g + 8
        lane = 4 * g + 2 * selector + chunk / half;
        bit = 16 * high + 4 * (chunk % half);
    } else if (wide) {  // m16n8k16 f16, m16n8k8 tf32: t = sel
        lane = 4 * g + selector;
        bit = 16 * high + 4 * chunk;
    } else if (chunks == 16) {  // m16n8k64 8-bit, m16n8k128 4-bit: t = b0 + 2·b1
        lane = 4 * g + high + 2 * (chunk / half);
        bit = 4 * (chunk % half);
    } else {  // m16n8k32 8-bit, m16n8k64 4-bit: t = 2·sel + p, row g + 8p
        lane = 4 * g + 2 * selector + high;
        bit = 4 * chunk;
    }
    return {0, static_cast<std::uint8_t>(lane), 0, static_cast<std::uint8_t>(bit)};
}

}  // namespace tilepath::atom::manual
