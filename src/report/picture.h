#pragma once
// What SVG files and HTML pages of a sheet share: one drawing of grids for both. Colours are CSS classes, so that one
// picture serves light and dark pages; text is text.
#include <string>
#include <string_view>

#include "report/sheet.h"

namespace tilepath::report {

/// With &lt; &gt; &amp; and &quot; for what XML takes as its own.
std::string escaped(std::string_view text);
/// The classes of text and of every grid's shades, for light and dark.
std::string style_of(const Sheet& sheet);
/// A grid alone, without a style.
std::string svg_of(const Grid& grid);

}  // namespace tilepath::report
