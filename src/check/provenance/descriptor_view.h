#pragma once
#include <optional>
#include <string>
#include <vector>

#include "layout/swizzle.h"

namespace tilepath::check {

/// Whose matrix descriptor: they have the same fields in other encodings.
enum class DescriptorKind : std::uint8_t { wgmma, tcgen05 };

/// A matrix descriptor in shared memory, as the checks look at it.
struct DescriptorView {
    std::uint32_t start_bytes = 0, leading_bytes = 0, stride_bytes = 0;
    int base_offset = 0;
    layout::SwizzleMode swizzle = layout::SwizzleMode::none;
};
DescriptorView view_of(DescriptorKind kind, std::uint64_t bits);
/// `start 0x400, LBO 16, …`
std::string describe(const DescriptorView& view);

/// A descriptor that differs in one field.
struct DescriptorChange {
    std::string text;
    std::uint64_t bits = 0;
    bool transposed = false;  ///< the same bits, read in the other major-ness
};
/// The likeliest first.
std::vector<DescriptorChange> single_changes(DescriptorKind kind, std::uint64_t bits);

}  // namespace tilepath::check
