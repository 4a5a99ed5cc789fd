#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "check/provenance/origin.h"

namespace tilepath::check {

/// One matrix of a product D = A B + C, as it lies in global memory.
class ProductMatrix {
  public:
    enum class Role : std::uint8_t { a, b, c, d, sfa, sfb };
    /// Which element a unit holds: row m of A, C, D and SFA, n of B and SFB; column k, or n of C and D.
    struct Place {
        static constexpr std::uint32_t nowhere = ~0u;
        std::uint32_t row = nowhere, column = nowhere;
        friend bool operator==(const Place&, const Place&) = default;
    };
    Role role{};
    std::string name;  ///< of the buffer
    machine::Address base = 0;
    std::uint32_t unit_bytes = 1;         ///< an element; of 4-bit types two that share a byte
    std::uint32_t elements_per_unit = 1;  ///< neighbours in `column`
    std::uint32_t element_bits = 8;       ///< of 6: several or one begin in each byte, the first of them in `units`
    std::uint32_t divisor = 1;            ///< of k: 2 for the stored half of a sparse A
    std::vector<Place> units;             ///< in the order of memory

    /// Where unit `first` is, if it and the `count` − 1 behind it are neighbours along `column`; else nowhere.
    Place stretch(std::uint64_t first, std::uint64_t count) const;
    /// Once `units` is filled: makes stretch() quick where they lie in rows of one pitch.
    void find_rows();

  private:
    std::uint32_t pitch_ = 0, length_ = 0;  ///< of rows in memory, in units: all, and those that hold elements
    std::vector<Place> row_begins_;
};

/// What the kernel is to compute. Rows of a batch follow one another: row b · M + m of A belongs to matrix b.
struct Product {
    std::vector<ProductMatrix> matrices;
    std::uint32_t m = 0, n = 0, k = 0, batch = 1;
    std::uint32_t scale_block = 0;  ///< elements along k that share a scale factor; 0: there are none

    struct Found {
        const ProductMatrix* matrix = nullptr;
        ProductMatrix::Place place;
    };
    /// The element that begins at this byte; matrix null if none does.
    Found find(machine::Address address) const;
    const ProductMatrix* with(ProductMatrix::Role role) const;
};

/// `A[9, 32]`.
std::string describe(const ProductMatrix& matrix, ProductMatrix::Place place);

/// Sets of k, by number; 0 is the empty one.
class KSets {
  public:
    struct Range {
        std::uint32_t begin = 0, end = 0;
        friend bool operator==(const Range&, const Range&) = default;
    };
    struct Added {
        std::uint32_t set = 0;
        bool twice = false;  ///< some k was in both
    };
    Added add(std::uint32_t set, Range range);
    Added unite(std::uint32_t first, std::uint32_t second);
    const std::vector<Range>& ranges(std::uint32_t set) const { return sets_[set]; }
    bool whole(std::uint32_t set, std::uint32_t k) const;
    /// `0 to 63, 96 to 127`, or `none`.
    std::string describe(std::uint32_t set) const;

  private:
    std::uint32_t number(std::vector<Range> ranges);

    std::vector<std::vector<Range>> sets_{{}};
    struct Step {
        std::uint32_t set;
        Range range;
        Added result;
    };
    std::vector<Step> recent_;
};

}  // namespace tilepath::check
