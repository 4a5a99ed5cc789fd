// The rules of cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col, as cuda.h of CUDA 13.0 gives them and as the driver
// keeps them (tests/vectors/tensor_maps.txt): it asks for whole units of 16 bytes when interleaved too, for no
// particular swizzle with interleave 32B, and for boxes that a multiprocessor can hold.
#include <fmt/format.h>

#include <algorithm>

#include "machine/tensor_map.h"

namespace tilepath::machine {
namespace {

using layout::SwizzleMode;

class Rules {
  public:
    Rules(const TensorMap& map, int sm) : map_(map), type_(traits(map.type)), sm_(sm) {}

    Diagnostics check() {
        const bool interleaved = map_.interleave != Interleave::none;
        const std::uint32_t least = !map_.tiled() || interleaved ? 3 : 1;
        if (map_.rank < least || map_.rank > TensorMap::most_dimensions) {
            expect(false, "rank",
                   fmt::format("{} to 5{}", least,
                               least == 1      ? ""
                               : !map_.tiled() ? " for im2col"
                                               : " when interleaved"),
                   map_.rank);
            return std::move(out_);  // what follows needs a rank
        }
        check_memory();
        for (std::uint32_t d = 0; d < map_.rank; ++d)  // dimension 0's too, though it is ignored unless interleaved
            expect(map_.element_strides[d] >= 1 && map_.element_strides[d] <= 8, fmt::format("element_strides[{}]", d),
                   "1 to 8", map_.element_strides[d]);
        if (!map_.tiled())
            check_im2col();
        else
            check_box();
        check_size();
        check_swizzle();
        check_device();
        expect(!map_.nan_fill || type_.nan != 0, "oob fill", "zero, unless the type is a floating-point one",
               fmt::format("nan with {}", type_.name));
        return std::move(out_);
    }

  private:
    template <class Found>
    void expect(bool good, std::string_view what, std::string_view expected, const Found& found) {
        if (good) return;
        out_.push_back(
            {Severity::error, fmt::format("tensor map: {}: expected {}, found {}", what, expected, found), {}, {}});
    }

    void check_memory() {
        const bool wide = map_.interleave == Interleave::b32 || type_.padded();
        const std::uint64_t unit = wide ? 32 : 16;
        const std::string why = map_.interleave == Interleave::b32 ? " with interleave 32B"
                                : wide                             ? fmt::format(" with {}", type_.name)
                                                                   : "";
        expect(map_.address % unit == 0, "global address", fmt::format("a multiple of {}{}", unit, why),
               fmt::format("{:#x}", map_.address));
        for (std::uint32_t d = 0; d < map_.rank; ++d)
            expect(map_.dims[d] >= 1 && map_.dims[d] <= std::uint64_t{1} << 32, fmt::format("dims[{}]", d), "1 to 2^32",
                   map_.dims[d]);
        const std::uint64_t inner = type_.padded() ? 128 : type_.bits == 4 ? 2 : 1;
        expect(map_.dims[0] % inner == 0, "dims[0]", fmt::format("a multiple of {} with {}", inner, type_.name),
               map_.dims[0]);
        for (std::uint32_t d = 0; d + 1 < map_.rank; ++d) {
            expect(map_.strides[d] % unit == 0, fmt::format("strides[{}]", d),
                   fmt::format("a multiple of {} bytes{}", unit, why), map_.strides[d]);
            expect(map_.strides[d] < std::uint64_t{1} << 40, fmt::format("strides[{}]", d), "less than 2^40 bytes",
                   map_.strides[d]);
        }
    }

    void check_box() {
        for (std::uint32_t d = 0; d < map_.rank; ++d)
            expect(map_.box[d] >= 1 && map_.box[d] <= 256, fmt::format("box[{}]", d), "1 to 256", map_.box[d]);
        check_inner("box[0]", map_.box[0]);
    }

    void check_im2col() {
        const bool wide = map_.walk != ImageWalk::im2col;
        // Signed numbers of 16, 8 or 5 bits.
        const int bits = map_.rank == 3 || wide ? 16 : map_.rank == 4 ? 8 : 5;
        const std::int32_t least = -(1 << (bits - 1)), most = (1 << (bits - 1)) - 1;
        for (std::uint32_t i = 0; i < (wide ? 1 : map_.image_dimensions()); ++i) {
            for (const auto& [corner, name] :
                 {std::pair(map_.lower[i], "lower_corner"), std::pair(map_.upper[i], "upper_corner")})
                expect(corner >= least && corner <= most, fmt::format("{}[{}]", name, i),
                       fmt::format("{} to {} for rank {}", least, most, map_.rank), corner);
            const std::uint32_t d = map_.interleave == Interleave::none ? i + 1 : i;
            const std::int64_t extent = static_cast<std::int64_t>(map_.dims[d]) + map_.upper[i] - map_.lower[i];
            expect(extent >= 1, fmt::format("corners of dimension {}", d), "a bounding box with at least one pixel",
                   fmt::format("lower {}, upper {} in {}", map_.lower[i], map_.upper[i], map_.dims[d]));
        }
        expect(map_.channels_per_pixel >= 1 && map_.channels_per_pixel <= 256, "channels_per_pixel", "1 to 256",
               map_.channels_per_pixel);
        expect(map_.pixels_per_column >= 1 && map_.pixels_per_column <= 1024, "pixels_per_column", "1 to 1024",
               map_.pixels_per_column);
        check_inner("channels_per_pixel", map_.channels_per_pixel);
        if (!wide) return;
        // cuTensorMapEncodeIm2colWide, and PTX ISA 5.5.5, 5.5.6.
        expect(map_.interleave == Interleave::none, "interleave", fmt::format("none with {}", name(map_.walk)),
               "another");
        expect(map_.swizzle == SwizzleMode::b64 || map_.swizzle == SwizzleMode::b128 ||
                   map_.swizzle == SwizzleMode::b128_atom_32b,
               "swizzle", fmt::format("64B, 128B or 128B_atom_32B with {}", name(map_.walk)),
               layout::traits(map_.swizzle).name);
    }

