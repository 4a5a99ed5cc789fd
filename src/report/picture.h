#pragma once
// What SVG files and HTML pages of a sheet share: one drawing of grids for both. Colours are CSS classes, so that one
// picture serves light and dark pages; text is text.
#include <set>
#include <string>
#include <string_view>

#include "report/sheet.h"

namespace tilepath::report {

/// With &lt; &gt; &amp; and &quot; for what XML takes as its own.
std::string escaped(std::string_view text);
/// A page around a body that is HTML already, with its own colours beside those of text.
std::string html_page(std::string_view title, std::string_view style, std::string_view body);
/// A sheet's sections as HTML.
std::string html_of(const Sheet& sheet);
/// The classes of text and of every grid's shades, for light and dark.
std::string style_of(const Sheet& sheet);
/// The same for palettes of so many shades.
std::string style_of(const std::set<int>& palettes);
/// A grid alone, without a style.
std::string svg_of(const Grid& grid);

}  // namespace tilepath::report
