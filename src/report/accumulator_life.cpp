#include "report/accumulator_life.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace tilepath::report {

using machine::TensorCells;
using machine::TensorOperation;
using Kind = TensorOperation::Kind;

namespace {

const TensorCells* d_of(const TensorOperation& event) {
    for (const TensorCells& cells : event.cells)
        if (cells.role == TensorCells::Role::d && cells.cta == 0) return &cells;
    return nullptr;
}

std::uint32_t lanes_of(const TensorCells& cells) {
    std::uint32_t count = 0;
    for (const std::uint32_t mask : cells.lanes) count += static_cast<std::uint32_t>(std::popcount(mask));
    return count;
}

}  // namespace

bool AccumulatorLife::is_d(const TensorOperation& event) const {
    const TensorCells* const d = d_of(event);
    return d && event.ctas[0] == cta_ && d->column == column_;
}

void AccumulatorLife::tensor_issued(const TensorOperation& event) {
    if (ended_ || event.kind != Kind::multiply) return;
    if (!begun_) {
        const TensorCells* const d = d_of(event);
        if (!d) return;
        begun_ = true;
        cta_ = event.ctas[0], column_ = d->column, columns_ = d->columns, lanes_ = lanes_of(*d);
        cta_group_ = event.cta_group;
        updates_ = 1;
        return;
    }
    if (is_d(event)) {
        if (event.accumulates)
            ++updates_;
        else if (loads_ > 0)
            ended_ = true;  // the next accumulator in the same place
    }
}

void AccumulatorLife::tensor_landed(const TensorOperation& event) {
    if (!begun_ || ended_) return;
    switch (event.kind) {
        case Kind::multiply:
            if (is_d(event))
                ++landed_;
            else if (event.ctas[0] == cta_ && loads_ > 0)
                ++other_products_;
            return;
        case Kind::load: return read(event);
        case Kind::copy:
        case Kind::shift:
        case Kind::store:
        case Kind::commit: return;
    }
}

void AccumulatorLife::read(const TensorOperation& event) {
    if (event.site.cta != cta_) return;
    for (const TensorCells& cells : event.cells) {
        if (!cells.read || cells.column < column_ || cells.column >= column_ + columns_) continue;
        if (loads_++ == 0) landed_before_read_ = landed_;
        auto [at, is_new] = readers_.try_emplace(event.site.warp);
        Reader& reader = at->second;
        ++reader.loads;
        const std::uint32_t first_column = cells.column - column_, last_column = first_column + cells.columns - 1;
        for (std::uint32_t slab = 0; slab < cells.lanes.size(); ++slab) {
            if (cells.lanes[slab] == 0) continue;
            const std::uint32_t first = slab * 32 + static_cast<std::uint32_t>(std::countr_zero(cells.lanes[slab]));
            const std::uint32_t last = slab * 32 + 31 - static_cast<std::uint32_t>(std::countl_zero(cells.lanes[slab]));
            reader.first_lane = is_new ? first : std::min(reader.first_lane, first);
            reader.last_lane = is_new ? last : std::max(reader.last_lane, last);
        }
        reader.first_column = is_new ? first_column : std::min(reader.first_column, first_column);
        reader.last_column = is_new ? last_column : std::max(reader.last_column, last_column);
    }
}

std::string AccumulatorLife::text() const {
    if (!begun_) return "";
    std::string out = fmt::format("life of one accumulator: CTA {}{}, Tensor Memory columns {} to {}, {} lanes\n", cta_,
                                  cta_group_ == 2 ? " and its peer" : "", column_, column_ + columns_ - 1, lanes_);
    out += fmt::format("  updated {} times by tcgen05.mma, the first without D\n", updates_);
    if (loads_ == 0) return out + "  never read\n";
    out += fmt::format("  read by {} tcgen05.ld, the first when {} of its {} products had landed\n", loads_,
                       landed_before_read_, updates_);
    for (const auto& [warp, reader] : readers_)
        out += fmt::format("    warp {}: {} loads, lanes {} to {}, its columns {} to {}\n", warp, reader.loads,
                           reader.first_lane, reader.last_lane, reader.first_column, reader.last_column);
    if (other_products_ != 0)
        out += fmt::format("  meanwhile {} products landed in the CTA's other accumulator\n", other_products_);
    return out + (ended_ ? "  then the next tile's first product began it anew\n" : "");
}

}  // namespace tilepath::report
