#include <fmt/format.h>

#include <algorithm>

#include "layout/analysis.h"
#include "layout/digits.h"
#include "layout/operations.h"

namespace tilepath::layout {
namespace {

/// A's digits, and how far B's digits push each of them at most: no digit may carry into the next.
struct Target {
    Iter digit;
    std::int64_t place = 1;  ///< A's element number when the digit is 1 and the others 0
    std::int64_t most = 0;
};

/// The digits of A that `extent` steps of `stride` elements walk through.
std::optional<Mode> walk(std::vector<Target>& targets, std::int64_t extent, std::int64_t stride) {
    if (extent == 1 || stride == 0) return Mode{{extent, 0, Axis::m}};
    Mode walked;
    for (auto target = targets.rbegin(); target != targets.rend() && extent > 1; ++target) {
        std::int64_t next = target->place * target->digit.extent;
        bool last = std::next(target) == targets.rend();
        if (stride >= next && !last) continue;
        if (stride % target->place != 0) return std::nullopt;
        std::int64_t step = stride / target->place;
        std::int64_t room = last ? extent : (target->digit.extent + step - 1) / step;
        std::int64_t count = std::min(extent, room);
        if (count < extent && (stride * count != next || extent % count != 0)) return std::nullopt;
        target->most += (count - 1) * step;
        walked.insert(walked.begin(), {count, target->digit.stride * step, target->digit.axis});
        extent /= count;
        stride = next;
    }
    return extent == 1 ? std::optional(walked) : std::nullopt;
}

}  // namespace

Result<Layout> compose(const Layout& a, const Layout& b) {
    for (Axis axis : b.axes()) {
        if (axis == Axis::m) continue;
        return fail(fmt::format("the inner layout must give element numbers on m alone, found {}", traits(axis).name));
    }
    Bounds reached = bounds(b, Axis::m);
    if (reached.least < 0 || reached.greatest >= a.size()) {
        return fail(fmt::format("the inner layout reaches elements {} to {}, the outer has {}", reached.least,
                                reached.greatest, a.size()));
    }
    std::vector<Target> targets;
    for (const Iter& iter : merged(a.digits())) targets.push_back({iter});
    for (std::size_t i = targets.size(); i-- > 1;) targets[i - 1].place = targets[i].place * targets[i].digit.extent;

    auto no_walk = [](const Iter& iter) {
        return fail(fmt::format("{}:{} of the inner layout does not divide the outer layout's digits", iter.extent,
                                iter.stride));
    };
    std::vector<Mode> modes;
    for (const Mode& mode : b.shard()) {
        Mode made;
        for (const Iter& iter : mode) {
            std::optional<Mode> walked = iter.stride < 0 ? std::nullopt : walk(targets, iter.extent, iter.stride);
            if (!walked) return no_walk(iter);
            made.insert(made.end(), walked->begin(), walked->end());
        }
        modes.push_back(std::move(made));
    }
    std::vector<Iter> replica = a.replica();
    for (const Iter& iter : b.replica()) {
        std::optional<Mode> walked = iter.stride < 0 ? std::nullopt : walk(targets, iter.extent, iter.stride);
        if (!walked) return no_walk(iter);
        replica.insert(replica.end(), walked->begin(), walked->end());
    }
    std::vector<AxisOffset> offset = a.offset();
    std::int64_t rest = b.offset(Axis::m);
    for (Target& target : targets) {
        std::int64_t digit = rest / target.place;
        rest %= target.place;
        target.most += digit;
        offset.push_back({digit * target.digit.stride, target.digit.axis});
    }
    for (const Target& target : targets) {
        if (target.most < target.digit.extent) continue;
        return fail(fmt::format("the inner layout's sums carry over the outer layout's digit {}:{}@{}",
                                target.digit.extent, target.digit.stride, traits(target.digit.axis).name),
                    "such a composition is no layout; evaluate one after the other instead");
    }
    return Layout::make(std::move(modes), std::move(replica), std::move(offset));
}

}  // namespace tilepath::layout
