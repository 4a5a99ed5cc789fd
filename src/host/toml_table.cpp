#include "host/toml_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sstream>

namespace tilepath::host {
namespace {

std::string_view kind_of(const toml::node& node) {
    switch (node.type()) {
        case toml::node_type::none: return "nothing";
        case toml::node_type::table: return "a table";
        case toml::node_type::array: return "an array";
        case toml::node_type::string: return "a string";
        case toml::node_type::integer: return "an integer";
        case toml::node_type::floating_point: return "a number";
        case toml::node_type::boolean: return "true or false";
        case toml::node_type::date:
        case toml::node_type::time:
        case toml::node_type::date_time: return "a date";
    }
    return "something else";
}

}  // namespace

Place TomlTable::place_of(const toml::node& node) const {
    const toml::source_region& at = node.source();
    Place place{source_->name(), at.begin.line, at.begin.column, 1, std::string(source_->line_text(at.begin.line))};
    if (at.end.line == at.begin.line && at.end.column > at.begin.column) place.length = at.end.column - at.begin.column;
    return place;
}

std::optional<Place> TomlTable::place_of(std::string_view key) const {
    const toml::node* node = table_->get(key);
    return node ? std::optional(place_of(*node)) : std::nullopt;
}

void TomlTable::error(const toml::node& node, std::string message, std::string note) {
    Diagnostic out{Severity::error, std::move(message), place_of(node), {}};
    if (!note.empty()) out.notes.push_back(std::move(note));
    diagnostics_->push_back(std::move(out));
}

void TomlTable::expected(const toml::node& node, std::string_view key, std::string_view what) {
    error(node, fmt::format("{}expected '{}' to be {}, found {}", prefix(), key, what, kind_of(node)));
}

const toml::node* TomlTable::find(std::string_view key) {
    asked_.emplace(key);
    return table_->get(key);
}

std::optional<std::string> TomlTable::text(std::string_view key) {
    const toml::node* node = find(key);
    if (!node) return {};
    if (auto value = node->value_exact<std::string>()) return value;
    expected(*node, key, "a string");
    return {};
}

std::optional<std::int64_t> TomlTable::integer(std::string_view key, std::int64_t least, std::int64_t most) {
    const toml::node* node = find(key);
    if (!node) return {};
    auto value = node->value_exact<std::int64_t>();
    if (!value) return expected(*node, key, "an integer"), std::nullopt;
    if (*value >= least && *value <= most) return value;
    error(*node, fmt::format("{}expected '{}' from {} to {}, found {}", prefix(), key, least, most, *value));
    return {};
}

std::optional<double> TomlTable::number(std::string_view key) {
    const toml::node* node = find(key);
    if (!node) return {};
    if (auto value = node->value_exact<double>()) return value;
    if (auto value = node->value_exact<std::int64_t>()) return static_cast<double>(*value);
    expected(*node, key, "a number");
    return {};
}

std::optional<bool> TomlTable::boolean(std::string_view key) {
    const toml::node* node = find(key);
    if (!node) return {};
    if (auto value = node->value_exact<bool>()) return value;
    expected(*node, key, "true or false");
    return {};
}

std::optional<std::vector<std::int64_t>> TomlTable::integers(std::string_view key, std::int64_t least, std::int64_t most) {
    const toml::node* node = find(key);
    if (!node) return {};
    std::vector<std::int64_t> out;
    auto add = [&](const toml::node& item) {
        auto value = item.value_exact<std::int64_t>();
        if (!value) return expected(item, key, "integers"), false;
        if (*value < least || *value > most) {
            error(item, fmt::format("{}expected '{}' from {} to {}, found {}", prefix(), key, least, most, *value));
            return false;
        }
        out.push_back(*value);
        return true;
    };
    if (node->is_integer()) return add(*node) ? std::optional(out) : std::nullopt;
    if (!node->is_array()) return expected(*node, key, "an array of integers"), std::nullopt;
    for (const toml::node& item : *node->as_array())
        if (!add(item)) return {};
    return out;
}

std::optional<std::vector<std::string>> TomlTable::texts(std::string_view key) {
    const toml::node* node = find(key);
    if (!node) return {};
    if (!node->is_array()) return expected(*node, key, "an array of strings"), std::nullopt;
    std::vector<std::string> out;
    for (const toml::node& item : *node->as_array()) {
        auto value = item.value_exact<std::string>();
        if (!value) return expected(item, key, "strings"), std::nullopt;
        out.push_back(*value);
    }
    return out;
}

std::optional<TomlTable> TomlTable::table(std::string_view key) {
    const toml::node* node = find(key);
    if (!node) return {};
    if (!node->is_table()) return expected(*node, key, "a table"), std::nullopt;
    return TomlTable(*node->as_table(), fmt::format("{}{}{}", name_, name_.empty() ? "" : ".", key), *source_, *diagnostics_);
}

std::vector<TomlTable> TomlTable::tables(std::string_view key) {
    const toml::node* node = find(key);
    std::vector<TomlTable> out;
    if (!node) return out;
    if (!node->is_array()) return expected(*node, key, "an array of tables"), out;
    int number = 0;
    for (const toml::node& item : *node->as_array()) {
        std::string name = fmt::format("{}{}{} {}", name_, name_.empty() ? "" : ".", key, number++);
        if (item.is_table()) out.emplace_back(*item.as_table(), name, *source_, *diagnostics_);
        else expected(item, key, "an array of tables");
    }
    return out;
}

std::vector<std::pair<std::string, TomlTable>> TomlTable::named_tables(std::string_view key) {
    std::vector<std::pair<std::string, TomlTable>> out;
    auto all = table(key);
    if (!all) return out;
    for (auto&& [name, node] : *all->table_)
        if (auto inner = all->table(name.str())) out.emplace_back(name.str(), *inner);
    return out;
}

std::optional<std::size_t> TomlTable::choice(std::string_view key, std::initializer_list<std::string_view> words) {
    auto word = text(key);
    if (!word) return {};
    std::size_t index = 0;
    for (std::string_view candidate : words) {
        if (candidate == *word) return index;
        ++index;
    }
    error(*table_->get(key), fmt::format("{}'{}' is no value for '{}'", prefix(), *word, key),
          fmt::format("expected one of: {}", fmt::join(words, ", ")));
    return {};
}

void TomlTable::finish() {
    for (auto&& [key, node] : *table_) {
        if (asked_.contains(key.str())) continue;
        error(node, fmt::format("{}unknown key '{}'", prefix(), key.str()),
              fmt::format("known here: {}", fmt::join(asked_, ", ")));
    }
}

}  // namespace tilepath::host
