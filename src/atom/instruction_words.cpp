#include "atom/instruction_words.h"

#include <algorithm>
#include <charconv>

namespace tilepath::atom {

using number::Format;

bool has(const Words& words, std::string_view word) { return std::ranges::find(words, word) != words.end(); }

std::vector<Format> formats_in(const Words& words) {
    std::vector<Format> all;
    for (const std::string_view word : words)
        if (const auto format = number::format_named(word)) all.push_back(*format);
    return all;
}

std::optional<Shape> shape_in(const Words& words) {
    for (const std::string_view word : words)
        if (const auto shape = shape_named(word)) return shape;
    return std::nullopt;
}

/// `x4`.
std::optional<int> repeats_of(std::string_view word) {
    int value = 0;
    if (word.size() < 2 || word[0] != 'x') return std::nullopt;
    const auto [end, error] = std::from_chars(word.data() + 1, word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
    return value;
}

/// 1 if there is none.
int repeats_in(const Words& words) {
    for (const std::string_view word : words)
        if (const auto repeats = repeats_of(word)) return *repeats;
    return 1;
}

Result<std::string_view> one_of(const Words& words, const Words& choices) {
    std::string_view found;
    for (const std::string_view choice : choices) {
        if (!has(words, choice)) continue;
        if (!found.empty())
            return fail(fmt::format("{} has both {} and {}", fmt::join(words, "."), found, choice), "give one of them");
        found = choice;
    }
    return found;
}

Result<int> cta_group_in(const Words& words) {
    const auto group = one_of(words, {"cta_group::1", "cta_group::2"});
    if (!group) return std::unexpected(group.error());
    return *group == "cta_group::2" ? 2 : 1;
}

std::string kind_of(const Words& words) {
    for (const std::string_view word : words)
        if (word.starts_with("kind::")) return std::string(word.substr(6));
    return {};
}

std::vector<std::string_view> words_of(std::string_view name) {
    Words words;
    for (std::size_t begin = 0; begin <= name.size();) {
        const std::size_t end = std::min(name.find('.', begin), name.size());
        if (end > begin) words.push_back(name.substr(begin, end - begin));
        begin = end + 1;
    }
    return words;
}

std::optional<Shape> shape_named(std::string_view word) {
    Shape shape;
    const char *at = word.data(), *end = at + word.size();
    for (auto [letter, to] : {std::pair{'m', &shape.m}, {'n', &shape.n}, {'k', &shape.k}}) {
        if (at == end || *at != letter) return std::nullopt;
        const auto [next, error] = std::from_chars(at + 1, end, *to);
        if (error != std::errc{} || *to <= 0) return std::nullopt;
        at = next;
    }
    return at == end ? std::optional(shape) : std::nullopt;
}

}  // namespace tilepath::atom
