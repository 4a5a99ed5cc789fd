#include "atom/tmem_shift.h"

#include <fmt/format.h>

namespace tilepath::atom {

using layout::Axis;
using layout::Layout;

Result<TmemShift> tmem_shift(int cta_group) {
    if (cta_group != 1 && cta_group != 2)
        return fail(fmt::format("expected cta_group::1 or ::2, found ::{}", cta_group));
    TmemShift made;
    made.name = fmt::format("tcgen05.shift.cta_group::{}.down", cta_group);
    made.cta_group = cta_group;
    const layout::Mode rows{{4, 32, Axis::tlane}, {31, 1, Axis::tlane}}, columns{{8, 1, Axis::tcol}};
    made.source = Layout::of({rows, columns}, {}, {{1, Axis::tlane}});
    made.destination = Layout::of({rows, columns});
    made.evidence =
        "cicuvc/nvidia-sass-document measured it on a B200 (UTCSHIFT): lane i from i + 1, in all four windows of 32 "
        "lanes by one shift at lane 0; from another lane on it is inferred";
    return made;
}

}  // namespace tilepath::atom
