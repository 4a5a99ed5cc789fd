// tcgen05.cp, shift and commit: which bytes come into which cells, and which mbarriers hear of it.
#include <functional>

#include "tmem_kernel.h"

namespace tilepath::exec {
namespace {

using machine::CopyPolicy;

/// What the threads load from columns 0 to 15 of their lanes, after the copy.
std::vector<std::uint32_t> cells_after(const std::string& body, const LaunchOptions& options = {}) {
    Device gpu("sm_100");
    auto* out = gpu.buffer<std::uint32_t>(128 * 16);
    const std::string all = begin_done + fill_tiles + number_cells(16) + hand_over + body + commit_done +
                            wait_done(0, "copied") + "tcgen05.ld.sync.aligned.32x32b.x16.b32 " + vector_of(16) +
                            ", [%r4];\ntcgen05.wait::ld.sync.aligned;\n" + give_registers(16);
    const LaunchReport report = gpu.run(tmem_program(with_columns(32, all)), blocks(1, 128), options, out);
    if (report.fault) ADD_FAILURE() << to_string(*report.fault);
    if (report.deadlock) ADD_FAILURE() << to_string(*report.deadlock);
    return {out, out + 128 * 16};
}
std::vector<std::uint32_t> numbered() {
    std::vector<std::uint32_t> cells(128 * 16);
    for (std::uint32_t i = 0; i < cells.size(); ++i) cells[i] = 1000 * (i / 16) + i % 16;
    return cells;
}

struct Copy {
    std::string name;
    int rows, columns;
    std::function<std::vector<int>(int)> lanes;  ///< of a row
};
const Copy copies[] = {
    {"128x256b", 128, 8, [](int i) { return std::vector{i}; }},
    {"128x128b", 128, 4, [](int i) { return std::vector{i}; }},
    {"4x256b", 4, 8, [](int i) { return std::vector{32 * i}; }},
    {"64x128b.warpx2::02_13", 64, 4,
     [](int i) {
         return std::vector{i, i + 64};
     }},
    {"64x128b.warpx2::01_23", 64, 4,
     [](int i) {
         return std::vector{i / 32 * 64 + i % 32, i / 32 * 64 + i % 32 + 32};
     }},
    {"32x128b.warpx4", 32, 4,
     [](int i) {
         return std::vector{i, i + 32, i + 64, i + 96};
     }},
};

TEST(TmemCopies, EveryShapeThroughEverySwizzle) {
    struct Mode {
        int bits, row_bytes, stride;
    };
    for (const Copy& copy : copies) {
        for (const Mode& mode : {Mode{0, 16, 256}, Mode{6, 32, 256}, Mode{4, 64, 512}, Mode{2, 128, 1024}}) {
            const std::string issue = describe_tiles(128, mode.stride, mode.bits) +
                                      fmt::format("@%p0 tcgen05.cp.cta_group::1.{} [%r3+2], %q20;\n", copy.name);
            std::vector<std::uint32_t> expected = numbered();
            for (int i = 0; i < copy.rows; ++i) {
                for (int c = 0; c < copy.columns; ++c) {
                    int byte = i / 8 * mode.stride + i % 8 * mode.row_bytes + c / 4 * (mode.bits == 0 ? 128 : 16);
                    if (mode.bits != 0) byte ^= (byte >> 7 & (mode.row_bytes / 16 - 1)) << 4;
                    for (const int lane : copy.lanes(i))
                        expected[static_cast<std::size_t>(lane * 16 + c + 2)] =
                            static_cast<std::uint32_t>(3 * (byte / 4 + c % 4) + 1);
                }
            }
            for (const CopyPolicy policy : {CopyPolicy::eager, CopyPolicy::late, CopyPolicy::random})
                EXPECT_EQ(cells_after(issue, with_policy(policy)), expected) << copy.name << ", swizzle " << mode.bits;
        }
    }
}

/// Sixteen elements in the low bits of sixteen bytes become bytes: E2M1 as 00SEEM00, six bits in the lower ones.
TEST(TmemCopies, ElementsAreWidened) {
    for (const int bits : {4, 6}) {
        const std::string issue = describe_tiles(128, 256, 0) +
                                  fmt::format("@%p0 tcgen05.cp.cta_group::1.128x128b.b8x16.b{}x16_p{} [%r3], %q20;\n",
                                              bits, bits == 4 ? 64 : 32);
        const std::vector<std::uint32_t> cells = cells_after(issue);
        for (std::size_t lane = 0; lane < 128; ++lane) {
            for (std::size_t e = 0; e < 16; ++e) {
                unsigned element = 0;
                for (std::size_t b = 0; b < static_cast<std::size_t>(bits); ++b) {
                    const std::size_t bit = e * static_cast<std::size_t>(bits) + b;
                    const std::uint32_t word =
                        static_cast<std::uint32_t>(3 * ((lane / 8 * 256 + lane % 8 * 16) / 4 + bit / 32) + 1);
                    element |= (word >> bit % 32 & 1u) << b;
                }
                if (bits == 4) element <<= 2;
                EXPECT_EQ(cells[lane * 16 + e / 4] >> 8 * (e % 4) & 0xFF, element) << lane << ", " << e;
            }
        }
    }
}

// cicuvc/nvidia-sass-document, UTCSHIFT: on a B200 one shift at lane 0 makes rows 0 to 127 into 1 to 31, 31, 33 to 63,
// 63, 65 to 95, 95, 97 to 127, 127.
TEST(TmemCopies, AShiftMovesRowsButTheLastOfEachWindow) {
    for (const std::uint32_t first : {0u, 64u}) {
        std::vector<std::uint32_t> expected = numbered();
        for (std::uint32_t lane = first; lane < 128; ++lane)
            for (std::uint32_t column = 4; column < 12; ++column)
                expected[lane * 16 + column] = 1000 * (lane % 32 == 31 ? lane : lane + 1) + column;
        const std::string issue =
            fmt::format("add.u32 %r6, %r3, {}; @%p0 tcgen05.shift.cta_group::1.down [%r6];\n", (first << 16) + 4);
        for (const CopyPolicy policy : {CopyPolicy::eager, CopyPolicy::late})
            EXPECT_EQ(cells_after(issue, with_policy(policy)), expected);
    }
}

// A is 128 rows whose first element is the row's number, B's columns are 1 to 16: what the second product adds tells
// what the first has left.
TEST(TmemCopies, AshiftMovesAOnceItHasBeenMultiplied) {
    const std::string body = begin_done + make_operands() + R"(
        cvt.u32.u16 %v0, %h0; mov.u32 %v1, 0;
        tcgen05.st.sync.aligned.32x32b.x8.b32 [%r4], {%v0, %v1, %v1, %v1, %v1, %v1, %v1, %v1};
        tcgen05.wait::st.sync.aligned; tcgen05.fence::before_thread_sync; bar.sync 0; tcgen05.fence::after_thread_sync;
        add.u32 %r31, %r3, 16; add.u32 %r32, %r4, 16;
        @%p0 tcgen05.mma.cta_group::1.kind::f16.ashift [%r31], [%r3], %q21, %r30, %p6;
        @%p0 tcgen05.mma.cta_group::1.kind::f16 [%r31], [%r3], %q21, %r30, %p7;
        )" + commit_done + wait_done(0, "multiplied") +
                             "tcgen05.fence::after_thread_sync;\ntcgen05.ld.sync.aligned.32x32b.x16.b32 " +
                             vector_of(16) + ", [%r32];\ntcgen05.wait::ld.sync.aligned;\n" + give_registers(16);
    for (const CopyPolicy policy : {CopyPolicy::eager, CopyPolicy::late, CopyPolicy::random}) {
        Device gpu("sm_100");
        auto* out = gpu.buffer<float>(128 * 16);
        const LaunchReport report = gpu.run(tmem_program(".reg .b16 %h<2>;\n" + with_columns(32, body)), blocks(1, 128),
                                            with_policy(policy), out);
        ASSERT_FALSE(report.fault) << to_string(*report.fault);
        for (int row = 0; row < 128; ++row)
            for (int column = 0; column < 16; ++column)
                ASSERT_EQ(out[row * 16 + column],
                          static_cast<float>((row + (row % 32 == 31 ? row : row + 1)) * (column + 1)))
                    << row << ", " << column;
    }
}

// -- when they land

TEST(TmemCopies, SharedMemoryOverwrittenBeforeTheCommitIsWhatALateCopyReads) {
    const std::string copy = describe_tiles(128, 256, 0) + "@%p0 tcgen05.cp.cta_group::1.128x128b [%r3], %q20;\n";
    const std::string overwrite = "mov.u32 %r50, 77; @%p0 st.shared.u32 [tiles], %r50; fence.proxy.async;\n";
    EXPECT_EQ(cells_after(copy + overwrite, with_policy(CopyPolicy::eager))[0], 1u);
    EXPECT_EQ(cells_after(copy + overwrite, with_policy(CopyPolicy::late))[0], 77u);
    EXPECT_EQ(cells_after(overwrite + copy, with_policy(CopyPolicy::late))[0], 77u);
}

TEST(TmemCopies, WithoutAProxyFenceALateCopyReadsTheOldBytes) {
    const std::string copy = describe_tiles(128, 256, 0) + "@%p0 tcgen05.cp.cta_group::1.128x128b [%r3], %q20;\n";
    const std::string overwrite = "mov.u32 %r50, 77; @%p0 st.shared.u32 [tiles], %r50;\n";
    EXPECT_EQ(cells_after(overwrite + copy, with_policy(CopyPolicy::eager))[0], 77u);
    EXPECT_EQ(cells_after(overwrite + copy, with_policy(CopyPolicy::late))[0], 1u);
}

TEST(TmemCopies, ReadBeforeTheCommitArrivesIsOld) {
    const std::string copy = describe_tiles(128, 256, 0) + "@%p0 tcgen05.cp.cta_group::1.128x128b [%r3], %q20;\n";
    const auto seen = [&](CopyPolicy policy) {
        Device gpu("sm_100");
        auto* out = gpu.buffer<std::uint32_t>(128);
        const std::string body = begin_done + fill_tiles + number_cells(1) + hand_over + copy +
                                 "bar.sync 0; tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v0}, [%r4];\n"
                                 "tcgen05.wait::ld.sync.aligned;\n" +
                                 give_registers(1) + "bar.sync 0;\n" + commit_done + wait_done(0, "copied");
        EXPECT_TRUE(gpu.run(tmem_program(with_columns(32, body)), blocks(1, 128), with_policy(policy), out).ok());
        return out[5];
    };
    EXPECT_EQ(seen(CopyPolicy::eager), 3u * 20 + 1);
    EXPECT_EQ(seen(CopyPolicy::late), 5000u);
}

/// A copy into cells that an earlier copy writes: not in order without a wait between them.
TEST(TmemCopies, TwoCopiesAreNotOrdered) {
    const std::string two = describe_tiles(128, 256, 0) +
                            "add.u64 %q21, %q20, 256; @%p0 tcgen05.cp.cta_group::1.128x128b [%r3], %q20;\n"
                            "@%p0 tcgen05.cp.cta_group::1.128x128b [%r3], %q21;\n";
    bool first = false, second = false;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const std::uint32_t cell = cells_after(two, with_policy(CopyPolicy::random, seed))[0];
        first = first || cell == 1;
        second = second || cell == 3 * 1024 + 1;
        EXPECT_TRUE(cell == 1 || cell == 3 * 1024 + 1);
    }
    EXPECT_TRUE(first && second);
}

