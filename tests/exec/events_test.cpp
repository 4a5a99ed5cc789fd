// What observers see, and that seeing it changes nothing.
#include <map>
#include <set>

#include "kernel.h"

namespace tilepath::exec {
namespace {

using machine::Access;
using program::Space;

struct Recorder : machine::Observer {
    struct Seen {
        Access::Kind kind;
        Space space;
        std::uint32_t bytes, lanes;
        std::vector<std::uint64_t> addresses;
        program::Op op;
    };
    std::vector<Seen> accesses;
    std::vector<machine::Copy> issued, landed;
    std::map<machine::BarrierEvent::Kind, int> barriers;
    int fences = 0, multiplies = 0, operations = 0, executions = 0;
    bool all_operations = false;

    void access(const Access& each) override {
        accesses.push_back({each.kind,
                            each.space,
                            each.bytes,
                            each.site.lanes,
                            {each.addresses.begin(), each.addresses.end()},
                            each.site.op->op});
    }
    void copy_issued(const machine::Copy& each) override { issued.push_back(each); }
    void copy_landed(const machine::Copy& each) override { landed.push_back(each); }
    void barrier(const machine::BarrierEvent& each) override { ++barriers[each.kind]; }
    void fence(const machine::Fence&) override { ++fences; }
    void multiply(const machine::Multiply& each) override {
        ++multiplies;
        EXPECT_EQ(each.mma->k, 16);
    }
    void operation(const machine::EventSite&) override { ++operations; }
    void executed(const machine::Executed& each) override {
        executions += each.site.op->op == program::Op::mma;
        if (each.site.op->op != program::Op::mov) return;
        // mov of a 32-bit register: the row that it wrote holds what the row that it read holds.
        for (int lane = 0; lane < 32; ++lane)
            EXPECT_EQ(each.registers.rows[each.registers.places[0]][lane],
                      each.registers.rows[each.registers.places[1]][lane]);
    }
    bool wants_operations() const override { return all_operations; }
};

TEST(Events, AccessesTellLanesAddressesAndSpaces) {
    Device gpu;
    auto* a = gpu.buffer<std::uint32_t>(64);
    Recorder recorder;
    LaunchOptions options;
    options.observer = &recorder;
    EXPECT_TRUE(gpu.run(compile(R"(
        .shared .align 4 .b32 box[32];
        mov.u32 %r0, %tid.x; mul.wide.u32 %q1, %r0, 8; add.u64 %q1, %q0, %q1;
        setp.lt.u32 %p0, %r0, 4;
        @%p0 ld.global.v2.u32 {%r1, %r2}, [%q1];
        mov.u32 %r3, box; cvt.u64.u32 %q2, %r3; cvta.shared.u64 %q2, %q2; selp.b64 %q2, %q2, %q0, %p0;
        st.u32 [%q2], %r0;
        atom.global.add.u32 %r4, [%q0], 1;
        membar.gl;)"),
                        blocks(1, 32), options, a)
                    .ok());
    const auto base = reinterpret_cast<std::uint64_t>(a);
    ASSERT_EQ(recorder.accesses.size(), 5u);  // the parameter first; the generic store goes to two spaces
    EXPECT_EQ(recorder.accesses[0].space, Space::param);
    const Recorder::Seen& load = recorder.accesses[1];
    EXPECT_EQ(load.space, Space::global);
    EXPECT_EQ(load.bytes, 8u);
    EXPECT_EQ(load.lanes, 0xFu);
    EXPECT_EQ(load.addresses[3], base + 24);
    const Recorder::Seen &shared = recorder.accesses[2], &global = recorder.accesses[3];
    EXPECT_EQ(shared.space, Space::shared);
    EXPECT_EQ(shared.lanes, 0xFu);
    EXPECT_EQ(shared.addresses[0], 0x400u);
    EXPECT_EQ(global.space, Space::global);
    EXPECT_EQ(global.lanes, 0xFFFFFFF0u);
    EXPECT_EQ(global.addresses[31], base);
    EXPECT_EQ(recorder.accesses[4].kind, Access::Kind::atomic);
    EXPECT_EQ(recorder.fences, 1);
}

TEST(Events, CopiesAreIssuedAndLandOnce) {
    for (const auto policy : {machine::CopyPolicy::eager, machine::CopyPolicy::late, machine::CopyPolicy::random}) {
        Device gpu;
        auto* in = gpu.buffer<std::uint32_t>(128);
        Recorder recorder;
        LaunchOptions options;
        options.observer = &recorder;
        options.copies = policy;
        EXPECT_TRUE(gpu.run(compile(R"(
            .shared .align 16 .b8 tile[512];
            mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 4; mov.u32 %r2, tile; add.u32 %r2, %r2, %r1; cvt.u64.u32 %q1, %r1;
            add.u64 %q1, %q0, %q1;
            cp.async.cg.shared.global [%r2], [%q1], 16, 12;
            cp.async.commit_group;)"),
                            blocks(1, 32), options, in)
                        .ok());
        ASSERT_EQ(recorder.issued.size(), 32u);
        ASSERT_EQ(recorder.landed.size(), 32u);  // the last ones when the CTA ends
        EXPECT_EQ(recorder.issued[5].lane, 5u);
        EXPECT_EQ(recorder.issued[5].source, reinterpret_cast<std::uint64_t>(in) + 80);
        EXPECT_EQ(recorder.issued[5].destination, 0x450u);
        EXPECT_EQ(recorder.issued[5].bytes, 16u);
        EXPECT_EQ(recorder.issued[5].source_bytes, 12u);
        std::set<std::uint64_t> ids;
        for (const machine::Copy& each : recorder.landed) ids.insert(each.id);
        EXPECT_EQ(ids.size(), 32u);
    }
}

TEST(Events, BarriersMultipliesAndOperations) {
    const auto program = compile(R"(
        bar.sync 0; bar.sync 0;
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r1, %r2, %r3, %r4}, {%r5, %r6},
            {%f0, %f1, %f2, %f3};)");
    Device gpu;
    auto* a = gpu.buffer<std::uint32_t>(1);
    Recorder recorder;
    recorder.all_operations = true;
    LaunchOptions options;
    options.observer = &recorder;
    const LaunchReport report = gpu.run(program, blocks(3, 64), options, a);
    EXPECT_TRUE(report.ok());
    EXPECT_EQ(recorder.barriers[machine::BarrierEvent::Kind::wait], 3 * 2 * 2);
    EXPECT_EQ(recorder.barriers[machine::BarrierEvent::Kind::complete], 3 * 2 * 2);
    EXPECT_EQ(recorder.multiplies, 6);
    EXPECT_EQ(recorder.operations, 6 * static_cast<int>(program.functions[0].ops.size()));
    EXPECT_EQ(report.operations, static_cast<std::uint64_t>(recorder.operations));
    EXPECT_EQ(recorder.executions, 6);
}

}  // namespace
}  // namespace tilepath::exec
