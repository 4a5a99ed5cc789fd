// Collects everything that is wrong with one source text.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "base/source.h"
#include "base/span.h"

namespace tilepath::ptx {

class Errors {
  public:
    Errors(const Source& source, unsigned limit) : source_(source), limit_(limit) {}

    void add(Span span, std::string message, std::string note = {});
    bool empty() const { return total_ == 0; }
    /// True once further errors will only be counted: their wording need not be worked out.
    bool full() const { return errors_.size() >= limit_; }
    /// In the order of the text, with a count of those beyond the limit.
    Diagnostics release();

  private:
    struct Error {
        Span span;
        Diagnostic diagnostic;
    };
    const Source& source_;
    unsigned limit_;
    unsigned total_ = 0;
    std::vector<Error> errors_;
};

/// Collects the word nearest to `wanted` among those offered, for "did you mean"; ties keep the first.
class Nearest {
  public:
    explicit Nearest(std::string_view wanted);
    void offer(std::string_view candidate);
    /// Empty if nothing offered is near enough to be a slip of the pen.
    std::string_view word() const { return word_; }

  private:
    std::string_view wanted_;
    std::string_view word_;
    std::size_t distance_;
};

/// `did you mean 'X'?`, or empty.
std::string did_you_mean(std::string_view word);

/// A name as a message shows it: quoted, shortened if it is very long.
std::string quoted(std::string_view text);

}  // namespace tilepath::ptx
