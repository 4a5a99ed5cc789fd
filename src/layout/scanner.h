#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/source.h"

namespace tilepath::layout {

/// Reads characters, numbers and names of a layout notation; blanks between them do not count.
class Scanner {
  public:
    Scanner(std::string_view text, std::string name) : source_(std::move(name), std::string(text)) {}

    /// The next character that is not a blank, unread; 0 at the end.
    char peek();
    /// Reads `c` if it comes next.
    bool accept(char c);
    /// Reads all of `word` if it comes next.
    bool accept(std::string_view word);
    /// Reads `c`, or says that it was expected.
    Result<void> expect(char c, std::string_view why = {});
    /// An optionally signed decimal number within 62 bits.
    Result<std::int64_t> number(std::string_view what);
    /// Letters, digits and underscores, starting with a letter; empty if none comes next.
    std::string_view name();
    Result<void> end();

    std::uint32_t offset();
    std::uint32_t offset_after_last() const { return at_; }
    /// An error at [begin, the last character read), at least one character wide.
    std::unexpected<Diagnostics> error_from(std::uint32_t begin, std::string message, std::string note = {}) const;
    std::unexpected<Diagnostics> error_at(Span span, std::string message, std::string note = {}) const {
        return fail_at(source_.place(span), std::move(message), std::move(note));
    }
    /// An error at the next character.
    std::unexpected<Diagnostics> error_here(std::string message, std::string note = {});
    /// "'x'", or "the end of the text".
    std::string found();

  private:
    void skip_blanks();
    Source source_;
    std::uint32_t at_ = 0;
};

}  // namespace tilepath::layout
