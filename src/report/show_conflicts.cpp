#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "layout/bank.h"
#include "layout/linear.h"
#include "report/show_instruction.h"

namespace tilepath::report {
namespace {

using layout::Axis;

struct Access {
    std::string name;
    int bytes = 16;
    std::vector<std::optional<std::uint64_t>> addresses;  ///< by lane, before the swizzle
    std::string pattern;
};

/// `0-7`, `0,4,8`.
std::string ranges(const std::vector<int>& lanes) {
    std::string text;
    for (std::size_t i = 0; i < lanes.size();) {
        std::size_t end = i;
        while (end + 1 < lanes.size() && lanes[end + 1] == lanes[end] + 1) ++end;
        text += fmt::format("{}{}", text.empty() ? "" : ",", lanes[i]);
        if (end > i) text += fmt::format("-{}", lanes[end]);
        i = end + 1;
    }
    return text;
}

/// Bytes per lane of `ld.shared.v4.b32`.
Result<int> bytes_of(std::string_view instruction) {
    int bits = 0, vector = 1;
    for (const std::string_view word : atom::words_of(instruction)) {
        if (word == "v2" || word == "v4") vector = word[1] - '0';
        for (const int each : {8, 16, 32, 64, 128})
            for (const char letter : {'b', 'u', 's', 'f'})
                if (word == fmt::format("{}{}", letter, each)) bits = each;
    }
    const int bytes = bits * vector / 8;
    if (bytes == 0 || bytes > 16)
        return fail(fmt::format("expected a type of up to 16 bytes in '{}'", instruction),
                    "for example ld.shared.v4.b32");
    return bytes;
}

Result<Access> pattern_access(const std::string& text, std::string name, int bytes) {
    const auto layout = layout::parse_any(text, "--pattern");
    if (!layout) return std::unexpected(layout.error());
    if (layout->size() > 32 || layout->layout().replicas() != 1)
        return fail(fmt::format("expected a pattern of at most 32 lanes, one address each, found {} of {}",
                                layout->size(), layout->layout().replicas()),
                    "lane to byte address: S[32:4]");
    Access access{std::move(name), bytes, {}, layout::to_string(*layout)};
    for (std::int64_t lane = 0; lane < layout->size(); ++lane) {
        const std::int64_t at = layout->at(lane).front()[Axis::m];
        if (at < 0) return fail(fmt::format("lane {} has a negative address, {}", lane, at));
        access.addresses.emplace_back(static_cast<std::uint64_t>(at));
    }
    return access;
}

Result<Access> access_of(const ConflictQuestion& question) {
    const auto words = atom::words_of(question.instruction);
    const bool plain = !words.empty() && (words[0] == "ld" || words[0] == "st");
    if (plain) {
        if (!question.pattern)
            return fail("of which lanes' addresses?", "give --pattern, a layout from lane to byte: S[32:4]");
        const auto bytes = bytes_of(question.instruction);
        if (!bytes) return std::unexpected(bytes.error());
        return pattern_access(*question.pattern, question.instruction, *bytes);
    }
    const auto instruction = atom::instruction_named(question.instruction);
    if (!instruction) return std::unexpected(instruction.error());
    const auto* move = std::get_if<atom::MatrixMove>(&instruction->atom);
    if (!move)
        return fail(fmt::format("{} names no shared addresses by lane", instruction->name),
                    "ldmatrix, stmatrix, ld.shared and st.shared do; of TMA, wgmma and tcgen05 no public rule says "
                    "what a conflict costs");
    if (question.pattern) return pattern_access(*question.pattern, instruction->name, 16);
    if (question.pitch_bytes <= 0 || question.pitch_bytes % 16 != 0)
        return fail(fmt::format("expected a pitch of a multiple of 16 bytes, found {}", question.pitch_bytes));
    Access access{
        instruction->name,
        16,
        {},
        fmt::format("S[(2,16):(16,{})]: lane l names row l mod 16, 16-byte column l/16", question.pitch_bytes)};
    for (int lane = 0; lane < move->transfer.matrices * move->transfer.stored_rows; ++lane)
        access.addresses.emplace_back(static_cast<std::uint64_t>(lane % 16 * question.pitch_bytes + lane / 16 * 16));
    return access;
}

/// Lanes of the phase that want a word of that bank.
std::vector<int> lanes_at(const layout::BankPhase& phase, const Access& access, int bank) {
    std::vector<int> lanes;
    for (const int lane : phase.lanes) {
        const std::uint64_t first = *access.addresses[static_cast<std::size_t>(lane)] / 4;
        const std::uint64_t words = static_cast<std::uint64_t>(std::max(1, access.bytes / 4));
        for (std::uint64_t word = first; word < first + words; ++word)
            if (static_cast<int>(word % layout::bank_count) == bank) {
                lanes.push_back(lane);
                break;
            }
    }
    return lanes;
}

}  // namespace

Result<Sheet> conflict_sheet(const ConflictQuestion& question) {
    auto access = access_of(question);
    if (!access) return std::unexpected(access.error());
    for (auto& address : access->addresses)
        address = layout::swizzled(question.swizzle, *address + question.start_bytes);
    const auto cost = layout::bank_cost(access->addresses, access->bytes);
    if (!cost) return std::unexpected(cost.error());
    Sheet sheet;
    int worst = 0;
    for (const layout::BankPhase& phase : cost->phases) worst = std::max(worst, phase.cycles);
    Facts facts;
    facts.add("access", fmt::format("{}: {} lanes of {} bytes", access->name, access->addresses.size(), access->bytes));
    facts.add("pattern", access->pattern);
    facts.add("swizzle", std::string(layout::traits(question.swizzle).name));
    facts.add("verdict", worst <= 1 ? "1-way: free of bank conflicts" : fmt::format("{}-way bank conflict", worst));
    facts.add("wavefronts", std::int64_t{cost->wavefronts});
    facts.add("ideal", std::int64_t{cost->ideal});
    sheet.add("conflicts", "", std::move(facts));
    Listing listing{{"phase", "lanes", "wavefronts", "worst bank", "lanes that collide there"}, {}};
    Grid picture = grid("phase", static_cast<std::int64_t>(cost->phases.size()), "bank", layout::bank_count);
    picture.shade_name = "words wanted of the bank";
    picture.shades = 9;
    for (std::size_t i = 0; i < cost->phases.size(); ++i) {
        const layout::BankPhase& phase = cost->phases[i];
        int bank = 0;
        for (int each = 0; each < layout::bank_count; ++each) {
            const auto wanted = phase.words[static_cast<std::size_t>(each)].size();
            if (wanted > phase.words[static_cast<std::size_t>(bank)].size()) bank = each;
            Cell& cell = picture.at(i, static_cast<std::size_t>(each));
            if (wanted == 0) continue;
            cell.text = ranges(lanes_at(phase, *access, each));
            cell.shade = static_cast<int>(std::min<std::size_t>(wanted, 9)) - 1;
            cell.title = fmt::format("phase {}, bank {}: {} words, lanes {}", i, each, wanted, cell.text);
            cell.marked = wanted > 1;
        }
        listing.rows.push_back({static_cast<std::int64_t>(i), ranges(phase.lanes), std::int64_t{phase.cycles},
                                std::int64_t{bank},
                                phase.cycles > 1 ? ranges(lanes_at(phase, *access, bank)) : "none"});
    }
    sheet.add("phases", "", std::move(listing));
    sheet.add("banks", "Which lanes want which bank", std::move(picture));
    return sheet;
}

Result<Sheet> swizzle_sheet(const SwizzleQuestion& question) {
    if (question.patterns.empty() || question.patterns.size() != question.bytes.size())
        return fail(fmt::format("expected as many --bytes as --pattern, found {} and {}", question.bytes.size(),
                                question.patterns.size()),
                    "for example --pattern S[32:4] --bytes 4 --pattern S[32:128] --bytes 4");
    std::vector<layout::AccessPattern> patterns;
    for (std::size_t i = 0; i < question.patterns.size(); ++i) {
        auto access = pattern_access(question.patterns[i], fmt::format("pattern {}", i + 1), question.bytes[i]);
        if (!access) return std::unexpected(access.error());
        layout::AccessPattern pattern{fmt::format("pattern {}, {}", i + 1, access->pattern), access->bytes, {}};
        const std::size_t lanes = access->addresses.size();
        for (std::size_t bit = 1; bit < lanes; bit *= 2) pattern.lane_bits.push_back(*access->addresses[bit]);
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            std::uint64_t sum = 0;
            for (std::size_t bit = 0; bit < pattern.lane_bits.size(); ++bit)
                if (lane >> bit & 1) sum ^= pattern.lane_bits[bit];
            if ((lanes & (lanes - 1)) != 0 || sum != *access->addresses[lane])
                return fail(fmt::format("{} is not linear over the lane's bits", pattern.name),
                            "strides and extents must be powers of two");
        }
        patterns.push_back(std::move(pattern));
    }
    const auto proof = layout::conflict_free_swizzle(patterns, question.address_bits);
    if (!proof) return std::unexpected(proof.error());
    Sheet sheet;
    Facts facts;
    facts.add("swizzle", proof->swizzle.named ? to_string(*proof->swizzle.named) + " on byte addresses"
                                              : "no Swizzle<B,M,S>; see the columns");
    for (std::size_t i = 0; i < proof->swizzle.columns.size(); ++i)
        if (proof->swizzle.columns[i] != 0)
            facts.add(fmt::format("address bit {}", 7 + i), fmt::format("XORs 0x{:x}", proof->swizzle.columns[i]));
    sheet.add("swizzle", "", std::move(facts));
    sheet.add("proof", "Proof", Lines{proof->lines});
    return sheet;
}

}  // namespace tilepath::report
