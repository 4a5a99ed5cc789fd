#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/job.h"

namespace tilepath::host {

/// What fills a buffer: `init` and `expect` of launch files.
struct Contents {
    enum class Kind : std::uint8_t {
        poison,  ///< 0xA5 in every byte: a buffer that nothing initialises
        zero, value, iota, random, file, hex
    };
    enum class Distribution : std::uint8_t {
        normal,   ///< mean `a`, standard deviation `b`, as the sum of twelve uniform numbers: the same bits everywhere
        uniform,  ///< from `a` to `b`
        bits      ///< every bit pattern alike, NaN and infinity included
    };
    Kind kind = Kind::poison;
    Distribution distribution = Distribution::normal;
    std::uint64_t seed = 0;
    double a = 0, b = 1;
    double value = 0;
    std::string text = {};       ///< path, or hexadecimal digits
    std::optional<Place> place = {};  ///< for errors
};

/// The bytes of `buffer` (whose dtype, shape, positions and size are set) filled so. Between elements that lie apart, and
/// in what a file or hexadecimal text does not reach, stays `between`.
Result<std::vector<std::uint8_t>> make_contents(const Contents& contents, const Buffer& buffer, std::uint8_t between);

/// Random number `index` of a seed, uniform over 64 bits (SplitMix64).
std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index);

}  // namespace tilepath::host
