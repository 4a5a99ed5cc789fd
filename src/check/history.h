#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "check/clock.h"

namespace tilepath::check {

/// What one access leaves behind: who, when, by which instruction.
struct Stamp {
    AgentId agent = 0;
    Epoch epoch = 0;
    std::uint32_t site = 0;  ///< the check's number of the instruction
    bool async_proxy = false;
    bool strong = false;       ///< atomic, volatile, relaxed or stronger: two such do not race
    std::uint8_t kind = 0;     ///< of tcgen05: a bit for each kind of operation
    std::uint16_t issuer = 0;  ///< of an asynchronous operation: the warp
    std::uint32_t lanes = 0;   ///< of a warp's access and of cp.async: a mask; of others 0

    friend bool operator==(const Stamp&, const Stamp&) = default;
};

using StampId = std::uint32_t;   ///< 0: nobody
using ReaderId = std::uint32_t;  ///< 0: nobody; a StampId; or with the top bit a set of several

/// The stamps that cells of shadow memory point to, and sets of stamps for what several agents have read. Equal
/// neighbours share them, so that a cell stays small.
class History {
  public:
    StampId stamp(const Stamp& stamp);
    const Stamp& operator[](StampId id) const { return stamps_[id]; }

    /// Those who have read, one stamp of each agent; at most `most_readers`.
    std::span<const StampId> readers(const ReaderId& id) const {
        if (id == 0) return {};
        if ((id & set_bit) == 0) return {&id, 1};
        const Set& set = sets_[id & ~set_bit];
        return {set.members.data(), set.count};
    }
    ReaderId with_reader(ReaderId before, StampId reader);
    void clear();
    std::size_t bytes() const { return stamps_.capacity() * sizeof(Stamp) + sets_.capacity() * sizeof(Set); }

    static constexpr std::size_t most_readers = 7;

  private:
    static constexpr std::uint32_t set_bit = 1u << 31;
    struct Set {
        std::uint32_t count = 0;
        std::array<StampId, most_readers> members{};

        friend bool operator==(const Set&, const Set&) = default;
    };
    struct Step {
        ReaderId before = 0;
        StampId reader = 0;
        ReaderId after = 0;
    };
    ReaderId compute(ReaderId before, StampId reader);
    ReaderId intern(const Set& set);

    std::vector<Stamp> stamps_ = std::vector<Stamp>(1);
    std::vector<Set> sets_;
    std::array<StampId, 1024> recent_{};
    std::array<Step, 1024> steps_{};
    std::array<ReaderId, 1024> interned_{};
};

/// Four bytes of memory: who wrote them last, who has read them since. Bytes with different histories lie in a Split.
struct Cell {
    StampId write = 0;
    ReaderId readers = 0;
    std::uint8_t write_lane = 0, read_lane = 0;  ///< of a warp; read: any_lane if several
    static constexpr std::uint8_t any_lane = 0xFF;

    friend bool operator==(const Cell&, const Cell&) = default;
};

}  // namespace tilepath::check
