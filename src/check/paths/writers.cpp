#include "check/paths/writers.h"

#include <algorithm>

namespace tilepath::check {

Ways::Id Ways::then(Id before, StepKind kind, const machine::EventSite& site, layout::SwizzleMode swizzle) {
    if (kind == StepKind::compute && ways_[before].kind == StepKind::compute) before = ways_[before].before;
    if (ways_[before].op == site.op) before = ways_[before].before;  // a loop's accumulator
    const auto [at, fresh] = known_.try_emplace({before, kind, site.op, swizzle}, static_cast<Id>(ways_.size()));
    if (fresh)
        ways_.push_back(
            {kind, site.function, site.op, swizzle, before, kind == StepKind::multiply || ways_[before].multiplied});
    return at->second;
}

std::vector<Ways::Way> Ways::steps(Id id) const {
    std::vector<Way> out;
    for (; id != 0; id = ways_[id].before) out.push_back(ways_[id]);
    std::ranges::reverse(out);
    return out;
}

Writers::Register& Writers::reg(const machine::Registers& registers, std::uint32_t place) {
    Frame& frame = frames_[registers.rows];
    if (frame.number != registers.frame) {
        frame.rows.clear();
        frame.number = registers.frame;
    }
    if (frame.rows.size() <= place) frame.rows.resize(place + 1);
    return frame.rows[place];
}

Ways::Id& Writers::shared(MemoryShadow::Cta cta, std::uint32_t address) {
    std::vector<Ways::Id>& units = ctas_[cta].units;
    if (units.size() <= address / unit_bytes) units.resize(address / unit_bytes + 1);
    return units[address / unit_bytes];
}

Ways::Id& Writers::tensor_column(MemoryShadow::Cta cta, std::uint32_t column) {
    std::vector<Ways::Id>& columns = ctas_[cta].columns;
    if (columns.size() <= column) columns.resize(column + 1);
    return columns[column];
}

}  // namespace tilepath::check
