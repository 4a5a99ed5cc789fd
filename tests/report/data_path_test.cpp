#include "report/data_path.h"

#include <gtest/gtest.h>

#include "isa/build.h"
#include "ptx/read.h"

namespace tilepath::report {
namespace {

/// Counts the one wgmma of a kernel as its four warps tell it.
DataPathCounter::Row count(const std::string& wgmma, std::uint64_t& shared_read) {
    const auto module = ptx::read(Source("test.ptx", R"(.version 8.0
.target sm_90a
.address_size 64
.entry k() { .reg .b32 %r<16>; .reg .f32 %f<4>; .reg .b64 %q<2>; .reg .pred %p;
)" + wgmma + " ret; }\n"));
    const auto program = isa::build(module.value(), "k").value();
    DataPathCounter counter(program);
    const program::Function& function = program.functions[0];
    for (const program::MicroOp& op : function.ops)
        for (std::uint32_t warp = 0; op.op == program::Op::wgmma && warp < 4; ++warp)
            counter.multiply({{&function, &op, 0, warp, ~0u}, &function.mmas[op.detail], {}});
    shared_read = counter.shared_read();
    EXPECT_EQ(counter.rows().size(), 1u);
    return counter.rows()[0];
}

TEST(DataPath, AWarpgroupsProductCountsOnce) {
    struct Case {
        const char* wgmma;
        std::uint64_t bytes, flop;
    };
    const Case cases[] = {
        // A: 64 rows of 32 bytes, B: 8.
        {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %q0, %q1, 1, 1, 1, 0, 0;", 72 * 32,
         2 * 64 * 8 * 16},
        {"wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%f0, %f1, %f2, %f3}, %q0, %q1, 1, 1, 1;", 72 * 32,
         2 * 64 * 8 * 8},
        // B alone.
        {"wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%r0, %r1, %r2, %r3}, {%r4, %r5, %r6, %r7}, %q1, %p;", 8 * 32,
         2 * 64 * 8 * 32},
        // A stores half of its 64 bytes.
        {"wgmma.mma_async.sp.sync.aligned.m64n8k64.s32.s8.s8 {%r0, %r1, %r2, %r3}, %q0, %q1, %r8, 0, %p;",
         64 * 32 + 8 * 64, 2 * 64 * 8 * 64},
    };
    for (const Case& each : cases) {
        std::uint64_t shared_read = 0;
        const DataPathCounter::Row row = count(each.wgmma, shared_read);
        EXPECT_EQ(row.path, "shared → Tensor Core");
        EXPECT_EQ(row.times, 4u);
        EXPECT_EQ(row.bytes, each.bytes) << each.wgmma;
        EXPECT_EQ(shared_read, each.bytes);
        EXPECT_EQ(row.flop, each.flop);
    }
}

}  // namespace
}  // namespace tilepath::report
