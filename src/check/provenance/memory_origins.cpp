// Loads, stores and copies: origins go between registers, shared and global memory.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "check/provenance/provenance.h"
#include "machine/tma.h"

namespace tilepath::check {
namespace {

using program::Space;

MemoryShadow::Cta cta_of(const machine::EventSite& site, machine::Address shared) {
    return {site.cluster, machine::shared_rank(static_cast<std::uint32_t>(shared))};
}

std::uint32_t offset_of(machine::Address shared) { return machine::shared_offset(static_cast<std::uint32_t>(shared)); }

bool is_shared(Space space) { return space == Space::shared || space == Space::shared_cluster; }

constexpr std::uint32_t most_lane_bytes = 32;

}  // namespace

void Provenance::access(const machine::Access& event) {
    const program::Op op = event.site.op->op;
    if (op == program::Op::wmma_load || op == program::Op::wmma_store) {
        Piece& piece = pieces_.emplace_back();
        piece.bytes = event.bytes;
        piece.lanes.lanes = event.site.lanes;
        for (std::size_t lane = 0; lane < 32; ++lane)
            piece.lanes.spaces[lane] = event.space, piece.lanes.addresses[lane] = event.addresses[lane];
        return;
    }
    const bool same = last_access_.op == event.site.op && last_access_.cta == event.site.cta &&
                      last_access_.warp == event.site.warp && (last_access_.lanes.lanes & event.site.lanes) == 0;
    if (!same) last_access_ = {event.site.op, event.site.cta, event.site.warp, {}};
    last_access_.lanes.lanes |= event.site.lanes;
    for (std::uint32_t left = event.site.lanes; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(left));
        last_access_.lanes.spaces[lane] = event.space;
        last_access_.lanes.addresses[lane] = event.addresses[lane];
    }
}

const LaneAddresses* Provenance::addresses(const machine::EventSite& site) const {
    const bool here = last_access_.op == site.op && last_access_.cta == site.cta && last_access_.warp == site.warp;
    return here ? &last_access_.lanes : nullptr;
}

void Provenance::read(const machine::EventSite& site, Space space, machine::Address address, std::uint32_t bytes,
                      Origin* out, int lane) {
    if (space == Space::local && lane >= 0)
        return memory_.read_local({site.cta, site.warp, static_cast<std::uint32_t>(lane)}, address, bytes, out);
    if (is_shared(space)) return memory_.read_shared(cta_of(site, address), offset_of(address), bytes, out);
    if (space == Space::global || space == Space::constant) return memory_.read_global(address, bytes, out);
    std::fill_n(out, bytes, Origin{});
}

void Provenance::read_words(const machine::EventSite& site, Space space, machine::Address address, std::uint32_t words,
                            Words& to, std::size_t at) {
    if (is_shared(space)) return memory_.read_shared(cta_of(site, address), offset_of(address), words, to, at);
    if (space == Space::global || space == Space::constant) return memory_.read_global(address, words, to, at);
    for (std::uint32_t i = 0; i < words; ++i) to.set(at + i, PackedWord{});
}

void Provenance::write(const machine::EventSite& site, Space space, machine::Address address, std::uint32_t bytes,
                       const Origin* from, int lane) {
    if (space == Space::local && lane >= 0)
        return memory_.write_local({site.cta, site.warp, static_cast<std::uint32_t>(lane)}, address, bytes, from);
    if (is_shared(space)) return memory_.write_shared(cta_of(site, address), offset_of(address), bytes, from);
    if (space != Space::global) return;
    check_written(site, address, bytes, from);
    memory_.write_global(address, bytes, from);
}

void Provenance::write_words(const machine::EventSite& site, Space space, machine::Address address, std::uint32_t words,
                             const Words& from) {
    if (is_shared(space)) return memory_.write_shared(cta_of(site, address), offset_of(address), words, from, 0);
    if (space != Space::global) return;
    std::array<Origin, most_lane_bytes> bytes;
    for (std::uint32_t i = 0; i < words; ++i) std::ranges::copy(from.word(i), bytes.begin() + std::ptrdiff_t(i) * 4);
    check_written(site, address, words * 4, bytes.data());
    memory_.write_global(address, words, from, 0);
}

