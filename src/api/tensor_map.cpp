#include <fmt/format.h>
#include <tilepath/tensor_map.h>

#include <algorithm>

#include "machine/tensor_map.h"

namespace tilepath {
namespace {

/// Fills the map that machine/ encodes, and tells what does not fit it.
class Filler {
  public:
    explicit Filler(const TensorMap& from) : from_(from) {}

    Result<machine::TensorMap> fill() {
        read_names();
        const std::size_t rank = from_.dims.size();
        if (rank < 1 || rank > machine::TensorMap::most_dimensions) {
            wrong(
                fmt::format("dims: expected 1 to {} dimensions, found {}", machine::TensorMap::most_dimensions, rank));
            return std::unexpected(std::move(errors_));
        }
        out_.rank = static_cast<std::uint32_t>(rank);
        out_.address = from_.address.address;
        out_.nan_fill = from_.nan_fill;
        out_.walk = static_cast<machine::ImageWalk>(from_.walk);
        copy("dims", from_.dims, rank, out_.dims);
        copy("strides", from_.strides, rank - 1, out_.strides);
        if (!from_.element_strides.empty()) copy("element_strides", from_.element_strides, rank, out_.element_strides);
        if (!out_.tiled()) {
            const std::size_t corners =
                out_.walk == machine::ImageWalk::im2col ? std::max<std::size_t>(rank, 2) - 2 : 1;
            copy("lower_corner", from_.lower_corner, corners, out_.lower);
            copy("upper_corner", from_.upper_corner, corners, out_.upper);
            out_.channels_per_pixel = from_.channels_per_pixel;
            out_.pixels_per_column = from_.pixels_per_column;
        } else {
            copy("box", from_.box, rank, out_.box);
        }
        if (errors_.empty()) errors_ = machine::broken_rules(out_);
        if (!errors_.empty()) return std::unexpected(std::move(errors_));
        return out_;
    }

  private:
    void wrong(std::string message, std::string note = {}) {
        Diagnostics one = fail(std::move(message), std::move(note)).error();
        errors_.insert(errors_.end(), one.begin(), one.end());
    }

    void read_names() {
        if (const auto type = machine::tensor_type_named(from_.dtype))
            out_.type = *type;
        else
            wrong(fmt::format("tensor maps have no dtype '{}'", from_.dtype),
                  "expected one of: " + machine::tensor_type_names());
        const auto mode = layout::swizzle_mode_named(from_.swizzle);
        if (mode && layout::traits(*mode).tensor_map)
            out_.swizzle = *mode;
        else
            wrong(fmt::format("tensor maps have no swizzle '{}'", from_.swizzle),
                  "expected none, 32B, 64B, 128B or 128B with other atoms");
        constexpr std::array<std::string_view, 3> interleaves = {"none", "16B", "32B"};
        const auto found = std::ranges::find(interleaves, from_.interleave);
        if (found != interleaves.end())
            out_.interleave = static_cast<machine::Interleave>(found - interleaves.begin());
        else
            wrong(fmt::format("tensor maps have no interleave '{}'", from_.interleave), "expected none, 16B or 32B");
    }

    template <class From, class To>
    void copy(std::string_view name, const From& from, std::size_t count, To& to) {
        if (from.size() != count)
            wrong(fmt::format("{}: expected {} numbers for {} dimensions, found {}", name, count, from_.dims.size(),
                              from.size()));
        else
            std::ranges::copy(from, to.begin());
    }

    const TensorMap& from_;
    machine::TensorMap out_;
    Diagnostics errors_;
};

}  // namespace

Result<std::array<std::uint8_t, TensorMap::bytes>> encode(const TensorMap& map) {
    auto filled = Filler(map).fill();
    if (!filled) return std::unexpected(std::move(filled.error()));
    return machine::encode(*filled);
}

Result<Argument> argument(const TensorMap& map) {
    auto bytes = encode(map);
    if (!bytes) return std::unexpected(std::move(bytes.error()));
    return Argument::raw(*bytes);
}

}  // namespace tilepath
