#pragma once
#include <cstdint>
#include <cstring>
#include <random>
#include <span>

namespace tilepath::generated {

/// Where a generator's decisions come from: a fuzzer's bytes while there are any, then numbers from a seed.
class Choices {
  public:
    explicit Choices(std::uint64_t seed, std::span<const std::uint8_t> bytes = {}) : bytes_(bytes), random_(seed) {}

    std::uint64_t bits() {
        if (bytes_.empty()) return random_();
        std::uint64_t value = 0;
        const std::size_t taken = std::min<std::size_t>(bytes_.size(), 2);
        std::memcpy(&value, bytes_.data(), taken);
        bytes_ = bytes_.subspan(taken);
        return value;
    }
    /// From 0 to n − 1.
    std::uint32_t below(std::size_t n) { return std::uint32_t(bits() % n); }
    bool one_in(std::uint32_t n) { return below(n) == 0; }
    template <class List>
    auto& among(List& list) {
        return list[below(std::size(list))];
    }

  private:
    std::span<const std::uint8_t> bytes_;
    std::mt19937_64 random_;
};

}  // namespace tilepath::generated