    /// The innermost row: whole 16-byte units, within the swizzle's span. cuda.h asks for units of tiled boxes only; an
    /// im2col row whose bytes are no multiple of 16 has no place in shared memory that it describes.
    void check_inner(std::string_view what, std::uint32_t elements) {
        if (type_.padded()) expect(elements == 128, what, fmt::format("128 with {}", type_.name), elements);
        const std::uint32_t bytes = elements * static_cast<std::uint32_t>(type_.bits) / 8;
        expect(elements * static_cast<std::uint32_t>(type_.bits) % 128 == 0, what, "a multiple of 16 bytes",
               fmt::format("{} bytes", bytes));
        if (map_.interleave != Interleave::none) return;
        const layout::SwizzleTraits& swizzle = layout::traits(map_.swizzle);
        const std::uint32_t shared = elements * static_cast<std::uint32_t>(type_.group_shared_bytes()) / 16;
        expect(map_.swizzle == SwizzleMode::none || shared <= static_cast<std::uint32_t>(swizzle.span_bytes), what,
               fmt::format("at most {} bytes with swizzle {}", swizzle.span_bytes, swizzle.name),
               fmt::format("{} bytes", shared));
    }

    /// A box, or a column of pixels, is no larger than the shared memory of a multiprocessor, which the H200's driver
    /// counts in elements before their strides.
    void check_size() {
        constexpr std::uint64_t most = 233'472;
        const std::uint32_t pixels =
            map_.walk == ImageWalk::im2col_w_128 ? TensorMap::wide_pixels : map_.pixels_per_column;
        std::uint64_t elements = std::uint64_t{map_.channels_per_pixel} * pixels;
        if (map_.tiled()) {
            elements = 1;
            for (std::uint32_t d = 0; d < map_.rank; ++d) elements *= std::min<std::uint64_t>(map_.box[d], 256);
        }
        const std::uint64_t bytes = elements * static_cast<std::uint64_t>(type_.bits) / 8;
        expect(bytes <= most, !map_.tiled() ? "pixels_per_column" : "box", fmt::format("at most {} bytes in all", most),
               fmt::format("{} bytes", bytes));
    }

    void check_swizzle() {
        const layout::SwizzleTraits& swizzle = layout::traits(map_.swizzle);
        expect(swizzle.tensor_map.has_value() || swizzle.replace_mode.has_value(), "swizzle",
               "one that tensor maps have", swizzle.name);
        if (!type_.padded()) return;
        if (map_.type == TensorType::u6_align16b)
            expect(map_.interleave == Interleave::none, "interleave", fmt::format("none with {}", type_.name),
                   "another");
        const bool store_only = map_.type == TensorType::u6_align16b && map_.swizzle == SwizzleMode::b128_atom_64b;
        expect(map_.swizzle == SwizzleMode::none || map_.swizzle == SwizzleMode::b128 ||
                   map_.swizzle == SwizzleMode::b128_atom_32b || store_only,
               "swizzle", fmt::format("none, 128B or 128B_atom_32B with {}", type_.name), swizzle.name);
    }

    /// What came with sm_100, and the driver of an H200 refuses.
    void check_device() {
        if (sm_ >= 100) return;
        expect(map_.walk <= ImageWalk::im2col, "mode", fmt::format("tiled or im2col on sm_{}", sm_), name(map_.walk));
        expect(type_.bits >= 8, "type", fmt::format("one of 8 bits or more on sm_{}", sm_), type_.name);
        const layout::SwizzleTraits& swizzle = layout::traits(map_.swizzle);
        expect(swizzle.tensor_map.value_or(0) <= 3, "swizzle", fmt::format("none, 32B, 64B or 128B on sm_{}", sm_),
               swizzle.name);
    }

    const TensorMap& map_;
    const TensorTypeTraits& type_;
    int sm_;
    Diagnostics out_;
};

}  // namespace

Diagnostics broken_rules(const TensorMap& map, int sm) { return Rules(map, sm).check(); }

}  // namespace tilepath::machine
