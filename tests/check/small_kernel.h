#pragma once
// Kernels of a few instructions, and what the checks find in them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "check/finding.h"
#include "exec/launch.h"
#include "isa/build.h"
#include "machine/tee.h"
#include "ptx/read.h"

namespace tilepath::check {

struct SmallLaunch {
    std::uint32_t warps = 2, ctas = 1, cluster = 1;
    machine::CopyPolicy copies = machine::CopyPolicy::eager;
    bool faults = false;  ///< the kernel hangs or faults
    machine::Observer* also = nullptr;
    std::string target = "sm_90a";
};

/// Findings of a kernel whose `body` may use %rd1, the address of 64 KiB of global memory; %r1, the thread, %r2, the
/// shared array `tile` of 32 KiB; %r3, `bars`, 64 bytes for mbarriers; %r4, the warp, %r5, the CTA, %r6, the lane; %p1,
/// thread 0; %p2, warp 0.
inline std::vector<Finding> findings_of(const std::string& body, const SmallLaunch& how = {}) {
    const std::string text = fmt::format(R"(.version 8.6
.target {}
.address_size 64
.visible .entry kernel(.param .u64 buffer)
{{
    .reg .pred %p<16>;
    .reg .b16 %h<8>;
    .reg .b32 %r<64>;
    .reg .f32 %f<64>;
    .reg .b64 %rd<32>;
    .shared .align 1024 .b8 tile[32768];
    .shared .align 8 .b8 bars[64];
    ld.param.u64 %rd1, [buffer];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, tile;
    mov.u32 %r3, bars;
    shr.u32 %r4, %r1, 5;
    mov.u32 %r5, %ctaid.x;
    and.b32 %r6, %r1, 31;
    setp.eq.u32 %p1, %r1, 0;
    setp.eq.u32 %p2, %r4, 0;
{}
    ret;
}}
)",
                                         how.target, body);
    auto module = ptx::read(Source("kernel.ptx", text));
    EXPECT_TRUE(module) << (module ? "" : to_string(module.error()));
    if (!module) return {};
    auto program = isa::build(*module, "kernel");
    EXPECT_TRUE(program) << (program ? "" : to_string(program.error()));
    if (!program) return {};
    auto memory = machine::DeviceMemory::create();
    const auto buffer = (*memory)->allocate(65536, "buffer");
    std::memset(reinterpret_cast<void*>(*buffer), 0, 65536);
    std::vector<std::uint8_t> parameters(8);
    std::memcpy(parameters.data(), &*buffer, 8);
    Checks checks;
    machine::Tee observers;
    observers.add(checks);
    if (how.also != nullptr) observers.add(*how.also);
    exec::LaunchOptions options;
    options.observer = &observers;
    options.copies = how.copies;
    const auto report =
        exec::launch(*program, *machine::device_named(how.target), **memory,
                     {{how.ctas, 1, 1}, {how.warps * 32, 1, 1}, {how.cluster, 1, 1}, 0}, parameters, options);
    EXPECT_TRUE(report);
    if (report && report->fault) {
        EXPECT_TRUE(how.faults) << exec::to_string(*report->fault);
    }
    if (report && report->deadlock) {
        EXPECT_TRUE(how.faults) << exec::to_string(*report->deadlock);
    }
    return checks.findings(*program);
}

inline std::string listing(const std::vector<Finding>& found) {
    std::string out;
    for (const Finding& each : found) out += to_string(each);
    return out;
}

/// Exactly one finding, at an instruction that has `instruction` in it, with an advice that has `advice`.
inline void expect_one(const std::vector<Finding>& found, const std::string& check, const std::string& instruction,
                       const std::string& advice) {
    ASSERT_EQ(found.size(), 1u) << listing(found);
    EXPECT_EQ(found[0].check, check) << listing(found);
    EXPECT_THAT(found[0].place.operation, testing::HasSubstr(instruction));
    EXPECT_THAT(found[0].advice, testing::HasSubstr(advice));
}

inline void expect_none(const std::vector<Finding>& found) { EXPECT_EQ(listing(found), ""); }

}  // namespace tilepath::check
