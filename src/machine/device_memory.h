#pragma once
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>

#include "base/result.h"
#include "machine/address_map.h"

namespace tilepath::machine {

/// Global memory: allocations in a range of host addresses that is reserved for it, so that a device pointer is a host
/// pointer and the same in every run. Between allocations lie pages without access rights.
class DeviceMemory {
  public:
    /// Bytes that belong to one allocation, half-open.
    struct Range {
        Address begin = 0, end = 0;
        bool read_only = false;
    };
    struct Allocation {
        Range range;
        std::string name;
    };

    /// Reserves the range. Fails if the process holds the addresses already, or too many DeviceMemory.
    static Result<std::unique_ptr<DeviceMemory>> create();
    ~DeviceMemory();
    DeviceMemory(const DeviceMemory&) = delete;
    DeviceMemory& operator=(const DeviceMemory&) = delete;

    /// A zeroed allocation, aligned to 512 bytes or better as cudaMalloc's are. 0 bytes: an address that cannot be
    /// read.
    Result<Address> allocate(std::uint64_t bytes, std::string name, bool read_only = false);
    /// `address` must be what allocate() gave.
    Result<void> release(Address address);

    /// The allocation that holds `address`.
    std::optional<Range> find(Address address) const;
    std::optional<Allocation> describe(Address address) const;
    /// The allocation that holds `address`, or the one whose edge is closest to it.
    std::optional<Allocation> nearest(Address address) const;
    /// The first allocation of that name.
    std::optional<Allocation> named(std::string_view name) const;
    /// Changes whenever a range that find() gave may have become invalid.
    std::uint64_t generation() const { return generation_.load(std::memory_order_acquire); }

    /// malloc and free as kernels call them: from a heap of fixed size (CUDA's default limit); 0 when it is exhausted.
    Address heap_allocate(std::uint64_t bytes);
    /// False if `address` is not the start of a block.
    bool heap_release(Address address);
    static constexpr std::uint64_t heap_bytes = 8 << 20;

  private:
    explicit DeviceMemory(int slot);
    Address base() const { return device_memory_base + static_cast<Address>(slot_) * device_memory_bytes; }
    Address first_fit(std::uint64_t bytes) const;

    int slot_;
    mutable std::shared_mutex mutex_;
    std::map<Address, Allocation> allocations_;  ///< by begin; blocks of the heap too
    std::map<Address, std::uint64_t> mapped_;    ///< begin → mapped bytes, guard page included
    std::mutex heap_mutex_;
    Address heap_ = 0;
    std::atomic<std::uint64_t> generation_{1};
};

}  // namespace tilepath::machine
