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
    made.source = Layout::of({{{31, 1, Axis::tlane}}, {{8, 1, Axis::tcol}}}, {}, {{1, Axis::tlane}});
    made.destination = Layout::of({{{31, 1, Axis::tlane}}, {{8, 1, Axis::tcol}}});
    made.evidence = "inferred: down is taken as to the lane below, i from i + 1; the manual's text has no lane numbers";
    return made;
}

}  // namespace tilepath::atom
