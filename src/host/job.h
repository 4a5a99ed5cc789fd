#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "exec/launch.h"
#include "host/dtype.h"
#include "host/gemm_table.h"
#include "machine/tensor_map.h"
#include "program/code_place.h"
#include "program/function.h"

namespace tilepath::host {

/// How far a result may be from what is expected; without any, every bit counts.
struct Tolerance {
    std::optional<std::int64_t> ulp = {};
    std::optional<double> rtol = {}, atol = {};

    bool exact() const { return !ulp && !rtol && !atol; }
};

/// Device memory with a name: what it holds before the launches, and what it must hold after them.
struct Buffer {
    std::string name;
    DType dtype;
    std::vector<std::int64_t> shape;       ///< of its elements, row-major
    std::vector<std::uint64_t> positions;  ///< where each element lies, in elements; empty: one behind the other
    std::vector<std::uint8_t> bytes;       ///< at first
    std::optional<std::vector<std::uint8_t>> expected;  ///< in the same places as `bytes`
    Tolerance tolerance;
    std::string save;     ///< file to write afterwards; empty: none
    bool symbol = false;  ///< a variable of the module, not an allocation

    std::uint64_t elements() const;
    std::uint64_t position(std::uint64_t element) const { return positions.empty() ? element : positions[element]; }
};

/// What a CUtensorMap describes: a tensor in a buffer.
struct TensorMap {
    std::string name;
    std::size_t buffer = 0;   ///< index into Job::buffers
    std::int64_t offset = 0;  ///< bytes from the buffer's begin to the tensor's
    machine::TensorMap map;   ///< its address is filled in when the buffers have theirs
};

/// One kernel launch with its parameters packed, but for the addresses of buffers and what contains them.
struct Launch {
    struct BufferAddress {
        std::uint32_t offset;  ///< in `parameters`
        std::size_t buffer;    ///< index into Job::buffers
        std::int64_t addend;
    };
    struct TensorMapPlace {
        std::uint32_t offset;  ///< in `parameters`
        std::size_t map;       ///< index into Job::tensor_maps
    };
    std::string entry;
    exec::LaunchShape shape;
    std::vector<std::uint8_t> parameters;
    std::vector<BufferAddress> addresses;
    std::vector<TensorMapPlace> tensor_maps;
    std::shared_ptr<const program::Program> program;
};

/// Everything that a run needs, whatever runs it.
struct Job {
    std::shared_ptr<const Source> ptx;
    std::string module_note;  ///< where the PTX comes from, if it is no file of its own
    std::string arch;         ///< the device: sm_80, sm_90a
    std::vector<Buffer> buffers;
    std::vector<TensorMap> tensor_maps;
    std::vector<Launch> launches;
    program::Programs programs() const;
    std::optional<GemmTable> gemm;  ///< what the kernel computes; its buffers are there, with as many dimensions
};

/// What came out: the bytes of every buffer, in the order of Job::buffers.
struct Outcome {
    std::vector<std::vector<std::uint8_t>> buffers;
    std::vector<exec::LaunchReport> reports;  ///< of the launches that ran; a real GPU leaves counts at zero
    bool ok() const;
};

/// Told where the buffers lie, in the order of Job::buffers, before the first launch.
using Placed = std::function<void(std::span<const machine::Address>)>;

/// Runs every launch on this CPU. A kernel's fault ends the run; buffers are as they were then.
Result<Outcome> run_on_cpu(const Job& job, const exec::LaunchOptions& options, const Placed& placed = {});

/// Runs the same job on the first NVIDIA GPU, through the driver, which compiles the PTX itself.
Result<Outcome> run_on_gpu(const Job& job);

}  // namespace tilepath::host
