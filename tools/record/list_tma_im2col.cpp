// cp.async.bulk.tensor in im2col mode, both ways: corners, offsets, strides, columns that pass from row to row and
// image to image.
#include "list_async.h"

#include <algorithm>

namespace tilepath::recorded {
namespace {

struct Im2col {
    int type, rank, swizzle, interleave, fill;
    bool steps;
    bool within = false;  ///< the bounding box lies within the image, as stores need it
};

TensorMap im2col_map(const Im2col& choice, Draw& draw) {
    TensorMap map;
    map.type = choice.type, map.swizzle = choice.swizzle, map.interleave = choice.interleave, map.fill = choice.fill;
    const int bits = bits_of_tensor_map_type(choice.type), elements = 16 * 8 / bits;
    static constexpr int spans[] = {0, 32, 64, 128, 128, 128, 128};
    const int units = choice.swizzle == 0 ? 4 : spans[choice.swizzle] / 16;
    const int channels = elements * draw.between(1, units);
    const int image = choice.rank - 2;
    for (int i = 0; i < choice.rank; ++i) {
        const int dim = i == 0 ? draw.between(1, channels + channels / 2 + 2) : draw.between(2, i > 2 ? 4 : 7);
        map.dims.push_back(static_cast<std::uint64_t>(dim));
        map.steps.push_back(choice.steps && i > 0 && i <= image ? static_cast<std::uint32_t>(draw.between(1, 3)) : 1);
        if (i == 0) continue;
        const std::uint64_t before = i > 1 ? map.strides.back() * map.dims[std::size_t(i) - 1]
                                           : (map.dims[0] * std::uint64_t(bits) / 8 + 15) / 16 * 16;
        map.strides.push_back(before + 16 * draw.below(2));
        if (map.strides.back() == 0) map.strides.back() = 16;
    }
    for (int i = 0; i < image; ++i) {
        const int lower = choice.within ? draw.between(0, 1) : draw.between(-3, 1),
                  dim = static_cast<int>(map.dims[std::size_t(i) + 1]);
        map.lower.push_back(lower);
        map.upper.push_back(std::max(choice.within ? draw.between(-1, 0) : draw.between(-3, 1), lower - dim + 1));
    }
    map.channels = static_cast<std::uint32_t>(channels);
    map.pixels = static_cast<std::uint32_t>(draw.one_in(3) ? draw.between(1, 4) : draw.between(5, 40));
    return map;
}

enum class Base : std::size_t {
    inside,    ///< pixels of the bounding box
    forward,   ///< of them those without a negative coordinate, for stores
    before_w,  ///< a step outside
    after_w,
    before_n,
    after_n,
    negative_c
};

/// `[tm0, {c, w, …, n}]`
std::string base(Case& each, const TensorMap& map, Base which) {
    std::string text = "[tm0, {r0";
    const int unit = 128 / bits_of_tensor_map_type(map.type);
    const int c = static_cast<int>(map.dims[0]), n = static_cast<int>(map.dims.back());
    std::vector<int> channels{0, 0, 0, unit, c / 2 / unit * unit, (c - 1) / unit * unit};
    if (which == Base::inside) channels.push_back(-unit);
    if (which == Base::negative_c) channels = {-unit};
    each.inputs.push_back({"r0", choice_of(channels)});
    for (std::size_t i = 1; i < map.rank(); ++i) {
        std::vector<int> values{0, n / 2, n - 1};
        if (i + 1 < map.rank()) {
            const int first = map.lower[i - 1], last = static_cast<int>(map.dims[i]) - 1 + map.upper[i - 1];
            values = {first, first, last, (first + last) / 2, std::min(first + 1, last)};
            if (which != Base::inside)
                for (int& value : values) value = std::max(value, 0);
            if (i == 1 && which == Base::before_w) values = {first - 1};
            if (i == 1 && which == Base::after_w) values = {last + 1};
        } else {
            if (which == Base::before_n) values = {-1};
            if (which == Base::after_n) values = {n};
        }
        each.inputs.push_back({"r" + std::to_string(i), choice_of(values)});
        text += ", r" + std::to_string(i);
    }
    return text + "}]";
}

std::string variant_of(Base which) {
    static constexpr const char* words[] = {"",           "",          " #before_w",  " #after_w",
                                            " #before_n", " #after_n", " #negative_c"};
    return words[static_cast<std::size_t>(which)];
}

std::string offsets(Case& each, const TensorMap& map) {
    std::string text;
    for (std::size_t i = 0; i + 2 < map.rank(); ++i) {
        each.inputs.push_back({"h" + std::to_string(i), choice_of({0, 0, 1, 2, 3, 5})});
        text += (i == 0 ? "{h" : ", h") + std::to_string(i);
    }
    return text + "}";
}

void list_one(Cases& into, const Im2col& choice, bool load, Base which, Draw& draw, int number) {
    TensorMap map = im2col_map(choice, draw);
    Extent extent = extent_of(map);
    while (extent.shared_bytes > 8192 || extent.global_bytes > 20480)
        map = im2col_map(choice, draw), extent = extent_of(map);
    const std::string rank = std::to_string(map.rank()) + "d";
    const std::string head =
        load ? "cp.async.bulk.tensor." + rank + ".shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
             : "cp.async.bulk.tensor." + rank + ".global.shared::cta.im2col_no_offs.bulk_group";
    AsyncCase each(head + variant_of(map) + variant_of(which) + " #" + std::to_string(number),
                   which == Base::inside || which == Base::forward ? 16 : 1, extent.shared_bytes, extent.global_bytes);
    each->tensor_maps = {map};
    if (load) each.init();
    each.line("bar.sync 0;");
    each.alone();
    const std::string place = base(*each, map, which);
    if (load) {
        each.expect(extent.counted_bytes);
        each.line(head + " [sm], " + place + ", " + each.barrier() + ", " + offsets(*each, map) + ";");
        each.wait();
    } else {
        each.line(head + " " + place + ", [sm];");
        each.commit_and_wait();
    }
    each.done();
    into.push_back(*each);
}

}  // namespace

void list_tma_im2col(Cases& into) {
    Draw draw(4);
    int number = 0;
    for (int rank = 3; rank <= 5; ++rank) {
        for (const int type : {0, 1, 2, 4, 6, 7, 8, 9, 10, 11})
            for (const bool steps : {false, true})
                list_one(into, {type, rank, draw.between(0, 3), 0, type >= 6 && steps, steps}, true, Base::inside, draw,
                         number++);
        for (int i = 0; i < 14; ++i)
            list_one(into, {i % 13, rank, i % 4, 0, 0, i > 10}, false, Base::forward, draw, number++);
        for (const Base which : {Base::before_w, Base::after_w, Base::before_n, Base::after_n, Base::negative_c})
            for (const bool load : {false, true})
                list_one(into, {6, rank, 0, 0, 0, false}, load, which, draw, number++);
    }
    Draw within(7);
    for (int rank = 3; rank <= 5; ++rank) {
        for (int i = 0; i < 8; ++i)
            list_one(into, {i % 13, rank, i % 4, 0, 0, i > 5, true}, false, Base::forward, within, number++);
        for (const Base which : {Base::before_w, Base::after_w, Base::before_n, Base::after_n, Base::negative_c})
            list_one(into, {6, rank, 0, 0, 0, false, true}, false, which, within, number++);
    }
}

}  // namespace tilepath::recorded
