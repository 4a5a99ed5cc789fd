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
        if (seen.disorder != Disorder::none || seen.own)
            report(seen, true, Cell::any_lane, met.address, Cell::any_lane);
    }
}

void Shadow::clear() {
    history_.clear();
    splits_.clear();
    free_splits_.clear();
}

/// The lanes whose access is known: all of them, or those of which the clock knows apart.
std::uint32_t Shadow::lanes_known(const Clock& clock, const Stamp& stamp) const {
    const Agent& agent = agents_[stamp.agent];
    const bool all =
        (agent.cluster == actor_.cluster ? clock.of(agent.index) : clock.of_foreign(stamp.agent)) >= stamp.epoch;
    if (all || clock.lanes().empty()) return all ? Clock::all_lanes : 0;
    const std::uint32_t lanes = clock.lanes_of(stamp.agent, stamp.epoch);
    return stamp.lanes != 0 && (stamp.lanes & ~lanes) == 0 ? Clock::all_lanes : lanes;
}

Shadow::Seen Shadow::judge(StampId id, bool wrote) const {
    Seen out{id};
    const Stamp& earlier = history_[id];
    if (earlier == actor_.stamp || (earlier.strong && actor_.stamp.strong)) return out;
    if (earlier.agent == actor_.stamp.agent && (earlier.kind & actor_.pipelined) != 0) return out;
    out.known = lanes_known(*actor_.seen, earlier);
    if (out.known != Clock::all_lanes) {
        out.own = earlier.agent == actor_.warp;
        out.own_copy = earlier.agent == actor_.copies && actor_.copies != 0;
        if (!out.own) out.disorder = Disorder::unordered;
    }
    if (out.disorder == Disorder::none && (wrote || actor_.fences_reads) && actor_.fenced != nullptr &&
        !earlier.async_proxy) {
        out.fenced = lanes_known(*actor_.fenced, earlier);
        if (out.fenced != Clock::all_lanes) out.disorder = Disorder::proxy;
    }
    return out;
}

void Shadow::report(const Seen& seen, bool wrote, std::uint8_t earlier_lane, std::uint64_t address, std::uint8_t lane) {
    Disorder disorder = seen.disorder;
    const Stamp& earlier = history_[seen.id];
    const bool lanes_differ = earlier_lane != Cell::any_lane && lane != Cell::any_lane && earlier_lane != lane;
    // Of several lanes together that touch a word one is enough: what is not known for sure is not told.
    const auto has = [&](std::uint32_t lanes) {
        return earlier_lane == Cell::any_lane ? lanes != 0 : (lanes >> earlier_lane & 1) != 0;
    };
    if (seen.own_copy && earlier_lane != Cell::any_lane && (*actor_.waited)[earlier_lane] >= earlier.epoch)
        disorder = lanes_differ && !has(seen.known) ? Disorder::lanes : Disorder::none;
    else if (disorder == Disorder::unordered && has(seen.known))
        disorder = Disorder::none;
    else if (disorder != Disorder::unordered && seen.own && lanes_differ && !has(seen.known))
        disorder = Disorder::lanes;
    else if (disorder == Disorder::proxy && has(seen.fenced))
        disorder = Disorder::none;
    if (disorder == Disorder::none) return;
    for (const Conflict& each : conflicts_)
        if (each.disorder == disorder && each.earlier == earlier && each.earlier_wrote == wrote) return;
    conflicts_.push_back({disorder, earlier, wrote, seen.known != 0, earlier_lane, lane, address});
}

void Shadow::check_write(const Cell& cell, std::uint64_t address, std::uint8_t lane) {
    if (cell.write != last_write_.id) {
        last_write_ = judge(cell.write, true);
        constexpr std::size_t few = 64;
        if (met_.size() < few && (met_.empty() || met_.back().write != cell.write))
            met_.push_back({cell.write, address});
    }
    if (last_write_.disorder != Disorder::none || last_write_.own)
        report(last_write_, true, cell.write_lane, address, lane);
}

void Shadow::check_readers(const Cell& cell, std::uint64_t address, std::uint8_t lane) {
    if (cell.readers == last_readers_.id && last_readers_.clean) return;
    last_readers_.id = cell.readers;
    last_readers_.clean = true;
    const std::span<const StampId> readers = history_.readers(cell.readers);
    for (const StampId& each : readers) {
        const Seen seen = judge(each, false);
        if (seen.disorder == Disorder::none && !seen.own) continue;
        last_readers_.clean = false;
        // The cell knows the lane of the last one only.
        report(seen, false, &each == &readers.back() ? cell.read_lane : Cell::any_lane, address, lane);
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
