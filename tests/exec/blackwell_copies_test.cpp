// What sm_100 added to bulk copies: four rows, byte masks, mbarriers of the other CTA of a pair, wide im2col.
#include <gmock/gmock.h>

#include <numeric>

#include "tensors.h"

namespace tilepath::exec {
namespace {

using machine::TensorMap;
using machine::TensorType;
using ::testing::HasSubstr;

TensorMap rows_of(const std::uint32_t* data, std::uint64_t columns, std::uint64_t rows, std::uint32_t box_columns) {
    TensorMap map;
    map.type = TensorType::u32;
    map.rank = 2;
    map.address = reinterpret_cast<std::uintptr_t>(data);
    map.dims = {columns, rows, 1, 1, 1};
    map.strides = {columns * 4};
    map.box = {box_columns, 1, 1, 1, 1};
    return map;
}

const std::string begin_load = R"(
    .shared .align 1024 .b8 tile[4096];
    .shared .align 8 .b64 full;
    mov.u32 %r1, tile; mov.u32 %r2, full;
    mbarrier.init.shared.b64 [%r2], 1;
    fence.mbarrier_init.release.cluster;
)";
const std::string wait_full = R"(
again:
    mbarrier.try_wait.parity.shared.b64 %p1, [%r2], 0;
    @!%p1 bra again;
)";

/// Rows 5, −1, 0 and 9 of ten are gathered, and scattered to 3, 12, 1 and 0 of another ten: what no row is arrives as
/// zeros and leaves to nowhere.
TEST(FourRows, AreGatheredAndScattered) {
    const program::Program program = compile_with_maps(begin_load + R"(
        mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 128;
        mov.u32 %r10, 4; mov.u32 %r11, 5; mov.u32 %r12, -1; mov.u32 %r13, 0; mov.u32 %r14, 9;
        cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [%r1], [%q40, {%r10, %r11, %r12, %r13, %r14}], [%r2];
    )" + wait_full + R"(
        mov.u32 %r11, 3; mov.u32 %r12, 12; mov.u32 %r13, 1; mov.u32 %r14, 0;
        cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%q41, {%r10, %r11, %r12, %r13, %r14}], [%r1];
        cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
    )",
                                                       2, 0, "sm_100a");
    for (const LaunchOptions& options : every_policy()) {
        Device gpu("sm_100a");
        auto* in = gpu.buffer<std::uint32_t>(16 * 10);
        auto* out = gpu.buffer<std::uint32_t>(16 * 10);
        std::iota(in, in + 160, 1u);
        std::fill(out, out + 160, 7777u);
        const LaunchReport report =
            run_with_maps(gpu, program, blocks(1, 1), options, {rows_of(in, 16, 10, 8), rows_of(out, 16, 10, 8)}, {});
        ASSERT_TRUE(report.ok()) << (report.fault ? to_string(*report.fault) : to_string(*report.deadlock));
        for (std::uint32_t row = 0; row < 10; ++row)
            for (std::uint32_t column = 0; column < 16; ++column) {
                std::uint32_t expected = 7777;
                if (column >= 4 && column < 12) {
                    if (row == 3) expected = 5 * 16 + column + 1;  // the first row gathered
                    if (row == 1) expected = 0 * 16 + column + 1;  // the third
                    if (row == 0) expected = 9 * 16 + column + 1;  // the fourth
                }
                EXPECT_EQ(out[row * 16 + column], expected) << row << ' ' << column;
            }
    }
}

TEST(FourRows, NeedABoxOfOneRow) {
    const program::Program program = compile_with_maps(
        begin_load +
            "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [%r1], "
            "[%q40, {%r10, %r11, %r12, %r13, %r14}], [%r2];",
        1, 0, "sm_100a");
    Device gpu("sm_100a");
    auto* in = gpu.buffer<std::uint32_t>(160);
    TensorMap map = rows_of(in, 16, 10, 8);
    map.box[1] = 4;
    const LaunchReport report = run_with_maps(gpu, program, blocks(1, 1), {}, {map}, {});
    ASSERT_TRUE(report.fault);
    EXPECT_THAT(report.fault->message, HasSubstr("found box[1] = 4"));
}

