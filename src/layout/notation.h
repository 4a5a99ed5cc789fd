#pragma once
#include <string>
#include <string_view>

#include "base/result.h"
#include "layout/layout.h"

namespace tilepath::layout {

class Scanner;

/// Reads `S[(8,(4,2)):(4@laneid,(1@laneid,1@reg))] + R[2:32@TLane] + O[1@reg]`: shard, then replica and offset in any
/// order. A stride without an axis is `m`. A mode may be a group, `(4,2):(1@laneid,1@reg)`; groups within groups are
/// flattened into their mode. Errors point at the character; `name` is what they call the text.
Result<Layout> parse_layout(std::string_view text, std::string name = "layout");

/// The same inside a longer text: reads a layout and leaves the scanner behind it.
Result<Layout> read_layout(Scanner& in);

/// `extents:strides`, one mode per member of the outermost group; and back.
Result<std::vector<Mode>> read_modes(Scanner& in);
std::string modes_text(const std::vector<Mode>& modes);

/// The notation that `parse_layout` reads back to an equal layout (equal by form).
std::string to_string(const Layout& layout);

}  // namespace tilepath::layout
