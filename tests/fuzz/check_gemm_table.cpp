// Any TOML text as a launch file with `[gemm]`: the product that it describes is followed through a kernel that copies,
// converts and adds what its buffers hold.
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "base/assert.h"
#include "check/finding.h"
#include "check/provenance/product_of.h"
#include "host/launch_file.h"
#include "isa/build.h"
#include "machine/tee.h"
#include "ptx/read.h"

using namespace tilepath;

namespace {

constexpr std::uint64_t most_bytes = 1 << 16;

/// A warp multiplies what lies at `a` and `b`, and stores to `d`.
program::Program kernel() {
    const auto module = ptx::read(Source("kernel.ptx", R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 d) {
    .reg .b64 q<4>; .reg .b32 r<12>; .reg .f32 f<8>;
    mov.u32 r0, %tid.x; mul.wide.u32 q3, r0, 16;
    ld.param.u64 q0, [a]; ld.param.u64 q1, [b]; ld.param.u64 q2, [d];
    add.u64 q0, q0, q3; add.u64 q1, q1, q3; add.u64 q2, q2, q3;
    ld.global.v4.b32 {r1, r2, r3, r4}, [q0]; ld.global.v2.b32 {r5, r6}, [q1];
    mov.f32 f0, 0f00000000; mov.f32 f1, f0; mov.f32 f2, f0; mov.f32 f3, f0;
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {f0, f1, f2, f3}, {r1, r2, r3, r4}, {r5, r6}, {f0, f1, f2, f3};
    st.global.v4.f32 [q2], {f0, f1, f2, f3};
    ret;
}
)"));
    auto program = isa::build(*module, "k");
    TILEPATH_ASSERT(program, "the kernel builds");
    return std::move(*program);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const program::Program program = kernel();
    static auto memory = std::move(*machine::DeviceMemory::create());
    static const machine::Address at = *memory->allocate(4 * most_bytes, "everything");
    const std::string text(reinterpret_cast<const char*>(data), size);
    auto file = host::read_launch_text("/fuzz.toml", text, most_bytes);
    if (!file || !file->gemm) return 0;
    host::Job job;
    std::vector<machine::Address> addresses;
    for (const host::BufferTable& table : file->buffers) {
        job.buffers.push_back(table.buffer);
        job.buffers.back().bytes.resize((table.extent * static_cast<std::uint64_t>(table.buffer.dtype.bits) + 7) / 8);
        addresses.push_back(at + 4096 * (addresses.size() % 16));
    }
    for (const host::GemmTable::Operand& operand : file->gemm->operands) {
        const auto found = std::ranges::find(job.buffers, operand.buffer, &host::Buffer::name);
        if (found == job.buffers.end() || found->shape.size() != operand.index.size()) return 0;
    }
    job.gemm = file->gemm;
    auto product = check::product_of(job, addresses);
    if (!product) return 0;
    machine::Address parameters[3] = {at, at, at};
    for (std::size_t i = 0; i < addresses.size() && i < 3; ++i) parameters[i] = addresses[i];
    std::vector<std::uint8_t> bytes(sizeof parameters);
    std::memcpy(bytes.data(), parameters, sizeof parameters);
    check::Checks checks;
    checks.expect(std::move(*product));
    exec::LaunchOptions options;
    options.observer = &checks;
    const auto report = exec::launch(program, *machine::device_named("sm_80"), *memory,
                                     {{1, 1, 1}, {32, 1, 1}, {1, 1, 1}, 0}, bytes, options);
    TILEPATH_ASSERT(report && report->ok(), "the kernel runs");
    for (const check::Finding& each : checks.findings(program)) to_string(each);
    return 0;
}
