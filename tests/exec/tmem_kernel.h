#pragma once
// Kernels that use Tensor Memory, written as PTX text.
#include "kernel.h"

namespace tilepath::exec {

/// `{%v0, %v1, …}`.
inline std::string vector_of(int count, const std::string& name = "v", int first = 0) {
    std::string out = "{";
    for (int i = 0; i < count; ++i) out += fmt::format("{}%{}{}", i == 0 ? "" : ", ", name, first + i);
    return out + "}";
}

/// A program of 128 threads (or fewer) from the body of its entry. Before it: %q0, %q1 … the pointers, %r0 the thread,
/// %r1 its warp, %r2 its lane. The module has 16 KiB of shared memory `tiles`, a word `result`, an mbarrier `done`.
inline program::Program tmem_program(const std::string& body, int pointers = 1, const std::string& target = "sm_100a") {
    std::string text = fmt::format(
        ".version 8.8\n.target {}\n.address_size 64\n.shared .align 1024 .b8 tiles[16384];\n.shared .align 8 .b64 "
        "done;\n"
        ".shared .b32 result;\n.shared .b32 second;\n.visible .entry k(",
        target);
    for (int i = 0; i < pointers; ++i) text += fmt::format("{}.param .u64 p{}", i == 0 ? "" : ", ", i);
    text +=
        ")\n{\n.reg .pred %p<16>; .reg .b32 %r<64>; .reg .b64 %q<32>; .reg .b32 %v<128>; .reg .b32 %w<128>;\n"
        "mov.u32 %r0, %tid.x; shr.u32 %r1, %r0, 5; and.b32 %r2, %r0, 31;\n";
    for (int i = 0; i < pointers; ++i) text += fmt::format("ld.param.u64 %q{}, [p{}];\n", i, i);
    return compile_module(text + body + "\nret;\n}\n");
}

/// Warp 0 allocates and frees so many columns; between, %r3 is their address, %r4 that of the warp's lanes, and %p0 is
/// true in thread 0.
inline std::string with_columns(int columns, const std::string& body, int cta_group = 1) {
    return fmt::format(R"(
        setp.eq.u32 %p0, %r0, 0; setp.ne.u32 %p1, %r1, 0;
        @%p1 bra allocated;
        tcgen05.alloc.cta_group::{1}.sync.aligned.shared::cta.b32 [result], {0};
        allocated: bar.sync 0;
        ld.shared.u32 %r3, [result]; shl.b32 %r4, %r1, 21; add.u32 %r4, %r3, %r4;
        {2}
        bar.sync 0;
        @%p1 bra freed;
        tcgen05.dealloc.cta_group::{1}.sync.aligned.b32 %r3, {0};
        freed:)",
                       columns, cta_group, body);
}

/// Every thread stores a number to each of `columns` (a power of two up to 128) columns of its lane: 1000 · lane +
/// column.
inline std::string number_cells(int columns) {
    std::string out = "mul.lo.u32 %r5, %r0, 1000;\n";
    for (int c = 0; c < columns; ++c) out += fmt::format("add.u32 %w{}, %r5, {};\n", c, c);
    return out + fmt::format("tcgen05.st.sync.aligned.32x32b.x{}.b32 [%r4], {};\ntcgen05.wait::st.sync.aligned;\n",
                             columns, vector_of(columns, "w"));
}

/// Thread t stores `count` registers to words t · count … of the buffer at %q0.
inline std::string give_registers(int count, const std::string& name = "v") {
    std::string out = fmt::format("mul.wide.u32 %q10, %r0, {}; add.u64 %q10, %q0, %q10;\n", 4 * count);
    for (int i = 0; i < count; ++i) out += fmt::format("st.global.u32 [%q10+{}], %{}{};\n", 4 * i, name, i);
    return out;
}

inline LaunchOptions with_policy(machine::CopyPolicy policy, std::uint64_t seed = 1) {
    LaunchOptions options;
    options.copies = policy;
    options.seed = seed;
    return options;
}

/// Thread 0 waits at `done` for the phase of that parity, then all threads go on.
inline std::string wait_done(int parity, const std::string& label) {
    return fmt::format(
        "@!%p0 bra {1}_over;\n{1}: mbarrier.try_wait.parity.shared::cta.b64 %p2, [done], {0};\n@!%p2 bra {1};\n"
        "{1}_over: bar.sync 0; tcgen05.fence::after_thread_sync;\n",
        parity, label);
}
/// What one thread has done to Tensor Memory is there for all (PTX ISA 9.7.16.6.4.4).
inline const std::string hand_over =
    "tcgen05.fence::before_thread_sync; bar.sync 0; tcgen05.fence::after_thread_sync;\n";
