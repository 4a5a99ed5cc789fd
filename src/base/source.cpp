#include "base/source.h"

#include <algorithm>

namespace tilepath {

Source::Source(std::string name, std::string text) : name_(std::move(name)), text_(std::move(text)) {
    line_starts_.push_back(0);
    for (std::size_t at = text_.find('\n'); at != std::string::npos; at = text_.find('\n', at + 1))
        line_starts_.push_back(static_cast<std::uint32_t>(at + 1));
}

unsigned Source::line(std::uint32_t offset) const {
    auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
    return static_cast<unsigned>(after - line_starts_.begin());
}

std::string_view Source::line_text(unsigned line) const {
    if (line == 0 || line > line_starts_.size()) return {};
    std::size_t begin = line_starts_[line - 1];
    std::size_t end = line < line_starts_.size() ? line_starts_[line] - 1 : text_.size();
    if (end > begin && text_[end - 1] == '\r') --end;
    return text().substr(begin, end - begin);
}

Place Source::place(Span span) const {
    Place place;
    place.file = name_;
    place.line = line(span.begin);
    place.column = span.begin - line_starts_[place.line - 1] + 1;
    place.text = line_text(place.line);
    // A span over several lines is underlined on its first line only.
    unsigned room = static_cast<unsigned>(place.text.size()) + 1 >= place.column
                        ? static_cast<unsigned>(place.text.size()) + 1 - place.column
                        : 0;
    place.length = std::min(std::max(1u, span.end - span.begin), std::max(1u, room));
    return place;
}

}  // namespace tilepath
