#pragma once
#include <array>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <type_traits>

#include "machine/tee.h"

namespace tilepath::check {

/// Hands events to observers on a thread of its own, in their order, so that these have no part in how long the run
/// takes as long as they keep up. Events travel in blocks, with what they point to. Registers and data that land do not
/// travel: who looks at them observes directly.
class Relay : public machine::Observer {
  public:
    Relay() = default;
    ~Relay() override;

    /// Before the first event.
    void add(machine::Observer& observer) { observers_.add(observer); }
    /// Returns when the observers have seen all events so far. Those of a short run they see only now, without a
    /// thread.
    void drain();

    void access(const machine::Access& event) override;
    void copy_issued(const machine::Copy& event) override { put<&Observer::copy_issued>(event); }
    void bulk_issued(const machine::BulkCopy& event) override;
    void barrier(const machine::BarrierEvent& event) override { put<&Observer::barrier>(event); }
    void fence(const machine::Fence& event) override { put<&Observer::fence>(event); }
    void group(const machine::GroupEvent& event) override { put<&Observer::group>(event); }
    void wgmma(const machine::WgmmaEvent& event) override;
    void tensor_map(const machine::TensorMapEvent& event) override { put<&Observer::tensor_map>(event); }
    void converged(const machine::EventSite& event) override { put<&Observer::converged>(event); }
    void launch_begins(const program::Function& function) override {
        put<&Relay::begin_launch>(LaunchBegins{&function});
    }
    void cta_begins(const machine::CtaEvent& event) override { put<&Observer::cta_begins>(event); }
    void cta_ends(const machine::CtaEvent& event) override { put<&Observer::cta_ends>(event); }
    void tensor_issued(const machine::TensorOperation& event) override { put_tensor<&Observer::tensor_issued>(event); }
    void tensor_landed(const machine::TensorOperation& event) override { put_tensor<&Observer::tensor_landed>(event); }
    void tensor_allocation(const machine::TensorAllocation& event) override {
        put<&Observer::tensor_allocation>(event);
    }

  private:
    static constexpr std::size_t block_bytes = std::size_t{1} << 18, most_blocks = 16;
    struct Block {
        alignas(std::max_align_t) std::array<std::byte, block_bytes> bytes;
        std::size_t used = 0;
    };
    using Replay = void (*)(machine::Observer&, const std::byte* event);
    struct Head {
        Replay replay = nullptr;
        std::size_t size = 0;  ///< of all that belongs to the event
    };
    struct LaunchBegins {
        const program::Function* function = nullptr;
    };
    static void begin_launch(machine::Observer& to, const LaunchBegins& event) { to.launch_begins(*event.function); }

    static constexpr std::size_t padded(std::size_t bytes) {
        return (bytes + alignof(std::max_align_t) - 1) / alignof(std::max_align_t) * alignof(std::max_align_t);
    }
    /// Room for an event and `more` bytes behind it that it points to.
    template <auto tell, class Event>
    std::pair<Event*, std::byte*> append(const Event& event, std::size_t more) {
        static_assert(std::is_trivially_destructible_v<Event>);
        const std::size_t size = padded(sizeof(Head)) + padded(sizeof(Event)) + padded(more);
        if (!block_ || block_->used + size > block_bytes) next_block();
        std::byte* const at = block_->bytes.data() + block_->used;
        block_->used += size;
        const Replay replay = [](machine::Observer& to, const std::byte* from) {
            std::invoke(tell, to, *std::launder(reinterpret_cast<const Event*>(from)));
        };
        new (at) Head{replay, size};
        std::byte* const place = at + padded(sizeof(Head));
        return {new (place) Event(event), place + padded(sizeof(Event))};
    }
    template <auto tell, class Event>
    void put(const Event& event) {
        append<tell>(event, 0);
    }
    template <auto tell>
    void put_tensor(const machine::TensorOperation& event);
    void next_block();
    void send();
    void work();
    void replay_block(const Block& block);

    machine::Tee observers_;
    std::unique_ptr<Block> block_;  ///< that is being filled
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::unique_ptr<Block>> full_, spare_;
    bool busy_ = false, over_ = false;
    std::thread thread_;
};

}  // namespace tilepath::check