inline const std::string begin_done = "@%p0 mbarrier.init.shared::cta.b64 [done], 1;\nbar.sync 0;\n";
inline const std::string commit_done =
    "@%p0 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];\n";

/// Word w of `tiles` is 3 w + 1, as the async proxy sees it too.
inline const std::string fill_tiles = R"(
    mov.u32 %r40, tiles; shl.b32 %r41, %r0, 2; add.u32 %r40, %r40, %r41; mul.lo.u32 %r42, %r0, 3; add.u32 %r42, %r42, 1;
    mov.u32 %r43, 0;
    fill: st.shared.u32 [%r40], %r42; add.u32 %r40, %r40, 512; add.u32 %r42, %r42, 384; add.u32 %r43, %r43, 1;
    setp.lt.u32 %p5, %r43, 32; @%p5 bra fill;
    fence.proxy.async; bar.sync 0;
)";

/// %q20: the descriptor of `tiles`. PTX ISA 9.7.16.4.1.
inline std::string describe_tiles(int leading, int stride, int swizzle) {
    const std::uint64_t rest = std::uint64_t(leading / 16) << 16 | std::uint64_t(stride / 16) << 32 |
                               std::uint64_t{1} << 46 | std::uint64_t(swizzle) << 61;
    return fmt::format(
        "mov.u32 %r44, tiles; shr.u32 %r44, %r44, 4; cvt.u64.u32 %q20, %r44; or.b64 %q20, %q20, {:#x};\n", rest);
}

/// A (128 rows of 16, f16) and B (16 rows) in `tiles`, K-major without swizzle, of which only column k = 0 is not zero:
/// there thread t gives row t of A the number in %r60 (t at first) and of B that in %r61 (t + 1), after `change`. %q20,
/// %q21, %r30: the descriptors, of M = 128 and N = 16 in f16 to f32. %p6 is false, %p7 true. Needs %h0, %h1.
inline std::string make_operands(const std::string& change = "") {
    return "mov.u32 %r60, %r0; add.u32 %r61, %r0, 1;\n" + change + R"(
        mov.u32 %r40, tiles; shl.b32 %r41, %r0, 4; add.u32 %r41, %r40, %r41; mov.u32 %r43, 0;
        st.shared.v4.u32 [%r41], {%r43, %r43, %r43, %r43}; st.shared.v4.u32 [%r41+2048], {%r43, %r43, %r43, %r43};
        st.shared.v4.u32 [%r41+4096], {%r43, %r43, %r43, %r43}; bar.sync 0;
        shr.u32 %r44, %r0, 3; and.b32 %r45, %r0, 7; shl.b32 %r44, %r44, 8; shl.b32 %r45, %r45, 4;
        add.u32 %r44, %r44, %r45; add.u32 %r44, %r40, %r44; cvt.rn.f16.u32 %h0, %r60; st.shared.b16 [%r44], %h0;
        setp.lt.u32 %p5, %r0, 16; cvt.rn.f16.u32 %h1, %r61; @%p5 st.shared.b16 [%r44+4096], %h1;
        fence.proxy.async; bar.sync 0;
        shr.u32 %r47, %r40, 4; cvt.u64.u32 %q20, %r47; or.b64 %q20, %q20, 0x0000401000080000; add.u64 %q21, %q20, 256;
        mov.u32 %r30, 0x08040010; setp.ne.u32 %p6, 0, 0; setp.eq.u32 %p7, 0, 0;
    )";
}

inline LaunchShape pair_of_ctas(std::uint32_t block, std::uint32_t grid = 2) {
    return {{grid, 1, 1}, {block, 1, 1}, {2, 1, 1}, 0};
}
inline const std::string meet_cluster = "barrier.cluster.arrive; barrier.cluster.wait;\n";

inline std::string alloc(int columns, const std::string& where = "result", int cta_group = 1) {
    return fmt::format("mov.u32 %r20, {}; tcgen05.alloc.cta_group::{}.sync.aligned.shared::cta.b32 [{}], %r20;\n",
                       columns, cta_group, where);
}
inline std::string dealloc(const std::string& address, int columns, int cta_group = 1) {
    return fmt::format(
        "mov.u32 %r20, {}; mov.u32 %r21, {};\ntcgen05.dealloc.cta_group::{}.sync.aligned.b32 %r21, %r20;\n", columns,
        address, cta_group);
}

/// The fault of a kernel without parameters.
inline Fault tmem_fault(const std::string& body, std::uint32_t threads = 32) {
    Device gpu("sm_100");
    const LaunchReport report = gpu.run(tmem_program(body, 0), blocks(1, threads), {});
    if (report.fault) return *report.fault;
    ADD_FAILURE() << "no fault";
    return {};
}

}  // namespace tilepath::exec
