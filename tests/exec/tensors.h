#pragma once
// Tensor maps for kernels written as PTX text, and a list of numbers that makes one.
#include <span>

#include "kernel.h"
#include "machine/tensor_map.h"

namespace tilepath::exec {

/// A map from the numbers that a recording writes down, in this order: type, interleave, swizzle, fill (as the driver
/// numbers them), im2col, rank; then rank dims, rank − 1 strides, rank element strides; tiled: rank box sizes; im2col:
/// rank − 2 lower corners, as many upper ones, channels per pixel, pixels per column.
inline machine::TensorMap map_of_numbers(std::span<const std::int64_t> numbers, const void* address) {
    machine::TensorMap map;
    std::size_t at = 0;
    const auto next = [&] { return numbers[at++]; };
    map.type = static_cast<machine::TensorType>(next());
    map.interleave = static_cast<machine::Interleave>(next());
    const std::int64_t swizzle = next();
    for (const layout::SwizzleTraits& row : layout::all_swizzle_modes())
        if (row.tensor_map == swizzle) map.swizzle = row.mode;
    map.nan_fill = next() != 0;
    map.walk = next() != 0 ? machine::ImageWalk::im2col : machine::ImageWalk::tiled;
    map.rank = static_cast<std::uint32_t>(next());
    for (std::uint32_t d = 0; d < map.rank; ++d) map.dims[d] = static_cast<std::uint64_t>(next());
    for (std::uint32_t d = 0; d + 1 < map.rank; ++d) map.strides[d] = static_cast<std::uint64_t>(next());
    for (std::uint32_t d = 0; d < map.rank; ++d) map.element_strides[d] = static_cast<std::uint32_t>(next());
    if (map.tiled()) {
        for (std::uint32_t d = 0; d < map.rank; ++d) map.box[d] = static_cast<std::uint32_t>(next());
    } else {
        for (std::uint32_t i = 0; i + 2 < map.rank; ++i) map.lower[i] = static_cast<std::int32_t>(next());
        for (std::uint32_t i = 0; i + 2 < map.rank; ++i) map.upper[i] = static_cast<std::int32_t>(next());
        map.channels_per_pixel = static_cast<std::uint32_t>(next());
        map.pixels_per_column = static_cast<std::uint32_t>(next());
    }
    EXPECT_EQ(at, numbers.size());
    map.address = reinterpret_cast<std::uintptr_t>(address);
    EXPECT_EQ(to_string(machine::broken_rules(map)), "");
    return map;
}

/// A program whose entry `k` takes tensor maps m0, m1, … and then addresses p0, p1, …; %q40, %q41, … hold the maps'
/// generic addresses, %q0, %q1, … the pointers.
inline program::Program compile_with_maps(const std::string& body, int maps, int pointers,
                                          const std::string& target = "sm_90a") {
    std::string text = fmt::format(".version 9.0\n.target {}\n.address_size 64\n.visible .entry k(", target);
    for (int i = 0; i < maps; ++i) text += fmt::format("{}.param .align 64 .b8 m{}[128]", i == 0 ? "" : ", ", i);
    for (int i = 0; i < pointers; ++i) text += fmt::format("{}.param .u64 p{}", i + maps == 0 ? "" : ", ", i);
    text +=
        ")\n{\n.reg .pred %p<16>; .reg .b16 %h<32>; .reg .b32 %r<64>; .reg .b64 %q<64>; .reg .b128 %x<8>;\n"
        ".reg .f32 %f<64>; .reg .f64 %d<16>;\n";
    for (int i = 0; i < maps; ++i)
        text += fmt::format("mov.b64 %q{0}, m{1}; cvta.param.u64 %q{0}, %q{0};\n", 40 + i, i);
    for (int i = 0; i < pointers; ++i) text += fmt::format("ld.param.u64 %q{}, [p{}];\n", i, i);
    return compile_module(text + body + "\nret;\n}\n");
}

/// Launches such a program.
inline LaunchReport run_with_maps(Device& gpu, const program::Program& program, const LaunchShape& shape,
                                  const LaunchOptions& options, const std::vector<machine::TensorMap>& maps,
                                  const std::vector<const void*>& pointers) {
    std::vector<std::uint8_t> bytes;
    for (const machine::TensorMap& map : maps) {
        const auto encoded = machine::encode(map);
        bytes.insert(bytes.end(), encoded.begin(), encoded.end());
    }
    for (const void* pointer : pointers) {
        bytes.resize(bytes.size() + 8);
        std::memcpy(bytes.data() + bytes.size() - 8, &pointer, 8);
    }
    auto report = launch(program, gpu.device(), gpu.memory(), shape, bytes, options);
    if (report) return *report;
    ADD_FAILURE() << to_string(report.error());
    return {};
}

/// Every policy, with several seeds.
inline std::vector<LaunchOptions> every_policy(int seeds = 6) {
    std::vector<LaunchOptions> out;
    for (const machine::CopyPolicy policy :
         {machine::CopyPolicy::eager, machine::CopyPolicy::late, machine::CopyPolicy::random})
        for (int seed = 0; seed < (policy == machine::CopyPolicy::random ? seeds : 1); ++seed) {
            LaunchOptions options;
            options.copies = policy;
            options.seed = static_cast<std::uint64_t>(seed);
            out.push_back(options);
        }
    return out;
}

}  // namespace tilepath::exec
