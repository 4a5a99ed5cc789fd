// Operations that move bytes between registers.
#include "check/provenance/moves.h"

namespace tilepath::check {
namespace {

using program::Op;

constexpr int most_words = 4;

/// The bytes of one lane of an operand.
struct LaneBytes {
    std::array<Origin, 4 * most_words> bytes{};
};

LaneBytes read(const WarpRegisters& r, int source, int lane) {
    LaneBytes out;
    const int words = r.words(r.source(source));
    for (int i = 0; i < words && i < most_words; ++i) {
        const Word word = r.word(r.source_place(source), words, lane, i);
        std::copy(word.begin(), word.end(), out.bytes.begin() + 4 * i);
    }
    return out;
}

void write(const WarpRegisters& r, int destination, int lane, const LaneBytes& from) {
    const int words = r.words(r.destination(destination));
    for (int i = 0; i < words && i < most_words; ++i) {
        Word word;
        std::copy_n(from.bytes.begin() + 4 * i, 4, word.begin());
        r.set(r.place(destination), words, lane, i, word);
    }
}

std::uint32_t value(const WarpRegisters& r, int source, int lane) {
    const int words = r.words(r.source(source));
    return r.value(r.source_place(source), lane * std::max(words, 1));
}

/// The element width in bytes of a register in pack and unpack.
int part_bytes(program::DataType type) { return std::max(1, program::bits(type) / 8); }

void pack(const WarpRegisters& r, int lane) {
    const int bytes = part_bytes(r.op().source_type);
    LaneBytes out;
    for (int i = 0; i < r.op().sources; ++i) {
        const LaneBytes part = read(r, i, lane);
        std::copy_n(part.bytes.begin(), bytes, out.bytes.begin() + i * bytes);
    }
    write(r, 0, lane, out);
}

void unpack(const WarpRegisters& r, int lane) {
    const int bytes = part_bytes(r.op().type);
    const LaneBytes from = read(r, 0, lane);
    for (int i = 0; i < r.op().destinations; ++i) {
        if (r.words(r.destination(i)) == 0) continue;
        LaneBytes part;
        part.bytes.fill(Origin::zero());
        std::copy_n(from.bytes.begin() + i * bytes, bytes, part.bytes.begin());
        write(r, i, lane, part);
    }
}

void permute(const WarpRegisters& r, int lane) {
    const LaneBytes a = read(r, 0, lane), b = read(r, 1, lane);
    const std::uint32_t selector = value(r, 2, lane);
    LaneBytes out;
    for (unsigned i = 0; i < 4; ++i) {
        const unsigned pick = selector >> 4 * i & 15;
        if (pick < 8) out.bytes[i] = pick < 4 ? a.bytes[pick] : b.bytes[pick - 4];
    }
    write(r, 0, lane, out);
}

/// Bytes that the other operand's value keeps, clears or leaves alone.
void mask(const WarpRegisters& r, int lane) {
    const bool first = r.held(r.source_place(0), r.words(r.source(0)));
    const LaneBytes from = read(r, first ? 0 : 1, lane), other_from = read(r, first ? 1 : 0, lane);
    const int words = r.words(r.source(first ? 1 : 0));
    LaneBytes out;
    for (int i = 0; i < 4 * words && i < 4 * most_words; ++i) {
        const std::uint32_t other = r.value(r.source_place(first ? 1 : 0), lane * words + i / 4) >> 8 * (i % 4) & 0xFF;
        const auto at = static_cast<std::size_t>(i);
        if (r.op().op == Op::and_)
            out.bytes[at] = other == 0xFF ? from.bytes[at] : other == 0 ? Origin::zero() : Origin{};
        else
            out.bytes[at] = other == 0                                    ? from.bytes[at]
                            : from.bytes[at].kind() == Origin::Kind::zero ? other_from.bytes[at]
                                                                          : Origin{};
    }
    // Bits of a sum that are masked or set, as a sign is, leave it a value of that sum.
    if (const Origin sum = whole(from.bytes.data(), 4); words == 1 && sum.kind() == Origin::Kind::sum)
        for (unsigned i = 0; i < 4; ++i) out.bytes[i] = sum.byte(i);
    write(r, 0, lane, out);
}

void shift(const WarpRegisters& r, int lane) {
    const LaneBytes from = read(r, 0, lane);
    const int words = r.words(r.source(0)), all = 4 * words;
    const std::uint32_t by = value(r, 1, lane);
    LaneBytes out;
    if (by % 8 == 0 && by / 8 < static_cast<std::uint32_t>(all)) {
        const int bytes = static_cast<int>(by / 8);
        for (int i = 0; i < all && i < 4 * most_words; ++i) {
            const int at = r.op().op == Op::shl ? i - bytes : i + bytes;
            out.bytes[static_cast<std::size_t>(i)] =
                at >= 0 && at < all ? from.bytes[static_cast<std::size_t>(at)] : Origin::zero();
        }
    }
    write(r, 0, lane, out);
}

/// What a select takes. A constant in place of a sum is that sum, clamped.
LaneBytes chosen(const WarpRegisters& r, int source, int lane) {
    const LaneBytes taken = read(r, source, lane), left = read(r, 1 - source, lane);
    const bool followed = r.held(r.source_place(source), r.words(r.source(source)));
    return !followed && whole(left.bytes.data(), 4).kind() == Origin::Kind::sum ? left : taken;
}

/// The lane that a shfl reads (PTX ISA 9.7.9.6).
int shuffle_source(const WarpRegisters& r, int lane) {
    const int b = static_cast<int>(value(r, 1, lane) & 31), c = static_cast<int>(value(r, 2, lane));
    const int segment = c >> 8 & 31, clamp = c & 31;
    const int last = (lane & segment) | (clamp & ~segment), first = lane & segment;
    int from = lane;
    bool inside = false;
    switch (static_cast<program::ShuffleMode>(r.op().variant)) {
        case program::ShuffleMode::up: from = lane - b, inside = from >= last; break;
        case program::ShuffleMode::down: from = lane + b, inside = from <= last; break;
        case program::ShuffleMode::bfly: from = lane ^ b, inside = from <= last; break;
        case program::ShuffleMode::idx: from = first | (b & ~segment), inside = from <= last; break;
    }
    return inside ? from : lane;
}

}  // namespace

bool move_origins(const WarpRegisters& r) {
    switch (r.op().op) {
        case Op::mov:
            if (r.words(r.destination(0)) == 0) return true;
            if (!r.any_source_held()) break;
            if (const int words = r.words(r.source(0)); r.lanes() == ~0u && words == r.words(r.destination(0)))
                return r.take(r.place(0), r.source_place(0), words), true;
            r.each_lane([&](int lane) { write(r, 0, lane, read(r, 0, lane)); });
            return true;
        case Op::select: {
            if (r.words(r.destination(0)) == 0) return true;
            if (!r.any_source_held()) break;
            const std::uint32_t takes_a = r.predicate(2);
            r.each_lane([&](int lane) { write(r, 0, lane, chosen(r, takes_a >> lane & 1 ? 0 : 1, lane)); });
            return true;
        }
        case Op::pack:
            if (!r.any_source_held()) break;
            r.each_lane([&](int lane) { pack(r, lane); });
            return true;
        case Op::unpack:
            if (!r.any_source_held()) break;
            r.each_lane([&](int lane) { unpack(r, lane); });
            return true;
        case Op::prmt:
            if (!r.any_source_held() || r.op().variant != 0) break;
            r.each_lane([&](int lane) { permute(r, lane); });
            return true;
        case Op::and_:
        case Op::or_:
        case Op::xor_:
            if (r.words(r.destination(0)) == 0) return true;
            if (!r.any_source_held()) break;
            r.each_lane([&](int lane) { mask(r, lane); });
            return true;
        case Op::shl:
        case Op::shr:
            if (!r.any_source_held()) break;
            r.each_lane([&](int lane) { shift(r, lane); });
            return true;
        case Op::shfl: {
            if (!r.held(r.source_place(0), 1)) break;
            std::array<LaneBytes, 32> from;
            for (int lane = 0; lane < 32; ++lane) from[static_cast<std::size_t>(lane)] = read(r, 0, lane);
            r.each_lane(
                [&](int lane) { write(r, 0, lane, from[static_cast<std::size_t>(shuffle_source(r, lane) & 31)]); });
            return true;
        }
        default: return false;  // not an operation that moves registers
    }
    r.forget_destinations();
    return true;
}

}  // namespace tilepath::check
