#include "host/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "host/npy.h"
#include "layout/layout.h"

namespace tilepath::host {
namespace {

constexpr std::size_t shown = 8;

/// Position on the line of a format's values: neighbours differ by one, −0 and +0 are one place.
std::int64_t order(const DType& dtype, std::uint64_t bits) {
    const std::uint64_t sign = std::uint64_t{1} << (dtype.bits - 1);
    return bits & sign ? -static_cast<std::int64_t>(bits & (sign - 1)) : static_cast<std::int64_t>(bits);
}

bool within(const Tolerance& tolerance, const DType& dtype, std::uint64_t found, std::uint64_t expected, double ulp) {
    if (found == expected) return true;
    if (tolerance.exact()) return false;
    const double a = to_number(dtype, found), b = to_number(dtype, expected);
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    // An infinity is near nothing but itself: its distance to anything is infinite, and so would rtol times it be.
    if (std::isinf(a) || std::isinf(b)) return a == b;
    if (tolerance.ulp && ulp <= static_cast<double>(*tolerance.ulp)) return true;
    if (!tolerance.rtol && !tolerance.atol) return false;
    return std::abs(a - b) <= tolerance.atol.value_or(0) + tolerance.rtol.value_or(0) * std::abs(b);
}

}  // namespace

Difference compare(const Buffer& buffer, const std::vector<std::uint8_t>& found, const std::vector<std::uint8_t>& expected) {
    Difference out;
    out.compared = buffer.elements();
    const bool floating = buffer.dtype.kind == DType::Kind::floating;
    for (std::uint64_t i = 0; i < out.compared; ++i) {
        const std::uint64_t at = buffer.position(i);
        const std::uint64_t a = element(found, buffer.dtype, at), b = element(expected, buffer.dtype, at);
        if (a == b) continue;
        double ulp = 0;
        if (floating && std::isfinite(to_number(buffer.dtype, a)) && std::isfinite(to_number(buffer.dtype, b))) {
            ulp = std::abs(static_cast<double>(order(buffer.dtype, a)) - static_cast<double>(order(buffer.dtype, b)));
            out.largest_ulp = std::max(out.largest_ulp, ulp);
        } else if (floating) {
            ulp = HUGE_VAL;
        }
        if (within(buffer.tolerance, buffer.dtype, a, b, floating ? ulp : std::abs(to_number(buffer.dtype, a) - to_number(buffer.dtype, b)))) continue;
        ++out.different;
        if (out.first.size() < shown) out.first.push_back({layout::unflatten(static_cast<std::int64_t>(i), buffer.shape), a, b});
    }
    return out;
}

namespace {

/// What follows the first elements.
std::string rest_of(const Difference& difference) {
    std::string out;
    if (difference.different > difference.first.size())
        out += fmt::format("  and {} more\n", difference.different - difference.first.size());
    if (difference.largest_ulp > 0)
        out += fmt::format("  largest distance of finite elements: {:.0f} ulp\n", difference.largest_ulp);
    return out;
}

}  // namespace

std::string to_string(const Buffer& buffer, const Difference& difference) {
    if (difference.different == 0) return {};
    std::string out = fmt::format("{}: {} of {} elements differ from what is expected\n", buffer.name, difference.different, difference.compared);
    for (const Difference::Element& one : difference.first)
        out += fmt::format("  {}[{}] = {}, expected {}\n", buffer.name, fmt::join(one.index, ", "), to_text(buffer.dtype, one.found),
                           to_text(buffer.dtype, one.expected));
    return out + rest_of(difference);
}

std::string describe_disagreement(const Buffer& buffer, const Difference& difference) {
    if (difference.different == 0)
        return fmt::format("{}: {} elements are the same on the GPU and in tilepath\n", buffer.name, difference.compared);
    std::string out = fmt::format("{}: {} of {} elements differ between the GPU and tilepath\n", buffer.name, difference.different,
                                  difference.compared);
    for (const Difference::Element& one : difference.first)
        out += fmt::format("  {}[{}] = {} on the GPU, {} in tilepath\n", buffer.name, fmt::join(one.index, ", "),
                           to_text(buffer.dtype, one.found), to_text(buffer.dtype, one.expected));
    return out + rest_of(difference);
}

Result<void> save(const Job& job, const Outcome& outcome) {
    for (std::size_t i = 0; i < job.buffers.size(); ++i) {
        const Buffer& buffer = job.buffers[i];
        if (buffer.save.empty()) continue;
        Result<void> written;
        if (buffer.save.ends_with(".npy") && buffer.dtype.bits % 8 == 0) {
            // An array has no gaps: elements in order.
            std::vector<std::uint8_t> dense(bytes_of(buffer.dtype, buffer.elements()));
            for (std::uint64_t e = 0; e < buffer.elements(); ++e)
                set_element(dense, buffer.dtype, e, element(outcome.buffers[i], buffer.dtype, buffer.position(e)));
            written = write_npy(buffer.save, buffer.dtype, buffer.shape, dense);
        } else {
            written = write_bytes(buffer.save, outcome.buffers[i]);
        }
        if (!written) return written;
    }
    return {};
}

}  // namespace tilepath::host
