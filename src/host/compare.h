#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "host/job.h"

namespace tilepath::host {

/// Elements of a buffer that are not what was expected.
struct Difference {
    std::uint64_t compared = 0, different = 0;
    struct Element {
        std::vector<std::int64_t> index;
        std::uint64_t found, expected;
    };
    std::vector<Element> first;  ///< a few
    double largest_ulp = 0;      ///< floats: the largest distance in steps of the format, of finite elements
};

/// Compares element by element: bits, or within the buffer's tolerance.
Difference compare(const Buffer& buffer, const std::vector<std::uint8_t>& found, const std::vector<std::uint8_t>& expected);

/// Several lines for people: the first elements with both values. Empty if nothing differs.
std::string to_string(const Buffer& buffer, const Difference& difference);

/// The same for what a GPU found and tilepath expects; also where all are alike.
std::string describe_disagreement(const Buffer& buffer, const Difference& difference);

/// Writes the buffers that have a `save`, .npy or raw.
Result<void> save(const Job& job, const Outcome& outcome);

}  // namespace tilepath::host
