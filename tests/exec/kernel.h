#pragma once
// Kernels written as PTX text, their buffers and their launches.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "exec/launch.h"
#include "isa/build.h"
#include "ptx/read.h"

namespace tilepath::exec {

/// A program from the text of a whole module.
inline program::Program compile_module(const std::string& text) {
    auto module = ptx::read(Source("test.ptx", text));
    if (!module) {
        ADD_FAILURE() << to_string(module.error());
        return {};
    }
    auto program = isa::build(*module, "k");
    if (!program) {
        ADD_FAILURE() << to_string(program.error());
        return {};
    }
    return std::move(*program);
}

/// A program from the body of an entry `k` whose parameters are `pointers` addresses p0, p1, … It has registers of
/// every kind: p predicates, h 16 bits, r 32, q 64, x 128, f 32, d 64.
inline program::Program compile(const std::string& body, int pointers = 1, const std::string& before = "",
                                const std::string& target = "sm_90") {
    std::string text =
        fmt::format(".version {}\n.target {}\n.address_size 64\n{}\n.visible .entry k(",
                    target.starts_with("sm_1") ? "9.0" : "8.5", target, before);
    for (int i = 0; i < pointers; ++i) text += fmt::format("{}.param .u64 p{}", i == 0 ? "" : ", ", i);
    text +=
        ")\n{\n.reg .pred %p<16>; .reg .b16 %h<32>; .reg .b32 %r<64>; .reg .b64 %q<64>; .reg .b128 %x<8>;\n"
        ".reg .f32 %f<64>; .reg .f64 %d<16>;\n";
    for (int i = 0; i < pointers; ++i) text += fmt::format("ld.param.u64 %q{}, [p{}];\n", i, i);
    return compile_module(text + body + "\nret;\n}\n");
}

/// Device memory with typed views.
class Device {
  public:
    explicit Device(const std::string& arch = "sm_90") : device_(*machine::device_named(arch)) {
        memory_ = std::move(*machine::DeviceMemory::create());
    }
    template <class T>
    T* buffer(std::size_t count, const std::string& name = "buffer") {
        return reinterpret_cast<T*>(*memory_->allocate(count * sizeof(T), name));
    }
    machine::DeviceMemory& memory() { return *memory_; }
    const machine::Device& device() const { return device_; }

    template <class... Pointers>
    Result<LaunchReport> try_launch(const program::Program& program, const LaunchShape& shape,
                                    const LaunchOptions& options, Pointers... pointers) {
        std::vector<std::uint8_t> bytes;
        [[maybe_unused]] const auto append = [&](const void* pointer) {
            bytes.resize(bytes.size() + 8);
            std::memcpy(bytes.data() + bytes.size() - 8, &pointer, 8);
        };
        (append(pointers), ...);
        return launch(program, device_, *memory_, shape, bytes, options);
    }
    /// A launch that must begin; what the kernel does is in the report.
    template <class... Pointers>
    LaunchReport run(const program::Program& program, const LaunchShape& shape, const LaunchOptions& options,
                     Pointers... pointers) {
        auto report = try_launch(program, shape, options, pointers...);
        if (report) return *report;
        ADD_FAILURE() << to_string(report.error());
        return {};
    }
    /// A launch that must end well.
    template <class... Pointers>
    void run_clean(const program::Program& program, const LaunchShape& shape, Pointers... pointers) {
        const LaunchReport report = run(program, shape, {}, pointers...);
        if (report.fault) ADD_FAILURE() << to_string(*report.fault);
        if (report.deadlock) ADD_FAILURE() << to_string(*report.deadlock);
    }

  private:
    machine::Device device_;
    std::unique_ptr<machine::DeviceMemory> memory_;
};

inline LaunchShape blocks(std::uint32_t grid, std::uint32_t block, std::uint32_t dynamic_shared = 0) {
    return {{grid, 1, 1}, {block, 1, 1}, {1, 1, 1}, dynamic_shared};
}

}  // namespace tilepath::exec