// -- commits

TEST(TmemCopies, ACommitOfNothingArrivesOnceToo) {
    EXPECT_EQ(cells_after("", with_policy(CopyPolicy::late)), numbered());
}

TEST(TmemCopies, ADeadlockNamesWhatNobodyCommitted) {
    Device gpu("sm_100");
    const std::string body = begin_done + fill_tiles + describe_tiles(128, 256, 0) +
                             "@%p0 tcgen05.cp.cta_group::1.128x128b [%r3], %q20;\n" + wait_done(0, "copied");
    const LaunchReport report = gpu.run(tmem_program(with_columns(32, body), 0), blocks(1, 128), {});
    ASSERT_TRUE(report.deadlock);
    const std::string text = to_string(*report.deadlock);
    EXPECT_NE(text.find("; 1 tcgen05 operation from line "), std::string::npos) << text;
    EXPECT_NE(text.find("by warp 0 on, lane 0, is followed by no tcgen05.commit of that thread"), std::string::npos)
        << text;
}

TEST(TmemCopies, ADeadlockNamesTheCommitsThatCouldComplete) {
    Device gpu("sm_100");
    const std::string body = begin_done + commit_done + wait_done(0, "once") + wait_done(1, "twice");
    const LaunchReport report = gpu.run(tmem_program(with_columns(32, body), 0), blocks(1, 128), {});
    ASSERT_TRUE(report.deadlock);
    EXPECT_NE(to_string(*report.deadlock).find("; could complete it: line "), std::string::npos)
        << to_string(*report.deadlock);
}

