// Interns names: each distinct text gets one small number, so that later passes index arrays instead of hashing.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "ptx/instruction.h"

namespace tilepath::ptx {

class Names {
  public:
    Names();

    /// The number of `text`, a new one if it has none yet. The text itself must outlive this.
    Id intern(std::string_view text);
    /// The number of `text`, or `none`.
    Id find(std::string_view text) const;
    std::size_t size() const { return texts_.size(); }
    std::vector<std::string_view> release() { return std::move(texts_); }
    const std::vector<std::string_view>& texts() const { return texts_; }

  private:
    struct Slot {
        std::uint32_t hash;
        Id id;
    };
    std::size_t slot_of(std::string_view text, std::uint32_t hash) const;
    void grow();

    std::vector<Slot> slots_;
    std::vector<std::string_view> texts_;
};

}  // namespace tilepath::ptx
