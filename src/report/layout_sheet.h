#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "report/sheet.h"
#include "report/view.h"

namespace tilepath::report {

/// What `tilepath layout EXPR` is asked. Without a question: shape, size, extent and faults.
struct LayoutQuestion {
    std::string expression;              ///< in any notation
    std::optional<std::string> shape;    ///< `16,8`: how coordinates are numbered; default: the layout's own
    std::vector<std::string> at;         ///< coordinates, `8,3`
    std::optional<std::string> inverse;  ///< a place, `laneid=4,reg=1`; empty: the inverse as a layout
    std::optional<std::string> equal;    ///< another layout
    bool cute = false, bits = false, formula = false, table = false;
    Colour colour = Colour::automatic;
};

Result<Sheet> layout_sheet(const LayoutQuestion& question);

/// `8,3` or `(8,3)`.
Result<std::vector<std::int64_t>> read_numbers(std::string_view text, std::string_view what);

}  // namespace tilepath::report
