#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "base/span.h"

namespace tilepath {

/// A named text, with the map from byte offsets to lines and columns.
class Source {
  public:
    Source(std::string name, std::string text);

    const std::string& name() const { return name_; }
    std::string_view text() const { return text_; }
    std::string_view text(Span span) const { return text().substr(span.begin, span.end - span.begin); }

    /// 1-based line of a byte offset.
    unsigned line(std::uint32_t offset) const;
    /// The line's text without its end; `line` is 1-based.
    std::string_view line_text(unsigned line) const;
    /// Where `span` lies, with the text of its first line, ready for a Diagnostic.
    Place place(Span span) const;

  private:
    std::string name_;
    std::string text_;
    std::vector<std::uint32_t> line_starts_;
};

}  // namespace tilepath
