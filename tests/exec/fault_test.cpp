// Everything that a kernel can do wrong, and what the report says of it.
#include <gmock/gmock.h>

#include "kernel.h"

namespace tilepath::exec {
namespace {

using program::Space;
using ::testing::HasSubstr;

Fault fault_of(const std::string& body, const std::string& before = "", LaunchShape shape = blocks(1, 32)) {
    Device gpu;
    auto* buffer = gpu.buffer<std::uint32_t>(100, "results");
    LaunchOptions options;
    options.seed = 1;
    const LaunchReport report = gpu.run(compile(body, 1, before), shape, options, buffer);
    EXPECT_TRUE(report.fault) << "no fault";
    return report.fault.value_or(Fault{});
}

TEST(Fault, GlobalOutOfBoundsNamesEverything) {
    const Fault fault = fault_of(R"(
        mov.u32 %r0, %tid.x; mul.wide.u32 %q1, %r0, 20; add.u64 %q1, %q0, %q1;
        st.global.u32 [%q1+4], %r0;)");  // lane 20 writes bytes 404 to 407 of 400
    EXPECT_EQ(fault.kind, FaultKind::out_of_bounds);
    EXPECT_EQ(fault.lane, 20u);
    EXPECT_EQ(fault.lanes, 1u << 20);
    EXPECT_EQ(fault.thread.x, 20u);
    EXPECT_EQ(fault.space, Space::global);
    EXPECT_EQ(fault.bytes, 4u);
    ASSERT_TRUE(fault.nearest);
    EXPECT_EQ(fault.nearest->name, "results");
    EXPECT_EQ(*fault.address, fault.nearest->range.begin + 404);
    EXPECT_EQ(fault.place.operation, "st.global.u32 [%q1+4], %r0;");
    EXPECT_EQ(fault.place.ptx.line, 12u);
    const std::string text = to_string(fault);
    EXPECT_THAT(text, HasSubstr("4 bytes behind results (400 bytes"));
    EXPECT_THAT(text, HasSubstr("test.ptx:12"));
    EXPECT_THAT(text, HasSubstr("CTA (0, 0, 0), warp 0, lane 20"));
}

TEST(Fault, AnAccessAcrossTheEnd) {
    EXPECT_EQ(
        fault_of("add.u64 %q1, %q0, 396; ld.global.v2.u32 {%r1, %r2}, [%q1+-4]; ld.global.u64 %q2, [%q0+400];").kind,
        FaultKind::out_of_bounds);
    EXPECT_EQ(
        fault_of("ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%q0+384]; ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%q0+400];")
            .kind,
        FaultKind::out_of_bounds);
}

TEST(Fault, NullAndWildPointers) {
    for (const char* address : {"0", "8", "0xFFFFFFFFFFFFFFF8", "0x7FFFFFFFF000", "0x8000000000000000"}) {
        const Fault fault = fault_of(fmt::format("mov.u64 %q1, {}; ld.u64 %q2, [%q1];", address));
        EXPECT_EQ(fault.kind, FaultKind::out_of_bounds) << address;
    }
}

// The program's own memory is out of reach: an address of the host's is in no allocation.
TEST(Fault, HostMemoryIsOutOfReach) {
    static std::uint64_t secret = 1;
    EXPECT_EQ(
        fault_of(fmt::format("mov.u64 %q1, {}; st.global.u64 [%q1], 0;", reinterpret_cast<std::uint64_t>(&secret)))
            .kind,
        FaultKind::out_of_bounds);
    EXPECT_EQ(secret, 1u);
}

struct SpaceCase {
    const char* name;
    const char* body;
    FaultKind kind;
    Space space;
};

class FaultInSpace : public ::testing::TestWithParam<SpaceCase> {};

TEST_P(FaultInSpace, IsReported) {
    const Fault fault = fault_of(GetParam().body, ".const .align 4 .b32 table[4] = {1, 2, 3, 4};");
    EXPECT_EQ(fault.kind, GetParam().kind);
    EXPECT_EQ(fault.space, GetParam().space);
}

constexpr SpaceCase space_cases[] = {
    {"GlobalMisaligned", "ld.global.u32 %r1, [%q0+2];", FaultKind::misaligned, Space::global},
    {"GlobalVectorMisaligned", "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%q0+8];", FaultKind::misaligned, Space::global},
    {"SharedBehindTheEnd", ".shared .b32 s[4]; st.shared.u32 [s+16], %r0;", FaultKind::out_of_bounds, Space::shared},
    {"SharedReserved", ".shared .b32 s[4]; mov.u32 %r1, 0; ld.shared.u32 %r2, [%r1]; ld.shared.u32 %r2, [s];",
     FaultKind::out_of_bounds, Space::shared},
    {"SharedMisaligned", ".shared .b32 s[4]; st.shared.u32 [s+1], %r0;", FaultKind::misaligned, Space::shared},
    {"SharedByGeneric", ".shared .b32 s[4]; mov.u64 %q1, s; cvta.shared.u64 %q1, %q1; st.u32 [%q1+16], %r0;",
     FaultKind::out_of_bounds, Space::shared},
    {"LocalBehindTheEnd", ".local .b32 l[4]; mov.u64 %q1, l; st.local.u32 [%q1+16], %r0;", FaultKind::out_of_bounds,
     Space::local},
    {"LocalMisaligned", ".local .b32 l[4]; st.local.u32 [l+2], %r0;", FaultKind::misaligned, Space::local},
    {"ParamBehindTheEnd", "ld.param.u32 %r1, [p0+8];", FaultKind::out_of_bounds, Space::param},
    {"ParamMisaligned", "ld.param.u32 %r1, [p0+1];", FaultKind::misaligned, Space::param},
    {"ParamWritten", "mov.b64 %q1, p0; cvta.param.u64 %q1, %q1; st.u32 [%q1], %r0;", FaultKind::read_only,
     Space::param},
    {"ConstWritten", "mov.u64 %q1, table; cvta.const.u64 %q1, %q1; st.u32 [%q1], %r0;", FaultKind::read_only,
     Space::global},
    {"ConstBehindTheEnd", "ld.const.u32 %r1, [table+16];", FaultKind::out_of_bounds, Space::constant},
    {"ConstMisaligned", "ld.const.u32 %r1, [table+2];", FaultKind::misaligned, Space::constant},
    {"AtomicMisaligned", "atom.global.add.u32 %r1, [%q0+2], 1;", FaultKind::misaligned, Space::global},
    {"AtomicBehindTheEnd", "red.global.add.u32 [%q0+400], 1;", FaultKind::out_of_bounds, Space::global},
};
INSTANTIATE_TEST_SUITE_P(Spaces, FaultInSpace, ::testing::ValuesIn(space_cases),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(Fault, AWarpDivergedIntoAnAlignedOperation) {
    // Odd lanes wait at one bar.sync, even lanes at another: hardware would hang or worse.
    const Fault fault = fault_of(R"(
        mov.u32 %r0, %tid.x; and.b32 %r1, %r0, 1; setp.eq.u32 %p0, %r1, 0;
        @%p0 bra even;
        bar.sync 0;
        bra done;
    even:
        bar.sync 0;
    done:)");
    EXPECT_EQ(fault.kind, FaultKind::diverged);
    EXPECT_THAT(fault.message, HasSubstr("every live lane"));
}

TEST(Fault, APartOfTheWarpAtMma) {
    const Fault fault = fault_of(R"(
        mov.u32 %r0, %laneid; setp.lt.u32 %p0, %r0, 16;
        @%p0 mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
            {%f0, %f1, %f2, %f3}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f0, %f1, %f2, %f3};
        bar.warp.sync 0xFFFFFFFF;)");
    EXPECT_EQ(fault.kind, FaultKind::diverged);
    EXPECT_EQ(fault.lanes, 0x0000FFFFu);
}

TEST(Fault, LanesMeetAtAnAlignedOperationOneByOne) {
    // Not a fault: all lanes come to the same bar.sync, if by two ways.
    Device gpu;
    auto* out = gpu.buffer<std::uint32_t>(64);
    gpu.run_clean(compile(R"(
        mov.u32 %r0, %tid.x; and.b32 %r1, %r0, 1; setp.eq.u32 %p0, %r1, 0;
        mov.u32 %r2, 5;
        @%p0 bra meet;
        mov.u32 %r2, 6;
    meet:
        bar.sync 0;
        mul.wide.u32 %q1, %r0, 4; add.u64 %q1, %q1, %q0; st.global.u32 [%q1], %r2;)"),
                  blocks(1, 64), out);
    EXPECT_EQ(out[0], 5u);
    EXPECT_EQ(out[63], 6u);
}

TEST(Fault, Membermask) {
    const Fault fault = fault_of("shfl.sync.idx.b32 %r1, %r0, 0, 31, 0x0000FFFF;");
    EXPECT_EQ(fault.kind, FaultKind::membermask);
    EXPECT_EQ(fault.lanes, 0xFFFF0000u);
}

TEST(Fault, Barriers) {
    EXPECT_EQ(fault_of("mov.u32 %r0, 16; bar.sync %r0;").kind, FaultKind::barrier);
    EXPECT_EQ(fault_of("mov.u32 %r0, 33; bar.sync 1, %r0;").kind, FaultKind::barrier);
    EXPECT_EQ(fault_of("mov.u32 %r0, 0; bar.arrive 1, %r0;").kind, FaultKind::barrier);
    // Warp 0 expects 64 threads, warp 1 expects 96.
    const Fault fault = fault_of(
        "mov.u32 %r0, %tid.x; shr.u32 %r0, %r0, 5; shl.b32 %r0, %r0, 5; add.u32 %r0, %r0, 64; bar.sync 1, %r0;", "",
        blocks(1, 64));
    EXPECT_EQ(fault.kind, FaultKind::barrier);
    EXPECT_THAT(fault.message, HasSubstr("96"));
    EXPECT_THAT(fault.message, HasSubstr("64"));
}

TEST(Fault, Mbarriers) {
    constexpr const char* declare = ".shared .align 8 .b64 bar; mov.u32 %r1, bar;";
    EXPECT_EQ(fault_of(std::string(declare) + "st.shared.u64 [%r1], 0; mbarrier.arrive.shared.b64 %q1, [%r1];").kind,
              FaultKind::mbarrier);
    EXPECT_EQ(fault_of(std::string(declare) + "mov.u32 %r2, 0; mbarrier.init.shared.b64 [%r1], %r2;").kind,
              FaultKind::mbarrier);
    EXPECT_EQ(fault_of(std::string(declare) +
                       "mbarrier.init.shared.b64 [%r1], 1; mbarrier.arrive.noComplete.shared.b64 %q1, [%r1], 1;")
                  .kind,
              FaultKind::mbarrier);
    EXPECT_EQ(fault_of("mbarrier.init.b64 [%q0], 1;").kind, FaultKind::mbarrier);
}

TEST(Fault, EndlessRecursion) {
    const Fault fault = fault_of("call f, ();", R"(
        .func f() { .local .b32 big[64]; .reg .b32 %a; st.local.u32 [big], %a; call f, (); ret; })");
    EXPECT_EQ(fault.kind, FaultKind::stack_overflow);
    EXPECT_EQ(fault.place.function, "f");
}

TEST(Fault, IndirectCallsOfNonsense) {
    EXPECT_EQ(fault_of("prototype: .callprototype _ (); mov.u64 %q1, 12; call %q1, (), prototype;").kind,
              FaultKind::bad_call);
    EXPECT_EQ(fault_of("mov.u32 %r0, 7; list: .branchtargets a; brx.idx %r0, list; a:").kind, FaultKind::bad_call);
}

TEST(Fault, TrapAndBrkpt) {
    EXPECT_EQ(fault_of("mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 9; @%p0 trap;").lanes, 1u << 9);
    EXPECT_EQ(fault_of("brkpt;").kind, FaultKind::trap);
}

TEST(Fault, SourceLinesComeFromLoc) {
    const Fault fault = fault_of(".loc 1 77 3\nst.global.u32 [%q0+400], %r0;", ".file 1 \"kernel.cu\"");
    EXPECT_EQ(fault.place.source_file, "kernel.cu");
    EXPECT_EQ(fault.place.source_line, 77u);
    EXPECT_THAT(to_string(fault), HasSubstr("(kernel.cu:77)"));
}

TEST(Fault, UseAfterFree) {
    const Fault fault =
        fault_of(R"(
        mov.u32 %r0, %tid.x; setp.ne.u32 %p0, %r0, 0; @%p0 exit;
        { .param .b64 size; .param .b64 result;
          st.param.b64 [size], 64; call (result), malloc, (size); ld.param.b64 %q1, [result]; }
        st.u32 [%q1+60], 5;
        { .param .b64 pointer; st.param.b64 [pointer], %q1; call free, (pointer); }
        ld.u32 %r1, [%q1+60];)",
                 ".extern .func (.param .b64 r) malloc(.param .b64 s);\n.extern .func free(.param .b64 p);");
    EXPECT_EQ(fault.kind, FaultKind::out_of_bounds);
    EXPECT_EQ(fault.place.operation, "ld.u32 %r1, [%q1+60];");
}

TEST(Fault, OtherThreadsStopToo) {
    Device gpu;
    auto* out = gpu.buffer<std::uint32_t>(1);
    LaunchOptions options;
    options.threads = 4;
    const LaunchReport report = gpu.run(compile("mov.u32 %r0, %ctaid.x; setp.eq.u32 %p0, %r0, 5; @%p0 trap; l: bra l;"),
                                        blocks(8, 32), options, out);
    ASSERT_TRUE(report.fault);
    EXPECT_EQ(report.fault->cta.x, 5u);
}

}  // namespace
}  // namespace tilepath::exec
