#include "atom/tcgen05_descriptor.h"

#include <fmt/format.h>

#include <string_view>

#include "atom/bit_field.h"
#include "layout/analysis.h"

namespace tilepath::atom {
namespace {

constexpr BitField start_field{0, 14}, leading_field{16, 14}, stride_field{32, 14}, version_field{46, 3},
    base_field{49, 3}, mode_field{52, 1}, swizzle_field{61, 3};
constexpr std::uint64_t named = start_field.mask() | leading_field.mask() | stride_field.mask() | version_field.mask() |
                                base_field.mask() | mode_field.mask() | swizzle_field.mask();

Diagnostic say(Severity severity, std::string message, std::string note = {}) {
    Diagnostic diagnostic{severity, std::move(message), {}, {}};
    if (!note.empty()) diagnostic.notes.push_back(std::move(note));
    return diagnostic;
}

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
        if (bytes % 16 != 0 || bytes >= 1u << 18)
            return fail(fmt::format("{} must be a multiple of 16 below 262144, found {}", name, bytes),
                        "the field holds bytes / 16 in 14 bits");
        word |= field.put(bytes / 16);
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
        return fail("the leading offset is an address (bit 52): the tile lies in two buffers",
                    "only k of 96 on sm_103a reads such a tile; it is not modelled");
    return SharedOperand{major,
                         *mode,
                         element_bits,
                         mn,
                         k,
                         static_cast<int>(descriptor.leading_bytes),
                         static_cast<int>(descriptor.stride_bytes),
                         padded};
}

Diagnostics validate(const Tcgen05Descriptor& descriptor, const SharedOperand& operand) {
    Diagnostics all;
    if (auto bits = encode(descriptor); !bits) all = bits.error();
    if (descriptor.reserved != 0)
        all.push_back(say(Severity::error, fmt::format("reserved bits are set: 0x{:016x}", descriptor.reserved),
                          "was an address or offset encoded without >> 4?"));
    if (descriptor.version != 1)
        all.push_back(say(Severity::error, fmt::format("bits 46-48 must be 0b001, found {}", descriptor.version),
                          "a wgmma descriptor has 0 there"));
    if (descriptor.leading_is_address)
        all.push_back(say(Severity::warning, "bit 52: the leading offset is an address, which only sm_103a knows"));
    const Result<SharedOperand> tile =
        described(descriptor, operand.major, operand.element_bits, operand.mn, operand.k, operand.padded);
    if (!tile) {
        if (!descriptor.swizzle()) all.insert(all.end(), tile.error().begin(), tile.error().end());
        return all;
    }
    const layout::SwizzleTraits& mode = layout::traits(tile->swizzle);
    if (operand.major == OperandMajor::mn && !operand.padded && operand.element_bits == 32 &&
        tile->swizzle != layout::SwizzleMode::b128_atom_32b)
        all.push_back(
            say(Severity::error, "MN-major 32-bit operands need the swizzle 128B_atom_32B", "PTX ISA 9.7.16.10.3"));
    if (operand.major == OperandMajor::mn && operand.element_bits < 8)
        all.push_back(say(Severity::error, "4- and 6-bit operands must be K-major"));
    const int phase = static_cast<int>(descriptor.start_bytes % static_cast<std::uint32_t>(mode.pattern_bytes)) / 128;
    if (tile->swizzle != layout::SwizzleMode::none && phase != 0 && descriptor.base_offset == 0)
        all.push_back(
            say(Severity::warning,
                fmt::format("the start address lies {} rows into the {}-byte swizzle pattern with base offset 0", phase,
                            mode.pattern_bytes),
                "right while advancing inside an aligned tile; a tile based there needs that base offset"));
    const Result<layout::Layout> layout = operand_layout(*tile);
    if (!layout) {
        all.insert(all.end(), layout.error().begin(), layout.error().end());
    } else if (auto alias = layout::find_alias(*layout); alias && *alias) {
        const std::int64_t k = operand.k;
        all.push_back(say(Severity::warning,
                          fmt::format("elements (mn {}, k {}) and (mn {}, k {}) lie at one place", (*alias)->first / k,
                                      (*alias)->first % k, (*alias)->second / k, (*alias)->second % k),
                          "the leading or stride offset is too small"));
    }
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
