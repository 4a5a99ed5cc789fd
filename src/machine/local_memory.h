#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace tilepath::machine {

/// The local memory of one warp's lanes: frames of functions grow upwards from 0. Backed as far as it was used.
class LocalMemory {
  public:
    static constexpr std::uint32_t limit =
        512 << 10;  ///< bytes per thread (CUDA C++ Programming Guide, compute capabilities)

    /// Makes [0, bytes) of every lane accessible; new bytes are zero. False if that is beyond the limit.
    bool reserve(std::uint64_t bytes) {
        if (bytes > limit) return false;
        if (bytes > stride_) grow(static_cast<std::uint32_t>(bytes));
        if (bytes > used_) used_ = static_cast<std::uint32_t>(bytes);
        return true;
    }
    /// Bytes of every lane that can be accessed.
    std::uint32_t used() const { return used_; }
    std::uint8_t* at(int lane, std::uint64_t offset) {
        return bytes_.data() + static_cast<std::uint64_t>(lane) * stride_ + offset;
    }
    void clear() {
        used_ = stride_ = 0;
        bytes_.clear();
    }

  private:
    void grow(std::uint32_t bytes) {
        std::uint32_t stride = stride_ == 0 ? 64 : stride_;
        while (stride < bytes) stride *= 2;
        std::vector<std::uint8_t> larger(std::size_t{32} * stride);
        for (std::uint32_t lane = 0; lane < 32 && stride_ != 0; ++lane)
            std::copy_n(bytes_.begin() + lane * stride_, stride_, larger.begin() + std::size_t{lane} * stride);
        bytes_ = std::move(larger);
        stride_ = stride;
    }
    std::vector<std::uint8_t> bytes_;
    std::uint32_t stride_ = 0, used_ = 0;
};

}  // namespace tilepath::machine
