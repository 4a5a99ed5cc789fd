#include "layout/linear.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "layout/analysis.h"
#include "layout/digits.h"
#include "layout/gf2.h"
#include "layout/operations.h"

namespace tilepath::layout {
namespace {

bool power_of_two(std::int64_t x) { return x > 0 && std::has_single_bit(static_cast<std::uint64_t>(x)); }
int log2_of(std::int64_t x) { return std::countr_zero(static_cast<std::uint64_t>(x)); }
std::int64_t bit(int i) { return std::int64_t{1} << i; }

/// Places as words: the axes' bits side by side.
struct PlaceBits {
    struct Field {
        Axis axis;
        int begin;
        int count;
    };
    std::vector<Field> fields;
    int count = 0;

    void add(Axis axis, int bits) {
        fields.push_back({axis, count, bits});
        count += bits;
    }
    std::uint64_t pack(const Location& place) const {
        std::uint64_t word = 0;
        for (const Field& field : fields) word |= static_cast<std::uint64_t>(place[field.axis]) << field.begin;
        return word;
    }
    Location unpack(std::uint64_t word) const {
        Location place;
        for (const Field& field : fields)
            place[field.axis] =
                static_cast<std::int64_t>(word >> field.begin & ((std::uint64_t{1} << field.count) - 1));
        return place;
    }
};

/// Per axis, sums of the digits' steps never carry: then adding is XOR.
bool carries(const Layout& layout) {
    Location used;
    bool carry = false;
    auto take = [&](const Iter& iter) {
        if (iter.stride == 0) return;
        for (std::int64_t step = 1; step < iter.extent; step *= 2) {
            std::int64_t value = step * iter.stride;
            carry = carry || value < 0 || (used[iter.axis] & value) != 0;
            used[iter.axis] |= value;
        }
    };
    for (const Iter& iter : layout.digits()) take(iter);
    for (const Iter& iter : layout.replica()) take(iter);
    return carry;
}

Result<void> check_linear(const ComposedLayout& composed) {
    const Layout& layout = composed.layout();
    if (!layout.offset().empty() || composed.offset() != 0)
        return fail("a linear layout has no offset", "map place 0 to element 0");
    std::vector<Iter> iters = layout.digits();
    iters.insert(iters.end(), layout.replica().begin(), layout.replica().end());
    for (const Iter& iter : iters) {
        if (power_of_two(iter.extent)) continue;
        return fail(fmt::format("a linear layout has extents that are powers of two, found {}", iter.extent));
    }
    if (carries(layout)) return fail("the digits' sums carry: the layout is not linear over bits");
    return {};
}

/// Columns of the map from element bits, then replica bits, to place words.
std::vector<std::uint64_t> columns_of(const ComposedLayout& composed, const PlaceBits& bits) {
    const Layout& layout = composed.layout();
    std::vector<std::uint64_t> columns;
    auto add = [&](Location place) {
        std::int64_t& m = place[Axis::m];
        m = static_cast<std::int64_t>(composed.swizzle()(static_cast<std::uint64_t>(m)));
        columns.push_back(bits.pack(place));
    };
    for (int i = 0; i < log2_of(layout.size()); ++i) add(layout.base(bit(i)));
    for (const Iter& iter : layout.replica()) {
        for (std::int64_t step = 1; step < iter.extent; step *= 2) {
            Location place;
            place[iter.axis] = step * iter.stride;
            add(place);
        }
    }
    return columns;
}

}  // namespace

Result<LinearLayout> LinearLayout::make(std::vector<Input> inputs, std::vector<std::int64_t> shape) {
    std::int64_t size = 1;
    for (std::int64_t extent : shape) {
        if (!power_of_two(extent) || extent > bit(40) / size) {
            return fail(
                fmt::format("expected extents that are powers of two with a product of at most 2^40, found ({})",
                            fmt::join(shape, ",")));
        }
        size *= extent;
    }
    std::size_t count = 0;
    std::vector<bool> seen(axis_count);
    for (const Input& input : inputs) {
        if (seen[static_cast<std::size_t>(input.axis)])
            return fail(fmt::format("axis {} occurs twice", traits(input.axis).name));
        seen[static_cast<std::size_t>(input.axis)] = true;
        count += input.bases.size();
        for (const auto& basis : input.bases)
            if (auto inside = flatten(basis, shape); !inside) return std::unexpected(inside.error());
    }
    if (count > 60) return fail(fmt::format("expected at most 60 bits of places, found {}", count));
    LinearLayout made;
    made.inputs_ = std::move(inputs);
    made.shape_ = std::move(shape);
    return made;
}

Result<LinearLayout> LinearLayout::from(const ComposedLayout& composed) {
    if (auto linear = check_linear(composed); !linear) return std::unexpected(linear.error());
    const Layout& layout = composed.layout();
    PlaceBits bits;
    for (Axis axis : layout.axes()) {
        std::int64_t greatest = bounds(layout, axis).greatest;
        if (axis == Axis::m && composed.swizzles()) {
            // The swizzle may reach a bit that the layout alone does not.
            auto width = std::bit_width(static_cast<std::uint64_t>(greatest));
            greatest = static_cast<std::int64_t>((std::uint64_t{1} << width) - 1);
            auto moved = static_cast<std::int64_t>(composed.swizzle()(static_cast<std::uint64_t>(greatest)));
            greatest |= moved;
        }
        bits.add(axis, std::bit_width(static_cast<std::uint64_t>(greatest)));
    }
    if (bits.count > 60) return fail("the layout's places need more than 60 bits");
    std::vector<std::uint64_t> columns = columns_of(composed, bits);
    if (columns.size() > 60) return fail("the layout has more than 2^60 places");
    ColumnSpace space(columns);
    if (!space.kernel().empty()) return fail("elements share a place: no linear map leads places to elements");
    std::int64_t size = layout.size();
    std::vector<std::int64_t> shape = layout.shape();
    std::vector<Input> inputs;
    for (const PlaceBits::Field& field : bits.fields) {
        Input input{field.axis, {}};
        for (int i = 0; i < field.count; ++i) {
            std::optional<std::uint64_t> made_of = space.solve(std::uint64_t{1} << (field.begin + i));
            if (!made_of) return fail(fmt::format("the place {}={} holds no element", traits(field.axis).name, bit(i)));
            auto element = static_cast<std::int64_t>(*made_of & static_cast<std::uint64_t>(size - 1));
            input.bases.push_back(unflatten(element, shape));
        }
        inputs.push_back(std::move(input));
    }
    return make(std::move(inputs), std::move(shape));
}

Result<std::vector<std::int64_t>> LinearLayout::evaluate(const Location& place) const {
    std::vector<std::int64_t> coordinate(shape_.size());
    Location rest = place;
    for (const Input& input : inputs_) {
        std::int64_t value = place[input.axis];
        if (value < 0 || value >= bit(static_cast<int>(input.bases.size()))) {
            return fail(fmt::format("{}={} lies outside: the axis has {} bits", traits(input.axis).name, value,
                                    input.bases.size()));
        }
        rest[input.axis] = 0;
        for (std::size_t i = 0; i < input.bases.size(); ++i)
            for (std::size_t d = 0; d < coordinate.size(); ++d)
                if ((value >> i & 1) != 0) coordinate[d] ^= input.bases[i][d];
    }
    if (rest != Location{})
        return fail(fmt::format("{} lies outside: the layout has no such axis", layout::to_string(rest)));
    return coordinate;
}

namespace {

/// One digit of two per bit: where the bit's place must be a step on one axis.
std::optional<Iter> step(const Location& place) {
    Iter iter{2, 0, Axis::m};
    for (const AxisTraits& row : all_axes()) {
        if (place[row.axis] == 0) continue;
        if (iter.stride != 0) return std::nullopt;
        iter = {2, place[row.axis], row.axis};
    }
    return iter;
}

std::optional<Layout> plain_layout(const std::vector<Location>& element_bits, const std::vector<Location>& copies,
                                   std::span<const std::int64_t> shape) {
    std::vector<Iter> digits, replica;
    for (auto place = element_bits.rbegin(); place != element_bits.rend(); ++place) {
        std::optional<Iter> iter = step(*place);
        if (!iter) return std::nullopt;
        digits.push_back(*iter);
    }
    for (const Location& place : copies) {
        std::optional<Iter> iter = step(place);
        if (!iter) return std::nullopt;
        replica.push_back(*iter);
    }
    Result<Layout> layout = Layout::make({digits}, replica);
    if (!layout || carries(*layout)) return std::nullopt;
    Result<Layout> grouped = group(canonical(*layout), shape);
    return grouped ? std::optional(*std::move(grouped)) : std::nullopt;
}

}  // namespace

Result<ComposedLayout> LinearLayout::to_layout() const {
    PlaceBits bits;
    std::vector<std::uint64_t> columns;  // place bit to element
    for (const Input& input : inputs_) {
        bits.add(input.axis, static_cast<int>(input.bases.size()));
        for (const auto& basis : input.bases) columns.push_back(static_cast<std::uint64_t>(*flatten(basis, shape_)));
    }
    std::int64_t size = 1;
    for (std::int64_t extent : shape_) size *= extent;
    ColumnSpace space(columns);
    std::vector<Location> element_bits, copies;
    for (int i = 0; i < log2_of(size); ++i) {
        std::optional<std::uint64_t> place = space.solve(std::uint64_t{1} << i);
        if (!place) return fail(fmt::format("no place holds element {}", bit(i)));
        element_bits.push_back(bits.unpack(*place));
    }
    for (std::uint64_t place : space.kernel()) copies.push_back(bits.unpack(place));
    if (auto plain = plain_layout(element_bits, copies, shape_)) return ComposedLayout(*std::move(plain));

    // A swizzle undoes itself: look for one that leaves a plain layout.
    for (int b = 1; b <= 5; ++b) {
        for (int m = 0; m <= 16; ++m) {
            for (int s = -16; s <= 16; ++s) {
                Swizzle swizzle{b, m, s};
                if (!swizzle.valid()) continue;
                auto undone = [&](std::vector<Location> places) {
                    for (Location& place : places)
                        place[Axis::m] = static_cast<std::int64_t>(swizzle(static_cast<std::uint64_t>(place[Axis::m])));
                    return places;
                };
                auto plain = plain_layout(undone(element_bits), undone(copies), shape_);
                if (plain) return ComposedLayout::make(swizzle, 0, *std::move(plain));
            }
        }
    }
    return fail("no shard, replicas and one swizzle express this map", "evaluate it as bits");
}

}  // namespace tilepath::layout
