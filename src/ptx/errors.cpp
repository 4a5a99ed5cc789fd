#include "ptx/errors.h"

#include <fmt/format.h>

#include <algorithm>

namespace tilepath::ptx {

void Errors::add(Span span, std::string message, std::string note) {
    ++total_;
    if (full()) return;
    Diagnostic diagnostic{Severity::error, std::move(message), source_.place(span), {}};
    if (!note.empty()) diagnostic.notes.push_back(std::move(note));
    errors_.push_back({span, std::move(diagnostic)});
}

Diagnostics Errors::release() {
    std::stable_sort(errors_.begin(), errors_.end(),
                     [](const Error& a, const Error& b) { return a.span.begin < b.span.begin; });
    Diagnostics diagnostics;
    for (Error& error : errors_) diagnostics.push_back(std::move(error.diagnostic));
    if (total_ > errors_.size()) {
        Diagnostic rest{
            Severity::note, fmt::format("{} more errors are not shown", total_ - errors_.size()), Place{}, {}};
        rest.place->file = source_.name();
        diagnostics.push_back(std::move(rest));
    }
    return diagnostics;
}

namespace {

// Longer names differ in ways that a distance does not tell; shorter ones are all near one another.
constexpr std::size_t longest_compared = 64;

std::size_t allowed_distance(std::size_t length) { return length < 3 ? 0 : length < 6 ? 1 : 2; }

// Levenshtein's distance with swaps of neighbours counted as one.
std::size_t distance(std::string_view a, std::string_view b) {
    std::size_t rows[3][longest_compared + 1];
    for (std::size_t j = 0; j <= b.size(); ++j) rows[0][j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t* row = rows[i % 3];
        const std::size_t* up = rows[(i - 1) % 3];
        const std::size_t* up2 = rows[(i + 1) % 3];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({up[j] + 1, row[j - 1] + 1, up[j - 1] + (a[i - 1] != b[j - 1])});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], up2[j - 2] + 1);
        }
    }
    return rows[a.size() % 3][b.size()];
}

}  // namespace

Nearest::Nearest(std::string_view wanted) : wanted_(wanted), distance_(allowed_distance(wanted.size()) + 1) {}

void Nearest::offer(std::string_view candidate) {
    if (candidate.empty() || candidate.size() > longest_compared || wanted_.size() > longest_compared) return;
    if (candidate.size() + distance_ <= wanted_.size() || wanted_.size() + distance_ <= candidate.size()) return;
    const std::size_t d = distance(wanted_, candidate);
    if (d >= distance_) return;
    distance_ = d;
    word_ = candidate;
}

std::string did_you_mean(std::string_view word) {
    return word.empty() ? std::string{} : fmt::format("did you mean '{}'?", word);
}

std::string quoted(std::string_view text) {
    constexpr std::size_t longest = 60;
    return text.size() <= longest ? fmt::format("'{}'", text)
                                  : fmt::format("'{}…{}'", text.substr(0, longest - 20), text.substr(text.size() - 18));
}

}  // namespace tilepath::ptx
