// tcgen05.ld, st, wait: who gets which cell, packed and not, reduced, and under each policy.
#include <cmath>
#include <functional>
#include <limits>

#include "tmem_kernel.h"

namespace tilepath::exec {
namespace {

using machine::CopyPolicy;

struct Cell {
    int lane, column;
};

/// PTX ISA 9.7.16.2.3, as formulae of the lane l and the register r.
struct Shape {
    std::string name;
    int repeats, registers, lanes;
    std::function<Cell(int, int)> cell;
};
const Shape shapes[] = {
    {"32x32b", 1, 1, 32,
     [](int l, int r) {
         return Cell{l, r};
     }},
    {"32x32b", 32, 32, 32,
     [](int l, int r) {
         return Cell{l, r};
     }},
    {"16x64b", 8, 8, 16,
     [](int l, int r) {
         return Cell{l / 4 + 8 * (l % 2), l / 2 % 2 + 2 * r};
     }},
    {"16x128b", 4, 8, 16,
     [](int l, int r) {
         return Cell{l / 4 + 8 * (r % 2), l % 4 + 4 * (r / 2)};
     }},
    {"16x256b", 2, 8, 16,
     [](int l, int r) {
         return Cell{l / 4 + 8 * (r / 2 % 2), r % 2 + 2 * (l % 4) + 8 * (r / 4)};
     }},
    {"16x32bx2", 4, 4, 16,
     [](int l, int r) {
         return Cell{l % 16, r + (l >= 16 ? 9 : 0)};
     }},
};
std::string offset(const Shape& shape) { return shape.name == "16x32bx2" ? ", 9" : ""; }

TEST(TmemTransfers, EveryShapeLoadsItsCells) {
    for (const Shape& shape : shapes) {
        for (const int upper : {0, 16}) {
            if (upper + shape.lanes > 32) continue;
            Device gpu("sm_100");
            auto* out = gpu.buffer<std::uint32_t>(128 * 32);
            const std::string body =
                number_cells(64) +
                fmt::format(
                    "add.u32 %r6, %r4, {};\ntcgen05.ld.sync.aligned.{}.x{}.b32 {}, [%r6+3]{};\n"
                    "tcgen05.wait::ld.sync.aligned;\n",
                    upper << 16, shape.name, shape.repeats, vector_of(shape.registers), offset(shape)) +
                give_registers(shape.registers);
            gpu.run_clean(tmem_program(with_columns(64, body)), blocks(1, 128), out);
            for (int t = 0; t < 128; ++t) {
                for (int r = 0; r < shape.registers; ++r) {
                    const Cell at = shape.cell(t % 32, r);
                    EXPECT_EQ(out[t * shape.registers + r],
                              static_cast<std::uint32_t>(1000 * (t / 32 * 32 + upper + at.lane) + at.column + 3))
                        << shape.name << ", thread " << t << ", register " << r;
                }
            }
        }
    }
}

TEST(TmemTransfers, EveryShapeStoresItsCells) {
    for (const Shape& shape : shapes) {
        Device gpu("sm_100");
        auto* out = gpu.buffer<std::uint32_t>(128 * 64);
        std::string body = number_cells(64);
        for (int r = 0; r < shape.registers; ++r)
            body += fmt::format("mul.lo.u32 %v{0}, %r0, 64; add.u32 %v{0}, %v{0}, {1};\n", r, 1'000'000 + r);
        body += fmt::format("tcgen05.st.sync.aligned.{}.x{}.b32 [%r4+5]{}, {};\ntcgen05.wait::st.sync.aligned;\n",
                            shape.name, shape.repeats, offset(shape), vector_of(shape.registers));
        body += "tcgen05.ld.sync.aligned.32x32b.x64.b32 " + vector_of(64, "w") +
                ", [%r4];\ntcgen05.wait::ld.sync.aligned;\n" + give_registers(64, "w");
        gpu.run_clean(tmem_program(with_columns(64, body)), blocks(1, 128), out);
        std::vector<std::uint32_t> expected(128 * 64);
        for (std::uint32_t lane = 0; lane < 128; ++lane)
            for (std::uint32_t column = 0; column < 64; ++column) expected[lane * 64 + column] = 1000 * lane + column;
        for (int t = 0; t < 128; ++t) {
            for (int r = 0; r < shape.registers; ++r) {
                const Cell at = shape.cell(t % 32, r);
                expected[static_cast<std::size_t>((t / 32 * 32 + at.lane) * 64 + at.column + 5)] =
                    static_cast<std::uint32_t>(1'000'000 + 64 * t + r);
            }
        }
        EXPECT_EQ(std::vector(out, out + 128 * 64), expected) << shape.name;
    }
}

TEST(TmemTransfers, ASplitCountsAsAddressesDo) {
    Device gpu("sm_100");
    auto* out = gpu.buffer<std::uint32_t>(128);
    // ptxas 13.0 takes it: 16 columns modulo 2^32.
    const std::string load = "tcgen05.ld.sync.aligned.16x32bx2.x1.b32 {%v0}, [%r4], 4611686018427387920;\n";
    gpu.run_clean(tmem_program(with_columns(
                      64, number_cells(64) + load + "tcgen05.wait::ld.sync.aligned;\n" + give_registers(1))),
                  blocks(1, 128), out);
    for (std::uint32_t t = 0; t < 128; ++t)
        EXPECT_EQ(out[t], 1000 * (t / 32 * 32 + t % 16) + (t % 32 < 16 ? 0 : 16)) << "thread " << t;
}

TEST(TmemTransfers, PackedLoadsTakeTheLowerHalvesOfTwoColumns) {
    Device gpu("sm_100");
    auto* out = gpu.buffer<std::uint32_t>(128 * 4);
    const std::string body = number_cells(8) +
                             "tcgen05.ld.sync.aligned.32x32b.x4.pack::16b.b32 {%v0, %v1, %v2, %v3}, [%r4];\n"
                             "tcgen05.wait::ld.sync.aligned;\n" +
                             give_registers(4);
    gpu.run_clean(tmem_program(with_columns(32, body)), blocks(1, 128), out);
    for (std::uint32_t t = 0; t < 128; ++t)
        for (std::uint32_t r = 0; r < 4; ++r)
            EXPECT_EQ(out[t * 4 + r], ((1000 * t + 2 * r) & 0xFFFF) | (1000 * t + 2 * r + 1) << 16);
}

TEST(TmemTransfers, UnpackedStoresFillTheLowerHalvesOfTwoColumns) {
    Device gpu("sm_100");
    auto* out = gpu.buffer<std::uint32_t>(128 * 4);
    const std::string body = number_cells(4) +
                             "mov.u32 %v0, 0x12345678; add.u32 %v1, %r0, 0xABCD0000;\n"
                             "tcgen05.st.sync.aligned.32x32b.x2.unpack::16b.b32 [%r4], {%v0, %v1};\n"
                             "tcgen05.wait::st.sync.aligned;\n"
                             "tcgen05.ld.sync.aligned.32x32b.x4.b32 {%v0, %v1, %v2, %v3}, [%r4];\n"
                             "tcgen05.wait::ld.sync.aligned;\n" +
                             give_registers(4);
    gpu.run_clean(tmem_program(with_columns(32, body)), blocks(1, 128), out);
    for (std::uint32_t t = 0; t < 128; ++t)
        EXPECT_EQ(std::vector(out + 4 * t, out + 4 * t + 4), (std::vector<std::uint32_t>{0x5678, 0x1234, t, 0xABCD}));
}

std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }

TEST(TmemTransfers, LoadsReduceWhatTheyLoad) {
    struct Case {
        std::string words, type;
        std::vector<std::uint32_t> cells;
        std::uint32_t reduced;
    };
    const std::uint32_t nan = 0x7FC00000, canonical = 0x7FFFFFFF;
    const Case cases[] = {
        {"min", "u32", {7, 0xFFFFFFFF, 3, 9}, 3},
        {"max", "u32", {7, 0xFFFFFFFF, 3, 9}, 0xFFFFFFFF},
        {"min", "s32", {7, 0xFFFFFFFF, 3, 9}, 0xFFFFFFFF},
        {"max", "s32", {7, 0xFFFFFFFF, 3, 9}, 9},
        {"max", "f32", {bits_of(-1.5f), bits_of(0.25f), nan, bits_of(-7.0f)}, bits_of(0.25f)},
        {"max.NaN", "f32", {bits_of(-1.5f), bits_of(0.25f), nan, bits_of(-7.0f)}, canonical},
        {"max.abs", "f32", {bits_of(-1.5f), bits_of(0.25f), nan, bits_of(-7.0f)}, bits_of(7.0f)},
        {"min.abs.NaN", "f32", {bits_of(-1.5f), bits_of(0.25f), bits_of(-0.0f), bits_of(-7.0f)}, 0},
        {"min", "f32", {bits_of(0.0f), bits_of(-0.0f), bits_of(1.0f), bits_of(2.0f)}, bits_of(-0.0f)},
    };
    for (const Case& test : cases) {
        Device gpu("sm_103");
        auto* out = gpu.buffer<std::uint32_t>(128 * 5);
        std::string body;
        for (int i = 0; i < 4; ++i)
            body += fmt::format("mov.u32 %w{}, {};\n", i, test.cells[static_cast<std::size_t>(i)]);
        body += fmt::format(
            "tcgen05.st.sync.aligned.32x32b.x4.b32 [%r4], {{%w0, %w1, %w2, %w3}};\ntcgen05.wait::st.sync.aligned;\n"
            "tcgen05.ld.red.sync.aligned.32x32b.x4.{}.{} {{%v0, %v1, %v2, %v3}}, %v4, [%r4];\n"
            "tcgen05.wait::ld.sync.aligned;\n",
            test.words, test.type);
        gpu.run_clean(tmem_program(with_columns(32, body + give_registers(5)), 1, "sm_103a"), blocks(1, 128), out);
        for (std::size_t t = 0; t < 128; ++t) {
            EXPECT_EQ(std::vector(out + 5 * t, out + 5 * t + 4), test.cells);
            EXPECT_EQ(out[5 * t + 4], test.reduced) << test.words << "." << test.type;
        }
    }
}

/// What the threads load and give, under a policy: a kernel that stores 1 to a column, 2 after it, and loads.
std::uint32_t loaded(const std::string& between_stores, const std::string& before_load, const std::string& after_load,
                     const LaunchOptions& options, bool may_fail = false) {
    Device gpu("sm_100");
    auto* out = gpu.buffer<std::uint32_t>(128);
    const std::string body =
        "mov.u32 %v1, 1; mov.u32 %v2, 2;\n"
        "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r4], {%v1};\n" +
        between_stores + "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r4], {%v2};\n" + before_load +
        "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v0}, [%r4];\n" + after_load + give_registers(1);
    const LaunchReport report = gpu.run(tmem_program(with_columns(32, body)), blocks(1, 128), options, out);
    if (report.fault && !may_fail) ADD_FAILURE() << to_string(*report.fault);
    for (int t = 1; t < 128; ++t) EXPECT_EQ(out[0], out[t]);
    return out[0];
}
const std::string stored = "tcgen05.wait::st.sync.aligned;\n", has_loaded = "tcgen05.wait::ld.sync.aligned;\n";

TEST(TmemTransfers, AStoreIsThereAfterItsWait) {
    for (const CopyPolicy policy : {CopyPolicy::eager, CopyPolicy::late, CopyPolicy::random})
        for (std::uint64_t seed = 0; seed < 8; ++seed)
            EXPECT_EQ(loaded(stored, stored, has_loaded, with_policy(policy, seed)), 2u);
}

TEST(TmemTransfers, WithoutAWaitALateStoreIsNot) {
    EXPECT_EQ(loaded(stored, "", has_loaded, with_policy(CopyPolicy::eager)), 2u);
    // And its columns are freed before it lands, which is a fault.
    EXPECT_EQ(loaded(stored, "", has_loaded, with_policy(CopyPolicy::late), true), 1u);
}

/// PTX ISA 9.7.16.6.4.5: a use of a loaded register waits for it.
TEST(TmemTransfers, RegistersNeedNoWait) {
    EXPECT_EQ(loaded(stored, stored, "", with_policy(CopyPolicy::late)), 2u);
    EXPECT_EQ(loaded(stored, stored, "add.u32 %v0, %v0, 5;\n", with_policy(CopyPolicy::late)), 7u);
}

TEST(TmemTransfers, CellsOverwrittenBeforeTheWaitAreWhatALateLoadSees) {
    const std::string overwrite = "mov.u32 %v3, 3; tcgen05.st.sync.aligned.32x32b.x1.b32 [%r4], {%v3};\n";
    EXPECT_EQ(loaded(stored, stored, overwrite + stored + has_loaded, with_policy(CopyPolicy::eager)), 2u);
    EXPECT_EQ(loaded(stored, stored, overwrite + stored + has_loaded, with_policy(CopyPolicy::late)), 3u);
    EXPECT_EQ(loaded(stored, stored, has_loaded + overwrite + stored, with_policy(CopyPolicy::late)), 2u);
}

/// Compilers give the registers of a store to other values at once.
TEST(TmemTransfers, AStoreTakesItsRegistersAtOnce) {
    EXPECT_EQ(loaded(stored, "mov.u32 %v2, 9;\n" + stored, has_loaded, with_policy(CopyPolicy::late)), 2u);
}

}  // namespace
}  // namespace tilepath::exec
