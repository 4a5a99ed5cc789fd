// host/: what a host program does: buffers, parameters, launch files, launches on this CPU or on a real GPU.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "number/format.h"

namespace tilepath::host {

/// The type of a buffer's elements, as launch files name it.
struct DType {
    enum class Kind : std::uint8_t { unsigned_, signed_, floating };
    std::string_view name;
    int bits = 8;  ///< in memory; 4- and 6-bit types lie packed, low bits first
    Kind kind = Kind::unsigned_;
    number::Format format = number::Format::u8;  ///< floating types
};

std::optional<DType> dtype_named(std::string_view name);
/// Every name, separated by spaces, for error messages.
std::string dtype_names();

/// Bytes that `elements` packed elements take.
std::uint64_t bytes_of(const DType& dtype, std::uint64_t elements);

/// The bits of element `position` of a packed array, and their change.
std::uint64_t element(std::span<const std::uint8_t> bytes, const DType& dtype, std::uint64_t position);
void set_element(std::span<std::uint8_t> bytes, const DType& dtype, std::uint64_t position, std::uint64_t bits);

/// The element nearest to a number (integers: clamped), and an element as a number or text.
std::uint64_t from_number(const DType& dtype, double value);
double to_number(const DType& dtype, std::uint64_t bits);
/// `1.5 (0x3e00)`.
std::string to_text(const DType& dtype, std::uint64_t bits);

}  // namespace tilepath::host
