#pragma once
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <toml++/toml.h>

#include "base/result.h"
#include "base/source.h"

namespace tilepath::host {

/// One TOML table, read key by key: every wrong type and every key that nobody asked for becomes a diagnostic with its
/// place. For the readers of launch files alone.
class TomlTable {
  public:
    TomlTable(const toml::table& table, std::string name, const Source& source, Diagnostics& diagnostics)
        : table_(&table), name_(std::move(name)), source_(&source), diagnostics_(&diagnostics) {}

    const std::string& name() const { return name_; }
    Place place() const { return place_of(*table_); }
    Place place_of(const toml::node& node) const;
    /// Of a key's value; nothing where there is none.
    std::optional<Place> place_of(std::string_view key) const;
    bool has(std::string_view key) const { return table_->contains(key); }
    const toml::node* find(std::string_view key);

    std::optional<std::string> text(std::string_view key);
    std::optional<std::int64_t> integer(std::string_view key, std::int64_t least, std::int64_t most);
    std::optional<double> number(std::string_view key);
    std::optional<bool> boolean(std::string_view key);
    /// An array of integers; an integer alone stands for an array of one.
    std::optional<std::vector<std::int64_t>> integers(std::string_view key, std::int64_t least, std::int64_t most);
    /// An array of strings.
    std::optional<std::vector<std::string>> texts(std::string_view key);
    std::optional<TomlTable> table(std::string_view key);
    /// `[[key]]`, or `key = [{…}]`.
    std::vector<TomlTable> tables(std::string_view key);
    /// Every table inside `[key.NAME]`.
    std::vector<std::pair<std::string, TomlTable>> named_tables(std::string_view key);
    /// One of `words`, or an error that lists them.
    std::optional<std::size_t> choice(std::string_view key, std::initializer_list<std::string_view> words);

    void error(const toml::node& node, std::string message, std::string note = {});
    void error(std::string message, std::string note = {}) { error(*table_, std::move(message), std::move(note)); }
    /// Call last: reports the keys that no reader above asked for.
    void finish();

  private:
    /// `buffer.x: `; nothing for the file's top.
    std::string prefix() const { return name_.empty() ? "" : name_ + ": "; }
    void expected(const toml::node& node, std::string_view key, std::string_view what);

    const toml::table* table_;
    std::string name_;
    const Source* source_;
    Diagnostics* diagnostics_;
    std::set<std::string, std::less<>> asked_;
};

}  // namespace tilepath::host
