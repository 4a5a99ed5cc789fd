// What the lists of bulk and tensor copies share.
#pragma once
#include "list.h"

namespace tilepath::recorded {

/// A kernel whose thread 0 does all (p0); shared memory ends with 128 bytes for barriers.
class AsyncCase {
  public:
    AsyncCase(std::string name, std::uint32_t rows, std::uint32_t data_bytes, std::uint32_t global_bytes);

    void line(std::string text) { each_.body.push_back(std::move(text)); }
    /// Barrier `number` with one arrival, expecting bytes.
    void init(int number = 0);
    /// Thread 0 alone goes on, until done().
    void alone() { line("@!p0 bra done;"); }
    void expect(std::uint32_t bytes, int number = 0);
    /// Waits for phase 0; a trap if it does not come.
    void wait(int number = 0);
    void commit_and_wait() { line("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"); }
    /// All threads meet again; barriers leave no trace in shared memory.
    void done();

    std::string barrier(int number = 0) const { return "[sm+" + std::to_string(barrier_at_ + 8 * number) + "]"; }
    Case& operator*() { return each_; }
    Case* operator->() { return &each_; }

  private:
    Case each_;
    std::uint32_t barrier_at_;
    int barriers_ = 0, waits_ = 0;
};

std::string hexadecimal_of(std::uint32_t value);
/// `choose:…` of values.
std::string choice_of(const std::vector<int>& values);
inline std::uint32_t up_to(std::uint32_t value, std::uint32_t unit) { return (value + unit - 1) / unit * unit; }

/// What a tile takes: bytes in shared memory, bytes that a load counts, bytes of the tensor.
struct Extent {
    std::uint32_t shared_bytes, counted_bytes, global_bytes;
};
Extent extent_of(const TensorMap& map);

enum class Coordinates {
    any,      ///< inside, at the edges, beyond them; the innermost a multiple of 16 bytes
    forward,  ///< the same, none negative
    // What an H200 ends as illegal:
    odd,      ///< the innermost no multiple of 16 bytes
    negative  ///< of a store: the last dimension's
};
/// `[tm0, {r0, r1, …}]`, whose registers become inputs.
std::string coordinates(Case& each, const TensorMap& map, Coordinates which);

struct MapChoice {
    int type = 0, rank = 2, swizzle = 0, interleave = 0, fill = 0;
    bool steps = false;
};
/// A map of tiles that fits a few KiB.
TensorMap tile_map(const MapChoice& choice, Draw& draw);
/// `#2d #f16 #128B…`
std::string variant_of(const TensorMap& map);

}  // namespace tilepath::recorded
