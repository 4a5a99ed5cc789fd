#include "recorded_inputs.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "../../kernels/inputs.h"
#include "recorded_floats.h"

namespace tilepath::recorded {
namespace {

std::vector<std::uint64_t> list_in(const std::string& text) {
    std::vector<std::uint64_t> values;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(',', at), text.size());
        values.push_back(std::stoull(text.substr(at, end - at), nullptr, 16));
        at = end + 1;
    }
    return values;
}

std::uint64_t seed_of(const std::string& text) {
    std::uint64_t hash = 0xCBF29CE484222325u;
    for (unsigned char character : text) hash = (hash ^ character) * 0x100000001B3u;
    return hash;
}

}  // namespace

int bits_of_type(const std::string& type) {
    if (const Floating* f = floating(type)) return f->bits;
    if (type == "pred") return 1;
    if (type.size() < 2 || std::string("usb").find(type[0]) == std::string::npos) return 0;
    const std::string digits = type.substr(1);
    for (const char* width : {"1", "4", "8", "16", "32", "64", "128"})
        if (digits == width) return std::stoi(digits);
    return 0;
}

Generator::Generator(const std::string& seed, std::uint32_t row, std::uint32_t thread)
    : row_(row),
      thread_(thread),
      seed_(seed_of(seed)),
      state_(kernels::input_bits(seed_, kernels::InputOperand::a, std::uint64_t(row) << 16 | thread)) {}

std::uint64_t Generator::bits() { return kernels::splitmix64_mix(state_ += 0x9E3779B97F4A7C15u); }

std::uint64_t Generator::integer(int width) {
    const std::uint64_t raw = bits();
    switch (below(8)) {
        case 0: return below(std::uint64_t(2 * width + 2));
        case 1: {
            const std::uint64_t power = std::uint64_t(1) << below(std::uint64_t(width));
            return power + below(5) - 2;
        }
        case 2: return raw >> (64 - width) >> below(std::uint64_t(width));
        case 3: return ~(raw >> (64 - width) >> below(std::uint64_t(width)));
        case 4: return before_ + below(3) - 1;
        default: return raw;
    }
}

std::uint64_t Generator::element(const std::string& type, const std::string& style) {
    const int width = bits_of_type(type);
    if (width == 0) throw std::runtime_error("no such kind of input: " + type);
    std::uint64_t x = 0;
    if (const Floating* f = floating(type)) {
        auto draw = [this](std::uint64_t n) { return below(n); };
        const FloatDraw<decltype(draw)> from{*f, draw};
        if (style == "dot")
            x = from.dot(row_);
        else if (style == "small")
            x = from.small(3);
        else if (style == "ordered")
            x = from.around(4, from.fraction());
        else
            x = from.plain(before_);
    } else if (type == "pred") {
        x = below(2);
    } else if (style == "dot") {
        // Addends near the ends of s32, where sums saturate or wrap; elements extreme in every other row.
        const std::uint64_t ends[] = {std::uint64_t(1) << (width - 1), (std::uint64_t(1) << (width - 1)) - 1,
                                      mask_of(width), 0};
        const auto near_the_end = [this] {
            const std::uint64_t end = std::uint64_t(0x7FFFFFFF) + below(2);
            return end ^ below(64);
        };
        x = width == 32 && row_ % 2 == 1  ? near_the_end()
            : width < 32 && row_ % 4 == 1 ? ends[below(4)]
            : width < 32 && row_ % 4 == 3 ? ends[row_ / 4 % 4]
                                          : bits();
    } else {
        x = integer(std::min(width, 64));
    }
    return before_ = x & mask_of(std::min(width, 64));
}

Value Generator::elements(const std::string& type, const std::string& style, int count) {
    const int width = bits_of_type(type);
    if (width == 128) {
        const std::uint64_t low = element("b64", style);
        return {low, element("b64", style)};
    }
    Value value;
    for (int i = 0; i < count; ++i) {
        const int at = i * width;
        (at < 64 ? value.low : value.high) |= element(type, style) << at % 64;
    }
    return value;
}

Value Generator::next(const std::string& kind) {
    const std::size_t colon = kind.find(':');
    const std::string word = kind.substr(0, colon);
    if (colon != std::string::npos) {
        const std::string rest = kind.substr(colon + 1);
        if (word == "below") return {below(std::stoull(rest))};
        const auto values = list_in(rest);
        if (word == "const" || values.size() == 1) return {values[0]};
        if (word == "choose") return {values[below(values.size())]};
        if (word == "row") return {values[kernels::input_bits(seed_, kernels::InputOperand::b, row_) % values.size()]};
        throw std::runtime_error("no such kind of input: " + kind);
    }
    if (kind == "all") return {std::uint64_t(row_) * 32 + thread_};
    if (kind == "lane") return {thread_};
    Value value;
    if (kind == "pairs24") {
        static constexpr std::uint64_t pairs[] = {0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110};
        for (int i = 0; i < 8; ++i) value.low |= pairs[below(6)] << 4 * i;
        return value;
    }
    if (kind == "one12") {
        for (int i = 0; i < 8; ++i) value.low |= (below(2) == 0 ? std::uint64_t(0b0100) : 0b1110) << 4 * i;
        return value;
    }
    const std::size_t slash = kind.find('/');
    const std::string packed = kind.substr(0, slash), style = slash == std::string::npos ? "" : kind.substr(slash + 1);
    const std::size_t by = packed.find('x');
    return elements(packed.substr(0, by), style, by == std::string::npos ? 1 : std::stoi(packed.substr(by + 1)));
}

Value Generator::vector(const std::string& kind) {
    const std::size_t slash = kind.find('/');
    const std::string packed = kind.substr(0, slash), style = slash == std::string::npos ? "" : kind.substr(slash + 1);
    const std::string type = packed.substr(0, packed.find('x'));
    return elements(type, style, 128 / bits_of_type(type));
}

}  // namespace tilepath::recorded
