#pragma once
#include <chrono>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tilepath {

/// Extents of a grid, block or cluster, or a place in one: x fastest.
struct Dim3 {
    std::uint32_t x = 1, y = 1, z = 1;

    friend bool operator==(const Dim3&, const Dim3&) = default;
};

/// An address in a Gpu's memory. A sum with a number counts bytes.
struct DevicePointer {
    std::uint64_t address = 0;

    friend bool operator==(const DevicePointer&, const DevicePointer&) = default;
    friend DevicePointer operator+(DevicePointer pointer, std::int64_t bytes) {
        return {pointer.address + static_cast<std::uint64_t>(bytes)};
    }
};

/// One argument of a launch. Its size must be that of the parameter: a `.u64` takes std::uint64_t{1}, not 1.
class Argument {
  public:
    enum class Kind : std::uint8_t { pointer, integer, floating, bytes };

    Argument(DevicePointer pointer) : Argument(Kind::pointer, &pointer.address, sizeof pointer.address) {}  // NOLINT
    template <class T>
        requires std::is_arithmetic_v<T>
    Argument(T value)  // NOLINT: an argument is what is given
        : Argument(std::floating_point<T> ? Kind::floating : Kind::integer, &value, sizeof value) {}
    /// A parameter passed by value as it lies in memory: a struct of the kernel's, or a 16-bit float.
    template <class T>
        requires std::is_trivially_copyable_v<T>
    static Argument by_value(const T& value) {
        return Argument(Kind::bytes, &value, sizeof value);
    }

    /// The same for a size that only the running program knows, as a runtime's launch function has its arguments' sizes
    /// from Module::parameters.
    static Argument raw(std::span<const std::uint8_t> bytes) { return Argument(Kind::bytes, bytes.data(), bytes.size()); }

    Kind kind() const { return kind_; }
    const std::vector<std::uint8_t>& bytes() const { return bytes_; }

  private:
    Argument(Kind kind, const void* from, std::size_t size) : kind_(kind), bytes_(size) {
        if (size != 0) std::memcpy(bytes_.data(), from, size);
    }

    Kind kind_;
    std::vector<std::uint8_t> bytes_;
};

struct LaunchShape {
    Dim3 grid = {};   ///< CTAs
    Dim3 block = {};  ///< threads of a CTA
    std::uint32_t dynamic_shared_bytes = 0;
    Dim3 cluster = {};  ///< CTAs of a cluster
};

/// When an asynchronous copy lands within the time that the PTX manual leaves it.
enum class CopyPolicy : std::uint8_t {
    eager,  ///< at issue
    late,   ///< when something must see it, or nothing else can run: a missing wait shows as wrong data
    random  ///< anywhere between, by the seed
};

/// How to run. Nothing here changes the results of a kernel without a race.
struct LaunchOptions {
    /// Runs in the order of warps and CTAs that belongs to this seed, on one thread: the same order every time.
    std::optional<std::uint64_t> seed = {};
    CopyPolicy copies = CopyPolicy::eager;
    unsigned threads = 0;                                   ///< of this machine; 0: one per processor
    std::optional<std::chrono::milliseconds> timeout = {};  ///< wall clock; the report says where the kernel was
    std::uint64_t first_cta = 0;                            ///< a part of the grid, by linear index …
    std::optional<std::uint64_t> cta_count = {};            ///< … and how much of it
    std::function<void(std::string_view)> print = {};       ///< the kernel's printf, call by call; null: standard output
};

/// Where an instruction stands.
struct CodePlace {
    std::string function;
    std::string file;  ///< of the PTX, with the 1-based line; 0: unknown
    unsigned line = 0;
    std::string instruction;  ///< its text
    std::string source_file;  ///< what it was compiled from, if the PTX says
    unsigned source_line = 0;
};

/// What a kernel did wrong; the launch stopped there.
struct Fault {
    std::string kind;     ///< "out of bounds", "misaligned", "diverged warp", "barrier", "trap", …
    std::string message;  ///< one line
    CodePlace place;
    Dim3 cta, thread;                        ///< the first thread that is concerned
    std::uint32_t warp = 0, lane = 0;        ///< its warp in the CTA, its lane in the warp
    std::uint32_t lanes = 0;                 ///< mask of all lanes of that warp that are concerned
    std::optional<std::uint64_t> address;    ///< of an access, within `space`
    std::string space;                       ///< "global", "shared", "local", "param", "const"
    std::uint32_t bytes = 0;                 ///< of the access, per lane
    std::string text;                        ///< all of this, several lines for people
};

/// Why a launch that could not finish was stopped, and what everybody waited for.
struct Deadlock {
    struct Waiting {
        CodePlace place;
        Dim3 cta;
        std::uint32_t warp = 0, lanes = 0;
        std::string waits_for;  ///< "waits at barrier 0 (phase 3): 64 of 128 threads have arrived; …"
    };
    bool timed_out = false;  ///< LaunchOptions::timeout, not a deadlock
    std::vector<Waiting> waiting;
    std::string text;  ///< several lines for people
};

struct LaunchReport {
    std::optional<Fault> fault;
    std::optional<Deadlock> deadlock;
    std::uint64_t ctas = 0;        ///< that have finished
    std::uint64_t cancelled = 0;   ///< CTAs that the kernel took over from the grid (clusterlaunchcontrol)
    std::uint64_t operations = 0;  ///< micro-operations, each by a warp

    bool ok() const { return !fault && !deadlock; }
};
/// The text of the fault or deadlock, or how much ran.
std::string to_string(const LaunchReport& report);

}  // namespace tilepath
