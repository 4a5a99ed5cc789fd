// wgmma on one core: a CTA of two consumer warpgroups that multiply m64n256k16 f16 in groups of four, as Hopper's GEMMs
// do, beside OpenBLAS's SGEMM on one core. `ratio NAME VALUE`: FLOP a second of tilepath / of SGEMM.
#include <cblas.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "exec/launch.h"
#include "isa/build.h"
#include "ptx/read.h"

extern "C" void openblas_set_num_threads(int);

namespace {

using namespace tilepath;

constexpr int stages = 4, groups = 400;
constexpr std::size_t a_bytes = 128 * 128, b_bytes = 256 * 128, stage_bytes = a_bytes + b_bytes;

template <class Work>
double best_seconds(Work work) {
    double best = 1e9;
    for (int i = 0; i < 3; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        work();
        best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    return best;
}

/// `groups` of four wgmma on stages of 128 x 64 elements of A and 256 x 64 of B, in the 128B swizzle.
std::string kernel_text() {
    std::string registers;
    for (int i = 0; i < 128; ++i) registers += fmt::format("{}%f{}", i == 0 ? "" : ", ", i);
    std::string text = fmt::format(R"(.version 8.0
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 tile[];
.visible .entry k(.param .u64 out, .param .u64 in)
{{
    .reg .f32 %f<128>; .reg .b32 %r<16>; .reg .b64 %q<16>; .reg .pred %p<4>;
    ld.param.u64 %q0, [out]; ld.param.u64 %q1, [in];
    mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 4; mov.u32 %r2, tile;
fill:
    cvt.u64.u32 %q2, %r1; add.u64 %q2, %q2, %q1; ld.global.v4.b32 {{%r4, %r5, %r6, %r7}}, [%q2];
    add.u32 %r3, %r2, %r1; st.shared.v4.b32 [%r3], {{%r4, %r5, %r6, %r7}};
    add.u32 %r1, %r1, 4096; setp.lt.u32 %p0, %r1, {}; @%p0 bra fill;
    bar.sync 0;
    shr.u32 %r8, %r0, 7; shl.b32 %r8, %r8, 13;
    mov.u32 %r9, 0; mov.u32 %r10, 0;
again:
    add.u32 %r11, %r2, %r10;
    add.u32 %r12, %r11, %r8;
    add.u32 %r11, %r11, {};
    shr.u32 %r11, %r11, 4; shr.u32 %r12, %r12, 4;
    cvt.u64.u32 %q3, %r12; or.b64 %q3, %q3, {:#x};
    cvt.u64.u32 %q4, %r11; or.b64 %q4, %q4, {:#x};
    setp.ne.u32 %p1, %r9, 0;
    wgmma.fence.sync.aligned;
)",
                                   stages * stage_bytes, a_bytes, 0x4000004000010000ull, 0x4000004000010000ull);
    for (int k = 0; k < 4; ++k)
        text += fmt::format(
            "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {{{}}}, %q3, %q4, {}, 1, 1, 0, 0;\n"
            "add.u64 %q3, %q3, 2; add.u64 %q4, %q4, 2;\n",
            registers, k == 0 ? "%p1" : "1");
    text += fmt::format(R"(
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    add.u32 %r10, %r10, {}; setp.eq.u32 %p2, %r10, {}; selp.u32 %r10, 0, %r10, %p2;
    add.u32 %r9, %r9, 1; setp.lt.u32 %p3, %r9, {}; @%p3 bra again;
    mul.wide.u32 %q5, %r0, 4; add.u64 %q5, %q5, %q0; st.global.f32 [%q5], %f0;
    ret;
}}
)",
                        stage_bytes, stages * stage_bytes, groups);
    return text;
}

double wgmma_flop_a_second() {
    auto module = ptx::read(Source("wgmma.ptx", kernel_text()));
    auto program = isa::build(module.value(), "k");
    auto memory = machine::DeviceMemory::create().value();
    const machine::Device device = *machine::device_named("sm_90a");
    auto* const in = reinterpret_cast<std::uint16_t*>(*memory->allocate(stages * stage_bytes, "in"));
    std::mt19937 random(1);
    // Both signs, magnitudes from 2^-4 to 2^4.
    for (std::size_t i = 0; i < stages * stage_bytes / 2; ++i)
        in[i] = static_cast<std::uint16_t>((random() & 0x83FF) | (11 + random() % 8) << 10);
    const machine::Address out = *memory->allocate(1024, "out");
    std::uint8_t parameters[16];
    std::memcpy(parameters, &out, 8);
    std::memcpy(parameters + 8, &in, 8);
    exec::LaunchOptions options;
    options.threads = 1;
    const double seconds = best_seconds([&] {
        auto report = exec::launch(program.value(), device, *memory,
                                   {{1, 1, 1}, {256, 1, 1}, {1, 1, 1}, stages * stage_bytes}, parameters, options);
        if (!report || !report->ok())
            fmt::print("the launch failed: {}\n", report ? to_string(*report->fault) : to_string(report.error()));
    });
    return 2.0 * 128 * 256 * 64 * groups / seconds;
}

double sgemm_flop_a_second() {
    constexpr int n = 1024;
    std::vector<float> a(n * n, 1.0f), b(n * n, 0.5f), c(n * n);
    openblas_set_num_threads(1);
    const double seconds = best_seconds([&] {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a.data(), n, b.data(), n, 0, c.data(), n);
    });
    return 2.0 * n * n * n / seconds;
}

}  // namespace

int main() {
    const double ours = wgmma_flop_a_second(), theirs = sgemm_flop_a_second();
    fmt::print("wgmma m64n256k16 f16, two warpgroups, one core: {:.1f} GFLOP/s; SGEMM of OpenBLAS: {:.1f}\n",
               ours / 1e9, theirs / 1e9);
    fmt::print("ratio wgmma_f16_one_core {:.3f}\n", ours / theirs);
}
