#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tilepath/diagnostic.h>

namespace tilepath {

/// One place: coordinates on named axes: laneid, reg, bit, m (memory), tx, TLane, …
struct Location {
    std::vector<std::pair<std::string, std::int64_t>> axes;  ///< those that are not 0

    /// The coordinate on an axis; 0 for one that is not named.
    std::int64_t operator[](std::string_view axis) const;
    friend bool operator==(const Location&, const Location&) = default;
};

/// Where elements lie: a map from a logical coordinate to one or more places.
///
/// Notations: `S[(8,4,2):(4@laneid,1@laneid,1@reg)] + R[2:32@laneid] + O[1@reg]` (shard, replicas, offset; a stride
/// without an axis counts on m), CuTe's `(8,(4,2)):(1,(8,32))`, both with a swizzle `Sw<3,4,3> o ` in front, and the
/// bit form `bits[laneid: (0,2) (1,0); reg: (0,1)] -> (2,4)`.
class Layout {
  public:
    static Result<Layout> parse(std::string_view notation);

    std::int64_t size() const;                 ///< elements
    std::vector<std::int64_t> shape() const;   ///< of the domain
    /// All places of an element, sorted: more than one where the layout replicates. An error outside the domain.
    Result<std::vector<Location>> at(const std::vector<std::int64_t>& coordinate) const;
    /// The same with the coordinate in another shape of as many elements, row-major.
    Result<std::vector<Location>> at(const std::vector<std::int64_t>& coordinate,
                                     const std::vector<std::int64_t>& shape) const;

    struct State;
    explicit Layout(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  private:
    friend std::string to_string(const Layout&);
    friend Result<bool> equal(const Layout&, const Layout&);
    std::shared_ptr<const State> state_;
};

/// The notation that parse() reads back to the same layout.
std::string to_string(const Layout& layout);
/// Whether both put every element at the same places, by evaluation.
Result<bool> equal(const Layout& a, const Layout& b);

}  // namespace tilepath
