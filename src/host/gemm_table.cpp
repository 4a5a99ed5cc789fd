#include "host/gemm_table.h"

#include <fmt/format.h>

#include <charconv>

#include "host/toml_table.h"

namespace tilepath::host {

std::optional<GemmTable::Index> parse_index(const std::string& text) {
    const std::size_t slash = text.find('/');
    GemmTable::Index out{text.substr(0, slash), 1};
    const bool named =
        !out.name.empty() && out.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string::npos;
    if (!named) return {};
    if (slash == std::string::npos) return out;
    const char *const first = text.data() + slash + 1, *const last = text.data() + text.size();
    const auto parsed = std::from_chars(first, last, out.divisor);
    if (parsed.ec != std::errc() || parsed.ptr != last || out.divisor < 1 || out.divisor > 1024) return {};
    return out;
}

std::vector<std::string_view> needed_indices(std::string_view role) {
    if (role == "a" || role == "sfa") return {"m", "k"};
    if (role == "b" || role == "sfb") return {"n", "k"};
    return {"m", "n"};
}

namespace {

GemmTable::Operand read_operand(const std::string& role, TomlTable& table) {
    GemmTable::Operand out;
    out.role = role;
    out.place = table.place();
    if (auto buffer = table.text("buffer"))
        out.buffer = *buffer;
    else if (!table.has("buffer"))
        table.error(fmt::format("{}: expected 'buffer'", table.name()));
    const auto texts = table.texts("index");
    if (!texts && !table.has("index"))
        table.error(fmt::format("{}: expected 'index', the index of each dimension of the buffer", table.name()),
                    fmt::format("write: index = [\"{}\", \"{}\"]", needed_indices(role)[0], needed_indices(role)[1]));
    for (const std::string& text : texts.value_or(std::vector<std::string>{})) {
        if (const auto index = parse_index(text))
            out.index.push_back(*index);
        else
            table.error(*table.find("index"), fmt::format("'{}' is no index", text),
                        "an index is m, n, k, another name for a batch, or one of them divided: \"k/32\"");
    }
    if (texts) {
        for (const std::string_view name : needed_indices(role)) {
            std::size_t times = 0;
            for (const GemmTable::Index& index : out.index) times += index.name == name;
            if (times != 1)
                table.error(
                    *table.find("index"),
                    fmt::format("expected '{}' once among the indices of '{}', found it {} times", name, role, times));
        }
    }
    table.finish();
    return out;
}

}  // namespace

GemmTable read_gemm_table(TomlTable& table) {
    GemmTable out;
    for (const std::string role : {"d", "a", "b", "c", "sfa", "sfb"}) {
        if (auto operand = table.table(role))
            out.operands.push_back(read_operand(role, *operand));
        else if (!table.has(role) && role.size() == 1 && role != "c")
            table.error(fmt::format("gemm: expected '{}', a matrix of the product", role),
                        fmt::format("write: {} = {{ buffer = \"…\", index = [\"{}\", \"{}\"] }}", role, needed_indices(role)[0],
                                    needed_indices(role)[1]));
    }
    table.finish();
    return out;
}

}  // namespace tilepath::host
