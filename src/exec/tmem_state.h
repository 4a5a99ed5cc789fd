#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "exec/code.h"
#include "exec/tcgen05_multiply.h"
#include "machine/tensor_memory.h"

namespace tilepath::exec {

struct CtaRun;
struct Frame;
struct TransferPlan;
struct Warp;

/// An instruction, and who executed it.
struct TensorUse {
    const LoadedFunction* function = nullptr;  ///< null: nobody
    const Code* code = nullptr;
    Warp* warp = nullptr;
    LaneMask lanes = 0;
};

/// One thread's tcgen05.mma, cp, shift or commit, from its issue until it has landed.
struct PendingTcgen05 {
    enum class Kind : std::uint8_t { mma, copy, shift, commit };
    Kind kind{};
    std::uint64_t id = 0;
    TensorUse by;
    std::uint8_t cta_group = 1;
    const Tcgen05Plan* plan = nullptr;  ///< mma
    Tcgen05Operands operands;
    std::uint32_t address = 0;     ///< copy, shift: in Tensor Memory
    std::uint64_t descriptor = 0;  ///< copy
    std::uint32_t mbarrier = 0;    ///< commit: shared address; with a mask only its offset counts
    std::uint32_t ctas = 0;        ///< commit: mask of ranks; 0: the mbarrier's own CTA alone
    /// When its thread executed tcgen05.fence::before_thread_sync behind it (0: not yet), and when, before it, the last
    /// ::after_thread_sync (0: never); by the numbers that operations have for ids.
    std::uint64_t fenced_behind = 0, fenced_before = 0;
};

/// One warp's tcgen05.ld or st, from its issue until it has landed.
struct PendingTransfer {
    std::uint64_t id = 0;
    const TransferPlan* plan = nullptr;
    TensorUse by;
    Frame* frame = nullptr;
    std::uint64_t entry = 0;    ///< of the frame: it is gone if that has changed
    std::uint32_t address = 0;  ///< in Tensor Memory
    bool fenced = true;         ///< of a load: a fence had shown what was in its cells when it was issued
    std::vector<Row> values;    ///< of a store, as they were when it was issued
};

/// What a CTA has of Tensor Memory and of tcgen05.
struct TensorState {
    machine::TensorMemory memory;
    int cta_group = 0;  ///< 0: nothing has said yet
    struct Allocation {
        std::uint32_t column = 0, columns = 0;
        TensorUse by;
    };
    std::vector<Allocation> allocations;
    std::uint32_t last_columns = 0;  ///< of the allocation before: the next may not be larger
    TensorUse last_allocation, relinquished;
    /// A warp that waits at an alloc or dealloc for a warp of the peer.
    struct {
        TensorUse by;
        std::uint32_t columns = 0, column = 0;
        std::uint8_t* result = nullptr;  ///< alloc: where the address goes
    } meeting;
    /// What a collector buffer holds: A, or of .ws the B of b0 to b3.
    struct Collector {
        bool filled = false;
        std::uint64_t operand = 0;  ///< its matrix descriptor, or address in Tensor Memory
        TensorUse by;
    };
    std::array<Collector, 5> collectors;
    std::vector<PendingTransfer> transfers;  ///< of all warps, in order of issue
    /// Stores that have landed and that other threads do not see yet: their warp has executed no
    /// tcgen05.fence::before_thread_sync.
    std::vector<PendingTransfer> unpublished;
    std::vector<std::uint64_t> fenced_after;  ///< by warp: its last ::after_thread_sync
    /// By thread: what it issued and has not committed, the first instruction of it.
    struct Uncommitted {
        TensorUse first;
        std::uint32_t count = 0;
    };
    std::vector<Uncommitted> uncommitted;

    /// `apart`: threads see what the tensor core wrote only after a fence.
    void clear(bool apart);
};

}  // namespace tilepath::exec
