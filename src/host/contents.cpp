#include "host/contents.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "host/npy.h"
#include "kernels/inputs.h"

namespace tilepath::host {
namespace {

std::unexpected<Diagnostics> wrong(const Contents& contents, std::string message, std::string note = {}) {
    if (contents.place) return fail_at(*contents.place, std::move(message), std::move(note));
    return fail(std::move(message), std::move(note));
}

/// Uniform in [0, 1), 53 bits.
double unit(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

std::uint64_t random_element(const Contents& contents, const DType& dtype, std::uint64_t index) {
    switch (contents.distribution) {
        case Contents::Distribution::bits:
            return random_bits(contents.seed, index);
        case Contents::Distribution::uniform:
            return from_number(dtype, contents.a + (contents.b - contents.a) * unit(random_bits(contents.seed, index)));
        case Contents::Distribution::normal: {
            // Irwin–Hall: no logarithm or cosine, whose last bit depends on the C library.
            double sum = -6;
            for (std::uint64_t i = 0; i < 12; ++i) sum += unit(random_bits(contents.seed, index * 12 + i));
            return from_number(dtype, contents.a + contents.b * sum);
        }
    }
    TILEPATH_ASSERT(false, "a Distribution outside its enum");
}

Result<std::vector<std::uint8_t>> from_npy(const Contents& contents, const Buffer& buffer, std::vector<std::uint8_t> bytes) {
    auto array = read_npy(contents.text);
    if (!array) return std::unexpected(array.error());
    if (array->bytes * 8 != std::max(8, buffer.dtype.bits))
        return wrong(contents, fmt::format("{} has elements of {} bits; '{}' is {} with {}", contents.text, array->bytes * 8,
                                           buffer.name, buffer.dtype.name, buffer.dtype.bits));
    const std::uint64_t count = array->data.size() / static_cast<std::uint64_t>(array->bytes);
    if (count != buffer.elements())
        return wrong(contents, fmt::format("{} has {} elements; '{}' has {}", contents.text, count, buffer.name, buffer.elements()));
    for (std::uint64_t i = 0; i < count; ++i) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, array->data.data() + i * static_cast<std::uint64_t>(array->bytes), static_cast<std::size_t>(array->bytes));
        set_element(bytes, buffer.dtype, buffer.position(i), bits);
    }
    return bytes;
}

Result<std::vector<std::uint8_t>> from_file(const Contents& contents, const Buffer& buffer, std::vector<std::uint8_t> bytes) {
    if (contents.text.ends_with(".npy")) return from_npy(contents, buffer, std::move(bytes));
    auto file = read_bytes(contents.text);
    if (!file) {
        if (contents.place) return fail_at(*contents.place, file.error().front().message);
        return file;
    }
    if (file->size() != bytes.size())
        return wrong(contents, fmt::format("{} has {} bytes; '{}' has {}", contents.text, file->size(), buffer.name, bytes.size()),
                     "a raw file holds the buffer's memory, gaps of a layout included");
    return file;
}

Result<std::vector<std::uint8_t>> from_hex(const Contents& contents, const Buffer& buffer, std::vector<std::uint8_t> bytes) {
    std::string digits;
    for (char c : contents.text) {
        if (c == ' ' || c == '_' || c == '\n' || c == '\t') continue;
        if (!std::isxdigit(static_cast<unsigned char>(c))) return wrong(contents, fmt::format("'{}' is no hexadecimal digit", c));
        digits += c;
    }
    if (digits.size() != bytes.size() * 2)
        return wrong(contents, fmt::format("expected {} hexadecimal digits for the {} bytes of '{}', found {}", bytes.size() * 2,
                                           bytes.size(), buffer.name, digits.size()));
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(std::stoi(digits.substr(2 * i, 2), nullptr, 16));
    return bytes;
}

}  // namespace

std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) {
    using kernels::splitmix64_mix;
    return splitmix64_mix(splitmix64_mix(seed) + (index + 1) * 0x9E3779B97F4A7C15u);
}

Result<std::vector<std::uint8_t>> make_contents(const Contents& contents, const Buffer& buffer, std::uint8_t between) {
    std::vector<std::uint8_t> bytes(buffer.bytes.size(), between);
    auto each = [&](auto bits_of) {
        for (std::uint64_t i = 0; i < buffer.elements(); ++i) set_element(bytes, buffer.dtype, buffer.position(i), bits_of(i));
    };
    switch (contents.kind) {
        case Contents::Kind::poison: std::fill(bytes.begin(), bytes.end(), std::uint8_t{0xA5}); return bytes;
        case Contents::Kind::zero: std::fill(bytes.begin(), bytes.end(), std::uint8_t{0}); return bytes;
        case Contents::Kind::value:
            each([&, bits = from_number(buffer.dtype, contents.value)](std::uint64_t) { return bits; });
            return bytes;
        case Contents::Kind::iota:
            each([&](std::uint64_t i) { return from_number(buffer.dtype, static_cast<double>(i)); });
            return bytes;
        case Contents::Kind::random:
            each([&](std::uint64_t i) { return random_element(contents, buffer.dtype, i); });
            return bytes;
        case Contents::Kind::file: return from_file(contents, buffer, std::move(bytes));
        case Contents::Kind::hex: return from_hex(contents, buffer, std::move(bytes));
    }
    TILEPATH_ASSERT(false, "a Contents kind outside its enum");
}

}  // namespace tilepath::host
