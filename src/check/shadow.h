#pragma once
#include <array>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "check/history.h"

namespace tilepath::check {

/// Why two accesses are not ordered.
enum class Disorder : std::uint8_t {
    none,
    unordered,  ///< nothing orders them
    lanes,      ///< of one warp, whose lanes have not met since
    proxy       ///< ordered, but the async proxy need not see what the generic proxy wrote
};

/// Whose access it is, as shadow memory needs to know. Clocks are those of the cluster `cluster`.
struct Actor {
    const Clock* seen = nullptr;
    const Clock* fenced = nullptr;  ///< of the async proxy: generic writes that it sees; null: the generic proxy
    std::uint32_t cluster = 0;
    AgentId warp = 0;    ///< that executes or has issued it: of what its lanes do each knows its own
    AgentId copies = 0;  ///< the warp's cp.async, likewise, as far as the lane has waited
    const std::array<Epoch, 32>* waited = nullptr;  ///< by lane
    Stamp stamp;
    bool writes = false;
    bool fences_reads = false;   ///< what others have read must be in `fenced` too
    std::uint8_t pipelined = 0;  ///< kinds of operations of the same agent that need not be complete
};

struct Conflict {
    Disorder disorder = Disorder::none;
    Stamp earlier;
    bool earlier_wrote = false;
    bool other_lanes_known = false;  ///< of the earlier access, only not the one that met
    std::uint8_t earlier_lane = Cell::any_lane, lane = Cell::any_lane;
    std::uint64_t address = 0;  ///< of the byte
};

/// Follows accesses through cells of shadow memory.
class Shadow {
  public:
    explicit Shadow(const std::vector<Agent>& agents) : agents_(agents) {}

    /// Begins an access: what follows is of one actor.
    void begin(const Actor& actor);
    /// `bytes` bytes from `offset` on, `lane`'s; `cells[0]` holds bytes 0 … 3, whose address is `base`. Keeps one
    /// conflict of each kind with each earlier access.
    void touch(Cell* cells, std::uint64_t base, std::uint32_t offset, std::uint32_t bytes, std::uint8_t lane);
    /// Who has written the cell's first byte last; null: nobody.
    const Stamp* writer(const Cell& cell) const;
    /// The same reads by another actor of the same cluster and agent: what was met is judged for it too.
    void again(const Actor& actor);
    /// Of the access that began last.
    std::span<const Conflict> conflicts() const { return conflicts_; }

    /// Of all that is shared among cells.
    std::size_t bytes() const { return history_.bytes() + splits_.capacity() * sizeof(splits_[0]); }
    void clear();

  private:
    struct Seen {
        StampId id = ~0u;
        Disorder disorder = Disorder::none;
        bool own = false;          ///< of the same warp, whose lanes have not met since: the lane matters
        bool own_copy = false;     ///< the same of its cp.async, where its own lane must have waited
        std::uint32_t known = 0;   ///< lanes that are known to have done it
        std::uint32_t fenced = 0;  ///< those that the async proxy sees
    };
    void touch_cell(Cell& cell, std::uint64_t address, std::uint8_t lane);
    void touch_bytes(Cell& cell, std::uint64_t address, std::uint32_t first, std::uint32_t end, std::uint8_t lane);
    Seen judge(StampId id, bool wrote) const;
    std::uint32_t lanes_known(const Clock& clock, const Stamp& stamp) const;
    void check_write(const Cell& cell, std::uint64_t address, std::uint8_t lane);
    void check_readers(const Cell& cell, std::uint64_t address, std::uint8_t lane);
    void report(const Seen& seen, bool wrote, std::uint8_t earlier_lane, std::uint64_t address, std::uint8_t lane);
    void merge(Cell& cell);

    static constexpr StampId split_mark = ~0u - 1;  ///< Cell::write: `readers` is an index into splits_
    const std::vector<Agent>& agents_;
    History history_;
    std::vector<std::array<Cell, 4>> splits_;
    std::vector<std::uint32_t> free_splits_;
    Actor actor_;
    StampId stamp_ = 0;
    Seen last_write_;
    struct {
        ReaderId id = ~0u, with_actor = 0;
        bool clean = false;  ///< a write conflicts with none of them
    } last_readers_;
    std::vector<Conflict> conflicts_;
    struct Met {
        StampId write = 0;
        std::uint64_t address = 0;
        friend bool operator==(const Met&, const Met&) = default;
    };
    std::vector<Met> met_;  ///< by the access that began last, each once or a few times
};

/// Shadow cells of global memory, made where it is touched.
class ShadowPages {
  public:
    static constexpr std::uint64_t page_bytes = 4096;
    Cell* page(std::uint64_t address) {
        const std::uint64_t number = address / page_bytes;
        if (number != last_number_ || last_ == nullptr) {
            auto& found = pages_[number];
            if (!found) found = std::make_unique<Page>();
            last_number_ = number;
            last_ = found.get();
        }
        return last_->data();
    }
    /// Null where nothing has been touched.
    const Cell* find(std::uint64_t address) const {
        const auto found = pages_.find(address / page_bytes);
        return found == pages_.end() ? nullptr : found->second->data() + address % page_bytes / 4;
    }
    std::size_t size() const { return pages_.size(); }
    void clear() {
        pages_.clear();
        last_ = nullptr;
    }

  private:
    using Page = std::array<Cell, page_bytes / 4>;
    std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
    std::uint64_t last_number_ = 0;
    Page* last_ = nullptr;
};

}  // namespace tilepath::check
