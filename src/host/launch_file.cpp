#include "host/launch_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "host/gemm_table.h"
#include "host/npy.h"
#include "host/tensor_map_table.h"
#include "host/toml_table.h"
#include "layout/notation.h"
#include "layout/table.h"

namespace tilepath::host {
namespace {

constexpr std::int64_t most = std::int64_t{1} << 40;

class LaunchFileReader {
  public:
    LaunchFileReader(const Source& source, Diagnostics& diagnostics, std::uint64_t most_bytes)
        : source_(source), diagnostics_(diagnostics), bytes_left_(most_bytes), most_bytes_(most_bytes) {}

    LaunchFile read(const toml::table& document, const std::string& folder) {
        TomlTable top(document, "", source_, diagnostics_);
        LaunchFile file;
        file.folder = folder;
        if (auto module = top.text("module")) file.module = *module;
        else if (!top.has("module")) top.error("expected 'module', the PTX file to run", "write: module = \"kernel.ptx\"");
        file.module_place = top.place_of("module");
        file.nvcc_flags = top.texts("nvcc_flags").value_or(std::vector<std::string>{});
        if (top.has("nvcc_flags") && !file.module.empty() && !file.module.ends_with(".cu"))
            top.error(*top.find("nvcc_flags"), fmt::format("nvcc_flags are for a module in CUDA C++ (.cu), found '{}'", file.module),
                      "leave them out");
        if (auto arch = top.text("arch")) file.arch = *arch;
        file.arch_place = top.place_of("arch");
        read_launches(top, file);
        for (auto& [name, table] : top.named_tables("buffer")) file.buffers.push_back(read_buffer(name, table, false));
        for (auto& [name, table] : top.named_tables("symbol")) file.symbols.push_back(read_buffer(name, table, true));
        for (auto& [name, table] : top.named_tables("tensormap")) file.tensor_maps.push_back(read_tensor_map(name, table));
        if (auto gemm = top.table("gemm")) file.gemm = read_gemm_table(*gemm);
        top.finish();
        return file;
    }

  private:
    void read_launches(TomlTable& top, LaunchFile& file) {
        std::vector<TomlTable> launches = top.tables("launch");
        const bool direct = top.has("grid") || top.has("block") || top.has("arg") || top.has("entry");
        if (!launches.empty() && direct)
            top.error("a launch file has either [[launch]] tables or one launch at its top, not both",
                      "move entry, grid, block and [[arg]] into a [[launch]] table, with [[launch.arg]]");
        if (launches.empty()) {
            file.launches.push_back(read_launch(top));
            return;
        }
        for (TomlTable& table : launches) {
            file.launches.push_back(read_launch(table));
            table.finish();
        }
    }

    LaunchTable read_launch(TomlTable& table) {
        LaunchTable launch;
        launch.place = table.place();
        launch.entry = table.text("entry").value_or("");
        launch.entry_place = table.place_of("entry");
        launch.shape.grid = dimensions(table, "grid", true);
        launch.shape.block = dimensions(table, "block", true);
        launch.shape.cluster = dimensions(table, "cluster", false);
        launch.shape.dynamic_shared_bytes = static_cast<std::uint32_t>(table.integer("dynamic_shared_bytes", 0, 1 << 30).value_or(0));
        for (TomlTable& argument : table.tables("arg")) {
            launch.arguments.push_back(read_argument(argument));
            argument.finish();
        }
        return launch;
    }

    machine::Dim3 dimensions(TomlTable& table, std::string_view key, bool needed) {
        machine::Dim3 out{1, 1, 1};
        auto values = table.integers(key, 0, 0xFFFFFFFF);
        if (!values) {
            if (needed && !table.has(key))
                table.error(fmt::format("expected '{}', one to three integers", key), fmt::format("write: {} = [1, 1, 1]", key));
            return out;
        }
        if (values->empty() || values->size() > 3) {
            table.error(*table.find(key), fmt::format("expected one to three integers in '{}', found {}", key, values->size()));
            return out;
        }
        std::uint32_t* to[] = {&out.x, &out.y, &out.z};
        for (std::size_t i = 0; i < values->size(); ++i) *to[i] = static_cast<std::uint32_t>((*values)[i]);
        return out;
    }

    Argument read_argument(TomlTable& table) {
        Argument out;
        out.place = table.place();
        const int kinds = table.has("buffer") + table.has("value") + table.has("bytes") + table.has("fields") + table.has("tensormap");
        if (kinds != 1)
            table.error(fmt::format("{}: expected one of buffer, value, bytes, fields, tensormap, found {}", table.name(), kinds));
        if (auto buffer = table.text("buffer")) {
            out.kind = Argument::Kind::buffer;
            out.buffer = *buffer;
            out.addend = table.integer("offset", -most, most).value_or(0);
        }
        if (auto bytes = table.text("bytes")) out.kind = Argument::Kind::bytes, out.text = *bytes;
        if (auto map = table.text("tensormap")) out.kind = Argument::Kind::tensormap, out.buffer = *map;
        read_value(table, out);
        if (table.has("fields")) {
            out.kind = Argument::Kind::fields;
            out.size = static_cast<std::uint32_t>(table.integer("size", 1, 1 << 20).value_or(0));
            if (!table.has("size")) table.error(fmt::format("{}: expected 'size', the bytes of the whole struct", table.name()));
            for (TomlTable& field : table.tables("fields")) {
                Argument::Field inner;
                inner.at = static_cast<std::uint32_t>(field.integer("at", 0, 1 << 20).value_or(0));
                inner.type = field.text("type").value_or("");
                inner.argument = read_argument(field);
                field.finish();
                out.fields.push_back(std::move(inner));
            }
        }
        return out;
    }

