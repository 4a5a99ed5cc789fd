#include "atom/matrix_descriptor.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "atom/descriptor_findings.h"
#include "layout/table.h"

namespace tilepath::atom {
namespace {

using layout::Axis;
using layout::SwizzleMode;

constexpr BitField start_field{0, 14}, leading_field{16, 14}, stride_field{32, 14}, base_field{49, 3},
    swizzle_field{62, 2};
constexpr std::uint64_t named =
    start_field.mask() | leading_field.mask() | stride_field.mask() | base_field.mask() | swizzle_field.mask();

}  // namespace

MatrixDescriptor decode_matrix_descriptor(std::uint64_t bits) {
    MatrixDescriptor descriptor;
    descriptor.start_bytes = static_cast<std::uint32_t>(start_field.get(bits) * 16);
    descriptor.leading_bytes = static_cast<std::uint32_t>(leading_field.get(bits) * 16);
    descriptor.stride_bytes = static_cast<std::uint32_t>(stride_field.get(bits) * 16);
    descriptor.base_offset = static_cast<int>(base_field.get(bits));
    for (const layout::SwizzleTraits& row : layout::all_swizzle_modes())
        if (row.wgmma == static_cast<int>(swizzle_field.get(bits))) descriptor.swizzle = row.mode;
    descriptor.reserved = bits & ~named;
    return descriptor;
}

Result<std::uint64_t> encode(const MatrixDescriptor& descriptor) {
    auto start = put_bytes("the start address", descriptor.start_bytes, start_field);
    auto leading = put_bytes("the leading dimension byte offset", descriptor.leading_bytes, leading_field);
    auto stride = put_bytes("the stride dimension byte offset", descriptor.stride_bytes, stride_field);
    for (const auto* part : {&start, &leading, &stride})
        if (!*part) return *part;
    if (descriptor.base_offset < 0 || descriptor.base_offset > 7) {
        return fail(fmt::format("the base offset must be 0 to 7, found {}", descriptor.base_offset));
    }
    std::optional<int> swizzle = layout::traits(descriptor.swizzle).wgmma;
    if (!swizzle) {
        return fail(fmt::format("wgmma has no swizzle mode {}", layout::traits(descriptor.swizzle).name),
                    "modes: none, 32B, 64B, 128B");
    }
    if ((descriptor.reserved & named) != 0) return fail("reserved bits overlap the fields");
    return *start | *leading | *stride | base_field.put(static_cast<std::uint64_t>(descriptor.base_offset)) |
           swizzle_field.put(static_cast<std::uint64_t>(*swizzle)) | descriptor.reserved;
}

SharedOperand described(const MatrixDescriptor& descriptor, OperandMajor major, int element_bits, int mn, int k) {
    return {major,
            descriptor.swizzle,
            element_bits,
            mn,
            k,
            static_cast<int>(descriptor.leading_bytes),
            static_cast<int>(descriptor.stride_bytes)};
}

Diagnostics validate(const MatrixDescriptor& descriptor, const SharedOperand& operand) {
    Diagnostics all;
    if (auto bits = encode(descriptor); !bits) all = bits.error();
    if (descriptor.reserved != 0) {
        all.push_back(finding(Severity::error, fmt::format("reserved bits are set: 0x{:016x}", descriptor.reserved),
                              "was an address or offset encoded without >> 4?"));
    }
    if (operand.major == OperandMajor::mn && operand.element_bits != 16) {
        all.push_back(
            finding(Severity::error, "only 16-bit types may be MN-major (tnsp)", "store the operand K-major"));
    }
    if (descriptor.swizzle == SwizzleMode::none && descriptor.base_offset != 0) {
        all.push_back(finding(Severity::warning, "a base offset without a swizzle has no effect"));
    }
    add_operand_findings(all, described(descriptor, operand.major, operand.element_bits, operand.mn, operand.k),
                         descriptor.start_bytes, descriptor.base_offset);
    return all;
}

Result<std::vector<OperandPlace>> operand_places(const MatrixDescriptor& descriptor, const SharedOperand& operand) {
    Result<layout::Layout> layout = operand_layout(operand);
    if (!layout) return std::unexpected(layout.error());
    Result<layout::Table> table = layout::Table::of(*layout);
    if (!table) return std::unexpected(table.error());
    std::vector<OperandPlace> places;
    places.reserve(static_cast<std::size_t>(table->elements()));
    for (std::int64_t element = 0; element < table->elements(); ++element) {
        auto offset = static_cast<std::uint64_t>(table->at(Axis::m, element));
        places.push_back({operand_address(operand, descriptor.start_bytes, descriptor.base_offset, offset),
                          static_cast<int>(table->at(Axis::bit, element))});
    }
    return places;
}

std::vector<FieldText> fields(const MatrixDescriptor& descriptor) {
    const auto bytes = [](std::uint32_t value) { return fmt::format("0x{:04x} = {} bytes", value / 16, value); };
    const layout::SwizzleTraits& mode = layout::traits(descriptor.swizzle);
    std::vector<FieldText> all{
        {"0-13", "start address", bytes(descriptor.start_bytes)},
        {"16-29", "leading dimension byte offset", bytes(descriptor.leading_bytes)},
        {"32-45", "stride dimension byte offset", bytes(descriptor.stride_bytes)},
        {"49-51", "base offset", std::to_string(descriptor.base_offset)},
        {"62-63", "swizzle",
         fmt::format("{} = {}, {} on byte addresses", mode.wgmma.value_or(0), mode.name, to_string(mode.bytes))},
    };
    if (descriptor.reserved != 0)
        all.push_back({"others", "reserved, must be 0", fmt::format("0x{:016x}", descriptor.reserved)});
    return all;
}

}  // namespace tilepath::atom
