#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "machine/address_map.h"

namespace tilepath::machine {

/// What another proxy still sees in global memory where threads have written and no proxy fence has come since: the
/// bytes from before. The async proxy has one of these, and the tensormap proxy another (PTX ISA 8.5, 9.7.13.4). Host
/// threads may share it.
class StaleGlobal {
  public:
    /// A thread is about to write these bytes.
    void before_write(Address at, std::uint32_t bytes);
    /// A fence: all that was written so far becomes visible.
    void publish();
    /// The same for some bytes; `only_released`: those that a release has reached.
    void publish(Address at, std::uint64_t bytes, bool only_released = false);
    /// The writer's half of a fence that has two.
    void release();
    void release(Address at, std::uint64_t bytes);
    /// Puts the bytes that are still seen over `out`, a copy of memory; false if there are none.
    bool overlay(Address at, std::uint8_t* out, std::uint64_t bytes) const;
    bool empty() const { return count_.load(std::memory_order_relaxed) == 0; }

  private:
    static constexpr Address piece = 64;
    struct Piece {
        std::array<std::uint8_t, piece> before{};
        std::uint64_t stale = 0, released = 0;  ///< by byte
    };
    template <class Visit>
    void each_piece(Address at, std::uint64_t bytes, Visit visit) const;
    void update_count() { count_.store(pieces_.size(), std::memory_order_relaxed); }

    mutable std::mutex mutex_;
    std::unordered_map<Address, Piece> pieces_;  ///< by address, divided by `piece`
    std::atomic<std::size_t> count_{0};
};

}  // namespace tilepath::machine
