#include "atom/tcgen05_descriptor.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "atom/descriptor_findings.h"

namespace tilepath::atom {
namespace {

constexpr BitField start_field{0, 14}, leading_field{16, 14}, stride_field{32, 14}, version_field{46, 3},
    base_field{49, 3}, mode_field{52, 1}, swizzle_field{61, 3};
constexpr std::uint64_t named = start_field.mask() | leading_field.mask() | stride_field.mask() | version_field.mask() |
                                base_field.mask() | mode_field.mask() | swizzle_field.mask();

std::string swizzle_text(const Tcgen05Descriptor& descriptor) {
    const auto mode = descriptor.swizzle();
    if (!mode) return fmt::format("{} is none", descriptor.swizzle_bits);
    return fmt::format("{} = {}, {} on byte addresses", descriptor.swizzle_bits, layout::traits(*mode).name,
                       to_string(layout::traits(*mode).bytes));
}

}  // namespace

std::optional<layout::SwizzleMode> Tcgen05Descriptor::swizzle() const {
    for (const layout::SwizzleTraits& row : layout::all_swizzle_modes())
        if (row.tcgen05 == swizzle_bits) return row.mode;
    return std::nullopt;
}

Tcgen05Descriptor decode_tcgen05_descriptor(std::uint64_t bits) {
    Tcgen05Descriptor made;
    made.start_bytes = static_cast<std::uint32_t>(start_field.get(bits) * 16);
    made.leading_bytes = static_cast<std::uint32_t>(leading_field.get(bits) * 16);
    made.stride_bytes = static_cast<std::uint32_t>(stride_field.get(bits) * 16);
    made.version = static_cast<int>(version_field.get(bits));
    made.base_offset = static_cast<int>(base_field.get(bits));
    made.leading_is_address = mode_field.get(bits) != 0;
    made.swizzle_bits = static_cast<int>(swizzle_field.get(bits));
    made.reserved = bits & ~named;
    return made;
}

Result<std::uint64_t> encode(const Tcgen05Descriptor& descriptor) {
    std::uint64_t word = descriptor.reserved;
    for (const auto& [name, bytes, field] :
         {std::tuple{"the start address", descriptor.start_bytes, start_field},
          {"the leading dimension byte offset", descriptor.leading_bytes, leading_field},
          {"the stride dimension byte offset", descriptor.stride_bytes, stride_field}}) {
        const auto bits = put_bytes(name, bytes, field);
        if (!bits) return bits;
        word |= *bits;
    }
    for (const auto& [name, value, field] : {std::tuple{"the version", descriptor.version, version_field},
                                             {"the base offset", descriptor.base_offset, base_field},
                                             {"the swizzle", descriptor.swizzle_bits, swizzle_field}}) {
        if (value < 0 || !field.holds(static_cast<std::uint64_t>(value)))
            return fail(fmt::format("{} must be 0 to 7, found {}", name, value));
        word |= field.put(static_cast<std::uint64_t>(value));
    }
    if ((descriptor.reserved & named) != 0) return fail("reserved bits overlap the fields");
    return word | mode_field.put(descriptor.leading_is_address ? 1 : 0);
}

Result<Tcgen05Descriptor> tcgen05_descriptor(const SharedOperand& operand, std::uint32_t start_bytes) {
    const layout::SwizzleTraits& mode = layout::traits(operand.swizzle);
    if (!mode.tcgen05)
        return fail(fmt::format("tcgen05 has no swizzle mode {}", mode.name),
                    "modes: none, 32B, 64B, 128B, 128B_atom_32B");
    Tcgen05Descriptor made;
    made.start_bytes = start_bytes;
    made.leading_bytes = static_cast<std::uint32_t>(operand.leading_bytes);
    made.stride_bytes = static_cast<std::uint32_t>(operand.stride_bytes);
    made.swizzle_bits = *mode.tcgen05;
    if (auto fits = encode(made); !fits) return std::unexpected(fits.error());
    return made;
}

Result<SharedOperand> described(const Tcgen05Descriptor& descriptor, OperandMajor major, int element_bits, int mn,
                                int k, bool padded) {
    const auto mode = descriptor.swizzle();
    if (!mode)
        return fail(fmt::format("swizzle bits {} are no mode", descriptor.swizzle_bits), "modes are 0, 1, 2, 4 and 6");
    if (descriptor.leading_is_address)
        return fail("the leading offset is an address (bit 52): the tile may lie in two buffers");
    return SharedOperand{major,
                         *mode,
                         element_bits,
                         mn,
                         k,
                         static_cast<int>(descriptor.leading_bytes),
                         static_cast<int>(descriptor.stride_bytes),
                         padded};
}

Result<std::vector<OperandPart>> described_parts(const Tcgen05Descriptor& descriptor, OperandMajor major,
                                                 int element_bits, int mn, int k, bool padded) {
    Tcgen05Descriptor relative = descriptor;
    relative.leading_is_address = false;
    auto operand = described(relative, major, element_bits, mn, k, padded);
    if (!operand) return std::unexpected(operand.error());
    if (!descriptor.leading_is_address) return std::vector{OperandPart{0, descriptor.start_bytes, *operand}};
    constexpr const char* rule = "PTX ISA 9.7.16.3.1.2";
    if (operand->swizzle != layout::SwizzleMode::b128)
        return fail(fmt::format("a leading offset that is an address wants the swizzle 128B, found {}",
                                layout::traits(operand->swizzle).name),
                    rule);
    if (major != OperandMajor::k)
        return fail("a leading offset that is an address wants a K-major operand, found MN-major", rule);
    if (descriptor.base_offset != 0)
        return fail(fmt::format("a leading offset that is an address wants a base offset of 0, found {}",
                                descriptor.base_offset),
                    rule);
    if (padded || k * element_bits != 48 * 8)
        return fail(fmt::format("a leading offset that is an address wants 48 bytes of K, found {} elements of {} bits",
                                k, element_bits),
                    "k of 96 of mxf4 and mxf4nvf4, on sm_103a");
    operand->leading_bytes = 16;
    const int in_line = std::min(k, (128 - static_cast<int>(descriptor.start_bytes % 128)) * 8 / element_bits);
    std::vector<OperandPart> parts{{0, descriptor.start_bytes, *operand}};
    parts.front().operand.k = in_line;
    if (in_line < k) {
        parts.push_back({in_line, descriptor.leading_bytes, *operand});
        parts.back().operand.k = k - in_line;
    }
    return parts;
}

Diagnostics validate(const Tcgen05Descriptor& descriptor, const SharedOperand& operand) {
    Diagnostics all;
    if (auto bits = encode(descriptor); !bits) all = bits.error();
    if (descriptor.reserved != 0)
        all.push_back(finding(Severity::error, fmt::format("reserved bits are set: 0x{:016x}", descriptor.reserved),
                              "was an address or offset encoded without >> 4?"));
    if (descriptor.version != 1)
        all.push_back(finding(Severity::error, fmt::format("bits 46-48 must be 0b001, found {}", descriptor.version),
                              "a wgmma descriptor has 0 there"));
    if (descriptor.leading_is_address)
        all.push_back(finding(Severity::warning, "bit 52: the leading offset is an address, which only sm_103a knows"));
    const auto parts =
        described_parts(descriptor, operand.major, operand.element_bits, operand.mn, operand.k, operand.padded);
    if (!parts) {
        all.insert(all.end(), parts.error().begin(), parts.error().end());
        return all;
    }
    const layout::SwizzleMode mode = parts->front().operand.swizzle;
    if (operand.major == OperandMajor::mn && !operand.padded && operand.element_bits == 32 &&
        mode != layout::SwizzleMode::b128_atom_32b)
        all.push_back(
            finding(Severity::error, "MN-major 32-bit operands need the swizzle 128B_atom_32B", "PTX ISA 9.7.16.10.3"));
    if (operand.major == OperandMajor::mn && operand.element_bits < 8)
        all.push_back(finding(Severity::error, "4- and 6-bit operands must be K-major"));
    if (operand.major == OperandMajor::k && mode == layout::SwizzleMode::b128_atom_32b)
        all.push_back(finding(Severity::warning, "where a K-major operand lies under 128B_atom_32B is inferred",
                              "PTX ISA 9.7.16.10.3 allows it, 9.7.16.10.6 has no such atom, CUTLASS refuses it"));
    for (const OperandPart& part : *parts)
        add_operand_findings(all, part.operand, part.start_bytes, descriptor.base_offset);
    return all;
}

std::vector<FieldText> fields(const Tcgen05Descriptor& descriptor) {
    const auto bytes = [](std::uint32_t value) { return fmt::format("0x{:04x} = {} bytes", value / 16, value); };
    std::vector<FieldText> all{
        {"0-13", "start address", bytes(descriptor.start_bytes)},
        {"16-29", descriptor.leading_is_address ? "leading dimension address" : "leading dimension byte offset",
         bytes(descriptor.leading_bytes)},
        {"32-45", "stride dimension byte offset", bytes(descriptor.stride_bytes)},
        {"46-48", "constant",
         fmt::format("0b{:03b}{}", descriptor.version, descriptor.version == 1 ? "" : ", must be 0b001")},
        {"49-51", "base offset", std::to_string(descriptor.base_offset)},
        {"52", "leading dimension mode", descriptor.leading_is_address ? "1 = address" : "0 = offset"},
        {"61-63", "swizzle", swizzle_text(descriptor)},
    };
    if (descriptor.reserved != 0)
        all.push_back({"others", "reserved, must be 0", fmt::format("0x{:016x}", descriptor.reserved)});
    return all;
}

}  // namespace tilepath::atom
