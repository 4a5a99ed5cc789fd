// tcgen05.alloc, dealloc, relinquish_alloc_permit: what they give, when they wait, and every way to misuse them.
#include "tmem_kernel.h"

namespace tilepath::exec {
namespace {

using machine::CopyPolicy;

TEST(TmemAllocation, GivesColumnsOneAfterAnother) {
    Device gpu("sm_100");
    auto* out = gpu.buffer<std::uint32_t>(2);
    gpu.run_clean(tmem_program(alloc(128) + alloc(64, "second") +
                               "ld.shared.u32 %r5, [result]; ld.shared.u32 %r6, [second];\n"
                               "st.global.u32 [%q0], %r5; st.global.u32 [%q0+4], %r6;\n" +
                               dealloc("%r6", 64) + dealloc("%r5", 128) +
                               "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n"),
                  blocks(1, 32), out);
    EXPECT_EQ(out[0], 0u);
    EXPECT_EQ(out[1], 128u);
}

TEST(TmemAllocation, EachCtaHasItsOwnAndFindsItEmpty) {
    Device gpu("sm_100");
    auto* out = gpu.buffer<std::uint32_t>(8);
    const std::string body = alloc(512) +
                             "ld.shared.u32 %r5, [result]; tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r6}, [%r5];\n"
                             "tcgen05.wait::ld.sync.aligned;\n"
                             "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r5], {%r0}; tcgen05.wait::st.sync.aligned;\n"
                             "mov.u32 %r7, %ctaid.x; mul.wide.u32 %q10, %r7, 4; add.u64 %q10, %q0, %q10;\n"
                             "st.global.u32 [%q10], %r6;\n" +
                             dealloc("%r5", 512);
    gpu.run_clean(tmem_program(body), blocks(8, 32), out);
    for (int i = 0; i < 8; ++i) EXPECT_EQ(out[i], 0xA5A5A5A5u);
}

/// Warp 1 wants more than there is until warp 0, which waits a while, has freed its columns.
TEST(TmemAllocation, WaitsUntilColumnsAreFree) {
    Device gpu("sm_100");
    auto* out = gpu.buffer<std::uint32_t>(1);
    const std::string body = "setp.eq.u32 %p0, %r1, 1; @%p0 bra one;\n" + alloc(512) +
                             "bar.sync 0; nanosleep.u32 1000; ld.shared.u32 %r5, [result];\n" + dealloc("%r5", 512) +
                             "bra over;\none: bar.sync 0;\n" + alloc(256, "second") +
                             "ld.shared.u32 %r6, [second]; st.global.u32 [%q0], %r6;\n" + dealloc("%r6", 256) +
                             "over:\n";
    gpu.run_clean(tmem_program(body), blocks(1, 64), out);
    EXPECT_EQ(out[0], 0u);
}

TEST(TmemAllocation, ForEverWithoutRoomIsADeadlock) {
    Device gpu("sm_100");
    const LaunchReport report =
        gpu.run(tmem_program(alloc(256) + alloc(256, "second") + alloc(32), 0), blocks(1, 32), {});
    ASSERT_TRUE(report.deadlock);
    const std::string text = to_string(*report.deadlock);
    EXPECT_NE(
        text.find("waits for columns of Tensor Memory; allocated: columns 0-255 (line 12, by warp 0), columns 256-511"),
        std::string::npos)
        << text;
}

TEST(TmemAllocation, SizesOrderAndPermit) {
    Fault fault = tmem_fault(alloc(32) +
                             "ld.shared.u32 %r20, [result]; add.u32 %r20, %r20, 48;\n"
                             "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [second], %r20;");
    EXPECT_EQ(fault.kind, FaultKind::tensor_memory_allocation);
    EXPECT_EQ(fault.message, "the number of columns is 32, 64, 128, 256 or 512; found 48");
    fault = tmem_fault(alloc(32) + alloc(64));
    EXPECT_EQ(fault.kind, FaultKind::tensor_memory_allocation);
    EXPECT_EQ(
        fault.message,
        "64 columns after the 32 that the CTA allocated before, in line 12, by warp 0: the number may not increase "
        "from one allocation to the next; allocate the largest first");
    EXPECT_EQ(fault.place.ptx.line, 13u);
    fault = tmem_fault("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n" + alloc(32));
    EXPECT_EQ(fault.kind, FaultKind::tensor_memory_allocation);
    EXPECT_EQ(fault.message,
              "the CTA has given up the right to allocate: tcgen05.relinquish_alloc_permit in line 12, by warp 0");
}

TEST(TmemAllocation, OnlyWhatWasAllocatedIsFreed) {
    for (const auto& [address, columns] : {std::pair{"32", 64}, {"0", 32}, {"64", 64}}) {
        const Fault fault = tmem_fault(alloc(64) + dealloc(address, columns));
        EXPECT_EQ(fault.kind, FaultKind::tensor_memory_allocation);
        EXPECT_EQ(
            fault.message,
            fmt::format("no allocation of {} columns begins at column {}; allocated: columns 0-63 (line 12, by warp "
                        "0). Give tcgen05.dealloc the address and the number of columns of a tcgen05.alloc, once",
                        columns, address));
    }
    EXPECT_EQ(tmem_fault(alloc(64) + dealloc("0", 64) + dealloc("0", 64)).kind, FaultKind::tensor_memory_allocation);
    EXPECT_EQ(tmem_fault(alloc(64) + dealloc("0x200000", 64)).message,
              "the address names lane 32; an allocation begins at lane 0");
}

TEST(TmemAllocation, WhatIsNotFreedLeaks) {
    const Fault fault = tmem_fault(alloc(64) + "bar.sync 0;\n");
    EXPECT_EQ(fault.kind, FaultKind::tensor_memory_leak);
    EXPECT_EQ(
        fault.message,
        "the CTA exits with Tensor Memory that it has not freed; allocated: columns 0-63 (line 12, by warp 0). Every "
        "tcgen05.alloc needs a tcgen05.dealloc of the same columns before the last thread exits");
    EXPECT_NE(to_string(fault).find("fault (Tensor Memory leak)"), std::string::npos);
}

TEST(TmemAllocation, NeedsAWholeWarpThatAgrees) {
    EXPECT_EQ(tmem_fault(alloc(32), 16).kind, FaultKind::diverged);
    const Fault fault = tmem_fault(alloc(64) +
                                   "shl.b32 %r20, %r2, 5;\n"
                                   "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r20, 64;");
    EXPECT_EQ(fault.kind, FaultKind::diverged);
    EXPECT_EQ(fault.message, "the address must be the same in all lanes; it is 0x0 in lane 0 and 0x20 in lane 1");
}

TEST(TmemAllocation, OutsideAnAllocation) {
    const std::string use = "tcgen05.ld.sync.aligned.32x32b.x4.b32 {%v0, %v1, %v2, %v3}, [%r5];\n";
    Fault fault = tmem_fault(alloc(64) + "mov.u32 %r5, 62;\n" + use);
    EXPECT_EQ(fault.kind, FaultKind::tensor_memory_access);
    EXPECT_EQ(fault.place.ptx.line, 14u);
    EXPECT_EQ(
        fault.tensor_memory,
        "columns 62-65, lanes 0-31; it reaches past the end of the allocation nearest to it, columns 0-63 of line 12, "
        "by warp 0");
    EXPECT_NE(to_string(fault).find("  Tensor Memory columns 62-65, lanes 0-31; it reaches"), std::string::npos);
    fault = tmem_fault(alloc(64) + "mov.u32 %r5, 70;\n" + use);
    EXPECT_EQ(
        fault.tensor_memory,
        "columns 70-73, lanes 0-31; 6 columns behind the allocation nearest to it, columns 0-63 of line 12, by warp 0");
    fault = tmem_fault("mov.u32 %r5, 0;\n" + use);
    EXPECT_EQ(fault.tensor_memory, "columns 0-3, lanes 0-31; nothing is allocated");
    fault = tmem_fault(alloc(512) + "mov.u32 %r5, 510;\n" + use);
    EXPECT_EQ(fault.message, "the address leads beyond the 512 columns of Tensor Memory");
}

/// Warp 1 loads with this address.
std::string load_in_warp_1(std::uint32_t address) {
    return "setp.eq.u32 %p0, %r1, 1; @%p0 bra meet;\n" + alloc(32) +
           fmt::format(
               "meet: bar.sync 0; mov.u32 %r5, {};\n@!%p0 bra over;\n"
               "tcgen05.ld.sync.aligned.32x32b.x1.b32 {{%v0}}, [%r5];\nover: bar.sync 0; @%p0 bra end;\n",
               address) +
           dealloc("0", 32) + "end:\n";
}

TEST(TmemAllocation, WarpsReachTheirLanesOnly) {
    const Fault fault = tmem_fault(load_in_warp_1(64 << 16), 64);
    EXPECT_EQ(fault.kind, FaultKind::tensor_memory_access);
    EXPECT_EQ(fault.warp, 1u);
    EXPECT_EQ(
        fault.message,
        "warp 1 reaches lanes 32 to 63 of Tensor Memory, and the address names lane 64; add 32 << 16 to the address "
        "of the columns");
    EXPECT_EQ(fault.tensor_memory, "column 0, lanes 64-95");
    EXPECT_EQ(tmem_fault(load_in_warp_1(48 << 16), 64).kind, FaultKind::tensor_memory_access);
    EXPECT_EQ(
        tmem_fault(alloc(32) + "mov.u32 %r5, 0x100000;\ntcgen05.ld.sync.aligned.32x32b.x1.b32 {%v0}, [%r5];\n").kind,
        FaultKind::tensor_memory_access);
    const Fault narrow =
        tmem_fault(alloc(32) + "mov.u32 %r5, 0x80000;\ntcgen05.ld.sync.aligned.16x64b.x1.b32 {%v0}, [%r5];\n");
    EXPECT_NE(narrow.message.find("or 16 << 16 for the upper 16 lanes"), std::string::npos) << narrow.message;
}

/// DeepGEMM and FlashMLA leave the warp's lanes out of the address, learn-cuda's second CTA of a pair adds 128 to them;
/// all run on B200.
TEST(TmemAllocation, AnAddressWithoutLanesIsWithinTheWarps) {
    Device gpu("sm_100");
    EXPECT_TRUE(gpu.run(tmem_program(load_in_warp_1(0), 0), blocks(1, 64), {}).ok());
    EXPECT_TRUE(gpu.run(tmem_program(load_in_warp_1(32 << 16), 0), blocks(1, 64), {}).ok());
    EXPECT_TRUE(gpu.run(tmem_program(load_in_warp_1(160 << 16), 0), blocks(1, 64), {}).ok());
    EXPECT_FALSE(gpu.run(tmem_program(load_in_warp_1(192 << 16), 0), blocks(1, 64), {}).ok());
    auto* out = gpu.buffer<std::uint32_t>(128);
    const std::string body = number_cells(1) +
                             "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v0}, [%r3];\n"
                             "tcgen05.wait::ld.sync.aligned;\n" +
                             give_registers(1);
    gpu.run_clean(tmem_program(with_columns(32, body)), blocks(1, 128), out);
    for (std::uint32_t t = 0; t < 128; ++t) EXPECT_EQ(out[t], 1000 * t);
}

TEST(TmemAllocation, FreedBeforeATransferHasLanded) {
    Device gpu("sm_100");
    const std::string body = alloc(32) + "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r5], {%r0};\n" + dealloc("0", 32);
    const auto program = tmem_program("mov.u32 %r5, 0;\n" + body, 0);
    EXPECT_TRUE(gpu.run(program, blocks(1, 32), with_policy(CopyPolicy::eager)).ok());
    const LaunchReport report = gpu.run(program, blocks(1, 32), with_policy(CopyPolicy::late));
    ASSERT_TRUE(report.fault);
    EXPECT_EQ(report.fault->kind, FaultKind::tensor_memory_access);
    EXPECT_NE(report.fault->message.find("any more when this lands: no tcgen05.wait came before"), std::string::npos);
}

}  // namespace
}  // namespace tilepath::exec
