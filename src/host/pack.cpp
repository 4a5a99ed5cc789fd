#include "host/pack.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/assert.h"

namespace tilepath::host {
namespace {

using program::DataType;

std::unexpected<Diagnostics> wrong(const Argument& argument, std::string message, std::string note = {}) {
    return fail_at(argument.place, std::move(message), std::move(note));
}

void add(Diagnostics& all, const std::unexpected<Diagnostics>& more) {
    all.insert(all.end(), more.error().begin(), more.error().end());
}

/// The bits of a value as the type holds them.
Result<std::uint64_t> value_bits(const Argument& argument, DataType type, const std::string& what) {
    const int bits = program::bits(type);
    const bool floating = program::is_float(type);
    if (!argument.text.empty()) {
        std::string_view digits = argument.text;
        if (digits.starts_with("0x") || digits.starts_with("0X")) digits.remove_prefix(2);
        else return wrong(argument, fmt::format("expected \"0x…\", found \"{}\"", argument.text), "a string gives the parameter's bits");
        std::uint64_t value = 0;
        auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
        if (error != std::errc{} || end != digits.data() + digits.size())
            return wrong(argument, fmt::format("\"{}\" is no hexadecimal number of 64 bits", argument.text));
        if (bits < 64 && value >> bits) return wrong(argument, fmt::format("{} does not fit the {} bits of {}", argument.text, bits, what));
        return value;
    }
    if (argument.number || (argument.integer && floating)) {
        const double value = argument.number ? *argument.number : static_cast<double>(*argument.integer);
        // `.b32` and `.b64` take a number with a point as the float of that width: nvcc declares float parameters so.
        if (type == DataType::f32 || type == DataType::b32) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
        if (type == DataType::f64 || type == DataType::b64) return std::bit_cast<std::uint64_t>(value);
        if (floating) return number::from_double(value, *program::format_of(type));
        return wrong(argument, fmt::format("{} is an integer; found the number {}", what, value));
    }
    const std::int64_t value = *argument.integer;
    // Either reading of the width is accepted: nvcc declares `int` parameters as .u32.
    const std::int64_t least = bits == 64 ? INT64_MIN : -(std::int64_t{1} << (bits - 1));
    const std::int64_t most = bits == 64 ? INT64_MAX : (std::int64_t{1} << bits) - 1;
    if (value < least || value > most)
        return wrong(argument, fmt::format("{} does not fit {}: expected {} to {}", value, what, least, most));
    return bits == 64 ? static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value) & ((std::uint64_t{1} << bits) - 1);
}

class Packer {
  public:
    Packer(const Job& job, Launch& launch) : buffers_(job.buffers), tensor_maps_(job.tensor_maps), launch_(launch) {}

    Result<void> pack(const Argument& argument, std::uint32_t offset, std::uint32_t bytes, DataType type, const std::string& what) {
        switch (argument.kind) {
            case Argument::Kind::buffer: return address(argument, offset, bytes, what);
            case Argument::Kind::value: {
                if (static_cast<std::uint32_t>(program::bytes(type)) != bytes)
                    return wrong(argument, fmt::format("{} has {} bytes: a single value does not fill it", what, bytes),
                                 "use bytes, or size and fields");
                auto bits = value_bits(argument, type, what);
                if (!bits) return std::unexpected(bits.error());
                std::memcpy(launch_.parameters.data() + offset, &*bits, std::min<std::size_t>(8, bytes));
                return {};
            }
            case Argument::Kind::bytes: return raw(argument, offset, bytes, what);
            case Argument::Kind::fields: return fields(argument, offset, bytes, what);
            case Argument::Kind::tensormap: return tensor_map(argument, offset, bytes, what);
        }
        TILEPATH_ASSERT(false, "an Argument kind outside its enum");
    }

  private:
    Result<void> address(const Argument& argument, std::uint32_t offset, std::uint32_t bytes, const std::string& what) {
        if (bytes != 8) return wrong(argument, fmt::format("an address has 8 bytes; {} has {}", what, bytes));
        for (std::size_t i = 0; i < buffers_.size(); ++i) {
            if (buffers_[i].name != argument.buffer) continue;
            launch_.addresses.push_back({offset, i, argument.addend});
            return {};
        }
        std::string names;
        for (const Buffer& buffer : buffers_) names += fmt::format("{}{}", names.empty() ? "" : ", ", buffer.name);
        return wrong(argument, fmt::format("there is no [buffer.{}]", argument.buffer), names.empty() ? "" : "buffers: " + names);
    }

