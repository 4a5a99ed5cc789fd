#pragma once
// Programs without a race: whatever the order of warps, CTAs and copies, they end with the same memory.
#include <string>

#include "generated/instructions.h"
#include "machine/tensor_map.h"

namespace tilepath::generated {

inline constexpr std::uint32_t input_bytes = 16384, slot_bytes = 128, result_bytes = 640, shared_slot_bytes = 64,
                               local_bytes = 64;

/// Atomics on memory that all threads share: each place has one operation, and the operations commute.
struct Counter {
    std::string_view operation, type;
    std::uint64_t initial;
};
inline constexpr Counter counters[] = {{"add", "u32", 0},          {"add", "u64", 5},          {"add", "s32", 7},
                                       {"and", "b32", ~0ull},      {"or", "b32", 0},           {"xor", "b32", 1},
                                       {"min", "s32", 0x7FFFFFFF}, {"max", "s32", 0x80000000}, {"min", "u32", ~0ull},
                                       {"max", "u32", 0},          {"and", "b64", ~0ull},      {"or", "b64", 0},
                                       {"xor", "b64", 1},          {"min", "s64", INT64_MAX},  {"max", "u64", 0}};

/// `.entry k(.param .u64 input, .param .u64 slots, .param .u64 results, .param .u64 counters)`: input is read-only; a
/// thread owns slot_bytes at slots and writes all that it holds at the end to result_bytes at results.
struct Kernel {
    std::string text;
    std::uint32_t grid = 1, block = 32, cluster = 1;
    bool wild = false;
    /// Behind the addresses: `.param .align 64 .b8 mN[128]`. Each map's address counts from the input, or from the
    /// slots.
    struct Map {
        machine::TensorMap map;
        bool of_slots = false;
    };
    std::vector<Map> maps = {};
    std::uint32_t threads() const { return grid * block; }
};

/// `wild`: addresses may be anything, and what needs a whole warp or CTA may stand where lanes have parted. Such a
/// program may fault or wait for ever, and threads may write to one place.
Kernel generate(const Instructions& instructions, Choices& choices, bool wild = false);

}  // namespace tilepath::generated
