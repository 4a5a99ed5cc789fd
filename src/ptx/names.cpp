#include "ptx/names.h"

#include <cstring>

namespace tilepath::ptx {
namespace {

__extension__ using Wide = unsigned __int128;

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    const Wide product = static_cast<Wide>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

std::uint64_t load(const char* from, std::size_t bytes) {
    std::uint64_t word = 0;
    std::memcpy(&word, from, bytes);
    return word;
}

std::uint32_t hash_of(std::string_view text) {
    constexpr std::uint64_t k0 = 0x9e3779b97f4a7c15, k1 = 0xd6e8feb86659fd93;
    const char* at = text.data();
    std::size_t left = text.size();
    std::uint64_t hash = mix(left + k0, k1);
    for (; left > 8; at += 8, left -= 8) hash = mix(hash ^ load(at, 8), k0);
    // The tail without a loop and without reading past it.
    std::uint64_t tail;
    if (left >= 4)
        tail = load(at, 4) | load(at + left - 4, 4) << 32;
    else if (left > 0)
        tail = static_cast<unsigned char>(at[0]) |
               static_cast<std::uint64_t>(static_cast<unsigned char>(at[left / 2])) << 8 |
               static_cast<std::uint64_t>(static_cast<unsigned char>(at[left - 1])) << 16;
    else
        tail = 0;
    hash = mix(hash ^ tail, k1);
    return static_cast<std::uint32_t>(hash ^ hash >> 32);
}

}  // namespace

Names::Names() : slots_(1024, Slot{0, none}) {}

std::size_t Names::slot_of(std::string_view text, std::uint32_t hash) const {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
        const Slot& slot = slots_[at];
        if (slot.id == none || (slot.hash == hash && texts_[slot.id] == text)) return at;
    }
}

Id Names::intern(std::string_view text) {
    const std::uint32_t hash = hash_of(text);
    Slot& slot = slots_[slot_of(text, hash)];
    if (slot.id != none) return slot.id;
    const Id id = static_cast<Id>(texts_.size());
    slot = {hash, id};
    texts_.push_back(text);
    if (texts_.size() * 2 > slots_.size()) grow();
    return id;
}

Id Names::find(std::string_view text) const { return slots_[slot_of(text, hash_of(text))].id; }

void Names::grow() {
    std::vector<Slot> old(slots_.size() * 4, Slot{0, none});
    old.swap(slots_);
    const std::size_t mask = slots_.size() - 1;
    for (const Slot& slot : old) {
        if (slot.id == none) continue;
        std::size_t at = slot.hash & mask;
        while (slots_[at].id != none) at = (at + 1) & mask;
        slots_[at] = slot;
    }
}

}  // namespace tilepath::ptx