    Result<void> tensor_map(const Argument& argument, std::uint32_t offset, std::uint32_t bytes, const std::string& what) {
        constexpr std::uint32_t size = machine::TensorMap::bytes, alignment = machine::TensorMap::alignment;
        if (bytes != size) return wrong(argument, fmt::format("a tensor map has {} bytes; {} has {}", size, what, bytes));
        if (offset % alignment != 0)
            return wrong(argument, fmt::format("a tensor map lies at a multiple of {} bytes among the parameters; {} is at {}", alignment, what, offset),
                         "declare it with .align 64, as CUtensorMap is");
        std::string names;
        for (std::size_t i = 0; i < tensor_maps_.size(); ++i) {
            if (tensor_maps_[i].name == argument.buffer) {
                launch_.tensor_maps.push_back({offset, i});
                return {};
            }
            names += fmt::format("{}{}", names.empty() ? "" : ", ", tensor_maps_[i].name);
        }
        return wrong(argument, fmt::format("there is no [tensormap.{}]", argument.buffer), names.empty() ? "" : "tensor maps: " + names);
    }

    Result<void> raw(const Argument& argument, std::uint32_t offset, std::uint32_t bytes, const std::string& what) {
        if (argument.text.size() != std::size_t{2} * bytes)
            return wrong(argument, fmt::format("expected {} hexadecimal digits for the {} bytes of {}, found {}", 2 * bytes, bytes, what,
                                               argument.text.size()));
        for (std::uint32_t i = 0; i < bytes; ++i) {
            unsigned value = 0;
            const char* digits = argument.text.data() + std::size_t{2} * i;
            auto [end, error] = std::from_chars(digits, digits + 2, value, 16);
            if (error != std::errc{} || end != digits + 2)
                return wrong(argument, fmt::format("'{}' is no hexadecimal byte", std::string_view(digits, 2)));
            launch_.parameters[offset + i] = static_cast<std::uint8_t>(value);
        }
        return {};
    }

    Result<void> fields(const Argument& argument, std::uint32_t offset, std::uint32_t bytes, const std::string& what) {
        if (argument.size != bytes) return wrong(argument, fmt::format("'size' is {}, but {} has {} bytes", argument.size, what, bytes));
        Diagnostics all;
        for (const Argument::Field& field : argument.fields) {
            DataType type = DataType::b64;
            std::uint32_t size = 8;
            if (field.argument.kind == Argument::Kind::value) {
                auto named = program::type_named(field.type);
                if (!named || program::bits(*named) < 8) {
                    add(all, wrong(field.argument, fmt::format("'{}' is no type of a field", field.type),
                                   "expected type = \"u32\", \"f32\", …"));
                    continue;
                }
                type = *named;
                size = static_cast<std::uint32_t>(program::bytes(type));
            } else if (field.argument.kind == Argument::Kind::bytes) {
                size = static_cast<std::uint32_t>(field.argument.text.size() / 2);
            } else if (field.argument.kind == Argument::Kind::fields) {
                size = field.argument.size;
            } else if (field.argument.kind == Argument::Kind::tensormap) {
                size = machine::TensorMap::bytes;
            }
            if (field.at > bytes || size > bytes - field.at) {
                add(all, wrong(field.argument,
                               fmt::format("a field of {} bytes at {} leaves the {} bytes of {}", size, field.at, bytes, what)));
                continue;
            }
            auto done = pack(field.argument, offset + field.at, size, type, fmt::format("the field at {}", field.at));
            if (!done) add(all, std::unexpected(done.error()));
        }
        if (!all.empty()) return std::unexpected(std::move(all));
        return {};
    }

    const std::vector<Buffer>& buffers_;
    const std::vector<TensorMap>& tensor_maps_;
    Launch& launch_;
};

}  // namespace

std::string describe(const program::FrameVariable& parameter) {
    const std::uint32_t element = static_cast<std::uint32_t>(program::bytes(parameter.element));
    std::string array = parameter.bytes == element ? "" : fmt::format("[{}]", parameter.bytes / std::max(1u, element));
    return fmt::format(".{} {}{}", program::traits(parameter.element).name, parameter.name, array);
}

Result<void> pack_argument(const Argument& argument, const program::FrameVariable& parameter, const Job& job, Launch& launch) {
    return Packer(job, launch).pack(argument, parameter.offset, parameter.bytes, parameter.element, "'" + parameter.name + "'");
}

}  // namespace tilepath::host