/// Cells of Tensor Memory that nobody has written may be loaded, not stored; but for registers that had no room.
void Provenance::tell_unwritten(const machine::EventSite& site, Space space, machine::Address address) {
    if (space == Space::local || space == Space::param) return;
    tell(site, "stores what was in cells of Tensor Memory that nobody has written",
         {fmt::format("at {} {:#x}", program::name(space), address)},
         "compare the columns and lanes that are loaded with those where the products, copies and stores put "
         "something: `tilepath show`");
}

void Provenance::load(const WarpRegisters& r, const machine::EventSite& site) {
    const LaneAddresses* const at = addresses(site);
    if (at == nullptr) return r.forget_destinations();
    const auto bytes = static_cast<std::uint32_t>(std::max(1, program::bits(r.op().type) / 8));
    const std::uint32_t active = r.lanes() & at->lanes;
    if (active == 0) return;
    if (at->spaces[static_cast<std::size_t>(std::countr_zero(active))] == Space::param) return r.forget_destinations();
    r.each_lane([&](int lane) {
        const auto l = static_cast<std::size_t>(lane);
        if ((active >> lane & 1) == 0) return;
        if (bytes % 4 == 0 && at->addresses[l] % 4 == 0 && at->spaces[l] != Space::local) {
            for (int i = 0; i < r.op().destinations; ++i)
                for (int w = 0, words = r.words(r.destination(i)); w < words; ++w) {
                    Words& to = r.change(r.place(i), words, lane, w);
                    const std::uint32_t from = std::uint32_t(w) * 4;
                    if (from < bytes)
                        read_words(site, at->spaces[l], at->addresses[l] + std::uint32_t(i) * bytes + from, 1, to,
                                   r.index(words, lane, w));
                    else
                        to.set(r.index(words, lane, w), PackedWord::from(Origin::zero()));
                }
            return;
        }
        std::array<Origin, most_lane_bytes> from{};
        read(site, at->spaces[l], at->addresses[l], std::min(bytes * r.op().destinations, most_lane_bytes), from.data(),
             lane);
        for (int i = 0; i < r.op().destinations; ++i) {
            const int words = r.words(r.destination(i));
            for (int w = 0; w < words; ++w) {
                Word word{Origin::zero(), Origin::zero(), Origin::zero(), Origin::zero()};
                for (std::uint32_t b = 0; b < 4 && std::uint32_t(w) * 4 + b < bytes; ++b)
                    word[b] = from[std::uint32_t(i) * bytes + std::uint32_t(w) * 4 + b];
                r.set(r.place(i), words, lane, w, word);
            }
        }
    });
}

void Provenance::store(const WarpRegisters& r, const machine::EventSite& site) {
    const LaneAddresses* const at = addresses(site);
    if (at == nullptr) return;
    const auto bytes = static_cast<std::uint32_t>(std::max(1, program::bits(r.op().type) / 8));
    const int values_end = r.op().sources - (r.op().op == program::Op::st_async ? 1 : 0);  // its last is an mbarrier
    constexpr std::size_t most_words = most_lane_bytes / 4;
    if (lane_words_.empty()) lane_words_.resize(most_words, {});
    r.each_lane([&](int lane) {
        const auto l = static_cast<std::size_t>(lane);
        if ((at->lanes >> lane & 1) == 0) return;
        if (bytes % 4 == 0 && at->addresses[l] % 4 == 0 && at->spaces[l] != Space::local &&
            bytes * static_cast<std::uint32_t>(values_end - 1) <= most_lane_bytes) {
            std::uint32_t filled = 0;
            for (int i = 1; i < values_end; ++i)
                for (int w = 0, words = r.words(r.source(i)); std::uint32_t(w) * 4 < bytes; ++w, ++filled)
                    if (w < words)
                        r.copy_word(r.source_place(i), words, lane, w, lane_words_, filled);
                    else
                        lane_words_.set(filled, PackedWord{});
            bool unwritten = false;
            for (std::uint32_t word = 0; word < filled; ++word) {
                if (lane_words_.packed(word) != PackedWord::from(Origin::unwritten_cell())) continue;
                unwritten = true;
                lane_words_.set(word, PackedWord{});  // told once
            }
            if (unwritten) tell_unwritten(site, at->spaces[l], at->addresses[l]);
            return write_words(site, at->spaces[l], at->addresses[l], filled, lane_words_);
        }
        std::array<Origin, most_lane_bytes> out{};
        std::uint32_t filled = 0;
        for (int i = 1; i < values_end && filled + bytes <= most_lane_bytes; ++i, filled += bytes) {
            const int words = r.words(r.source(i));
            for (std::uint32_t b = 0; b < bytes && int(b / 4) < words; ++b)
                out[filled + b] = r.word(r.source_place(i), words, lane, int(b / 4))[b % 4];
        }
        if (std::ranges::count(out, Origin::unwritten_cell()) != 0) {
            tell_unwritten(site, at->spaces[l], at->addresses[l]);
            std::ranges::replace(out, Origin::unwritten_cell(), Origin{});
        }
        write(site, at->spaces[l], at->addresses[l], filled, out.data(), lane);
    });
}

