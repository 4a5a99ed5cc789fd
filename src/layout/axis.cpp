#include "layout/axis.h"

#include <array>

namespace tilepath::layout {
namespace {

using enum AxisKind;
// axis, name, alias (bx, cbx: the names of TIRx), kind, meaning
constexpr std::array<AxisTraits, axis_count> rows{{
    {Axis::ctaid_x, "ctaid_x", "bx", thread, "CTA in the grid, x"},
    {Axis::ctaid_y, "ctaid_y", "by", thread, "CTA in the grid, y"},
    {Axis::ctaid_z, "ctaid_z", "bz", thread, "CTA in the grid, z"},
    {Axis::cluster_ctaid_x, "cluster_ctaid_x", "cbx", thread, "CTA in its cluster, x"},
    {Axis::cluster_ctaid_y, "cluster_ctaid_y", "cby", thread, "CTA in its cluster, y"},
    {Axis::cluster_ctaid_z, "cluster_ctaid_z", "cbz", thread, "CTA in its cluster, z"},
    {Axis::cluster_ctarank, "cluster_ctarank", "", thread, "rank of the CTA in its cluster"},
    {Axis::tx, "tx", "", thread, "thread in its CTA, x"},
    {Axis::ty, "ty", "", thread, "thread in its CTA, y"},
    {Axis::tz, "tz", "", thread, "thread in its CTA, z"},
    {Axis::wgid, "wgid", "", thread, "warpgroup in its CTA"},
    {Axis::wid_in_wg, "wid_in_wg", "", thread, "warp in its warpgroup"},
    {Axis::tid_in_wg, "tid_in_wg", "", thread, "thread in its warpgroup"},
    {Axis::warpid, "warpid", "", thread, "warp in its CTA"},
    {Axis::laneid, "laneid", "", thread, "lane in its warp"},
    {Axis::tlane, "TLane", "", storage, "lane of Tensor Memory"},
    {Axis::tcol, "TCol", "", storage, "32-bit column of Tensor Memory"},
    {Axis::m, "m", "", storage, "memory, in elements"},
    {Axis::bank, "bank", "Bank", storage, "bank of shared memory"},
    {Axis::reg, "reg", "", storage, "register of a thread"},
    {Axis::byte, "byte", "", storage, "byte in a register, word or column"},
    {Axis::bit, "bit", "", storage, "bit in a register, word or column"},
}};

constexpr bool in_order() {
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (static_cast<std::size_t>(rows[i].axis) != i) return false;
    return true;
}
static_assert(in_order());

}  // namespace

const AxisTraits& traits(Axis axis) { return rows[static_cast<std::size_t>(axis)]; }

std::optional<Axis> axis_named(std::string_view name) {
    if (name.empty()) return std::nullopt;
    for (const AxisTraits& row : rows)
        if (row.name == name || row.alias == name) return row.axis;
    return std::nullopt;
}

std::span<const AxisTraits> all_axes() { return rows; }

}  // namespace tilepath::layout
