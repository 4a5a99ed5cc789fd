#include "layout/bank.h"

#include <fmt/format.h>

#include <algorithm>

namespace tilepath::layout {

Result<BankCost> bank_cost(std::span<const std::optional<std::uint64_t>> addresses, int bytes) {
    if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8 && bytes != 16) {
        return fail(fmt::format("expected an access of 1, 2, 4, 8 or 16 bytes, found {}", bytes));
    }
    if (addresses.size() > 32)
        return fail(fmt::format("expected the addresses of at most 32 lanes, found {}", addresses.size()));
    std::size_t lanes_per_phase = static_cast<std::size_t>(bytes <= 4 ? 32 : 128 / bytes);
    BankCost cost;
    for (std::size_t begin = 0; begin < addresses.size(); begin += lanes_per_phase) {
        BankPhase phase;
        phase.words.resize(bank_count);
        for (std::size_t lane = begin; lane < std::min(begin + lanes_per_phase, addresses.size()); ++lane) {
            if (!addresses[lane]) continue;
            if (*addresses[lane] % static_cast<std::uint64_t>(bytes) != 0) {
                return fail(fmt::format("lane {}: address {} is not aligned to the access of {} bytes", lane,
                                        *addresses[lane], bytes));
            }
            phase.lanes.push_back(static_cast<int>(lane));
            for (std::uint64_t word = *addresses[lane] / 4;
                 word * 4 < *addresses[lane] + static_cast<std::uint64_t>(bytes); ++word)
                phase.words[word % bank_count].push_back(word);
        }
        for (auto& words : phase.words) {
            std::ranges::sort(words);
            auto repeated = std::ranges::unique(words);
            words.erase(repeated.begin(), repeated.end());
            phase.cycles = std::max(phase.cycles, static_cast<int>(words.size()));
        }
        cost.wavefronts += phase.cycles;
        cost.ideal += phase.lanes.empty() ? 0 : 1;
        cost.phases.push_back(std::move(phase));
    }
    return cost;
}

}  // namespace tilepath::layout
