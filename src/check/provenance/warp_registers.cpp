#include "check/provenance/warp_registers.h"

namespace tilepath::check {

void Footprints::find(const machine::EventSite& site, const machine::Registers& registers, Known& known) {
    std::vector<ShadowRow> none;
    const WarpRegisters r(site, registers, none);
    known.begin = static_cast<std::uint32_t>(rows_.size());
    const auto add = [&](std::uint32_t place, int words) {
        for (int i = 0; i < words; ++i) rows_.push_back(place + static_cast<std::uint32_t>(i));
    };
    for (int i = 0; i < r.op().destinations; ++i) add(r.place(i), r.words(r.destination(i)));
    for (int i = 0; i < r.op().sources; ++i) add(r.source_place(i), r.words(r.source(i)));
    known.end = static_cast<std::uint32_t>(rows_.size());
}

}  // namespace tilepath::check
