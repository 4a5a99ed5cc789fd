#include "machine/device_memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "base/assert.h"

namespace tilepath::machine {
namespace {

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }

void* host(Address address) { return reinterpret_cast<void*>(address); }

/// The whole reservation of the process: made once, never given back, so that no later host mapping lands in it.
class Reservation {
  public:
    /// The number of a free slot, or −1.
    int take() {
        std::lock_guard lock(mutex_);
        if (!reserved_ && !reserve()) return -1;
        for (int slot = 0; slot < device_memories; ++slot) {
            if (!taken_[slot]) {
                taken_[slot] = true;
                return slot;
            }
        }
        return -1;
    }
    void give_back(int slot) {
        std::lock_guard lock(mutex_);
        taken_[slot] = false;
    }
    bool reserved() {
        std::lock_guard lock(mutex_);
        return reserved_;
    }

  private:
    bool reserve() {
        void* const at = host(device_memory_base);
        void* const got = mmap(at, windows_end - device_memory_base, PROT_NONE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
        // Kernels before 4.17 do not know the flag and may choose another address.
        if (got != MAP_FAILED && got != at) munmap(got, windows_end - device_memory_base);
        reserved_ = got == at;
        return reserved_;
    }
    std::mutex mutex_;
    bool reserved_ = false;
    std::array<bool, device_memories> taken_{};
};

Reservation& reservation() {
    static Reservation the_one;
    return the_one;
}

}  // namespace

Result<std::unique_ptr<DeviceMemory>> DeviceMemory::create() {
    const int slot = reservation().take();
    if (slot < 0 && !reservation().reserved())
        return fail(fmt::format("cannot reserve the address range {:#x}–{:#x} for device memory: {}",
                                device_memory_base, windows_end, std::strerror(errno)),
                    "something else in this process is mapped there, or its address space is limited (ulimit -v)");
    if (slot < 0)
        return fail(fmt::format("expected at most {} device memories at a time", device_memories),
                    "destroy one that is no longer used");
    return std::unique_ptr<DeviceMemory>(new DeviceMemory(slot));
}

DeviceMemory::DeviceMemory(int slot) : slot_(slot) {}

DeviceMemory::~DeviceMemory() {
    for (const auto& [begin, bytes] : mapped_)
        mmap(host(begin), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    reservation().give_back(slot_);
}

Address DeviceMemory::first_fit(std::uint64_t bytes) const {
    Address candidate = base() + page;  // the first page stays a guard
    for (const auto& [begin, mapped] : mapped_) {
        if (candidate + bytes <= begin) return candidate;
        candidate = begin + mapped;
    }
    return candidate + bytes <= base() + device_memory_bytes ? candidate : 0;
}

Result<Address> DeviceMemory::allocate(std::uint64_t bytes, std::string name, bool read_only) {
    std::unique_lock lock(mutex_);
    const std::uint64_t usable = round_up(std::max<std::uint64_t>(bytes, 1), page);
    const Address begin = bytes < device_memory_bytes ? first_fit(usable + page) : 0;
    if (begin == 0)
        return fail(fmt::format("cannot allocate {} bytes for {}: the device's {} bytes of addresses are used up",
                                bytes, name, device_memory_bytes));
    if (mprotect(host(begin), usable, PROT_READ | PROT_WRITE) != 0)
        return fail(fmt::format("cannot allocate {} bytes for {}: {}", bytes, name, std::strerror(errno)));
    mapped_[begin] = usable + page;
    allocations_[begin] = {{begin, begin + bytes, read_only}, std::move(name)};
    return begin;
}

Result<void> DeviceMemory::release(Address address) {
    std::unique_lock lock(mutex_);
    const auto found = mapped_.find(address);
    if (found == mapped_.end() || address == heap_)
        return fail(fmt::format("{:#x} is not the start of an allocation", address));
    // A fresh mapping, so that the memory goes back to the system and reads as zero when it is used again.
    void* const got =
        mmap(host(address), found->second, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    TILEPATH_ASSERT(got == host(address), "remapping part of our own reservation failed");
    mapped_.erase(found);
    allocations_.erase(address);
    generation_.fetch_add(1, std::memory_order_release);
    return {};
}

std::optional<DeviceMemory::Allocation> DeviceMemory::describe(Address address) const {
    std::shared_lock lock(mutex_);
    auto after = allocations_.upper_bound(address);
    if (after == allocations_.begin()) return {};
    const Allocation& candidate = std::prev(after)->second;
    if (address >= candidate.range.end) return {};
    return candidate;
}

std::optional<DeviceMemory::Allocation> DeviceMemory::named(std::string_view name) const {
    std::shared_lock lock(mutex_);
    for (const auto& [begin, allocation] : allocations_)
        if (allocation.name == name) return allocation;
    return {};
}

std::optional<DeviceMemory::Range> DeviceMemory::find(Address address) const {
    std::shared_lock lock(mutex_);
    auto after = allocations_.upper_bound(address);
    if (after == allocations_.begin()) return {};
    const Range& candidate = std::prev(after)->second.range;
    if (address >= candidate.end) return {};
    return candidate;
}

std::optional<DeviceMemory::Allocation> DeviceMemory::nearest(Address address) const {
    std::shared_lock lock(mutex_);
    if (allocations_.empty()) return {};
    auto after = allocations_.upper_bound(address);
    if (after == allocations_.begin()) return after->second;
    const Allocation& before = std::prev(after)->second;
    if (address < before.range.end || after == allocations_.end()) return before;
    return address - before.range.end <= after->second.range.begin - address ? before : after->second;
}

Address DeviceMemory::heap_allocate(std::uint64_t bytes) {
    constexpr std::uint64_t unit = 16;
    std::lock_guard one_at_a_time(heap_mutex_);
    if (heap_ == 0) {
        auto heap = allocate(heap_bytes, "heap of malloc");
        if (!heap) return 0;
        std::unique_lock lock(mutex_);
        heap_ = *heap;
        allocations_.erase(heap_);  // only its blocks can be accessed
    }
    std::unique_lock lock(mutex_);
    const std::uint64_t rounded = round_up(std::max<std::uint64_t>(bytes, 1), unit);
    if (bytes > heap_bytes) return 0;
    Address candidate = heap_ + unit;
    for (auto block = allocations_.lower_bound(heap_); block != allocations_.end(); ++block) {
        const Range& range = block->second.range;
        if (range.begin >= heap_ + heap_bytes || candidate + rounded + unit <= range.begin) break;
        candidate = round_up(range.end, unit) + unit;  // a gap, so that a step past the end is found
    }
    if (candidate + rounded > heap_ + heap_bytes) return 0;
    allocations_[candidate] = {{candidate, candidate + bytes, false}, fmt::format("malloc({})", bytes)};
    return candidate;
}

bool DeviceMemory::heap_release(Address address) {
    std::unique_lock lock(mutex_);
    if (heap_ == 0 || address <= heap_ || address >= heap_ + heap_bytes) return false;
    if (allocations_.erase(address) == 0) return false;
    generation_.fetch_add(1, std::memory_order_release);
    return true;
}

}  // namespace tilepath::machine