TEST(TmemCopies, WrongOperandsAreFaults) {
    const auto wrong = [](const std::string& body) { return tmem_fault(with_columns(32, begin_done + body)); };
    const std::string copy = "@%p0 tcgen05.cp.cta_group::1.128x128b [%r3], %q20;\n";
    Fault fault = wrong("mov.b64 %q20, 0x6000000000000000;\n" + copy);
    EXPECT_EQ(fault.kind, FaultKind::tcgen05);
    EXPECT_EQ(fault.message, "the matrix descriptor 0x6000000000000000: bits 61-63 are 3, which is no swizzle mode");
    fault = wrong(describe_tiles(128, 4096, 0) + copy);
    EXPECT_EQ(fault.kind, FaultKind::out_of_bounds);
    EXPECT_NE(fault.message.find("leads to bytes"), std::string::npos) << fault.message;
    fault = wrong(describe_tiles(128, 256, 0) + "add.u32 %r3, %r3, 32;\n" + copy);
    EXPECT_EQ(fault.kind, FaultKind::tensor_memory_access);
    EXPECT_NE(fault.tensor_memory.find("columns 32-35, lanes 0-127; 0 columns behind the allocation"),
              std::string::npos)
        << fault.tensor_memory;
    fault = wrong(describe_tiles(128, 256, 0) + "add.u32 %r3, %r3, 0x10000;\n" + copy);
    EXPECT_EQ(fault.message, "the address names lane 1, from which on the copy's rows reach lane 128; there are 128");
    fault = wrong("add.u32 %r3, %r3, 0x10000; @%p0 tcgen05.shift.cta_group::1.down [%r3];\n");
    EXPECT_EQ(fault.message, "the address names lane 1; a shift's is 0, 32, 64 or 96");
    fault = wrong("@%p0 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [tiles];\n");
    EXPECT_EQ(fault.kind, FaultKind::mbarrier);
}

}  // namespace
}  // namespace tilepath::exec
