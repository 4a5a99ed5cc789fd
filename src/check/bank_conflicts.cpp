#include "check/bank_conflicts.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "check/free_swizzle.h"
#include "layout/bank.h"
#include "machine/lanes.h"

namespace tilepath::check {
namespace {

using program::Space;

constexpr std::size_t most_samples = 8;

std::uint32_t lanes_per_phase(std::uint32_t bytes) { return bytes <= 4 ? 32 : 128 / bytes; }

/// `phase 0: bank 4 serves 8 words, of lanes 0, 4, 8, …`: the busiest bank of the worst phase.
std::string busiest_bank(const WarpAccess& access) {
    std::vector<std::optional<std::uint64_t>> addresses(32);
    for (std::uint32_t left = access.lanes; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(left));
        addresses[lane] = access.addresses[lane];
    }
    const auto cost = layout::bank_cost(addresses, static_cast<int>(access.bytes));
    if (!cost) return "";
    const auto phase = std::ranges::max_element(cost->phases, {}, &layout::BankPhase::cycles);
    const auto bank = std::ranges::max_element(phase->words, {}, [](const auto& words) { return words.size(); });
    std::uint32_t lanes = 0;
    for (const int lane : phase->lanes) {
        const std::uint64_t first = *addresses[static_cast<std::size_t>(lane)] / 4;
        const std::uint64_t last = (*addresses[static_cast<std::size_t>(lane)] + access.bytes - 1) / 4;
        if (std::ranges::any_of(*bank, [&](std::uint64_t word) { return word >= first && word <= last; }))
            lanes |= 1u << lane;
    }
    return fmt::format("phase {} of {}: bank {} serves {} words, one after the other, for {}",
                       phase - cost->phases.begin(), cost->phases.size(), bank - phase->words.begin(), bank->size(),
                       machine::describe_lanes(lanes));
}

}  // namespace

Wavefronts count_wavefronts(const WarpAccess& access) {
    const std::uint32_t in_phase = lanes_per_phase(access.bytes);
    Wavefronts out;
    if (access.consecutive() && access.addresses[0] % 128 == 0) {
        out.taken = out.ideal = 32 / in_phase;
        return out;
    }
    for (std::uint32_t begin = 0; begin < 32; begin += in_phase) {
        const std::uint32_t lanes =
            access.lanes >> begin & static_cast<std::uint32_t>((std::uint64_t{1} << in_phase) - 1);
        if (lanes == 0) continue;
        std::array<std::array<std::uint64_t, 32>, 32> words;  // by bank, the distinct ones
        std::array<std::uint8_t, 32> count{};
        std::uint8_t cycles = 0;
        for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
            const std::uint64_t address = access.addresses[begin + static_cast<std::uint32_t>(std::countr_zero(left))];
            for (std::uint64_t word = address / 4; word <= (address + access.bytes - 1) / 4; ++word) {
                auto& known = words[word % 32];
                std::uint8_t& size = count[word % 32];
                if (std::find(known.begin(), known.begin() + size, word) != known.begin() + size) continue;
                known[size++] = word;
                cycles = std::max(cycles, size);
            }
        }
        out.taken += cycles;
        ++out.ideal;
    }
    return out;
}

bool BankConflicts::concerns(Space space) const { return space == Space::shared || space == Space::shared_cluster; }

void BankConflicts::add(const machine::EventSite& site, const WarpAccess& access) {
    Tally& tally = tallies_.of(site);
    const Wavefronts count = count_wavefronts(access);
    ++tally.times;
    tally.wavefronts += count.taken, tally.ideal += count.ideal;
    for (std::uint32_t left = access.lanes; left != 0; left &= left - 1) {
        const std::uint64_t address = access.addresses[static_cast<std::size_t>(std::countr_zero(left))];
        tally.lines.set((address & machine::shared_offset_mask) / 128 % tally.lines.size());
    }
    const std::uint32_t excess = count.taken - count.ideal;
    if (excess > tally.worst_excess) {
        tally.worst_excess = excess;
        tally.worst = access;
        if (tally.samples.size() == most_samples) tally.samples.pop_back();
        tally.samples.insert(tally.samples.begin(), access);
    } else if (tally.samples.size() < most_samples) {
        tally.samples.push_back(access);
    }
}

std::vector<Finding> BankConflicts::findings(const program::Programs& programs) {
    end_copies();
    std::vector<Finding> out;
    for (const auto& [op, tally] : tallies_) {
        const double ratio = static_cast<double>(tally.wavefronts) / static_cast<double>(tally.ideal);
        if (tally.worst_excess == 0 || ratio <= threshold) continue;
        const Wavefronts worst = count_wavefronts(tally.worst);
        Finding finding = finding_at("bank-conflicts", programs, op, tally);
        finding.message = fmt::format("{:.3g} times the wavefronts: {} where {} would do without conflicts", ratio,
                                      tally.wavefronts, tally.ideal);
        finding.facts = {fmt::format("{}: {} wavefronts, {} would do", describe(tally.worst), worst.taken, worst.ideal),
                         busiest_bank(tally.worst)};
        // Whatever else touches the buffer must stay free of conflicts too.
        std::vector<WarpAccess> meet;
        std::size_t instructions = 0;
        for (const auto& [other, its] : tallies_) {
            if ((its.lines & tally.lines).none()) continue;
            meet.insert(meet.end(), its.samples.begin(), its.samples.end());
            ++instructions;
        }
        finding.advice = free_swizzle(meet, instructions);
        finding.banks = tally.worst;
        finding.weight = static_cast<double>(tally.wavefronts - tally.ideal);
        out.push_back(std::move(finding));
    }
    return out;
}

}  // namespace tilepath::check
