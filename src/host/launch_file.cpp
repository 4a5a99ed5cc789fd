#include "host/launch_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "host/buffer_table.h"
#include "host/gemm_table.h"
#include "host/npy.h"
#include "host/tensor_map_table.h"
#include "host/toml_table.h"

namespace tilepath::host {
namespace {

class LaunchFileReader {
  public:
    LaunchFileReader(const Source& source, Diagnostics& diagnostics, std::uint64_t most_bytes)
        : source_(source), diagnostics_(diagnostics), buffers_(diagnostics, most_bytes) {}

    LaunchFile read(const toml::table& document, const std::string& folder) {
        TomlTable top(document, "", source_, diagnostics_);
        LaunchFile file;
        file.folder = folder;
        if (auto module = top.text("module"))
            file.module = *module;
        else if (!top.has("module"))
            top.error("expected 'module', the PTX file to run", "write: module = \"kernel.ptx\"");
        file.module_place = top.place_of("module");
        file.nvcc_flags = top.texts("nvcc_flags").value_or(std::vector<std::string>{});
        if (top.has("nvcc_flags") && !file.module.empty() && !file.module.ends_with(".cu"))
            top.error(*top.find("nvcc_flags"),
                      fmt::format("nvcc_flags are for a module in CUDA C++ (.cu), found '{}'", file.module),
                      "leave them out");
        if (auto arch = top.text("arch")) file.arch = *arch;
        file.arch_place = top.place_of("arch");
        read_launches(top, file);
        for (auto& [name, table] : top.named_tables("buffer"))
            file.buffers.push_back(buffers_.read(name, table, false));
        for (auto& [name, table] : top.named_tables("symbol")) file.symbols.push_back(buffers_.read(name, table, true));
        for (auto& [name, table] : top.named_tables("tensormap"))
            file.tensor_maps.push_back(read_tensor_map(name, table));
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
        launch.shape.dynamic_shared_bytes =
            static_cast<std::uint32_t>(table.integer("dynamic_shared_bytes", 0, 1 << 30).value_or(0));
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
                table.error(fmt::format("expected '{}', one to three integers", key),
                            fmt::format("write: {} = [1, 1, 1]", key));
            return out;
        }
        if (values->empty() || values->size() > 3) {
            table.error(*table.find(key),
                        fmt::format("expected one to three integers in '{}', found {}", key, values->size()));
            return out;
        }
        std::uint32_t* to[] = {&out.x, &out.y, &out.z};
        for (std::size_t i = 0; i < values->size(); ++i) *to[i] = static_cast<std::uint32_t>((*values)[i]);
        return out;
    }

    Argument read_argument(TomlTable& table) {
        Argument out;
        out.place = table.place();
        const int kinds = table.has("buffer") + table.has("value") + table.has("bytes") + table.has("fields") +
                          table.has("tensormap");
        if (kinds != 1)
            table.error(fmt::format("{}: expected one of buffer, value, bytes, fields, tensormap, found {}",
                                    table.name(), kinds));
        if (auto buffer = table.text("buffer")) {
            out.kind = Argument::Kind::buffer;
            out.buffer = *buffer;
            constexpr std::int64_t most = std::int64_t{1} << 40;
            out.addend = table.integer("offset", -most, most).value_or(0);
        }
        if (auto bytes = table.text("bytes")) out.kind = Argument::Kind::bytes, out.text = *bytes;
        if (auto map = table.text("tensormap")) out.kind = Argument::Kind::tensormap, out.buffer = *map;
        read_value(table, out);
        if (table.has("fields")) {
            out.kind = Argument::Kind::fields;
            out.size = static_cast<std::uint32_t>(table.integer("size", 1, 1 << 20).value_or(0));
            if (!table.has("size"))
                table.error(fmt::format("{}: expected 'size', the bytes of the whole struct", table.name()));
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
        if (auto integer = node->value_exact<std::int64_t>())
            out.integer = integer;
        else if (auto number = node->value_exact<double>())
            out.number = number;
        else if (auto text = node->value_exact<std::string>())
            out.text = *text;
        else
            table.error(*node, "expected 'value' to be an integer, a number, or a string \"0x…\"");
    }

    const Source& source_;
    Diagnostics& diagnostics_;
    BufferReader buffers_;
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
        LaunchFile file = LaunchFileReader(source, diagnostics, most_bytes)
                              .read(document, std::filesystem::path(path).parent_path().string());
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
