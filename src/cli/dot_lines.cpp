#include "cli/dot_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace tilepath::cli {
namespace {

using number::DotRecipe;
using number::Format;
using number::traits;

constexpr std::size_t most_reported = 20;  // bad lines shown, so that a binary file does not flood the terminal

struct Column {
    std::string_view text;
    std::uint32_t begin;
};

std::optional<unsigned> digit(char c) {
    if (c >= '0' && c <= '9') return unsigned(c - '0');
    if (c >= 'a' && c <= 'f') return unsigned(c - 'a' + 10);
    if (c >= 'A' && c <= 'F') return unsigned(c - 'A' + 10);
    return std::nullopt;
}

std::vector<Column> columns_of(std::string_view line, std::uint32_t begin) {
    std::vector<Column> columns;
    constexpr std::string_view blank = " \t\r";
    for (std::size_t at = line.find_first_not_of(blank); at != line.npos; at = line.find_first_not_of(blank, at)) {
        const std::size_t end = std::min(line.find_first_of(blank, at), line.size());
        columns.push_back({line.substr(at, end - at), begin + std::uint32_t(at)});
        at = end;
    }
    return columns;
}

/// Reads the columns of one line; what is wrong goes to `diagnostics`.
class LineReader {
  public:
    LineReader(const Source& source, const DotRecipe& recipe, Diagnostics& diagnostics)
        : source_(source), recipe_(recipe), diagnostics_(diagnostics) {}

    std::optional<DotLine> read(const std::vector<Column>& columns, unsigned number) {
        const bool scaled = recipe_.scaling != number::Scaling::none;
        const std::size_t inputs = scaled ? 5 : 3;
        if (columns.size() != inputs && columns.size() != inputs + 1)
            return wrong(columns.back(), fmt::format("expected {} columns ({}) and perhaps the result, found {}",
                                                     inputs, scaled ? "a b c sfa sfb" : "a b c", columns.size()));
        DotLine line;
        line.number = number;
        if (!elements(columns[0], recipe_.a, line.a) || !elements(columns[1], recipe_.b, line.b)) return std::nullopt;
        if (line.b.size() != line.a.size())
            return wrong(columns[1],
                         fmt::format("a has {} elements and b {}: expected as many", line.a.size(), line.b.size()));
        if (!single(columns[2], line.c)) return std::nullopt;
        if (scaled &&
            (!scales(columns[3], line.a.size(), line.scale_a) || !scales(columns[4], line.a.size(), line.scale_b)))
            return std::nullopt;
        if (columns.size() == inputs + 1) {
            std::uint64_t d = 0;
            if (!single(columns.back(), d)) return std::nullopt;
            line.d = d;
        }
        return line;
    }

  private:
    std::nullopt_t wrong(const Column& column, std::string message) {
        const std::uint32_t end = column.begin + std::uint32_t(column.text.size());
        diagnostics_.push_back({Severity::error, std::move(message), source_.place({column.begin, end}), {}});
        return std::nullopt;
    }

    bool elements(const Column& column, Format format, std::vector<std::uint64_t>& out) {
        const std::size_t width = std::size_t(hex_digits(format));
        for (std::size_t i = 0; i < column.text.size(); ++i)
            if (!digit(column.text[i])) {
                wrong({column.text.substr(i, 1), column.begin + std::uint32_t(i)},
                      fmt::format("expected hexadecimal digits, found '{}'", column.text.substr(i, 1)));
                return false;
            }
        if (column.text.size() % width != 0) {
            wrong(column, fmt::format("{} takes {} digits an element: expected a multiple, found {} digits",
                                      traits(format).name, width, column.text.size()));
            return false;
        }
        for (std::size_t i = 0; i < column.text.size(); i += width) {
            std::uint64_t bits = 0;
            for (const char c : column.text.substr(i, width)) bits = bits << 4 | *digit(c);
            if (format == Format::b1) {
                for (int j = 3; j >= 0; --j) out.push_back(bits >> j & 1);
                continue;
            }
            if (traits(format).bits == 6 && bits >> 6 != 0) {
                wrong({column.text.substr(i, width), column.begin + std::uint32_t(i)},
                      fmt::format("{} has 6 bits: expected at most 3f", traits(format).name));
                return false;
            }
            out.push_back(bits);
        }
        return true;
    }

    bool single(const Column& column, std::uint64_t& out) {
        std::vector<std::uint64_t> all;
        if (!elements(column, recipe_.d, all)) return false;
        if (all.size() != 1) {
            wrong(column, fmt::format("expected one {} of {} digits, found {} digits", traits(recipe_.d).name,
                                      hex_digits(recipe_.d), column.text.size()));
            return false;
        }
        out = all.front();
        return true;
    }

    bool scales(const Column& column, std::size_t k, std::vector<std::uint64_t>& out) {
        if (!elements(column, recipe_.scale, out)) return false;
        const std::size_t block = std::size_t(recipe_.scale_block), expected = (k + block - 1) / block;
        if (out.size() == expected) return true;
        wrong(column,
              fmt::format("{} elements in blocks of {}: expected {} scales, found {}", k, block, expected, out.size()));
        return false;
    }

    const Source& source_;
    const DotRecipe& recipe_;
    Diagnostics& diagnostics_;
};

}  // namespace

int hex_digits(Format format) { return traits(format).bits <= 4 ? 1 : traits(format).container_bits / 4; }

Result<std::vector<DotLine>> read_dot_lines(const Source& source, const DotRecipe& recipe) {
    Diagnostics diagnostics;
    std::vector<DotLine> lines;
    LineReader reader(source, recipe, diagnostics);
    const std::string_view text = source.text();
    unsigned number = 0;
    for (std::size_t at = 0; at < text.size(); ++number) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const auto columns = columns_of(text.substr(at, end - at), std::uint32_t(at));
        at = end + 1;
        if (columns.empty() || columns.front().text.starts_with('#')) continue;
        if (auto line = reader.read(columns, number + 1)) lines.push_back(std::move(*line));
    }
    if (diagnostics.size() > most_reported) {
        const std::size_t more = diagnostics.size() - most_reported;
        diagnostics.resize(most_reported);
        diagnostics.push_back({Severity::error, fmt::format("{} further lines are wrong", more), {}, {}});
    }
    if (!diagnostics.empty()) return std::unexpected(std::move(diagnostics));
    return lines;
}

}  // namespace tilepath::cli
