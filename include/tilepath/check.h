#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tilepath/launch.h>

namespace tilepath {

/// A matrix of a product, as it lies in a Gpu's memory.
struct GemmMatrix {
    DevicePointer at;
    std::string dtype;                ///< "f16", "e4m3", "f32", …: as launch files have them
    std::vector<std::int64_t> shape;  ///< elements of each dimension
    /// What each dimension is: "m", "n", "k", any other name for a batch, or one of them divided: "k/32".
    std::vector<std::string> index;
    std::vector<std::int64_t> strides = {};  ///< of each dimension, in elements; empty: row-major
};

/// What a kernel computes: D[m, n] is the sum of A[m, k] B[n, k] over k, for each batch, scaled or with C added.
struct Gemm {
    GemmMatrix d, a, b;
    std::optional<GemmMatrix> c = {};
    std::optional<GemmMatrix> sfa = {}, sfb = {};  ///< scale factors of blocks along k
};

/// What the checks of `tilepath check` (docs/checks.md) have found at one instruction.
struct Finding {
    std::string check;    ///< "race", "bank-conflicts", "provenance", …
    std::string message;  ///< what is wrong, one line
    CodePlace place;
    std::optional<CodePlace> other;  ///< the access that it clashes with
    std::vector<std::string> facts;  ///< one bad example: who, which lanes, addresses, elements
    std::string advice;              ///< what to change
    std::uint64_t times = 0;         ///< executions by a warp
    bool note = false;               ///< legal or tolerated, and worth knowing
};
/// Lines for people, as the program prints them.
std::string to_string(const Finding& finding);

/// A launch with the checks on.
struct CheckedLaunch {
    LaunchReport report;
    std::vector<Finding> findings;  ///< the worst first, notes last; the same run gives the same order
    /// Of a launch whose product is known: matrix instructions of a warp, and elements of D, whose elements are proven
    /// to lie where they belong, or not to, or neither.
    struct Proof {
        std::uint64_t proven = 0, wrong = 0, unknown = 0;
    };
    Proof operands, elements;

    /// The kernel came to its end, and nothing was found but notes.
    bool clean() const;
};

}  // namespace tilepath
