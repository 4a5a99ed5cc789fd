// shfl, vote, match, redux, elect, bar.warp.sync.
#include "exec/collectives.h"

#include <bit>

#include "kernel.h"

namespace tilepath::exec {
namespace {

using program::DataType;
using program::MicroOp;
using program::Op;

MicroOp operation(Op op, int variant, DataType type = DataType::b32) {
    MicroOp out;
    out.op = op;
    out.variant = static_cast<std::uint8_t>(variant);
    out.type = type;
    return out;
}

Exchange lanes_with_numbers() {
    Exchange x;
    x.members = all_lanes;
    for (std::uint32_t lane = 0; lane < 32; ++lane) x.a[lane] = 100 + lane;
    return x;
}

struct ShuffleCase {
    program::ShuffleMode mode;
    std::uint32_t b, c;
    int lane, source;  ///< source −1: out of range
};

// Worked out from PTX ISA 9.7.9.6: c holds the clamp in bits 4:0 and the segment mask in bits 12:8.
TEST(Collectives, ShuffleSources) {
    using enum program::ShuffleMode;
    const ShuffleCase cases[] = {
        {up, 1, 0, 0, -1},        {up, 1, 0, 5, 4},      {up, 4, 0x1800, 8, -1},   {up, 4, 0x1800, 13, 9},
        {down, 1, 31, 31, -1},    {down, 1, 31, 30, 31}, {down, 4, 0x181F, 5, -1}, {down, 4, 0x181F, 3, 7},
        {bfly, 16, 31, 3, 19},    {bfly, 3, 31, 30, 29}, {bfly, 8, 0x181F, 3, -1}, {bfly, 4, 0x181F, 27, 31},
        {idx, 7, 31, 20, 7},      {idx, 39, 31, 20, 7},  {idx, 2, 0x181F, 20, 18}, {idx, 5, 3, 20, -1},
        {idx, 9, 0x1C1F, 13, 13},
    };
    for (const ShuffleCase& each : cases) {
        Exchange x = lanes_with_numbers();
        std::fill_n(x.b, 32, each.b);
        std::fill_n(x.c, 32, each.c);
        exchange(operation(Op::shfl, static_cast<int>(each.mode)), x);
        const int source = each.source < 0 ? each.lane : each.source;
        EXPECT_EQ(x.d[each.lane], 100u + static_cast<std::uint32_t>(source))
            << "mode " << int(each.mode) << " lane " << each.lane;
        EXPECT_EQ(x.p >> each.lane & 1, each.source >= 0 ? 1u : 0u)
            << "mode " << int(each.mode) << " lane " << each.lane;
    }
}

TEST(Collectives, Votes) {
    using enum program::VoteMode;
    struct {
        program::VoteMode mode;
        LaneMask members, predicate;
        bool expected;
    } const cases[] = {
        {all, 0xFF, 0xFF, true}, {all, 0xFF, 0xFFFFFF7F, false}, {any, 0xFF, 0xFFFFFF00, false},
        {any, 0xFF, 0x80, true}, {uni, 0xFF, 0, true},           {uni, 0xFF, 0xFFF, true},
        {uni, 0xFF, 1, false},
    };
    for (const auto& each : cases) {
        Exchange x;
        x.members = each.members;
        x.predicate = each.predicate;
        exchange(operation(Op::vote, static_cast<int>(each.mode), DataType::pred), x);
        EXPECT_EQ((x.p & x.members) == x.members, each.expected);
    }
    Exchange x;
    x.members = 0xF0F0;
    x.predicate = 0xFF00;
    exchange(operation(Op::vote, static_cast<int>(ballot)), x);
    EXPECT_EQ(x.d[7], 0xF000u);
}

TEST(Collectives, Matches) {
    Exchange x;
    x.members = 0xFFFF;
    for (std::uint32_t lane = 0; lane < 32; ++lane) x.a[lane] = lane % 3;
    exchange(operation(Op::match, 0), x);
    EXPECT_EQ(x.d[1], 0x2492u);  // 1, 4, 7, 10, 13
    EXPECT_EQ(x.d[15], 0x9249u);
    exchange(operation(Op::match, 1), x);
    EXPECT_EQ(x.d[0], 0u);
    EXPECT_EQ(x.p, 0u);
    std::fill_n(x.a, 32, 5u);
    exchange(operation(Op::match, 1), x);
    EXPECT_EQ(x.d[3], 0xFFFFu);
    EXPECT_EQ(x.p, 0xFFFFu);
    for (std::uint64_t lane = 0; lane < 32; ++lane) x.wide[lane] = lane << 32;
    exchange(operation(Op::match, 0, DataType::b64), x);
    EXPECT_EQ(x.d[4], 1u << 4);
}

TEST(Collectives, Reductions) {
    using enum program::ReduxOp;
    const auto reduced = [](program::ReduxOp op, DataType type, std::initializer_list<std::uint32_t> values) {
        Exchange x;
        int lane = 3;  // not from lane 0 on
        for (std::uint32_t value : values) x.members |= 1u << lane, x.a[lane++] = value;
        exchange(operation(Op::redux, static_cast<int>(op), type), x);
        return x.d[3];
    };
    EXPECT_EQ(reduced(add, DataType::u32, {0xFFFFFFFF, 2, 3}), 4u);
    EXPECT_EQ(reduced(min, DataType::u32, {0xFFFFFFFF, 2, 3}), 2u);
    EXPECT_EQ(reduced(min, DataType::s32, {0xFFFFFFFF, 2, 3}), 0xFFFFFFFFu);
    EXPECT_EQ(reduced(max, DataType::u32, {0xFFFFFFFF, 2, 3}), 0xFFFFFFFFu);
    EXPECT_EQ(reduced(max, DataType::s32, {0xFFFFFFFF, 2, 3}), 3u);
    EXPECT_EQ(reduced(and_, DataType::b32, {0xFF, 0x3C, 0xF0}), 0x30u);
    EXPECT_EQ(reduced(or_, DataType::b32, {0x01, 0x3C, 0x80}), 0xBDu);
    EXPECT_EQ(reduced(xor_, DataType::b32, {0x01, 0x03, 0x80}), 0x82u);
    const auto f = [](float value) { return std::bit_cast<std::uint32_t>(value); };
    EXPECT_EQ(reduced(min, DataType::f32, {f(2), f(-3), 0x7FC00000}), f(-3));
    EXPECT_EQ(reduced(max, DataType::f32, {f(-0.0f), f(0.0f)}), f(0.0f));
    EXPECT_EQ(reduced(min, DataType::f32, {f(0.0f), f(-0.0f)}), f(-0.0f));
}

TEST(Collectives, HalvesOfAWarpWithMasksOfTheirOwn) {
    Device gpu;
    auto* out = gpu.buffer<std::uint32_t>(32);
    // All lanes come to the same instruction, each half with its own mask; then each half alone.
    gpu.run_clean(compile(R"(
        mov.u32 %r0, %laneid; setp.lt.u32 %p0, %r0, 16; selp.b32 %r1, 0x0000FFFF, 0xFFFF0000, %p0;
        redux.sync.add.u32 %r2, %r0, %r1;
        @%p0 bra low;
        redux.sync.max.u32 %r3, %r0, 0xFFFF0000; bra both;
    low:
        redux.sync.max.u32 %r3, %r0, 0x0000FFFF;
    both:
        mad.lo.u32 %r2, %r2, 1000, %r3;
        mul.wide.u32 %q1, %r0, 4; add.u64 %q1, %q1, %q0; st.global.u32 [%q1], %r2;)"),
                  blocks(1, 32), out);
    for (int i = 0; i < 32; ++i) EXPECT_EQ(out[i], i < 16 ? 120015u : 376031u) << i;
}

// PTX asks for the same operation and mask, not for the same place in the code.
TEST(Collectives, OneShuffleFromTwoPlaces) {
    Device gpu;
    auto* out = gpu.buffer<std::uint32_t>(32);
    gpu.run_clean(compile(R"(
        mov.u32 %r0, %laneid; and.b32 %r1, %r0, 1; setp.eq.u32 %p0, %r1, 0;
        @%p0 bra even;
        add.u32 %r2, %r0, 1000; shfl.sync.bfly.b32 %r3, %r2, 1, 31, 0xFFFFFFFF; bra both;
    even:
        add.u32 %r4, %r0, 2000; shfl.sync.bfly.b32 %r3, %r4, 1, 31, 0xFFFFFFFF;
    both:
        mul.wide.u32 %q1, %r0, 4; add.u64 %q1, %q1, %q0; st.global.u32 [%q1], %r3;)"),
                  blocks(1, 32), out);
    for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], i % 2 ? 2000 + i - 1 : 1000 + i + 1) << i;
}

