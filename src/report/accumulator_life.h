#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "machine/events.h"

namespace tilepath::report {

/// Follows one accumulator in Tensor Memory, from the first product that begins it to the product that begins the next
/// one in its place: how often it was updated, when it was read, by which warps, through which lanes and columns. It is
/// the first of the kernel's that has been read by loads. A consumer of the machine's events.
class AccumulatorLife : public machine::Observer {
  public:
    void tensor_issued(const machine::TensorOperation& event) override;
    void tensor_landed(const machine::TensorOperation& event) override;

    /// Lines, each ended; empty if nothing multiplied into Tensor Memory.
    std::string text() const;

    std::uint64_t updates() const { return updates_; }
    std::uint64_t loads() const { return loads_; }
    /// Whether another accumulator was multiplied into between this one's first and last load.
    std::uint64_t other_products() const { return other_products_; }

  private:
    /// What one warp read.
    struct Reader {
        std::uint64_t loads = 0;
        std::uint32_t first_lane = 0, last_lane = 0, first_column = 0, last_column = 0;
    };
    bool is_d(const machine::TensorOperation& event) const;
    void read(const machine::TensorOperation& event);

    bool begun_ = false, ended_ = false;
    std::uint32_t cta_ = 0, column_ = 0, columns_ = 0, lanes_ = 0, cta_group_ = 1;
    std::uint64_t updates_ = 0, landed_ = 0, landed_before_read_ = 0, loads_ = 0, other_products_ = 0;
    std::map<std::uint32_t, Reader> readers_;  ///< by warp, of the first CTA
};

}  // namespace tilepath::report
