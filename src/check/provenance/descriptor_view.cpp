#include "check/provenance/descriptor_view.h"

#include <fmt/format.h>

#include "atom/matrix_descriptor.h"
#include "atom/tcgen05_descriptor.h"

namespace tilepath::check {
namespace {

std::optional<std::uint64_t> encode(DescriptorKind kind, const DescriptorView& view, std::uint64_t like) {
    const auto fill = [&](auto descriptor) -> std::optional<std::uint64_t> {
        descriptor.start_bytes = view.start_bytes, descriptor.base_offset = view.base_offset;
        descriptor.leading_bytes = view.leading_bytes, descriptor.stride_bytes = view.stride_bytes;
        if constexpr (requires { descriptor.swizzle_bits; }) {
            const auto bits = layout::traits(view.swizzle).tcgen05;
            if (!bits) return {};
            descriptor.swizzle_bits = *bits;
        } else {
            descriptor.swizzle = view.swizzle;
        }
        const auto encoded = atom::encode(descriptor);
        return encoded ? std::optional(*encoded) : std::nullopt;
    };
    return kind == DescriptorKind::wgmma ? fill(atom::decode_matrix_descriptor(like))
                                         : fill(atom::decode_tcgen05_descriptor(like));
}

}  // namespace

DescriptorView view_of(DescriptorKind kind, std::uint64_t bits) {
    if (kind == DescriptorKind::wgmma) {
        const atom::MatrixDescriptor is = atom::decode_matrix_descriptor(bits);
        return {is.start_bytes, is.leading_bytes, is.stride_bytes, is.base_offset, is.swizzle};
    }
    const atom::Tcgen05Descriptor is = atom::decode_tcgen05_descriptor(bits);
    return {is.start_bytes, is.leading_bytes, is.stride_bytes, is.base_offset,
            is.swizzle().value_or(layout::SwizzleMode::none)};
}

std::string describe(const DescriptorView& is) {
    return fmt::format("start {:#x}, LBO {}, SBO {}, base offset {}, swizzle {}", is.start_bytes, is.leading_bytes,
                       is.stride_bytes, is.base_offset, layout::traits(is.swizzle).name);
}

std::vector<DescriptorChange> single_changes(DescriptorKind kind, std::uint64_t bits) {
    const DescriptorView is = view_of(kind, bits);
    std::vector<DescriptorChange> out;
    const auto add = [&](std::string text, const DescriptorView& changed) {
        const auto encoded = encode(kind, changed, bits);
        if (encoded && *encoded != bits) out.push_back({std::move(text), *encoded, false});
    };
    using enum layout::SwizzleMode;
    for (const layout::SwizzleMode mode : {none, b32, b64, b128, b128_atom_32b}) {
        DescriptorView with = is;
        with.swizzle = mode;
        add(fmt::format("swizzle {} in place of {}", layout::traits(mode).name, layout::traits(is.swizzle).name), with);
    }
    DescriptorView with = is;
    std::swap(with.leading_bytes, with.stride_bytes);
    add(fmt::format("leading and stride offsets exchanged: LBO {}, SBO {} bytes", with.leading_bytes,
                    with.stride_bytes),
        with);
    constexpr std::uint32_t field_unit = 16;
    if (is.stride_bytes / field_unit != 0) {
        with = is;
        with.stride_bytes = is.stride_bytes / field_unit;
        add(fmt::format("SBO {} bytes: {} was written in bytes, the field counts 16", with.stride_bytes,
                        is.stride_bytes),
            with);
        with.leading_bytes = is.leading_bytes / field_unit;
        add(fmt::format("LBO {} and SBO {} bytes: they were written in bytes, the fields count 16", with.leading_bytes,
                        with.stride_bytes),
            with);
    }
    for (std::uint32_t bytes = 16; bytes <= 16384; bytes *= 2) {
        with = is;
        with.stride_bytes = bytes;
        const char* const width = bytes == 2 * is.stride_bytes   ? ", which is that of elements half as wide"
                                  : 2 * bytes == is.stride_bytes ? ", which is that of elements twice as wide"
                                                                 : "";
        add(fmt::format("SBO {} bytes in place of {}{}", bytes, is.stride_bytes, width), with);
        with = is;
        with.leading_bytes = bytes;
        add(fmt::format("LBO {} bytes in place of {}", bytes, is.leading_bytes), with);
    }
    out.push_back({"the other major-ness (the transposition of this operand)", bits, true});
    for (int phase = 0; phase < 8; ++phase) {
        with = is;
        with.base_offset = phase;
        add(fmt::format("base offset {} in place of {}", phase, is.base_offset), with);
    }
    for (const std::uint32_t step : {16u, 32u, 64u, 128u, 256u, 512u, 1024u, 2048u, 4096u, 8192u}) {
        with = is;
        with.start_bytes = is.start_bytes + step;
        add(fmt::format("a start address {} bytes further", step), with);
        if (is.start_bytes < step) continue;
        with.start_bytes = is.start_bytes - step;
        add(fmt::format("a start address {} bytes before", step), with);
    }
    return out;
}

}  // namespace tilepath::check
