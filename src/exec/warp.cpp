#include "exec/warp.h"

#include <algorithm>

namespace tilepath::exec {

Frame* FramePool::take(const LoadedFunction& function) {
    if (free_.size() <= function.index) free_.resize(function.index + 1);
    auto& free = free_[function.index];
    Frame* frame = nullptr;
    if (free.empty()) {
        frame = all_.emplace_back(std::make_unique<Frame>()).get();
        frame->function = &function;
        frame->rows.resize(function.rows);
        std::copy(function.constants.begin(), function.constants.end(), frame->rows.begin());
        frame->predicates.resize(function.predicates);
    } else {
        frame = free.back();
        free.pop_back();
        if (function.reads_unwritten)
            std::fill(frame->rows.begin() + static_cast<std::ptrdiff_t>(function.constants.size()), frame->rows.end(),
                      Row{});
        if (function.reads_unwritten) std::fill(frame->predicates.begin(), frame->predicates.end(), 0);
    }
    frame->predicates[predicate_true] = all_lanes;
    frame->entry = ++entries_;
    return frame;
}

void FramePool::give_back(Frame* frame) { free_[frame->function->index].push_back(frame); }

std::uint32_t ClusterRun::live_threads() const {
    std::uint32_t sum = 0;
    for (const auto& cta : ctas) sum += cta->state.live_threads;
    return sum;
}

bool ClusterRun::finished() const {
    return std::ranges::all_of(ctas, [](const auto& cta) { return cta->state.live_threads == 0; });
}

}  // namespace tilepath::exec
