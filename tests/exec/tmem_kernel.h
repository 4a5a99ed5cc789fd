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
inline const std::string begin_done = "@%p0 mbarrier.init.shared::cta.b64 [done], 1;\nbar.sync 0;\n";
inline const std::string commit_done =
    "@%p0 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];\n";

}  // namespace tilepath::exec