/// PTX ISA 9.7.9.25.4.1: bit i says whether byte i of every 16 is copied.
TEST(ByteMask, ChoosesAmongSixteenBytes) {
    const program::Program program = compile_with_maps(R"(
        .shared .align 128 .b8 tile[64];
        mov.u32 %r1, tile; mov.u32 %r2, 0; mov.b16 %h0, 0x8031;
    fill:
        add.u32 %r3, %r1, %r2; st.shared.u8 [%r3], %r2; add.u32 %r2, %r2, 1; setp.lt.u32 %p0, %r2, 64; @%p0 bra fill;
        fence.proxy.async.shared::cta;
        cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%q0], [%r1], 64, %h0;
        cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
    )",
                                                       0, 1, "sm_100a");
    for (const LaunchOptions& options : every_policy()) {
        Device gpu("sm_100a");
        auto* out = gpu.buffer<std::uint8_t>(64);
        std::fill(out, out + 64, std::uint8_t{0xEE});
        ASSERT_TRUE(run_with_maps(gpu, program, blocks(1, 1), options, {}, {out}).ok());
        for (int i = 0; i < 64; ++i) {
            const int in_unit = i % 16;
            const bool copied = in_unit == 0 || in_unit == 4 || in_unit == 5 || in_unit == 15;
            EXPECT_EQ(out[i], copied ? i : 0xEE) << i;
        }
    }
}

/// PTX ISA 9.7.9.25.5.2: with .cta_group::2 each CTA loads for itself, and both count on the mbarrier of the even one;
/// with .cta_group::1 that is refused.
std::string pair_load(int group, const std::string& multicast = "") {
    return begin_load +
           fmt::format(R"(
        barrier.cluster.arrive; barrier.cluster.wait;
        mov.u32 %r20, %cluster_ctarank; setp.eq.u32 %p0, %r20, 0;
        @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 64;
        mapa.shared::cluster.u32 %r3, %r2, 0; mov.u32 %r10, 0; mov.b16 %h0, 3;
        {2} cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes{1}.cta_group::{0} [%r1], [%q40, {{%r10, %r20}}], [%r3]{3};
        @!%p0 bra shown;
)",
                       group, multicast.empty() ? "" : ".multicast::cluster", multicast.empty() ? "" : "@%p0",
                       multicast) +
           wait_full + R"(
    shown:
        barrier.cluster.arrive; barrier.cluster.wait;
        ld.shared.u32 %r5, [%r1]; mul.wide.u32 %q1, %r20, 4; add.u64 %q1, %q0, %q1; st.global.u32 [%q1], %r5;
)";
}

LaunchReport run_pair(const std::string& body, const LaunchOptions& options, std::uint32_t (&shown)[2]) {
    Device gpu("sm_100a");
    auto* in = gpu.buffer<std::uint32_t>(16);
    auto* out = gpu.buffer<std::uint32_t>(2);
    std::iota(in, in + 16, 100u);
    const LaunchReport report =
        run_with_maps(gpu, compile_with_maps(body, 1, 1, "sm_100a"), {{2, 1, 1}, {1, 1, 1}, {2, 1, 1}, 0}, options,
                      {rows_of(in, 8, 2, 8)}, {out});
    shown[0] = out[0], shown[1] = out[1];
    return report;
}

TEST(CtaPair, BothCountOnTheEvenOnesMbarrier) {
    for (const LaunchOptions& options : every_policy()) {
        std::uint32_t shown[2];
        const LaunchReport report = run_pair(pair_load(2), options, shown);
        ASSERT_TRUE(report.ok()) << (report.fault ? to_string(*report.fault) : to_string(*report.deadlock));
        EXPECT_EQ(shown[0], 100u);
        EXPECT_EQ(shown[1], 108u);
    }
    std::uint32_t shown[2];
    const LaunchReport alone = run_pair(pair_load(1), {}, shown);
    ASSERT_TRUE(alone.fault);
    EXPECT_THAT(alone.fault->message,
                HasSubstr("the mbarrier lies in the CTA of rank 0, the destination in that of rank 1"));
}

/// Multicast to both: 32 bytes each, all 64 counted on the even CTA's.
TEST(CtaPair, MulticastSignalsTheCtaOfTheMbarriersParity) {
    for (const LaunchOptions& options : every_policy()) {
        std::uint32_t shown[2];
        const LaunchReport report = run_pair(pair_load(2, ", %h0"), options, shown);
        ASSERT_TRUE(report.ok()) << (report.fault ? to_string(*report.fault) : to_string(*report.deadlock));
        EXPECT_EQ(shown[0], 100u);
        EXPECT_EQ(shown[1], 100u);
    }
}