    void read_value(TomlTable& table, Argument& out) {
        const toml::node* node = table.find("value");
        if (!node) return;
        out.kind = Argument::Kind::value;
        if (auto integer = node->value_exact<std::int64_t>()) out.integer = integer;
        else if (auto number = node->value_exact<double>()) out.number = number;
        else if (auto text = node->value_exact<std::string>()) out.text = *text;
        else table.error(*node, "expected 'value' to be an integer, a number, or a string \"0x…\"");
    }

    BufferTable read_buffer(const std::string& name, TomlTable& table, bool symbol) {
        BufferTable out;
        out.place = table.place();
        out.buffer.name = name;
        out.buffer.symbol = symbol;
        out.buffer.dtype = *dtype_named("u8");
        if (auto dtype = table.text("dtype")) {
            out.has_dtype = true;
            if (auto found = dtype_named(*dtype)) out.buffer.dtype = *found;
            else table.error(*table.find("dtype"), fmt::format("'{}' is no dtype", *dtype), "expected one of: " + dtype_names());
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

    /// Takes bytes of what the buffers may hold together; false, with an error, when there are not as many left.
    bool take(TomlTable& table, std::uint64_t bytes) {
        if (bytes <= bytes_left_) return bytes_left_ -= bytes, true;
        table.error(fmt::format("{}: expected buffers that fit the {} MiB of memory here, found larger ones", table.name(),
                                most_bytes_ >> 20),
                    "memory of the device is memory of this machine; make shapes or strides smaller");
        return false;
    }

    /// Where the elements lie, and how many bytes that takes; gives the elements that it spans.
    std::uint64_t place_elements(TomlTable& table, Buffer& buffer) {
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
            table.error(fmt::format("{}: expected at most {} elements in 'shape', found more", table.name(), most_elements));
            buffer.shape = {0};
            return 0;
        }
        extent = elements;
        if (auto strides = table.integers("strides", 0, most)) {
            if (strides->size() != buffer.shape.size())
                table.error(*table.find("strides"), fmt::format("expected {} strides, one for each dimension of 'shape', found {}",
                                                                buffer.shape.size(), strides->size()));
            else extent = positions_from_strides(table, *strides, buffer, elements);
        }
        if (auto notation = table.text("layout")) {
            if (table.has("strides")) table.error(fmt::format("{}: expected 'strides' or 'layout', found both", table.name()));
            extent = positions_from_layout(table, *notation, buffer, elements);
        }
        // An extent whose bits do not fit 64 is too large for any memory.
        if (!take(table, extent > UINT64_MAX / 64 ? UINT64_MAX : bytes_of(buffer.dtype, extent))) return 0;
        buffer.bytes.resize(bytes_of(buffer.dtype, extent));
        return extent;
    }

    std::uint64_t positions_from_strides(TomlTable& table, const std::vector<std::int64_t>& strides, Buffer& buffer,
                                         std::uint64_t elements) {
        if (elements == 0) return 0;
        std::uint64_t last = 0;
        for (std::size_t d = 0; d < strides.size(); ++d) {
            const auto steps = static_cast<std::uint64_t>(buffer.shape[d] - 1), stride = static_cast<std::uint64_t>(strides[d]);
            // Up to 2^36 steps of up to 2^40 wrap; what a buffer can hold is far less.
            const bool wraps = stride != 0 && steps > (UINT64_MAX / 64 - last) / stride;
            if (wraps) return UINT64_MAX;
            last += steps * stride;
        }
        if (!take(table, elements * sizeof(std::uint64_t)) || bytes_of(buffer.dtype, last + 1) > bytes_left_) return last + 1;
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

    std::uint64_t positions_from_layout(TomlTable& table, const std::string& notation, Buffer& buffer, std::uint64_t elements) {
        auto layout = layout::parse_layout(notation, table.name() + ".layout");
        if (!layout) {
            diagnostics_.insert(diagnostics_.end(), layout.error().begin(), layout.error().end());
            return 0;
        }
        const toml::node& node = *table.find("layout");
        if (static_cast<std::uint64_t>(layout->size()) != elements || layout->replicas() != 1) {
            table.error(node, fmt::format("expected a layout of {} elements without replicas, as 'shape' has, found {} with {}", elements,
                                          layout->size(), layout->replicas()));
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
            table.error(fmt::format("{}: expected one of random, zero, file, hex, value, iota, found {}", table.name(), kinds));
        table.finish();
        return out;
    }

    const Source& source_;
    Diagnostics& diagnostics_;
    std::uint64_t bytes_left_, most_bytes_;
};

}  // namespace

std::uint64_t physical_memory_bytes() {
    return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

Result<LaunchFile> read_launch_text(const std::string& path, const std::string& text, std::uint64_t most_bytes) {
    Source source(path, text);
    Diagnostics diagnostics;
    try {
        toml::table document = toml::parse(text, path);
        LaunchFile file = LaunchFileReader(source, diagnostics, most_bytes).read(document, std::filesystem::path(path).parent_path().string());
        if (has_error(diagnostics)) return std::unexpected(std::move(diagnostics));
        return file;
    } catch (const toml::parse_error& error) {
        const auto at = error.source().begin;
        Place place{path, at.line, at.column, 1, std::string(source.line_text(at.line))};
        return fail_at(place, fmt::format("this is no TOML: {}", error.description()));
    }
}

Result<LaunchFile> read_launch_file(const std::string& path) {
    auto bytes = read_bytes(path);
    if (!bytes) return std::unexpected(bytes.error());
    return read_launch_text(path, std::string(bytes->begin(), bytes->end()));
}

}  // namespace tilepath::host
