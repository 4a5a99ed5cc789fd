#include "check/shadow.h"

#include <algorithm>

namespace tilepath::check {

void Shadow::begin(const Actor& actor) {
    actor_ = actor;
    stamp_ = history_.stamp(actor.stamp);
    last_write_ = {};
    last_readers_.id = ~0u;
    conflicts_.clear();
    met_.clear();
}

void Shadow::again(const Actor& actor) {
    actor_ = actor;
    conflicts_.clear();
    for (const Met& met : met_) {
        const Seen seen = judge(met.write, true);
        if (seen.disorder != Disorder::none || seen.fresh_own)
            report(seen, true, Cell::any_lane, met.address, Cell::any_lane);
    }
}

void Shadow::clear() {
    history_.clear();
    splits_.clear();
    free_splits_.clear();
}

bool Shadow::knows(const Clock& clock, const Stamp& stamp) const {
    const Agent& agent = agents_[stamp.agent];
    return (agent.cluster == actor_.cluster ? clock.of(agent.index) : clock.of_foreign(stamp.agent)) >= stamp.epoch;
}

Shadow::Seen Shadow::judge(StampId id, bool wrote) const {
    Seen out{id};
    const Stamp& earlier = history_[id];
    if (earlier == actor_.stamp || (earlier.strong && actor_.stamp.strong)) return out;
    if (earlier.agent == actor_.stamp.agent && (earlier.kind & actor_.pipelined) != 0) return out;
    if (earlier.agent == actor_.warp && earlier.epoch > actor_.synced) out.fresh_own = true;
    const bool fences = (wrote || actor_.fences_reads) && actor_.fenced != nullptr && !earlier.async_proxy;
    if (!knows(*actor_.seen, earlier))
        out.disorder = Disorder::unordered;
    else if (fences && !knows(*actor_.fenced, earlier))
        out.disorder = Disorder::proxy;
    return out;
}

void Shadow::report(const Seen& seen, bool wrote, std::uint8_t earlier_lane, std::uint64_t address, std::uint8_t lane) {
    Disorder disorder = seen.disorder;
    if (disorder != Disorder::unordered && seen.fresh_own && earlier_lane != Cell::any_lane && lane != Cell::any_lane &&
        earlier_lane != lane)
        disorder = Disorder::lanes;
    if (disorder == Disorder::none) return;
    const Stamp& earlier = history_[seen.id];
    for (const Conflict& each : conflicts_)
        if (each.disorder == disorder && each.earlier == earlier && each.earlier_wrote == wrote) return;
    conflicts_.push_back({disorder, earlier, wrote, earlier_lane, lane, address});
}

void Shadow::check_write(const Cell& cell, std::uint64_t address, std::uint8_t lane) {
    if (cell.write != last_write_.id) {
        last_write_ = judge(cell.write, true);
        constexpr std::size_t few = 64;
        if (met_.size() < few && (met_.empty() || met_.back().write != cell.write))
            met_.push_back({cell.write, address});
    }
    if (last_write_.disorder != Disorder::none || last_write_.fresh_own)
        report(last_write_, true, cell.write_lane, address, lane);
}

void Shadow::check_readers(const Cell& cell, std::uint64_t address, std::uint8_t lane) {
    if (cell.readers == last_readers_.id && last_readers_.clean) return;
    last_readers_.id = cell.readers;
    last_readers_.clean = true;
    for (const StampId each : history_.readers(cell.readers)) {
        const Seen seen = judge(each, false);
        if (seen.disorder == Disorder::none && !seen.fresh_own) continue;
        last_readers_.clean = false;
        report(seen, false, cell.read_lane, address, lane);
    }
}

void Shadow::touch_cell(Cell& cell, std::uint64_t address, std::uint8_t lane) {
    if (cell.write != 0) check_write(cell, address, lane);
    if (actor_.writes) {
        if (cell.readers != 0) check_readers(cell, address, lane);
        cell = {stamp_, 0, lane, 0};
        return;
    }
    if (cell.readers != last_readers_.id) {
        last_readers_.id = cell.readers;
        last_readers_.with_actor = history_.with_reader(cell.readers, stamp_);
    }
    cell.read_lane = cell.readers == last_readers_.with_actor && cell.read_lane != lane ? Cell::any_lane : lane;
    cell.readers = last_readers_.with_actor;
}

void Shadow::touch_bytes(Cell& cell, std::uint64_t address, std::uint32_t first, std::uint32_t end, std::uint8_t lane) {
    if (cell.write != split_mark) {
        std::uint32_t index = static_cast<std::uint32_t>(splits_.size());
        if (free_splits_.empty()) {
            splits_.emplace_back();
        } else {
            index = free_splits_.back();
            free_splits_.pop_back();
        }
        splits_[index].fill(cell);
        cell = {split_mark, index, 0, 0};
    }
    std::array<Cell, 4>& bytes = splits_[cell.readers];
    for (std::uint32_t byte = first; byte < end; ++byte) touch_cell(bytes[byte], address + byte, lane);
    if (std::ranges::all_of(bytes, [&](const Cell& each) { return each == bytes[0]; })) merge(cell);
}

void Shadow::merge(Cell& cell) {
    const std::uint32_t index = cell.readers;
    cell = splits_[index][0];
    free_splits_.push_back(index);
}

void Shadow::touch(Cell* cells, std::uint64_t origin, std::uint32_t offset, std::uint32_t bytes, std::uint8_t lane) {
    const std::uint32_t end = offset + bytes;
    for (std::uint32_t at = offset; at < end;) {
        Cell& cell = cells[at / 4];
        const std::uint32_t base = at & ~3u, until = std::min(end, base + 4);
        if (at == base && until == base + 4 && cell.write != split_mark)
            touch_cell(cell, origin + base, lane);
        else
            touch_bytes(cell, origin + base, at - base, until - base, lane);
        at = until;
    }
}

const Stamp* Shadow::writer(const Cell& cell) const {
    const StampId id = cell.write == split_mark ? splits_[cell.readers][0].write : cell.write;
    return id == 0 ? nullptr : &history_[id];
}

}  // namespace tilepath::check
