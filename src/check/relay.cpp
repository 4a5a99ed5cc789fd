#include "check/relay.h"

#include <algorithm>

#include "machine/tma.h"

namespace tilepath::check {
namespace {

/// Elements, put at `to`; gives where they are and moves on behind them.
template <class Element>
std::span<const Element> keep(std::span<const Element> elements, std::byte*& to) {
    static_assert(std::is_trivially_destructible_v<Element>);
    auto* const first = reinterpret_cast<Element*>(to);
    std::uninitialized_copy(elements.begin(), elements.end(), first);
    to += elements.size_bytes();
    return {first, elements.size()};
}

}  // namespace

Relay::~Relay() {
    if (!thread_.joinable()) return;
    {
        const std::lock_guard lock(mutex_);
        full_.clear();
        over_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void Relay::access(const machine::Access& event) {
    constexpr std::size_t bytes = sizeof(machine::Address) * 32;
    const auto [kept, more] = append<&Observer::access>(event, bytes * (event.mbarriers != nullptr ? 2 : 1));
    std::byte* at = more;
    kept->addresses = keep(std::span<const machine::Address>(event.addresses), at).first<32>();
    if (event.mbarriers != nullptr) kept->mbarriers = keep(std::span(event.mbarriers, 32), at).data();
}

void Relay::wgmma(const machine::WgmmaEvent& event) {
    const auto [kept, more] = append<&Observer::wgmma>(event, event.a_runs.size_bytes() + event.b_runs.size_bytes());
    std::byte* at = more;
    kept->a_runs = keep(event.a_runs, at), kept->b_runs = keep(event.b_runs, at);
    kept->mma = nullptr;  // of the loaded program, which may be gone
}

void Relay::bulk_issued(const machine::BulkCopy& event) {
    const auto [kept, more] =
        append<&Observer::bulk_issued>(event, event.box != nullptr ? sizeof(machine::BoxWalk) : 0);
    std::byte* at = more;
    if (event.box != nullptr) kept->box = keep(std::span(event.box, 1), at).data();
}

template <auto tell>
void Relay::put_tensor(const machine::TensorOperation& event) {
    const auto [kept, more] = append<tell>(event, event.cells.size_bytes());
    std::byte* at = more;
    kept->cells = keep(event.cells, at);
    kept->registers = {};
}
template void Relay::put_tensor<&machine::Observer::tensor_issued>(const machine::TensorOperation&);
template void Relay::put_tensor<&machine::Observer::tensor_landed>(const machine::TensorOperation&);

/// The block goes to the thread; whoever fills blocks faster than they are looked at waits.
void Relay::send() {
    if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return full_.size() < most_blocks; });
    full_.push_back(std::move(block_));
    lock.unlock();
    changed_.notify_all();
}

void Relay::next_block() {
    if (block_) send();
    {
        const std::lock_guard lock(mutex_);
        if (!spare_.empty()) {
            block_ = std::move(spare_.back());
            spare_.pop_back();
        }
    }
    if (!block_) block_ = std::make_unique_for_overwrite<Block>();
    block_->used = 0;
}

void Relay::drain() {
    if (!thread_.joinable()) {
        if (block_) replay_block(*block_);
        block_.reset();
        return;
    }
    if (block_) send();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return full_.empty() && !busy_; });
}

void Relay::replay_block(const Block& block) {
    for (std::size_t at = 0; at < block.used;) {
        const std::byte* const event = block.bytes.data() + at;
        const Head& head = *std::launder(reinterpret_cast<const Head*>(event));
        head.replay(observers_, event + padded(sizeof(Head)));
        at += head.size;
    }
}

void Relay::work() {
    for (std::unique_lock lock(mutex_);;) {
        changed_.wait(lock, [&] { return over_ || !full_.empty(); });
        if (over_) return;
        std::unique_ptr<Block> block = std::move(full_.front());
        full_.pop_front();
        busy_ = true;
        lock.unlock();
        replay_block(*block);
        lock.lock();
        spare_.push_back(std::move(block));
        busy_ = false;
        changed_.notify_all();
    }
}

}  // namespace tilepath::check
