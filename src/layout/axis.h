// layout/: where elements lie. A layout is a set-valued map from a logical coordinate to places named by axes; the
// folder evaluates, inverts, compares and combines layouts, and reads and prints them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tilepath::layout {

/// The closed list of axes. The order is that of printing: who (outer to inner), then where (outer to inner).
enum class Axis : std::uint8_t {
    ctaid_x,
    ctaid_y,
    ctaid_z,  // CTA in the grid
    cluster_ctaid_x,
    cluster_ctaid_y,
    cluster_ctaid_z,  // CTA in its cluster
    cluster_ctarank,  // the same, as one number
    tx,
    ty,
    tz,  // thread in its CTA
    wgid,
    wid_in_wg,
    tid_in_wg,  // warpgroup; warp and thread in it
    warpid,
    laneid,  // warp in its CTA; lane in its warp
    tlane,
    tcol,  // Tensor Memory: lane (row), 32-bit column
    m,
    bank,  // memory, in elements unless said; shared-memory bank
    reg,
    byte,
    bit  // register of a thread; byte or bit in a register, word or column
};
constexpr std::size_t axis_count = static_cast<std::size_t>(Axis::bit) + 1;

/// Who holds an element, or where it lies.
enum class AxisKind : std::uint8_t { thread, storage };

struct AxisTraits {
    Axis axis;
    std::string_view name;   ///< as notation writes it
    std::string_view alias;  ///< another name accepted on input, or empty
    AxisKind kind;
    std::string_view meaning;
};

const AxisTraits& traits(Axis axis);
/// The axis of that name or alias.
std::optional<Axis> axis_named(std::string_view name);
std::span<const AxisTraits> all_axes();

}  // namespace tilepath::layout
