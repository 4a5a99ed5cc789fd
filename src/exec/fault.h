#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "exec/decoded.h"
#include "machine/cta.h"
#include "machine/device_memory.h"
#include "machine/lanes.h"
#include "program/code_place.h"

namespace tilepath::exec {

/// What a running kernel can do wrong.
enum class FaultKind : std::uint8_t {
    out_of_bounds,             ///< an access outside what its space holds
    misaligned,                ///< an address that is no multiple of the access's size
    read_only,                 ///< a write to constant or parameter memory
    diverged,                  ///< an `.aligned` operation that the other live lanes of the warp cannot reach
    membermask,                ///< a lane that executes a `.sync` operation whose membermask leaves it out
    barrier,                   ///< a barrier's number, thread count or use
    mbarrier,                  ///< an mbarrier that is not initialised, or a count out of range
    registers,                 ///< setmaxnreg to fewer or more than its action says
    exited_cta,                ///< shared memory of a CTA that has exited
    cluster_launch,            ///< an answer of clusterlaunchcontrol.try_cancel that is none
    bulk_copy,                 ///< size, alignment, tensor map or coordinates of a bulk copy
    stack_overflow,            ///< more local memory than a thread can have
    tensor_memory_allocation,  ///< size, order, permit or pairing of tcgen05.alloc and dealloc
    tensor_memory_access,      ///< cells outside an allocation, or lanes outside the warp's
    tensor_memory_leak,        ///< columns that are not freed when the CTA exits
    cta_group,                 ///< tcgen05 instructions of a pair of CTAs that there is not
    tcgen05,                   ///< descriptors or operands of a tcgen05 instruction
    bad_call,                  ///< an indirect call or branch to something that is none
    device_heap,               ///< free of an address that malloc did not give
    assertion,                 ///< the kernel's own assert
    trap,                      ///< trap, brkpt
    unsupported                ///< an operation that this device or this build of tilepath does not have
};
std::string_view name(FaultKind kind);

using program::CodePlace;

/// Something that a kernel did wrong. Data, not prose: to_string() writes it.
struct Fault {
    FaultKind kind{};
    std::string message;  ///< what is wrong, one line
    CodePlace place;
    machine::Dim3 cta;
    std::uint32_t cluster_rank = 0, cluster_ctas = 1;
    std::uint32_t warp = 0;
    std::uint32_t lane = 0;  ///< the first that is concerned
    LaneMask lanes = 0;      ///< all of them
    machine::Dim3 thread;    ///< %tid of `lane`
    std::optional<std::uint64_t> address;
    std::optional<program::Space> space;
    std::uint32_t bytes = 0;
    std::string tensor_memory;  ///< which of its columns and lanes, and the allocation closest to them; else empty
    std::optional<machine::DeviceMemory::Allocation> nearest;  ///< global memory: the allocation closest to the address
};
std::string to_string(const Fault& fault);
using machine::describe_lanes;

/// A group of lanes that waits, at the end of a launch that cannot go on.
struct WaitingGroup {
    CodePlace place;
    machine::Dim3 cta;
    std::uint32_t cluster_rank = 0, cluster_ctas = 1;
    std::uint32_t warp = 0;
    LaneMask lanes = 0;
    std::string waits_for;  ///< "barrier 1 (phase 3): 64 of 128 threads have arrived; warps 2, 3 are missing"
};

/// Why a launch that has not finished was stopped.
struct Deadlock {
    bool timed_out = false;            ///< the time limit, not a deadlock
    std::vector<WaitingGroup> groups;  ///< at most as many as a report needs
    std::uint64_t more_groups = 0;     ///< those left out
    std::uint64_t resident_ctas = 0;
    std::uint64_t waiting_ctas = 0;  ///< not yet entered, for the device is full
};
std::string to_string(const Deadlock& deadlock);

}  // namespace tilepath::exec
