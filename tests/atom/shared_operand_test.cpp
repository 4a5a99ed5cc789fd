#include "atom/shared_operand.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "atom/matrix_descriptor.h"
#include "layout/cute.h"

namespace tilepath::atom {
namespace {

using layout::Axis;
using layout::SwizzleMode;

/// The element offset of CuTe's flat shape:stride at a number, first digit fastest.
std::int64_t walk(std::int64_t number, std::initializer_list<std::pair<std::int64_t, std::int64_t>> digits) {
    std::int64_t sum = 0;
    for (auto [extent, stride] : digits) {
        sum += number % extent * stride;
        number /= extent;
    }
    return sum;
}

struct Form {
    SharedOperand operand;
    /// In elements, from CuTe's canonical forms, T = 128 / bits (mma_traits_sm90_gmma.hpp; PTX ISA 9.7.15.5.1).
    std::function<std::int64_t(std::int64_t mn, std::int64_t k)> offset;
};

std::vector<Form> forms(int bits) {
    std::int64_t t = 128 / bits, sbo = 1536 * 8 / bits, lbo = 4096 * 8 / bits;
    std::vector<Form> all;
    auto operand = [&](OperandMajor major, SwizzleMode mode, int mn, int k) {
        return SharedOperand{major, mode, bits, mn, k, 4096, 1536};
    };
    int k = static_cast<int>(2 * t);  // 32 bytes of K
    all.push_back({operand(OperandMajor::k, SwizzleMode::none, 64, k), [=](std::int64_t mn, std::int64_t kk) {
                       return walk(mn, {{8, t}, {8, sbo}}) + walk(kk, {{t, 1}, {2, lbo}});
                   }});
    for (auto [mode, w] : {std::pair{SwizzleMode::b32, 2},
                           {SwizzleMode::b64, 4},
                           {SwizzleMode::b128, 8},
                           {SwizzleMode::b128_atom_32b, 8}}) {
        all.push_back({operand(OperandMajor::k, mode, 64, k), [=, w = w](std::int64_t mn, std::int64_t kk) {
                           return walk(mn, {{8, w * t}, {8, sbo}}) + walk(kk, {{t, 1}, {2, t}});
                       }});
        if (mode == SwizzleMode::b128_atom_32b) continue;  // groups of four k, below
        all.push_back({operand(OperandMajor::mn, mode, static_cast<int>(2 * w * t), 32),
                       [=, w = w](std::int64_t mn, std::int64_t kk) {
                           return walk(mn, {{t, 1}, {w, t}, {2, lbo}}) + walk(kk, {{8, w * t}, {4, sbo}});
                       }});
    }
    all.push_back({operand(OperandMajor::mn, SwizzleMode::none, 64, 16), [=](std::int64_t mn, std::int64_t kk) {
                       return walk(mn, {{t, 1}, {64 / t, sbo}}) + walk(kk, {{8, t}, {2, lbo}});
                   }});
    all.push_back({operand(OperandMajor::mn, SwizzleMode::b128_atom_32b, static_cast<int>(16 * t), 8),
                   [=](std::int64_t mn, std::int64_t kk) {
                       return walk(mn, {{t, 1}, {8, t}, {2, lbo}}) + walk(kk, {{4, 8 * t}, {2, sbo}});
                   }});
    // Sparse B, 64 bytes of K: it fits 64- and 128-byte rows; with 32-byte rows the second half lies LBO on (H200).
    all.push_back(
        {operand(OperandMajor::k, SwizzleMode::b64, 8, static_cast<int>(4 * t)), [=](std::int64_t mn, std::int64_t kk) {
             return walk(mn, {{8, 4 * t}}) + kk;
         }});
    all.push_back(
        {operand(OperandMajor::k, SwizzleMode::b32, 8, static_cast<int>(4 * t)), [=](std::int64_t mn, std::int64_t kk) {
             return walk(mn, {{8, 2 * t}}) + walk(kk, {{2 * t, 1}, {2, lbo}});
         }});
    return all;
}

TEST(SharedOperand, LayoutsAreTheCanonicalForms) {
    for (int bits : {8, 16, 32}) {
        for (const Form& form : forms(bits)) {
            auto layout = operand_layout(form.operand);
            ASSERT_TRUE(layout) << to_string(layout.error());
            for (std::int64_t mn = 0; mn < form.operand.mn; ++mn) {
                for (std::int64_t k = 0; k < form.operand.k; ++k) {
                    ASSERT_EQ(layout->evaluate({mn, k})->front()[Axis::m], form.offset(mn, k) * bits / 8)
                        << bits << " bits, " << layout::traits(form.operand.swizzle).name << " mn " << mn << " k " << k;
                }
            }
        }
    }
}

TEST(SharedOperand, ManualsWorkedExamples) {
    // PTX ISA 9.7.15.5.1.1: CuTe layouts in elements with their byte offsets.
    struct Row {
        SharedOperand operand;
        std::string_view cute;  // (mn, k)
    };
    for (const Row& row : {
             Row{{OperandMajor::k, SwizzleMode::none, 32, 16, 16, 256, 128}, "((8,2),(4,4)):((4,32),(1,64))"},
             Row{{OperandMajor::mn, SwizzleMode::none, 16, 16, 16, 256, 128}, "((8,1,2),(8,2)):((1,8,64),(8,128))"},
             Row{{OperandMajor::mn, SwizzleMode::b64, 16, 64, 16, 512, 1024}, "((8,4,2),(8,2)):((1,8,256),(32,512))"},
         }) {
        auto ours = operand_layout(row.operand);
        auto theirs = layout::parse_cute(row.cute);
        ASSERT_TRUE(ours && theirs);
        for (std::int64_t mn = 0; mn < row.operand.mn; ++mn)
            for (std::int64_t k = 0; k < row.operand.k; ++k)
                EXPECT_EQ(ours->evaluate({mn, k})->front()[Axis::m],
                          theirs->evaluate({mn, k})->front()[Axis::m] * row.operand.element_bits / 8);
    }
}

TEST(SharedOperand, NarrowElementsPackLowBitsFirst) {
    auto b1 = operand_layout({OperandMajor::k, SwizzleMode::b128, 1, 8, 256, 16, 1024});
    ASSERT_TRUE(b1);
    auto places = b1->evaluate({3, 201});
    EXPECT_EQ(places->front()[Axis::m], 3 * 128 + 201 / 8);
    EXPECT_EQ(places->front()[Axis::bit], 201 % 8);
    auto s4 = operand_layout({OperandMajor::k, SwizzleMode::none, 4, 8, 64, 512, 128});
    ASSERT_TRUE(s4);
    EXPECT_EQ(s4->evaluate({1, 33})->front()[Axis::m], 16 + 512);
    EXPECT_EQ(s4->evaluate({1, 33})->front()[Axis::bit], 4);
}

TEST(SharedOperand, TilesAreTheirStepsPutTogether) {
    for (int bits : {8, 16, 32}) {
        for (SwizzleMode mode :
             {SwizzleMode::none, SwizzleMode::b32, SwizzleMode::b64, SwizzleMode::b128, SwizzleMode::b128_atom_32b}) {
            for (OperandMajor major : {OperandMajor::k, OperandMajor::mn}) {
                int k = 256 / bits;
                auto tile = shared_tile(major, mode, bits, 128, 4 * k, k);
                ASSERT_TRUE(tile) << to_string(tile.error());
                auto part = operand_layout(tile->operand);
                ASSERT_TRUE(part);
                std::set<std::int64_t> bytes;
                for (std::int64_t mn = 0; mn < 128; ++mn) {
                    for (int step = 0; step < 4; ++step) {
                        for (std::int64_t kk = 0; kk < k; ++kk) {
                            std::int64_t whole = tile->layout.evaluate({mn, step * k + kk})->front()[Axis::m];
                            std::int64_t start = tile->step_bytes(step);
                            std::int64_t offset = part->evaluate({mn, kk})->front()[Axis::m];
                            ASSERT_EQ(whole, start + offset) << bits << " " << layout::traits(mode).name << " " << step;
                            // Base at a pattern boundary: base offset 0, also for starts inside the pattern.
                            ASSERT_EQ(operand_address(tile->operand, static_cast<std::uint64_t>(4096 + start), 0,
                                                      static_cast<std::uint64_t>(offset)),
                                      layout::swizzled(mode, static_cast<std::uint64_t>(4096 + whole)));
                            bytes.insert(whole);
                        }
                    }
                }
                EXPECT_EQ(bytes.size(), static_cast<std::size_t>(128 * 4 * k));
                EXPECT_EQ(*bytes.rbegin(), tile->bytes - bits / 8);
            }
        }
    }
}

TEST(SharedOperand, StepsAlongK) {
    // K-major, 128-byte rows of f16: 32 bytes a step inside the row, then the next atom column.
    auto tile = shared_tile(OperandMajor::k, SwizzleMode::b128, 16, 64, 128, 16);
    ASSERT_TRUE(tile);
    EXPECT_EQ(tile->step_bytes(1), 32);
    EXPECT_EQ(tile->step_bytes(3), 96);
    EXPECT_EQ(tile->step_bytes(4), 64 * 128);
    EXPECT_EQ(tile->operand.stride_bytes, 1024);
    // MN-major f16: (MMA_K / 8)·SBO; contiguous atoms: 2048, 1024, 512 bytes for 128, 64, 32.
    EXPECT_EQ(shared_tile(OperandMajor::mn, SwizzleMode::b128, 16, 64, 64, 16)->step_bytes(1), 2048);
    EXPECT_EQ(shared_tile(OperandMajor::mn, SwizzleMode::b64, 16, 32, 64, 16)->step_bytes(1), 1024);
    EXPECT_EQ(shared_tile(OperandMajor::mn, SwizzleMode::b32, 16, 16, 64, 16)->step_bytes(1), 512);
    // Without a swizzle: 2·LBO.
    auto none = shared_tile(OperandMajor::k, SwizzleMode::none, 16, 64, 64, 16);
    EXPECT_EQ(none->step_bytes(1), 2 * none->operand.leading_bytes);
}

TEST(SharedOperand, BadOperandsNameTheRule) {
    auto message = [](SharedOperand operand) {
        auto layout = operand_layout(operand);
        return layout ? "legal" : layout.error().front().message;
    };
    EXPECT_EQ(message({OperandMajor::k, SwizzleMode::b128_atom_64b, 16, 64, 16, 16, 16}),
              "matrix operands have no swizzle mode 128B_atom_64B");
    EXPECT_EQ(message({OperandMajor::k, SwizzleMode::none, 16, 12, 16, 16, 16}),
              "expected mn of a multiple of 8, found 12");
    EXPECT_EQ(message({OperandMajor::mn, SwizzleMode::b128, 16, 32, 16, 16, 16}),
              "expected mn of a multiple of 64, found 32");
    EXPECT_EQ(message({OperandMajor::k, SwizzleMode::none, 12, 8, 16, 16, 16}),
              "expected elements of 1, 4, 8, 16 or 32 bits, found 12");
    // 36 elements of 4 bytes are four and a half rows of 32 bytes.
    EXPECT_EQ(message({OperandMajor::k, SwizzleMode::b32, 32, 8, 36, 16, 16}),
              "expected k of a multiple of 8, found 36");
    EXPECT_EQ(message({OperandMajor::k, SwizzleMode::b32, 32, 8, 4, 16, 16}), "legal");
    EXPECT_FALSE(shared_tile(OperandMajor::k, SwizzleMode::b128, 16, 64, 24, 16));
}

TEST(MatrixDescriptor, FieldsByHand) {
    // Start 0x2420, LBO 16, SBO 1024, base offset 5, 128-byte swizzle.
    std::uint64_t bits = 0x242ull | 1ull << 16 | 64ull << 32 | 5ull << 49 | 1ull << 62;
    MatrixDescriptor descriptor = decode_matrix_descriptor(bits);
    EXPECT_EQ(descriptor, (MatrixDescriptor{0x2420, 16, 1024, 5, SwizzleMode::b128, 0}));
    EXPECT_EQ(*encode(descriptor), bits);
    EXPECT_EQ(decode_matrix_descriptor(2ull << 62).swizzle, SwizzleMode::b64);
    EXPECT_EQ(decode_matrix_descriptor(3ull << 62).swizzle, SwizzleMode::b32);
    EXPECT_EQ(decode_matrix_descriptor(0).swizzle, SwizzleMode::none);
    // Every bit belongs to one field or is reserved, and comes back.
    for (int i = 0; i < 64; ++i) EXPECT_EQ(*encode(decode_matrix_descriptor(1ull << i)), 1ull << i);
    EXPECT_EQ(decode_matrix_descriptor(1ull << 14).reserved, 1ull << 14);
    EXPECT_EQ(decode_matrix_descriptor(1ull << 46).reserved, 1ull << 46);
    EXPECT_EQ(fields(descriptor)[4].bits, "62-63");
    EXPECT_EQ(fields(descriptor)[4].value, "1 = 128B, Sw<3,4,3> on byte addresses");
}

TEST(MatrixDescriptor, BadFieldsNameTheRule) {
    auto message = [](MatrixDescriptor descriptor) {
        auto bits = encode(descriptor);
        return bits ? "legal" : bits.error().front().message;
    };
    EXPECT_EQ(message({8, 16, 1024, 0, SwizzleMode::b128, 0}),
              "the start address must be a multiple of 16 below 262144, found 8");
    EXPECT_EQ(message({0, 16, 1 << 18, 0, SwizzleMode::b128, 0}),
              "the stride dimension byte offset must be a multiple of 16 below 262144, found 262144");
    EXPECT_EQ(message({0, 16, 1024, 8, SwizzleMode::b128, 0}), "the base offset must be 0 to 7, found 8");
    EXPECT_EQ(message({0, 16, 1024, 0, SwizzleMode::b128_atom_32b, 0}), "wgmma has no swizzle mode 128B_atom_32B");
}

TEST(MatrixDescriptor, ValidationFindsTheClassicMistakes) {
    SharedOperand operand{OperandMajor::k, SwizzleMode::b128, 16, 64, 16, 16, 1024};
    auto first = [&](MatrixDescriptor descriptor) {
        Diagnostics all = validate(descriptor, operand);
        return all.empty() ? "" : all.front().message;
    };
    EXPECT_EQ(first({4096, 16, 1024, 0, SwizzleMode::b128, 0}), "");
    EXPECT_EQ(first({4096 + 32, 16, 1024, 0, SwizzleMode::b128, 0}), "");
    // A tile based at 128 bytes: the pattern is entered in its row 1.
    EXPECT_EQ(first({4096 + 128, 16, 1024, 0, SwizzleMode::b128, 0}),
              "the start address lies 1 rows into the 1024-byte swizzle pattern with base offset 0");
    // Stride offset encoded in units of 16 twice: rows fall upon each other.
    EXPECT_EQ(first({4096, 16, 64, 0, SwizzleMode::b128, 0}), "elements (mn 1, k 0) and (mn 16, k 0) lie at one place");
    EXPECT_EQ(first({4096, 16, 1024, 0, SwizzleMode::b128, 1ull << 30}), "reserved bits are set: 0x0000000040000000");
    operand.major = OperandMajor::mn;
    operand.element_bits = 8;
    operand.mn = 128;
    operand.k = 32;
    EXPECT_EQ(first({4096, 1024, 2048, 0, SwizzleMode::b128, 0}), "only 16-bit types may be MN-major (tnsp)");
}

}  // namespace
}  // namespace tilepath::atom
