// The three generations side by side: one 128 × 128 f32 accumulator by 128 threads.
#include <fmt/format.h>

#include "base/assert.h"
#include "report/show_instruction.h"

namespace tilepath::report {

Sheet compare_sheet() {
    using enum number::Format;
    const auto ampere = atom::mma_sync({16, 8, 16}, {f32, f16, f16, f32});
    const auto hopper = atom::wgmma({64, 128, 16}, {f32, f16, f16, f32});
    const auto blackwell = atom::tcgen05_mma(atom::Tcgen05Kind::f16, {128, 128, 16}, {f32, f16, f16, f32}, 1);
    TILEPATH_ASSERT(ampere && hopper && blackwell, "the three products exist");
    constexpr int tile = 128, warps = 4, threads = 128, file = 65536, most = 255, columns = 512;
    const int by_warp = tile / ampere->shape.m * (tile / ampere->shape.n) / warps * ampere->d.registers;
    const int by_group = tile / hopper->shape.m * (tile / hopper->shape.n) * hopper->d.registers;
    const auto n = [](std::int64_t value) { return Value(value); };
    Listing rows{{"", "Ampere", "Hopper", "Blackwell"}, {}};
    const auto add = [&](Value what, Value a, Value h, Value b) {
        rows.rows.push_back({std::move(what), std::move(a), std::move(h), std::move(b)});
    };
    add("instruction", "mma.sync." + ampere->name, "wgmma.mma_async." + hopper->name, blackwell->name);
    add("A comes from", "registers", "registers or shared memory", "shared memory or Tensor Memory");
    add("B comes from", "registers", "shared memory", "shared memory");
    add("the accumulator lies in", "registers", "registers", "Tensor Memory");
    add("issued by", "a warp, synchronously", "a warpgroup, asynchronously", "one thread, asynchronously");
    add("layout expressed by", "who holds which register", "a 64-bit descriptor; registers of D",
        "64-bit and 32-bit descriptors; lanes and columns of D");
    add("waits for", "nothing", "wgmma.wait_group", "mbarrier, by tcgen05.commit");
    add("FLOP per instruction", n(2LL * ampere->shape.m * ampere->shape.n * ampere->shape.k),
        n(2LL * hopper->shape.m * hopper->shape.n * hopper->shape.k),
        n(2LL * blackwell->shape.m * blackwell->shape.n * blackwell->shape.k));
    add("accumulator registers per thread", n(by_warp), n(by_group), n(0));
    add("registers left of 255", n(most - by_warp), n(most - by_group), n(most));
    add("Tensor Memory columns of 512", n(0), n(0), n(blackwell->d_columns));
    add("accumulators that fit an SM", fmt::format("{} (65536 registers)", file / (by_warp * threads)),
        fmt::format("{} (65536 registers)", file / (by_group * threads)),
        fmt::format("{} (512 columns)", columns / blackwell->d_columns));
    Sheet sheet;
    sheet.title = "D = A B + C, f16 with f32 accumulation: a tile of 128 × 128 by 128 threads";
    sheet.add("generations", "", std::move(rows));
    return sheet;
}

}  // namespace tilepath::report