/// im2col_w through a kernel: two pixels and a halo of one, moved by wOffset 1, of rows of W = 3 at H = 1.
TEST(WideIm2col, LoadsAlongW) {
    const program::Program program = compile_with_maps(begin_load + R"(
        mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 192;
        mov.u32 %r10, 0; mov.u32 %r11, 1; mov.b16 %h0, 1; mov.b16 %h1, 1;
        cp.async.bulk.tensor.4d.shared::cta.global.im2col::w.mbarrier::complete_tx::bytes [%r1], [%q40, {%r10, %r10, %r11, %r10}], [%r2], {%h0, %h1};
    )" + wait_full + R"(
        ld.shared.u32 %r5, [%r1]; ld.shared.u32 %r6, [%r1+64]; ld.shared.u32 %r7, [%r1+128];
        st.global.u32 [%q0], %r5; st.global.u32 [%q0+4], %r6; st.global.u32 [%q0+8], %r7;
    )",
                                                       1, 1, "sm_100a");
    Device gpu("sm_100a");
    auto* in = gpu.buffer<std::uint32_t>(16 * 3 * 2 * 2);  // C 16, W 3, H 2, N 2
    auto* out = gpu.buffer<std::uint32_t>(3);
    for (std::uint32_t i = 0; i < 12; ++i) std::fill(in + i * 16, in + i * 16 + 16, 1000 + i);
    TensorMap map;
    map.walk = machine::ImageWalk::im2col_w;
    map.type = TensorType::u32;
    map.rank = 4;
    map.address = reinterpret_cast<std::uintptr_t>(in);
    map.dims = {16, 3, 2, 2, 1};
    map.strides = {64, 192, 384, 0};
    map.swizzle = layout::SwizzleMode::b64;
    map.channels_per_pixel = 16;
    map.pixels_per_column = 2;
    const LaunchReport report = run_with_maps(gpu, program, blocks(1, 1), {}, {map}, {out});
    ASSERT_TRUE(report.ok()) << (report.fault ? to_string(*report.fault) : to_string(*report.deadlock));
    EXPECT_EQ(out[0], 1000u + 3 + 1);  // H 1: pixels 3, 4, 5; W begins at 0 + wOffset
    EXPECT_EQ(out[1], 1000u + 3 + 2);
    EXPECT_EQ(out[2], 0u);  // W = 3 lies in the moved box, and outside of the tensor
    map.pixels_per_column = 128;
    for (const auto& [number, message] :
         {std::pair("mov.b16 %h0, 512;", "wHalo is 0 to 511"), {"mov.b16 %h1, 32;", "wOffset is 0 to 31"}}) {
        const program::Program wrong =
            compile_with_maps(begin_load + "mov.u32 %r10, 0; mov.b16 %h0, 0; mov.b16 %h1, 0; " + number +
                                  "cp.async.bulk.tensor.4d.shared::cta.global.im2col::w.mbarrier::complete_tx::bytes "
                                  "[%r1], [%q40, {%r10, %r10, %r10, %r10}], [%r2], {%h0, %h1};",
                              1, 0, "sm_100a");
        const LaunchReport refused = run_with_maps(gpu, wrong, blocks(1, 1), {}, {map}, {});
        ASSERT_TRUE(refused.fault);
        EXPECT_THAT(refused.fault->message, HasSubstr(message));
    }
}

/// Swizzles that a direction does not have (cuTensorMapEncodeTiled; PTX ISA 5.5.7 of the flip).
TEST(PaddedTypes, GoOneWayOnly) {
    const auto message = [](TensorType type, layout::SwizzleMode swizzle, bool stores) {
        TensorMap map;
        Device gpu("sm_100a");
        map.type = type;
        map.address = reinterpret_cast<std::uintptr_t>(gpu.buffer<std::uint8_t>(4096));
        map.dims = {128, 2, 1, 1, 1}, map.box = {128, 2, 1, 1, 1};
        map.rank = 2, map.strides = {128}, map.swizzle = swizzle;
        if (type == TensorType::u8) map.box[0] = 32;
        const std::string body =
            stores ? "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%q40, {%r10, %r10}], [%r1];"
                   : "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%q40, {%r10, "
                     "%r10}], [%r2];";
        const LaunchReport report =
            run_with_maps(gpu, compile_with_maps(begin_load + "mov.u32 %r10, 0;" + body, 1, 0, "sm_100a"), blocks(1, 1),
                          {}, {map}, {});
        return report.fault ? report.fault->message : std::string();
    };
    using enum layout::SwizzleMode;
    EXPECT_EQ(message(TensorType::u4_align16b, b128, false), "");
    EXPECT_THAT(message(TensorType::u4_align16b, b128, true), HasSubstr("only loaded"));
    EXPECT_EQ(message(TensorType::u6_align16b, b128_atom_64b, true), "");
    EXPECT_THAT(message(TensorType::u6_align16b, b128_atom_64b, false), HasSubstr("only stored"));
    EXPECT_EQ(message(TensorType::u6_align16b, b128_atom_32b, false), "");
    EXPECT_EQ(message(TensorType::u8, b128_atom_32b_flip_8b, false), "");
    EXPECT_THAT(message(TensorType::u8, b128_atom_32b_flip_8b, true), HasSubstr("only loaded"));
}

}  // namespace
}  // namespace tilepath::exec
