#pragma once
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

namespace tilepath::fatbin {

using Bytes = std::span<const std::uint8_t>;

/// A number or a plain struct at an offset, little-endian as everything here is; nothing if it reaches beyond the end.
template <class T>
requires std::is_trivially_copyable_v<T> std::optional<T> read_at(Bytes bytes, std::uint64_t offset) {
    if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return {};
    T out;
    std::memcpy(&out, bytes.data() + offset, sizeof(T));
    return out;
}

/// A part of the bytes; nothing if it is not wholly within.
inline std::optional<Bytes> part(Bytes bytes, std::uint64_t offset, std::uint64_t size) {
    if (offset > bytes.size() || bytes.size() - offset < size) return {};
    return bytes.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size));
}

inline bool begins_with(Bytes bytes, std::string_view magic) {
    return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

}  // namespace tilepath::fatbin
