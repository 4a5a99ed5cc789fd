#include "check/history.h"

namespace tilepath::check {
namespace {

std::size_t slot(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::size_t slots) {
    std::uint64_t mixed = a * 0x9E3779B97F4A7C15ull ^ b * 0xC2B2AE3D27D4EB4Full ^ c * 0x165667B19E3779F9ull;
    return static_cast<std::size_t>(mixed >> 40) % slots;
}

}  // namespace

StampId History::stamp(const Stamp& stamp) {
    StampId& recent = recent_[slot(stamp.agent, stamp.epoch, stamp.site ^ stamp.lanes * 0x9E3779B9u, recent_.size())];
    if (recent != 0 && stamps_[recent] == stamp) return recent;
    stamps_.push_back(stamp);
    return recent = static_cast<StampId>(stamps_.size() - 1);
}

ReaderId History::with_reader(ReaderId before, StampId reader) {
    if (before == 0 || before == reader) return reader;
    Step& step = steps_[slot(before, reader, 0, steps_.size())];
    if (step.before != before || step.reader != reader) step = {before, reader, compute(before, reader)};
    return step.after;
}

/// A later read by the same agent says as much as both; where there is no room the oldest makes way.
ReaderId History::compute(ReaderId before, StampId reader) {
    Set set;
    for (const StampId each : readers(before))
        if (stamps_[each].agent != stamps_[reader].agent) set.members[set.count++] = each;
    if (set.count == 0) return reader;
    if (set.count == most_readers) {
        std::copy(set.members.begin() + 1, set.members.end(), set.members.begin());
        --set.count;
    }
    set.members[set.count++] = reader;
    return intern(set);
}

ReaderId History::intern(const Set& set) {
    std::uint32_t mixed = 0;
    for (std::size_t i = 0; i < set.count; ++i) mixed = mixed * 31 + set.members[i];
    ReaderId& known = interned_[slot(mixed, set.count, 0, interned_.size())];
    if (known != 0 && sets_[known & ~set_bit] == set) return known;
    sets_.push_back(set);
    return known = static_cast<ReaderId>(sets_.size() - 1) | set_bit;
}

void History::clear() {
    stamps_.resize(1);
    sets_.clear();
    recent_.fill(0);
    steps_.fill({});
    interned_.fill(0);
}

}  // namespace tilepath::check