// A turn's last operation may be the one that brings the lanes together: some of the seeds end a turn just there.
TEST(Collectives, LanesMeetAtTheEndOfATurn) {
    std::string work;
    for (int i = 0; i < 300; ++i) work += "add.u32 %r1, %r1, 1;\n";
    const auto program = compile(
        "mov.u32 %r0, %tid.x; and.b32 %r2, %r0, 1; setp.eq.u32 %p0, %r2, 0; mov.u32 %r1, 0;\n"
        "@%p0 bra even;\n" +
        work + "bar.warp.sync -1; bra done;\neven:\n" + work +
        "bar.warp.sync -1;\ndone:\nbar.sync 0; st.global.u32 [%q0], %r1;");
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        Device gpu;
        auto* out = gpu.buffer<std::uint32_t>(1);
        LaunchOptions options;
        options.seed = seed;
        const LaunchReport report = gpu.run(program, blocks(1, 64), options, out);
        ASSERT_TRUE(report.ok()) << "seed " << seed;
        ASSERT_EQ(*out, 300u);
    }
}

TEST(Collectives, WarpBarrierOrdersLanes) {
    Device gpu;
    auto* out = gpu.buffer<std::uint32_t>(32);
    gpu.run_clean(compile(R"(
        .shared .b32 box;
        mov.u32 %r0, %laneid; setp.ne.u32 %p0, %r0, 31;
        @%p0 bra wait;
        st.shared.u32 [box], 77;
    wait:
        bar.warp.sync 0xFFFFFFFF;
        ld.shared.u32 %r1, [box];
        mul.wide.u32 %q1, %r0, 4; add.u64 %q1, %q1, %q0; st.global.u32 [%q1], %r1;)"),
                  blocks(1, 32), out);
    for (int i = 0; i < 32; ++i) EXPECT_EQ(out[i], 77u);
}

TEST(Collectives, ElectNamesOneLane) {
    Device gpu;
    auto* out = gpu.buffer<std::uint32_t>(32);
    gpu.run_clean(compile(R"(
        mov.u32 %r0, %laneid; setp.lt.u32 %p1, %r0, 5; @%p1 exit;
        elect.sync %r1|%p0, 0xFFFFFFFF;
        selp.b32 %r2, 100, 0, %p0; add.u32 %r1, %r1, %r2;
        mul.wide.u32 %q1, %r0, 4; add.u64 %q1, %q1, %q0; st.global.u32 [%q1], %r1;)"),
                  blocks(1, 32), out);
    EXPECT_EQ(out[5], 105u);
    for (int i = 6; i < 32; ++i) EXPECT_EQ(out[i], 5u);
}

}  // namespace
}  // namespace tilepath::exec