/// Partial sums that are added to what lies in global memory.
void Provenance::add_into(machine::Address address, std::uint32_t bytes, const Origin* from) {
    std::array<Origin, most_lane_bytes> there{};
    bytes = std::min(bytes, most_lane_bytes);
    memory_.read_global(address, bytes, there.data());
    for (std::uint32_t i = 0; i < bytes; ++i) {
        if (from[i].kind() != Origin::Kind::sum) {
            there[i] = {};
        } else if (there[i].kind() != Origin::Kind::sum) {
            there[i] = from[i];
        } else if (there[i].m() == from[i].m() && there[i].n() == from[i].n()) {
            // The byte's number stays: only the set of ks changes.
            const std::uint32_t united = sets_.unite(there[i].ks(), from[i].ks()).set;
            unsigned byte = 0;
            while (byte < 7 && Origin::sum(from[i].m(), from[i].n(), from[i].ks()).byte(byte) != from[i]) ++byte;
            there[i] = Origin::sum(from[i].m(), from[i].n(), united).byte(byte);
        } else {
            there[i] = {};
        }
    }
    memory_.write_global(address, bytes, there.data());
}

void Provenance::reduce(const WarpRegisters& r, const machine::EventSite& site) {
    const LaneAddresses* const at = addresses(site);
    const bool adds = static_cast<program::AtomicOp>(r.op().variant) == program::AtomicOp::add;
    r.forget_destinations();
    if (at == nullptr || !adds) return;
    const auto bytes = static_cast<std::uint32_t>(std::max(1, program::bits(r.op().type) / 8));
    r.each_lane([&](int lane) {
        const auto l = static_cast<std::size_t>(lane);
        if ((at->lanes >> lane & 1) == 0 || at->spaces[l] != Space::global) return;
        for (int i = 1; i < r.op().sources; ++i) {
            const int words = r.words(r.source(i));
            std::array<Origin, 16> out{};
            for (std::uint32_t b = 0; b < bytes && b < out.size() && int(b / 4) < words; ++b)
                out[b] = r.word(r.source_place(i), words, lane, int(b / 4))[b % 4];
            add_into(at->addresses[l] + std::uint32_t(i - 1) * bytes, std::min<std::uint32_t>(bytes, 16), out.data());
        }
    });
}

void Provenance::copy_landed(const machine::Copy& event) {
    const MemoryShadow::Cta cta = cta_of(event.site, event.destination);
    const std::uint32_t offset = offset_of(event.destination), copied = std::min(event.source_bytes, event.bytes);
    if (copied % 4 == 0 && event.source % 4 == 0)
        return memory_.copy_in(cta, offset, event.source, copied, event.bytes);
    std::array<Origin, 16> bytes{};
    bytes.fill(Origin::zero());
    memory_.read_global(event.source, std::min(copied, 16u), bytes.data());
    memory_.write_shared(cta, offset, std::min(event.bytes, 16u), bytes.data());
}

void Provenance::bulk_landed(const machine::BulkCopy& event) {
    if (event.bulk->prefetch) return;
    if (event.box != nullptr) return box_landed(event);
    std::vector<Origin> bytes(event.bytes);
    read(event.site, event.bulk->source, event.source, event.bytes, bytes.data());
    if (event.bulk->destination == Space::global) {
        if (!event.bulk->reduces) return write(event.site, Space::global, event.destination, event.bytes, bytes.data());
        for (std::uint32_t i = 0; i < event.bytes; i += 16) add_into(event.destination + i, 16, bytes.data() + i);
        return;
    }
    for (std::uint32_t left = event.ctas; left != 0; left &= left - 1)
        memory_.write_shared({event.site.cluster, static_cast<std::uint32_t>(std::countr_zero(left))},
                             offset_of(event.destination), event.bytes, bytes.data());
}

