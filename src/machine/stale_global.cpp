#include "machine/stale_global.h"

#include <algorithm>
#include <bit>

namespace tilepath::machine {

/// `visit(key, first byte in the piece, mask of the piece's bytes)`.
template <class Visit>
void StaleGlobal::each_piece(Address at, std::uint64_t bytes, Visit visit) const {
    const Address end = at + bytes;
    while (at < end) {
        const Address first = at % piece, count = std::min(piece - first, end - at);
        visit(at / piece, first, (count == piece ? ~0ull : (1ull << count) - 1) << first);
        at += count;
    }
}

void StaleGlobal::before_write(Address at, std::uint32_t bytes) {
    const std::lock_guard lock(mutex_);
    each_piece(at, bytes, [&](Address key, Address, std::uint64_t mask) {
        Piece& found = pieces_[key];
        const auto* const memory = reinterpret_cast<const std::uint8_t*>(static_cast<std::uintptr_t>(key * piece));
        for (std::uint64_t left = mask & ~found.stale; left != 0; left &= left - 1) {
            const auto i = static_cast<std::size_t>(std::countr_zero(left));
            found.before[i] = memory[i];
        }
        found.stale |= mask;
        found.released &= ~mask;
    });
    update_count();
}

void StaleGlobal::publish() {
    if (empty()) return;
    const std::lock_guard lock(mutex_);
    pieces_.clear();
    update_count();
}

void StaleGlobal::publish(Address at, std::uint64_t bytes, bool only_released) {
    if (empty()) return;
    const std::lock_guard lock(mutex_);
    each_piece(at, bytes, [&](Address key, Address, std::uint64_t mask) {
        const auto found = pieces_.find(key);
        if (found == pieces_.end()) return;
        found->second.stale &= ~(only_released ? mask & found->second.released : mask);
        if (found->second.stale == 0) pieces_.erase(found);
    });
    update_count();
}

void StaleGlobal::release() {
    if (empty()) return;
    const std::lock_guard lock(mutex_);
    for (auto& [key, each] : pieces_) each.released = each.stale;
}

void StaleGlobal::release(Address at, std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    each_piece(at, bytes, [&](Address key, Address, std::uint64_t mask) {
        const auto found = pieces_.find(key);
        if (found != pieces_.end()) found->second.released |= mask;
    });
}

bool StaleGlobal::overlay(Address at, std::uint8_t* out, std::uint64_t bytes) const {
    if (empty()) return false;
    const std::lock_guard lock(mutex_);
    bool any = false;
    each_piece(at, bytes, [&](Address key, Address, std::uint64_t mask) {
        const auto found = pieces_.find(key);
        if (found == pieces_.end()) return;
        for (std::uint64_t left = mask & found->second.stale; left != 0; left &= left - 1) {
            const auto i = static_cast<std::size_t>(std::countr_zero(left));
            out[key * piece + i - at] = found->second.before[i];
            any = true;
        }
    });
    return any;
}

}  // namespace tilepath::machine
