#include <fmt/format.h>

#include <algorithm>

#include "layout/operations.h"

namespace tilepath::layout {
namespace {

/// A digit of the layout, and what it does to the element's number: nothing for a replica's.
struct Step {
    Iter digit;
    std::int64_t element_stride = 0;
};

}  // namespace

Result<Inverse> inverse(const Layout& layout) {
    for (auto [value, axis] : layout.offset()) {
        return fail(
            fmt::format("the layout starts at {}={}, not at 0: it has no inverse layout", traits(axis).name, value));
    }
    std::vector<Step> steps;
    std::int64_t element_stride = 1;
    std::vector<Iter> digits = layout.digits();
    for (auto iter = digits.rbegin(); iter != digits.rend(); ++iter) {
        if (iter->extent > 1) steps.push_back({*iter, element_stride});
        element_stride *= iter->extent;
    }
    for (const Iter& iter : layout.replica())
        if (iter.extent > 1 && iter.stride != 0) steps.push_back({iter, 0});

    Inverse made;
    std::vector<Mode> modes;
    for (Axis axis : layout.axes()) {
        std::vector<Step> along;
        std::ranges::copy_if(steps, std::back_inserter(along),
                             [&](const Step& step) { return step.digit.axis == axis; });
        std::ranges::sort(along, {}, [](const Step& step) { return step.digit.stride; });
        Mode mode;
        std::int64_t filled = 1;
        for (const Step& step : along) {
            if (step.digit.stride != filled) {
                return fail(fmt::format(
                    "the places along {} are not filled one by one: a digit moves by {}, the faster ones fill {}",
                    traits(axis).name, step.digit.stride, filled));
            }
            mode.insert(mode.begin(), {step.digit.extent, step.element_stride, Axis::m});
            filled *= step.digit.extent;
        }
        made.axes.push_back(axis);
        modes.push_back(std::move(mode));
    }
    std::int64_t reached = 1;
    for (const Step& step : steps)
        if (step.digit.stride != 0) reached *= step.element_stride != 0 ? step.digit.extent : 1;
    if (reached != layout.size()) return fail("several elements share a place: the layout has no inverse");
    Result<Layout> inverted = Layout::make(std::move(modes));
    if (!inverted) return std::unexpected(inverted.error());
    made.layout = *std::move(inverted);
    return made;
}

}  // namespace tilepath::layout
