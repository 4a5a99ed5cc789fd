// When tcgen05.mma reads and writes: right kernels compute the same under each completion policy, and kernels that wait
// for nothing show it under `late`.
#include "tmem_kernel.h"

namespace tilepath::exec {
namespace {

using machine::CopyPolicy;

/// D = A B, or with %p7 D = A B + D.
std::string multiply(const std::string& accumulate = "%p6", const std::string& d = "%r3") {
    return fmt::format("@%p0 tcgen05.mma.cta_group::1.kind::f16 [{}], %q20, %q21, %r30, {};\n", d, accumulate);
}
const std::string load =
    "tcgen05.ld.sync.aligned.32x32b.x16.b32 " + vector_of(16) + ", [%r4]; tcgen05.wait::ld.sync.aligned;\n";

const std::string loaded = "tcgen05.wait::ld.sync.aligned;\n";

std::vector<float> product(const std::string& body, const LaunchOptions& options, LaunchReport* fault = nullptr) {
    Device gpu("sm_100");
    auto* out = gpu.buffer<float>(128 * 16);
    const LaunchReport report = gpu.run(
        tmem_program(".reg .b16 %h<8>;\n" + with_columns(64, begin_done + make_operands() + body + give_registers(16))),
        blocks(1, 128), options, out);
    if (fault != nullptr) *fault = report;
    if (fault == nullptr && report.fault) ADD_FAILURE() << to_string(*report.fault);
    if (fault == nullptr && report.deadlock) ADD_FAILURE() << to_string(*report.deadlock);
    return {out, out + 128 * 16};
}
/// times · m (n + 1) + more.
std::vector<float> expected(float times = 1, float more = 0) {
    std::vector<float> d;
    for (int m = 0; m < 128; ++m)
        for (int n = 0; n < 16; ++n) d.push_back(times * static_cast<float>(m * (n + 1)) + more);
    return d;
}

void expect_everywhere(const std::string& body, const std::vector<float>& d) {
    EXPECT_EQ(product(body, with_policy(CopyPolicy::eager)), d);
    EXPECT_EQ(product(body, with_policy(CopyPolicy::late)), d);
    for (std::uint64_t seed = 1; seed < 12; ++seed) EXPECT_EQ(product(body, with_policy(CopyPolicy::random, seed)), d);
}

/// Eager does not notice it, late always does: by a wrong result, or a fault where columns are freed too soon.
void expect_late_notices(const std::string& body, const std::vector<float>& d) {
    LaunchReport report;
    const auto notices = [&](const LaunchOptions& options) {
        return product(body, options, &report) != d || !report.ok();
    };
    EXPECT_EQ(product(body, with_policy(CopyPolicy::eager)), d);
    EXPECT_TRUE(notices(with_policy(CopyPolicy::late)));
    bool noticed = false;
    for (std::uint64_t seed = 1; seed < 40 && !noticed; ++seed)
        noticed = notices(with_policy(CopyPolicy::random, seed));
    EXPECT_TRUE(noticed);
}

TEST(Tcgen05Policies, ARightKernelComputesTheSame) {
    expect_everywhere(multiply() + commit_done + wait_done(0, "done1") + load, expected());
}

TEST(Tcgen05Policies, ProductsInOneAccumulatorAreInOrder) {
    expect_everywhere(multiply() + multiply("%p7") + multiply("%p7") + commit_done + wait_done(0, "done1") + load,
                      expected(3));
}

TEST(Tcgen05Policies, TmemReadBeforeTheMbarrierWait) {
    expect_late_notices(multiply() + commit_done + "bar.sync 0;\n" + load + wait_done(0, "done1"), expected());
}

/// PTX ISA 9.7.16.6.4.2: between the mbarrier's wait and a load stands tcgen05.fence::after_thread_sync.
TEST(Tcgen05Policies, TmemReadWithoutAFence) {
    const std::string wait = "poll: mbarrier.try_wait.parity.shared::cta.b64 %p2, [done], 0;\n@!%p2 bra poll;\n";
    expect_late_notices(multiply() + commit_done + wait + load, expected());
    expect_everywhere(multiply() + commit_done + wait + "tcgen05.fence::after_thread_sync;\n" + load, expected());
}

/// The next product lands in cells that a load has not waited for.
TEST(Tcgen05Policies, TmemOverwrittenBeforeTheLoadHasBeenWaitedFor) {
    const std::string unwaited = load.substr(0, load.find("tcgen05.wait::ld"));
    const std::string first = multiply() + commit_done + wait_done(0, "done1");
    const std::string second = hand_over + multiply("%p7") + commit_done + wait_done(1, "done2");
    expect_late_notices(first + unwaited + second + loaded, expected());
    expect_everywhere(first + load + second, expected());
}

const std::string overwrite = "mov.u32 %r50, 0x3c003c00; @%p0 st.shared.u32 [%r40+32], %r50; fence.proxy.async;\n";

TEST(Tcgen05Policies, SharedMemoryOverwrittenBeforeTheCommit) {
    expect_late_notices(multiply() + commit_done + overwrite + wait_done(0, "done1") + load, expected());
    expect_everywhere(multiply() + commit_done + wait_done(0, "done1") + overwrite + load, expected());
}

const std::string store_one = "mov.f32 %v100, 0f3F800000;\n" +
                              [] {
                                  std::string all;
                                  for (int i = 0; i < 16; ++i) all += fmt::format("mov.b32 %w{}, 0x3F800000;\n", i);
                                  return all;
                              }() +
                              "tcgen05.st.sync.aligned.32x32b.x16.b32 [%r4], " + vector_of(16, "w") + ";\n";
const std::string stored = "tcgen05.wait::st.sync.aligned;\n";

TEST(Tcgen05Policies, AStoreBeforeAProductNeedsItsWait) {
    const std::string rest = hand_over + multiply("%p7") + commit_done + wait_done(0, "done1") + load;
    expect_everywhere(store_one + stored + rest, expected(1, 1));
    expect_late_notices(store_one + rest, expected(1, 1));
}

/// PTX ISA 9.7.16.6.4.4: what other threads have stored is there for a product behind their fence before, and its own
/// behind what orders them.
TEST(Tcgen05Policies, AStoreBeforeAnotherThreadsProductNeedsItsFence) {
    const std::string rest = multiply("%p7") + commit_done + wait_done(0, "done1") + load;
    const std::string after = "bar.sync 0; tcgen05.fence::after_thread_sync;\n";
    expect_late_notices(store_one + stored + after + rest, expected(1, 1));
    // A thread's own stores need no fence.
    const std::string of_all = "tcgen05.fence::before_thread_sync;\n" + after;
    expect_everywhere(store_one + stored + load + of_all + rest, expected(1, 1));
}

/// 9.7.16.6.4.3: a copy and another thread's product are in order, without a commit, where fences stand on both sides.
TEST(Tcgen05Policies, ACopyAndAnotherThreadsProduct) {
    const std::string copy =
        "setp.eq.u32 %p8, %r0, 32;\n@%p8 tcgen05.cp.cta_group::1.128x256b [%r3], %q20;\n"
        "@%p8 tcgen05.cp.cta_group::1.128x256b [%r5], %q20;\n";
    const std::string rest = multiply("%p7") + commit_done + wait_done(0, "done1") + load;
    const auto with = [&](const std::string& sync) { return "add.u32 %r5, %r3, 8;\n" + copy + sync + rest; };
    expect_everywhere(with(hand_over), expected());  // what is copied are the least of numbers
    for (const std::string sync : {"bar.sync 0;\n", "tcgen05.fence::before_thread_sync; bar.sync 0;\n",
                                   "bar.sync 0; tcgen05.fence::after_thread_sync;\n"}) {
        bool overtaken = false;
        LaunchReport report;
        for (std::uint64_t seed = 1; seed < 80 && !overtaken; ++seed)
            overtaken = product(with(sync), with_policy(CopyPolicy::random, seed), &report) != expected();
        EXPECT_TRUE(overtaken) << sync;
    }
}

/// The manual orders neither products in two accumulators nor a copy after a product.
TEST(Tcgen05Policies, ACopyMayOvertakeAProduct) {
    const std::string copy = "@%p0 tcgen05.cp.cta_group::1.128x128b [%r3], %q20;\n";
    const std::string body = multiply() + copy + commit_done + wait_done(0, "done1") + load;
    const std::vector<float> in_order = product(body, with_policy(CopyPolicy::eager));
    EXPECT_EQ(in_order, product(body, with_policy(CopyPolicy::late)));
    bool overtaken = false;
    for (std::uint64_t seed = 1; seed < 60 && !overtaken; ++seed)
        overtaken = product(body, with_policy(CopyPolicy::random, seed)) == expected();
    EXPECT_TRUE(overtaken);
}

TEST(Tcgen05Policies, ADeadlockNamesTheProductThatNobodyCommitted) {
    LaunchReport report;
    (void)product(multiply() + multiply("%p7") + wait_done(0, "done1"), with_policy(CopyPolicy::late), &report);
    ASSERT_TRUE(report.deadlock);
    EXPECT_NE(to_string(*report.deadlock).find("; 2 tcgen05 operations from line "), std::string::npos)
        << to_string(*report.deadlock);
}

TEST(Tcgen05Policies, FreedBeforeTheProductHasLanded) {
    // The columns are freed by with_columns() although nothing has waited.
    LaunchReport report;
    (void)product(multiply(), with_policy(CopyPolicy::late), &report);
    ASSERT_TRUE(report.fault);
    EXPECT_EQ(report.fault->kind, FaultKind::tensor_memory_access);
    EXPECT_NE(
        report.fault->message.find("D's address leads to columns that are not allocated any more when this lands"),
        std::string::npos)
        << report.fault->message;
}

TEST(Tcgen05Policies, ProductsOutsideAnAllocationAreFaults) {
    LaunchReport report;
    (void)product("add.u32 %r3, %r3, 56;\n" + multiply(), {}, &report);
    ASSERT_TRUE(report.fault);
    EXPECT_EQ(report.fault->kind, FaultKind::tensor_memory_access);
    EXPECT_EQ(report.fault->lanes, 1u);
    EXPECT_NE(report.fault->tensor_memory.find("columns 56-71, lanes 0-127; it reaches past the end of the allocation"),
              std::string::npos)
        << report.fault->tensor_memory;
}

/// PTX ISA 9.7.16.10: ::use and ::lastuse want an earlier ::fill of the same matrix to be still valid.
TEST(Tcgen05Policies, CollectorsAreUsedWhenTheyAreFilled) {
    const auto with = [](const std::string& collect, const std::string& a = "%q20", const std::string& b = "%q21") {
        const bool stationary = collect.starts_with("b");
        return fmt::format("@%p0 tcgen05.mma{}.cta_group::1.kind::f16.collector::{} [%r3], {}, {}, {}, %p7;\n",
                           stationary ? ".ws" : "", collect, a, b, stationary ? "%r31" : "%r30");
    };
    const std::string begin = multiply(), end = commit_done + wait_done(0, "done1") + load;
    expect_everywhere(begin + with("a::fill") + with("a::use") + with("a::lastuse") + end, expected(4));
    const auto error = [&](const std::string& body) {
        LaunchReport report;
        (void)product("mov.u32 %r31, 0x08100010;\n" + begin + body + end, with_policy(CopyPolicy::eager), &report);
        return report.fault ? report.fault->message : std::string();
    };
    const std::string none = "nothing has filled the collector since it was discarded";
    EXPECT_NE(error(with("a::use")).find(none), std::string::npos) << error(with("a::use"));
    EXPECT_NE(error(with("a::fill") + with("a::lastuse") + with("a::use")).find(none), std::string::npos);
    EXPECT_NE(error(with("a::fill") + multiply("%p7") + with("a::use")).find(none), std::string::npos);
    EXPECT_NE(error(with("a::fill", "%q21") + with("a::use")).find("the collector holds 0x"), std::string::npos);
    // Each of .ws has its own; A may change.
    EXPECT_EQ(error(with("b1::fill") + with("b0::fill") + with("b1::use", "%q21") + with("b0::lastuse")), "");
    EXPECT_NE(error(with("b1::fill") + with("b2::use")).find(none), std::string::npos);
    EXPECT_NE(error(with("b1::fill") + with("b1::discard") + with("b1::use")).find(none), std::string::npos);
}

// -- what observers are told

struct Watcher : machine::Observer {
    std::vector<std::string> told;
    void add(std::string_view when, const machine::TensorOperation& each) {
        static constexpr std::string_view kinds[] = {"multiply", "copy", "shift", "load", "store", "commit"};
        if (each.site.warp != 0) return;
        std::string cells;
        for (const machine::TensorCells& part : each.cells)
            cells += fmt::format(" {}{}{}+{}", part.read ? "r" : "", part.write ? "w" : "", part.column, part.columns);
        told.push_back(fmt::format("{} {}{}{}", when, kinds[static_cast<std::size_t>(each.kind)], cells,
                                   each.unwritten ? " unwritten" : ""));
    }
    void tensor_issued(const machine::TensorOperation& each) override { add("issued", each); }
    void tensor_landed(const machine::TensorOperation& each) override { add("landed", each); }
    void tensor_allocation(const machine::TensorAllocation& each) override {
        told.push_back(fmt::format("{} {}+{}", each.allocated ? "allocated" : "freed", each.column, each.columns));
    }
};

TEST(Tcgen05Events, TellTheLifeOfAnAccumulator) {
    Watcher watcher;
    LaunchOptions options = with_policy(CopyPolicy::late);
    options.observer = &watcher;
    EXPECT_EQ(product(multiply() + multiply("%p7") + commit_done + wait_done(0, "done1") + load, options), expected(2));
    EXPECT_EQ(watcher.told,
              (std::vector<std::string>{"allocated 0+64", "issued multiply w0+16", "issued multiply rw0+16",
                                        "issued commit", "landed multiply w0+16", "landed multiply rw0+16",
                                        "landed commit", "issued load r0+16", "landed load r0+16", "freed 0+64"}));
}

TEST(Tcgen05Events, TellOfCellsThatNobodyWrote) {
    Watcher watcher;
    LaunchOptions options;
    options.observer = &watcher;
    LaunchReport report;
    (void)product("add.u32 %r4, %r4, 16;\n" + load + multiply("%p7") + commit_done + wait_done(0, "done1"), options,
                  &report);
    EXPECT_TRUE(report.ok());
    EXPECT_EQ(watcher.told[2], "landed load r16+16 unwritten");
    EXPECT_EQ(watcher.told[5], "landed multiply rw0+16 unwritten");
}

}  // namespace
}  // namespace tilepath::exec