/// A box of a tensor: row by row, in pieces that the swizzle leaves whole.
void Provenance::box_landed(const machine::BulkCopy& event) {
    machine::BoxWalk walk(event.box->map(), event.box->place());
    const machine::TensorMap& map = walk.map();
    const bool loads = event.bulk->destination != Space::global;
    const MemoryShadow::Cta own{event.site.cluster, event.site.rank};
    if (!loads) tile_reads_.add_store(event.site.op, offset_of(event.source), walk.row_bytes(), map.swizzle);
    // Of padded types 16 elements take 16 bytes of shared memory, the rest of which are no elements.
    const machine::TensorTypeTraits& type = machine::traits(map.type);
    const bool spreads = loads && type.padded();
    const auto packed = static_cast<std::uint32_t>(type.group_global_bytes());
    const std::uint32_t shared_bytes = spreads ? walk.row_bytes() / packed * 16 : walk.row_bytes();
    Words words, spread;
    words.resize(walk.row_bytes() / 4, {});
    spread.resize(spreads ? shared_bytes / 4 : 0, PackedWord::from(Origin::zero()));
    std::vector<Origin> bytes(walk.row_bytes());
    constexpr std::uint32_t unit = 8;  // no swizzle moves less
    for (machine::BoxRow row; walk.next(row);) {
        const std::uint32_t offset = offset_of(row.shared), copied = row.end - row.begin;
        if (loads) {
            words.fill(PackedWord::from(Origin::zero()));
            if (((row.global + row.begin) | row.begin | copied) % 4 == 0) {
                memory_.read_global(row.global + row.begin, copied / 4, words, row.begin / 4);
            } else {
                memory_.read_global(row.global + row.begin, copied, bytes.data());
                words.set_bytes(row.begin, copied, bytes.data());
            }
            for (std::uint32_t word = 0; spreads && word < walk.row_bytes() / 4; ++word)
                spread.take(word / (packed / 4) * 4 + word % (packed / 4), words, word);
        }
        for (std::uint32_t at = 0, end = 0; at < shared_bytes; at = end) {
            const auto address = static_cast<std::uint32_t>(layout::swizzled(map.swizzle, offset + at));
            for (end = at + unit; end < shared_bytes; end += unit)
                if (layout::swizzled(map.swizzle, offset + end) != address + (end - at)) break;
            if (!loads) {
                memory_.read_shared(own, address, end - at, bytes.data() + at);
                continue;
            }
            for (std::uint32_t left = event.ctas; left != 0; left &= left - 1)
                memory_.write_shared({event.site.cluster, static_cast<std::uint32_t>(std::countr_zero(left))}, address,
                                     (end - at) / 4, spreads ? spread : words, at / 4);
        }
        if (loads || row.begin == row.stored_end) continue;
        if (!event.bulk->reduces) {
            write(event.site, Space::global, row.global + row.begin, row.stored_end - row.begin,
                  bytes.data() + row.begin);
            continue;
        }
        for (std::uint32_t at = row.begin; at < row.stored_end; at += 16)
            add_into(row.global + at, std::min(16u, row.stored_end - at), bytes.data() + at);
    }
    if (!loads) return;
    constexpr std::size_t most_boxes = 4096;
    if (boxes_.size() == most_boxes) boxes_.erase(boxes_.begin(), boxes_.begin() + most_boxes / 2);
    const std::uint32_t begin = offset_of(event.destination);
    Origin first;
    memory_.read_shared({event.site.cluster, static_cast<std::uint32_t>(std::countr_zero(event.ctas))}, begin, 1,
                        &first);
    for (std::uint32_t left = event.ctas; left != 0; left &= left - 1)
        boxes_.push_back({{event.site.cluster, static_cast<std::uint32_t>(std::countr_zero(left))},
                          begin,
                          begin + walk.shared_bytes(),
                          map.swizzle,
                          walk.row_bytes(),
                          std::max(1u, walk.row_bytes() / std::max(1u, map.box[0])),
                          map.address,
                          first,
                          event.site});
}

}  // namespace tilepath::check
