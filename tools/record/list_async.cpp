#include "list_async.h"

#include <algorithm>

namespace tilepath::recorded {

AsyncCase::AsyncCase(std::string name, std::uint32_t rows, std::uint32_t data_bytes, std::uint32_t global_bytes)
    : barrier_at_(up_to(data_bytes, 128)) {
    each_.name = std::move(name);
    each_.rows = rows;
    each_.shared_bytes = barrier_at_ + 128;
    each_.global_bytes = up_to(global_bytes, 128);
    line("fence.proxy.async.shared::cta; setp.eq.u32 p0, tid, 0;");
}

void AsyncCase::init(int number) {
    line("@p0 mbarrier.init.shared::cta.b64 " + barrier(number) + ", 1;");
    line("@p0 fence.mbarrier_init.release.cluster;");
    barriers_ = std::max(barriers_, number + 1);
}

void AsyncCase::expect(std::uint32_t bytes, int number) {
    line("mbarrier.arrive.expect_tx.shared::cta.b64 q60, " + barrier(number) + ", " + std::to_string(bytes) + ";");
}

void AsyncCase::wait(int number) {
    const std::string label = std::to_string(waits_++);
    line("mov.u32 r62, 0; waits" + label + ": mbarrier.test_wait.parity.shared::cta.b64 p1, " + barrier(number) +
         ", 0; @p1 bra arrived" + label + ";");
    line("add.u32 r62, r62, 1; setp.lt.u32 p2, r62, 1000000; @p2 bra waits" + label + "; trap; arrived" + label + ":");
}

void AsyncCase::done() {
    line("done: bar.sync 0;");
    for (int number = 0; number < barriers_; ++number)
        line("@p0 mbarrier.inval.shared::cta.b64 " + barrier(number) + "; @p0 st.shared.b64 " + barrier(number) +
             ", 0;");
}

std::string hexadecimal_of(std::uint32_t value) {
    char text[16];
    std::snprintf(text, sizeof text, "%x", value);
    return text;
}

std::string choice_of(const std::vector<int>& values) {
    std::string text = "choose:";
    for (const int value : values)
        text += (text.back() == ':' ? "" : ",") + hexadecimal_of(static_cast<std::uint32_t>(value));
    return text;
}

namespace {
std::uint32_t span_of(int swizzle) {
    static constexpr std::uint32_t spans[] = {0, 32, 64, 128, 128, 128, 128};
    return spans[swizzle];
}
std::uint32_t taken(const TensorMap& map, std::size_t dimension) {
    if (dimension == 0 && map.interleave == 0) return map.box[0];
    if (map.interleave != 0 && dimension == map.rank() - 2) return 1;
    return (map.box[dimension] + map.steps[dimension] - 1) / map.steps[dimension];
}
}  // namespace

Extent extent_of(const TensorMap& map) {
    const auto bits = static_cast<std::uint32_t>(bits_of_tensor_map_type(map.type));
    Extent extent{};
    std::uint32_t rows = 1, inner = 0;
    if (map.im2col()) {
        inner = map.channels * bits / 8, rows = map.pixels;
    } else {
        inner = map.interleave == 0 ? map.box[0] * bits / 8 : taken(map, 0) * 16 * std::uint32_t(map.interleave);
        for (std::size_t i = 1; i < map.rank(); ++i) rows *= taken(map, i);
    }
    const std::uint32_t pitch = map.interleave == 0 ? std::max(inner, span_of(map.swizzle)) : inner;
    extent.shared_bytes = pitch * rows;
    extent.counted_bytes = inner * rows;
    const std::size_t last = map.rank() - 1;
    extent.global_bytes = map.at + static_cast<std::uint32_t>(last == 0 ? (map.dims[0] * bits + 7) / 8
                                                                        : map.dims[last] * map.strides[last - 1]);
    return extent;
}

std::string coordinates(Case& each, const TensorMap& map, Coordinates which) {
    std::string text;
    const int unit = map.interleave != 0 ? 1 : 128 / bits_of_tensor_map_type(map.type);
    for (std::size_t i = 0; i < map.rank(); ++i) {
        const int dim = static_cast<int>(map.dims[i]), box = static_cast<int>(map.box[i]);
        std::vector<int> values{0, 0, 1, dim - 1, dim / 2, -1, -(box / 2), dim - box / 2, dim - box};
        if (i == 0 || map.rank() <= 2) values.insert(values.end(), {dim, -box, -box + 1, dim + 3});
        if (i == 0 && unit > 1) {
            values = {0, 0, unit, -unit, 2 * unit};
            for (const int x : {dim - 1, dim / 2, dim - box / 2, dim - box, -(box / 2), -box, dim + unit})
                values.push_back(x >= 0 ? x / unit * unit : -(-x / unit * unit));
        }
        if (which == Coordinates::forward || which == Coordinates::negative)
            std::erase_if(values, [](int x) { return x < 0; });
        if (which == Coordinates::odd && i == 0) values = {1, 3, dim / unit * unit + 1};
        if (which == Coordinates::negative && i == map.rank() - 1) values = {-unit};
        each.inputs.push_back({"r" + std::to_string(i), choice_of(values)});
        text += (text.empty() ? "[tm0, {r" : ", r") + std::to_string(i);
    }
    return text + "}]";
}

TensorMap tile_map(const MapChoice& choice, Draw& draw) {
    TensorMap map;
    map.type = choice.type, map.swizzle = choice.swizzle, map.interleave = choice.interleave, map.fill = choice.fill;
    const int bits = bits_of_tensor_map_type(choice.type);
    const int unit = choice.interleave == 2 ? 32 : 16, elements = unit * 8 / bits;
    const int span = static_cast<int>(span_of(choice.swizzle));
    for (int i = 0; i < choice.rank; ++i) {
        const int most = choice.rank <= 2 ? 12 : choice.rank == 3 ? 6 : 4;
        int box = draw.between(1, most), dim = draw.between(1, most + 2);
        if (i == 0 && choice.interleave != 0) box = 128 / bits * draw.between(1, 2), dim = draw.between(1, box + 4);
        if (i == 0 && choice.interleave == 0) {
            const int most_units = std::min(span == 0 ? 16 : span / unit, std::max(1, 256 / elements));
            box = elements * draw.between(1, choice.rank <= 3 ? most_units : std::min(most_units, 4));
            if (draw.one_in(3) && span != 0) box = elements * most_units;
            dim = draw.between(1, box + box / 2 + 3);
        }
        const bool steps = choice.steps && (i > 0 || choice.interleave != 0) && draw.one_in(2);
        const int step = steps ? draw.between(2, choice.rank <= 2 ? 8 : 3) : 1;
        if (step > 1) dim += step, box = i == 0 ? box : std::max(box, step + draw.between(0, 3));
        map.box.push_back(static_cast<std::uint32_t>(box));
        map.dims.push_back(static_cast<std::uint64_t>(dim));
        map.steps.push_back(static_cast<std::uint32_t>(step));
        if (i == 0) continue;
        const std::uint64_t before = i > 1 ? map.strides.back() * map.dims[std::size_t(i) - 1]
                                     : choice.interleave == 0
                                         ? (map.dims[0] * std::uint64_t(bits) / 8 + std::uint64_t(unit) - 1) /
                                               std::uint64_t(unit) * std::uint64_t(unit)
                                         : map.dims[0] * std::uint64_t(unit);
        map.strides.push_back(before + std::uint64_t(unit) * draw.below(2));
        if (map.strides.back() == 0) map.strides.back() = std::uint64_t(unit);
    }
    map.at = static_cast<std::uint32_t>(unit) * static_cast<std::uint32_t>(draw.between(0, 3));
    return map;
}

std::string variant_of(const TensorMap& map) {
    std::string text = " #" + tensor_map_types[std::size_t(map.type)];
    if (map.swizzle != 0) text += " #" + tensor_map_swizzles[std::size_t(map.swizzle)];
    if (map.interleave != 0) text += " #slices_" + tensor_map_interleaves[std::size_t(map.interleave)];
    if (map.fill != 0) text += " #nan";
    if (std::any_of(map.steps.begin(), map.steps.end(), [](std::uint32_t step) { return step != 1; }))
        text += " #steps";
    return text;
}

}  // namespace tilepath::recorded
