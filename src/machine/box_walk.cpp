// Which rows a box has: PTX ISA 5.5.3 (tiles), 5.5.4 and 5.5.5 (im2col), and for interleaved layouts what an H200
// recorded.
#include <algorithm>

#include "machine/tma.h"

namespace tilepath::machine {

BoxWalk::BoxWalk(const TensorMap& map, const BoxPlace& place) : map_(map), place_(place) {
    const bool interleaved = map.interleave != Interleave::none;
    const std::uint32_t inner = !map.tiled() ? map.channels_per_pixel : map.box[0];
    const TensorTypeTraits& type = traits(map.type);
    row_bytes_ = interleaved ? map.slice_bytes() : inner * static_cast<std::uint32_t>(type.bits) / 8;
    const std::uint32_t dense =
        interleaved ? row_bytes_ : inner * static_cast<std::uint32_t>(type.group_shared_bytes()) / 16;
    const bool spread = !interleaved && map.swizzle != layout::SwizzleMode::none;
    pitch_ = spread ? static_cast<std::uint32_t>(layout::traits(map.swizzle).span_bytes) : dense;
    inner_ = interleaved ? 0 : place.at[0];
    inner_extent_ = static_cast<std::int64_t>(map.dims[0]);
    if (map.tiled())
        begin_tile();
    else if (map.walk == ImageWalk::im2col)
        begin_im2col();
    else
        begin_wide();
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
    whole_ = !interleaved && inner_ >= 0 && inner_ + std::int64_t{map_.box[0]} <= inner_extent_;
    for (std::uint32_t i = 0; i < outer_count_; ++i) {
        const Outer& outer = outer_[i];
        whole_ = whole_ && outer.first >= 0 && outer.last < outer.extent;
        outer_offset_ += static_cast<Address>(outer.first * outer.stride);
    }
}

/// Dimensions {C, W, H, D, N}; interleaved {W, H, D, slice, N}.
void BoxWalk::begin_im2col() {
    const bool interleaved = map_.interleave != Interleave::none;
    rows_ = map_.pixels_per_column;
    const std::uint32_t images = map_.image_dimensions();
    for (std::uint32_t i = 0; i < images; ++i) {
        const std::uint32_t d = interleaved ? i : i + 1;
        Outer& outer = add_outer(d);
        outer.step = map_.element_strides[d];
        outer.first = map_.lower[i];
        outer.last = static_cast<std::int64_t>(map_.dims[d]) - 1 + map_.upper[i];
        outer.offset = place_.offsets[i];
    }
    add_outer(map_.rank - 1);  // N
    if (interleaved) add_outer(map_.rank - 2);
}

BoxWalk::Outer& BoxWalk::add_outer(std::uint32_t dimension) {
    Outer& outer = outer_[outer_count_++];
    outer.start = outer.position = place_.at[dimension];
    outer.extent = static_cast<std::int64_t>(map_.dims[dimension]);
    outer.stride = dimension == 0 ? map_.slice_bytes() : static_cast<std::int64_t>(map_.strides[dimension - 1]);
    return outer;
}

/// Pixels along W, then along N, at one H and D; wOffset moves the box, and wHalo more pixels follow the last or, in
/// im2col_w_128, every 32. That these go on along the same walk is inferred: the manual says "next to the main row".
void BoxWalk::begin_wide() {
    const std::uint32_t halo = place_.offsets[0], offset = place_.offsets[1];
    constexpr std::uint32_t groups = TensorMap::wide_pixels / TensorMap::wide_halo_every;
    rows_ = map_.walk == ImageWalk::im2col_w ? map_.pixels_per_column + halo : TensorMap::wide_pixels + groups * halo;
    Outer& w = add_outer(1);
    w.step = map_.element_strides[1];
    w.first = std::int64_t{map_.lower[0]} + offset;
    w.last = static_cast<std::int64_t>(map_.dims[1]) - 1 + map_.upper[0] + offset;
    w.position += offset;
    add_outer(map_.rank - 1);  // N
    for (std::uint32_t d = 2; d + 1 < map_.rank; ++d) add_outer(d);
}

void BoxWalk::step_tile() {
    if (place_.mode == BoxMode::four_rows) {
        if (row_ < rows_) outer_[0].position = place_.at[1 + row_];
        return;
    }
    for (std::uint32_t i = 0; i < outer_count_; ++i) {
        Outer& outer = outer_[i];
        outer.position += outer.step;
        outer_offset_ += static_cast<Address>(outer.step * outer.stride);
        if (outer.position <= outer.last) return;
        outer_offset_ -= static_cast<Address>((outer.position - outer.first) * outer.stride);
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

void BoxWalk::advance_wide() {
    Outer& w = outer_[0];
    w.position += w.step;
    if (w.position <= w.last) return;
    w.position = w.first;
    ++outer_[1].position;
}

/// Behind a halo the walk goes on where the halo began.
void BoxWalk::step_wide() {
    const std::uint32_t halo = place_.offsets[0], group = TensorMap::wide_halo_every + halo;
    if (map_.walk == ImageWalk::im2col_w || halo == 0) return advance_wide();
    if (row_ % group == 0) {
        outer_[0].position = behind_halo_[0];
        outer_[1].position = behind_halo_[1];
        return;
    }
    advance_wide();
    if (row_ % group == TensorMap::wide_halo_every) behind_halo_ = {outer_[0].position, outer_[1].position};
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
    if (whole_) {
        row.global += static_cast<Address>(inner_ * bits / 8) + outer_offset_;
        row.begin = 0;
        row.end = row.stored_end = row_bytes_;
        ++row_;
        step_tile();
        return true;
    }
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
    if (map_.tiled())
        step_tile();
    else if (map_.walk == ImageWalk::im2col)
        step_im2col();
    else
        step_wide();
    return true;
}

}  // namespace tilepath::machine
