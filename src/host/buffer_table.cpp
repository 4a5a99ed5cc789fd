#include "host/buffer_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "layout/notation.h"
#include "layout/table.h"

namespace tilepath::host {
namespace {

/// Of a dimension or a stride.
constexpr std::int64_t most = std::int64_t{1} << 40;

Contents read_contents(TomlTable& table) {
    Contents out;
    out.place = table.place();
    int kinds = 0;
    auto is = [&](Contents::Kind kind) { out.kind = kind, ++kinds; };
    if (auto zero = table.boolean("zero"); zero && *zero) is(Contents::Kind::zero);
    if (auto iota = table.boolean("iota"); iota && *iota) is(Contents::Kind::iota);
    if (auto value = table.number("value")) is(Contents::Kind::value), out.value = *value;
    if (auto file = table.text("file")) is(Contents::Kind::file), out.text = *file;
    if (auto hex = table.text("hex")) is(Contents::Kind::hex), out.text = *hex;
    if (auto random = table.choice("random", {"normal", "uniform", "bits"})) {
        is(Contents::Kind::random);
        out.distribution = static_cast<Contents::Distribution>(*random);
        const bool normal = out.distribution == Contents::Distribution::normal;
        out.seed = static_cast<std::uint64_t>(table.integer("seed", 0, INT64_MAX).value_or(0));
        out.a = table.number(normal ? "mean" : "low").value_or(0);
        out.b = table.number(normal ? "std" : "high").value_or(1);
    }
    if (kinds != 1)
        table.error(
            fmt::format("{}: expected one of random, zero, file, hex, value, iota, found {}", table.name(), kinds));
    table.finish();
    return out;
}

}  // namespace

BufferTable BufferReader::read(const std::string& name, TomlTable& table, bool symbol) {
    BufferTable out;
    out.place = table.place();
    out.buffer.name = name;
    out.buffer.symbol = symbol;
    out.buffer.dtype = *dtype_named("u8");
    if (auto dtype = table.text("dtype")) {
        out.has_dtype = true;
        if (auto found = dtype_named(*dtype))
            out.buffer.dtype = *found;
        else
            table.error(*table.find("dtype"), fmt::format("'{}' is no dtype", *dtype),
                        "expected one of: " + dtype_names());
    } else if (!symbol && !table.has("dtype")) {
        table.error(fmt::format("{}: expected 'dtype'", table.name()), "one of: " + dtype_names());
    }
    if (auto shape = table.integers("shape", 0, most)) {
        out.has_shape = true;
        out.buffer.shape = *shape;
    } else if (!symbol && !table.has("shape")) {
        table.error(fmt::format("{}: expected 'shape'", table.name()), "write: shape = [128, 64]");
    }
    out.extent = place_elements(table, out.buffer);
    if (auto init = table.table("init")) out.init = read_contents(*init);
    if (auto expect = table.table("expect")) {
        out.buffer.tolerance.ulp = expect->integer("ulp", 0, std::int64_t{1} << 53);
        out.buffer.tolerance.rtol = expect->number("rtol");
        out.buffer.tolerance.atol = expect->number("atol");
        out.expect = read_contents(*expect);
    }
    out.buffer.save = table.text("save").value_or("");
    table.finish();
    return out;
}

bool BufferReader::take(TomlTable& table, std::uint64_t bytes) {
    if (bytes <= bytes_left_) return bytes_left_ -= bytes, true;
    table.error(fmt::format("{}: expected buffers that fit the {} MiB of memory here, found larger ones", table.name(),
                            most_bytes_ >> 20),
                "memory of the device is memory of this machine; make shapes or strides smaller");
    return false;
}

std::uint64_t BufferReader::place_elements(TomlTable& table, Buffer& buffer) {
    std::uint64_t elements = 1, extent = 0;
    constexpr std::uint64_t most_elements = std::uint64_t{1} << 36;
    // Judged before each multiplication, which could wrap.
    bool too_many = false;
    for (std::int64_t n : buffer.shape) {
        const auto next = static_cast<std::uint64_t>(n);
        too_many = too_many || (next != 0 && elements > most_elements / next);
        if (!too_many) elements *= next;
    }
    if (too_many) {
        table.error(
            fmt::format("{}: expected at most {} elements in 'shape', found more", table.name(), most_elements));
        buffer.shape = {0};
        return 0;
    }
    extent = elements;
    if (auto strides = table.integers("strides", 0, most)) {
        if (strides->size() != buffer.shape.size())
            table.error(*table.find("strides"),
                        fmt::format("expected {} strides, one for each dimension of 'shape', found {}",
                                    buffer.shape.size(), strides->size()));
        else
            extent = positions_from_strides(table, *strides, buffer, elements);
    }
    if (auto notation = table.text("layout")) {
        if (table.has("strides"))
            table.error(fmt::format("{}: expected 'strides' or 'layout', found both", table.name()));
        extent = positions_from_layout(table, *notation, buffer, elements);
    }
    // Tiles that are padded are loaded whole.
    if (const auto least = table.integer("bytes", 0, std::int64_t{1} << 50))
        extent =
            std::max(extent, static_cast<std::uint64_t>(*least) * 8 / static_cast<std::uint64_t>(buffer.dtype.bits));
    // An extent whose bits do not fit 64 is too large for any memory.
    if (!take(table, extent > UINT64_MAX / 64 ? UINT64_MAX : bytes_of(buffer.dtype, extent))) return 0;
    buffer.bytes.resize(bytes_of(buffer.dtype, extent));
    return extent;
}

std::uint64_t BufferReader::positions_from_strides(TomlTable& table, const std::vector<std::int64_t>& strides,
                                                   Buffer& buffer, std::uint64_t elements) {
    if (elements == 0) return 0;
    std::uint64_t last = 0;
    for (std::size_t d = 0; d < strides.size(); ++d) {
        const auto steps = static_cast<std::uint64_t>(buffer.shape[d] - 1),
                   stride = static_cast<std::uint64_t>(strides[d]);
        // Up to 2^36 steps of up to 2^40 wrap; what a buffer can hold is far less.
        const bool wraps = stride != 0 && steps > (UINT64_MAX / 64 - last) / stride;
        if (wraps) return UINT64_MAX;
        last += steps * stride;
    }
    if (!take(table, elements * sizeof(std::uint64_t)) || bytes_of(buffer.dtype, last + 1) > bytes_left_)
        return last + 1;
    buffer.positions.resize(elements);
    for (std::uint64_t i = 0; i < elements; ++i) {
        std::uint64_t rest = i, at = 0;
        for (std::size_t d = strides.size(); d-- > 0;) {
            at += rest % static_cast<std::uint64_t>(buffer.shape[d]) * static_cast<std::uint64_t>(strides[d]);
            rest /= static_cast<std::uint64_t>(buffer.shape[d]);
        }
        buffer.positions[i] = at;
    }
    return last + 1;
}

std::uint64_t BufferReader::positions_from_layout(TomlTable& table, const std::string& notation, Buffer& buffer,
                                                  std::uint64_t elements) {
    auto layout = layout::parse_layout(notation, table.name() + ".layout");
    if (!layout) {
        diagnostics_.insert(diagnostics_.end(), layout.error().begin(), layout.error().end());
        return 0;
    }
    const toml::node& node = *table.find("layout");
    if (static_cast<std::uint64_t>(layout->size()) != elements || layout->replicas() != 1) {
        table.error(node,
                    fmt::format("expected a layout of {} elements without replicas, as 'shape' has, found {} with {}",
                                elements, layout->size(), layout->replicas()));
        return 0;
    }
    auto places = layout::Table::of(*layout);
    if (!places) {
        diagnostics_.insert(diagnostics_.end(), places.error().begin(), places.error().end());
        return 0;
    }
    std::uint64_t extent = 0;
    buffer.positions.resize(elements);
    for (std::uint64_t i = 0; i < elements; ++i) {
        const std::int64_t at = places->at(layout::Axis::m, static_cast<std::int64_t>(i));
        if (at < 0) {
            table.error(node, fmt::format("element {} lies at {}, before the buffer", i, at));
            return 0;
        }
        buffer.positions[i] = static_cast<std::uint64_t>(at);
        extent = std::max(extent, static_cast<std::uint64_t>(at) + 1);
    }
    return extent;
}

}  // namespace tilepath::host
