#include "atom/matrix_descriptor.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/assert.h"
#include "layout/analysis.h"
#include "layout/table.h"

namespace tilepath::atom {
namespace {

using layout::Axis;
using layout::SwizzleMode;

struct Field {
    int begin;
    int bits;
};
constexpr Field start_field{0, 14}, leading_field{16, 14}, stride_field{32, 14}, base_field{49, 3},
    swizzle_field{62, 2};

constexpr std::uint64_t mask(Field field) { return ((std::uint64_t{1} << field.bits) - 1) << field.begin; }
constexpr std::uint64_t get(std::uint64_t bits, Field field) { return (bits & mask(field)) >> field.begin; }
constexpr std::uint64_t named =
    mask(start_field) | mask(leading_field) | mask(stride_field) | mask(base_field) | mask(swizzle_field);

Result<std::uint64_t> encode_bytes(std::string_view name, std::uint32_t bytes, Field field) {
    if (bytes % 16 != 0 || bytes >= 1u << 18) {
        return fail(fmt::format("{} must be a multiple of 16 below 262144, found {}", name, bytes),
                    "the field holds bytes / 16 in 14 bits");
    }
    return static_cast<std::uint64_t>(bytes / 16) << field.begin;
}

Diagnostic say(Severity severity, std::string message, std::string note = {}) {
    Diagnostic diagnostic{severity, std::move(message), {}, {}};
    if (!note.empty()) diagnostic.notes.push_back(std::move(note));
    return diagnostic;
}

}  // namespace

MatrixDescriptor decode_matrix_descriptor(std::uint64_t bits) {
    MatrixDescriptor descriptor;
    descriptor.start_bytes = static_cast<std::uint32_t>(get(bits, start_field) * 16);
    descriptor.leading_bytes = static_cast<std::uint32_t>(get(bits, leading_field) * 16);
    descriptor.stride_bytes = static_cast<std::uint32_t>(get(bits, stride_field) * 16);
    descriptor.base_offset = static_cast<int>(get(bits, base_field));
    for (const layout::SwizzleTraits& row : layout::all_swizzle_modes())
        if (row.wgmma == static_cast<int>(get(bits, swizzle_field))) descriptor.swizzle = row.mode;
    descriptor.reserved = bits & ~named;
    return descriptor;
}

Result<std::uint64_t> encode(const MatrixDescriptor& descriptor) {
    auto start = encode_bytes("the start address", descriptor.start_bytes, start_field);
    auto leading = encode_bytes("the leading dimension byte offset", descriptor.leading_bytes, leading_field);
    auto stride = encode_bytes("the stride dimension byte offset", descriptor.stride_bytes, stride_field);
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
    return *start | *leading | *stride | static_cast<std::uint64_t>(descriptor.base_offset) << base_field.begin |
           static_cast<std::uint64_t>(*swizzle) << swizzle_field.begin | descriptor.reserved;
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
        all.push_back(say(Severity::error, fmt::format("reserved bits are set: 0x{:016x}", descriptor.reserved),
                          "was an address or offset encoded without >> 4?"));
    }
    if (operand.major == OperandMajor::mn && operand.element_bits != 16) {
        all.push_back(say(Severity::error, "only 16-bit types may be MN-major (tnsp)", "store the operand K-major"));
    }
    int pattern = layout::traits(descriptor.swizzle).pattern_bytes;
    int phase = static_cast<int>(descriptor.start_bytes % static_cast<std::uint32_t>(pattern)) / 128;
    if (descriptor.swizzle == SwizzleMode::none && descriptor.base_offset != 0) {
        all.push_back(say(Severity::warning, "a base offset without a swizzle has no effect"));
    }
    if (descriptor.swizzle != SwizzleMode::none && phase != 0 && descriptor.base_offset == 0) {
        all.push_back(
            say(Severity::warning,
                fmt::format("the start address lies {} rows into the {}-byte swizzle pattern with base offset 0", phase,
                            pattern),
                "right while advancing inside an aligned tile; a tile based there needs that base offset"));
    }
    Result<layout::Layout> layout =
        operand_layout(described(descriptor, operand.major, operand.element_bits, operand.mn, operand.k));
    if (!layout) {
        all.insert(all.end(), layout.error().begin(), layout.error().end());
        return all;
    }
    if (auto alias = layout::find_alias(*layout); alias && *alias) {
        std::int64_t k = operand.k;
        all.push_back(say(Severity::warning,
                          fmt::format("elements (mn {}, k {}) and (mn {}, k {}) lie at one place", (*alias)->first / k,
                                      (*alias)->first % k, (*alias)->second / k, (*alias)->second % k),
                          "the leading or stride offset is too small"));
    }
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
