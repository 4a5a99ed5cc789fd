// Which rows a box has: PTX ISA 5.5.3 (tiles), 5.5.4 (im2col), and for interleaved layouts what an H200 recorded.
#include <algorithm>

#include "machine/tma.h"

namespace tilepath::machine {

BoxWalk::BoxWalk(const TensorMap& map, const BoxPlace& place) : map_(map), place_(place) {
    const bool interleaved = map.interleave != Interleave::none;
    const std::uint32_t inner = map.im2col ? map.channels_per_pixel : map.box[0];
    const TensorTypeTraits& type = traits(map.type);
    row_bytes_ = interleaved ? map.slice_bytes() : inner * static_cast<std::uint32_t>(type.bits) / 8;
    const std::uint32_t dense =
        interleaved ? row_bytes_ : inner * static_cast<std::uint32_t>(type.group_shared_bytes()) / 16;
    const bool spread = !interleaved && map.swizzle != layout::SwizzleMode::none;
    pitch_ = spread ? static_cast<std::uint32_t>(layout::traits(map.swizzle).span_bytes) : dense;
    inner_ = interleaved ? 0 : place.at[0];
    inner_extent_ = static_cast<std::int64_t>(map.dims[0]);
    if (map.im2col)
        begin_im2col();
    else
        begin_tile();
}

/// Interleaved, dimension 0 counts slices and is walked like the others; dimension rank − 2 is the slice's number, one
/// per box whatever the box says (recorded on an H200).
void BoxWalk::begin_tile() {
    const bool interleaved = map_.interleave != Interleave::none;
    if (place_.mode == BoxMode::four_rows) {
        outer_count_ = 1;
        rows_ = 4;
        outer_[0].extent = static_cast<std::int64_t>(map_.dims[1]);
        outer_[0].stride = static_cast<std::int64_t>(map_.strides[0]);
        outer_[0].position = place_.at[1];
        return;
    }
    for (std::uint32_t d = interleaved ? 0 : 1; d < map_.rank; ++d) {
        Outer& outer = outer_[outer_count_++];
        const bool slice_number = interleaved && d == map_.rank - 2;
        const std::uint32_t step = map_.element_strides[d], box = slice_number ? 1 : map_.box[d];
        const std::uint32_t count = (box + step - 1) / step;
        outer.start = outer.position = outer.first = place_.at[d];
        outer.step = step;
        outer.last = outer.start + std::int64_t{count - 1} * step;
        outer.extent = static_cast<std::int64_t>(map_.dims[d]);
        outer.stride = d == 0 ? map_.slice_bytes() : static_cast<std::int64_t>(map_.strides[d - 1]);
        rows_ *= count;
    }
}

/// Dimensions {C, W, H, D, N}; interleaved {W, H, D, slice, N}.
void BoxWalk::begin_im2col() {
    const bool interleaved = map_.interleave != Interleave::none;
    rows_ = map_.pixels_per_column;
    const std::uint32_t images = map_.image_dimensions();
    auto add = [&](std::uint32_t d) -> Outer& {
        Outer& outer = outer_[outer_count_++];
        outer.start = outer.position = place_.at[d];
        outer.extent = static_cast<std::int64_t>(map_.dims[d]);
        outer.stride = d == 0 ? map_.slice_bytes() : static_cast<std::int64_t>(map_.strides[d - 1]);
        return outer;
    };
    for (std::uint32_t i = 0; i < images; ++i) {
        const std::uint32_t d = interleaved ? i : i + 1;
        Outer& outer = add(d);
        outer.step = map_.element_strides[d];
        outer.first = map_.lower[i];
        outer.last = static_cast<std::int64_t>(map_.dims[d]) - 1 + map_.upper[i];
        outer.offset = place_.offsets[i];
    }
    add(map_.rank - 1);  // N
    if (interleaved) add(map_.rank - 2);
}

void BoxWalk::step_tile() {
    if (place_.mode == BoxMode::four_rows) {
        if (row_ < rows_) outer_[0].position = place_.at[1 + row_];
        return;
    }
    for (std::uint32_t i = 0; i < outer_count_; ++i) {
        Outer& outer = outer_[i];
        outer.position += outer.step;
        if (outer.position <= outer.last) return;
        outer.position = outer.first;
    }
}

/// From W's end to its lower corner and the next H, and so on to the next image.
void BoxWalk::step_im2col() {
    const std::uint32_t images = map_.image_dimensions();
    for (std::uint32_t i = 0; i < images; ++i) {
        Outer& outer = outer_[i];
        outer.position += outer.step;
        if (outer.position <= outer.last) return;
        outer.position = outer.first;
    }
    ++outer_[images].position;
}

/// Adds the outer dimensions to the row's address; false if one of them lies out of bounds.
bool BoxWalk::place_outer(BoxRow& row) const {
    bool inside = true;
    for (std::uint32_t i = 0; i < outer_count_; ++i) {
        const Outer& outer = outer_[i];
        const std::int64_t position = outer.position + outer.offset;
        inside = inside && position >= 0 && position < outer.extent;
        row.global += static_cast<Address>(position * outer.stride);
    }
    return inside;
}

bool BoxWalk::next(BoxRow& row) {
    if (row_ == rows_) return false;
    row.shared = place_.shared + row_ * pitch_;
    const std::int64_t bits = traits(map_.type).bits;
    row.global = map_.address;
    if (map_.interleave == Interleave::none) row.global += static_cast<Address>(inner_ * bits / 8);
    const bool inside = place_outer(row);
    row.begin = row.end = row.stored_end = 0;
    if (inside && map_.interleave != Interleave::none) {
        row.end = row.stored_end = row_bytes_;
    } else if (inside) {
        const std::int64_t left = -inner_ * bits / 8, right = inner_extent_ * bits / 8;
        const auto clip = [&](std::int64_t bytes) {
            return static_cast<std::uint32_t>(std::clamp<std::int64_t>(bytes, 0, row_bytes_));
        };
        row.begin = clip(left);
        row.end = std::max(row.begin, clip(left + right));
        row.stored_end = std::max(row.begin, clip(left + (right + 15) / 16 * 16));
    }
    ++row_;
    if (map_.im2col)
        step_im2col();
    else
        step_tile();
    return true;
}

}  // namespace tilepath::machine
