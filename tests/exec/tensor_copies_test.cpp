// cp.async.bulk.tensor: boxes of tensors in kernels.
#include <numeric>
#include <random>

#include "tensors.h"

namespace tilepath::exec {
namespace {

using layout::SwizzleMode;
using machine::TensorMap;
using machine::TensorType;

/// A matrix of 16-bit numbers, a box of it.
TensorMap matrix(const void* data, std::uint64_t columns, std::uint64_t rows, std::uint32_t box_columns,
                 std::uint32_t box_rows, SwizzleMode swizzle = SwizzleMode::none) {
    TensorMap map;
    map.type = TensorType::u16;
    map.rank = 2;
    map.address = reinterpret_cast<std::uintptr_t>(data);
    map.dims = {columns, rows, 1, 1, 1};
    map.strides = {columns * 2};
    map.box = {box_columns, box_rows, 1, 1, 1};
    map.swizzle = swizzle;
    return map;
}

/// One thread loads the box at (c0, c1) into `tile`, all wait, and the bytes go to p0 as they lie.
std::string load_and_show(int bytes, const std::string& space = "shared::cluster") {
    return fmt::format(R"(
        .shared .align 1024 .b8 tile[{0}];
        .shared .align 8 .b64 full;
        mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 0; mov.u32 %r1, tile; mov.u32 %r2, full;
        @%p0 mbarrier.init.shared.b64 [%r2], 1;
        @%p0 fence.proxy.async.shared::cta;
        bar.sync 0;
        @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], {0};
        mov.u32 %r3, -8; mov.u32 %r4, 2;
        @%p0 cp.async.bulk.tensor.2d.{1}.global.mbarrier::complete_tx::bytes [%r1], [%q40, {{%r3, %r4}}], [%r2];
    again:
        mbarrier.try_wait.parity.shared.b64 %p1, [%r2], 0;
        @!%p1 bra again;
        mov.u32 %r5, %r0;
    show:
        shl.b32 %r6, %r5, 2; add.u32 %r7, %r1, %r6; ld.shared.u32 %r8, [%r7];
        cvt.u64.u32 %q2, %r6; add.u64 %q2, %q0, %q2; st.global.u32 [%q2], %r8;
        add.u32 %r5, %r5, 32; setp.lt.u32 %p2, %r5, {2};
        @%p2 bra show;
)",
                       bytes, space, bytes / 4);
}

TEST(TensorCopy, ABoxComesSwizzledWithZerosOutside) {
    constexpr int box_columns = 64, box_rows = 16, columns = 80, rows = 12;
    const program::Program program = compile_with_maps(load_and_show(box_columns * box_rows * 2), 1, 1);
    for (const LaunchOptions& options : every_policy()) {
        Device gpu;
        auto* data = gpu.buffer<std::uint16_t>(columns * rows);
        std::iota(data, data + columns * rows, std::uint16_t{1});
        auto* out = gpu.buffer<std::uint16_t>(box_columns * box_rows);
        const LaunchReport report =
            run_with_maps(gpu, program, blocks(1, 32), options,
                          {matrix(data, columns, rows, box_columns, box_rows, SwizzleMode::b128)}, {out});
        ASSERT_TRUE(report.ok()) << (report.fault ? to_string(*report.fault) : to_string(*report.deadlock));
        for (int r = 0; r < box_rows; ++r)
            for (int c = 0; c < box_columns; ++c) {
                const int row = r + 2, column = c - 8;
                const int expected = row < rows && column >= 0 && column < columns ? row * columns + column + 1 : 0;
                const int chunk = c / 8 ^ r % 8;  // 16-byte chunks of a 128-byte line change places
                EXPECT_EQ(out[r * box_columns + chunk * 8 + c % 8], expected) << r << ' ' << c;
            }
    }
}

TEST(TensorCopy, IntoSharedCta) {
    const program::Program program = compile_with_maps(load_and_show(64 * 4 * 2, "shared::cta"), 1, 1);
    Device gpu;
    auto* data = gpu.buffer<std::uint16_t>(64 * 8);
    std::iota(data, data + 64 * 8, std::uint16_t{0});
    auto* out = gpu.buffer<std::uint16_t>(64 * 4);
    const LaunchReport report = run_with_maps(gpu, program, blocks(1, 32), {}, {matrix(data, 64, 8, 64, 4)}, {out});
    ASSERT_TRUE(report.ok());
    for (int i = 0; i < 64 * 4; ++i) EXPECT_EQ(out[i], i % 64 < 8 ? 0 : i + 128 - 8);
}

/// Rank 0 loads for both CTAs; each waits on its own barrier and shows what came.
TEST(TensorCopy, MulticastReachesEachCtaAtTheSameOffsets) {
    const std::string body = R"(
        .shared .align 1024 .b8 tile[1024];
        .shared .align 8 .b64 full;
        mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 0; mov.u32 %r1, tile; mov.u32 %r2, full;
        mov.u32 %r9, %cluster_ctarank;
        @%p0 mbarrier.init.shared.b64 [%r2], 1;
        @%p0 fence.mbarrier_init.release.cluster;
        @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 1024;
        barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
        setp.eq.and.u32 %p3, %r9, 0, %p0;
        mov.u32 %r3, 0; mov.u32 %r4, 8; mov.u16 %h0, 3;
        @%p3 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%r1], [%q40, {%r3, %r4}], [%r2], %h0;
    again:
        mbarrier.try_wait.parity.shared.b64 %p1, [%r2], 0;
        @!%p1 bra again;
        shl.b32 %r6, %r9, 7; shl.b32 %r5, %r0, 2; add.u32 %r7, %r1, %r5; ld.shared.u32 %r8, [%r7];
        add.u32 %r6, %r6, %r5; cvt.u64.u32 %q2, %r6; add.u64 %q2, %q0, %q2; st.global.u32 [%q2], %r8;
        barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
)";
    const program::Program program = compile_with_maps(body, 1, 1);
    for (const LaunchOptions& options : every_policy()) {
        Device gpu;
        auto* data = gpu.buffer<std::uint16_t>(64 * 16);
        std::iota(data, data + 64 * 16, std::uint16_t{0});
        auto* out = gpu.buffer<std::uint16_t>(128);
        const LaunchReport report = run_with_maps(gpu, program, {{2, 1, 1}, {32, 1, 1}, {2, 1, 1}, 0}, options,
                                                  {matrix(data, 64, 16, 64, 8)}, {out});
        ASSERT_TRUE(report.ok()) << (report.fault ? to_string(*report.fault) : to_string(*report.deadlock));
        for (int i = 0; i < 128; ++i) EXPECT_EQ(out[i], 512 + i % 64) << i;
    }
}

/// 128 threads fill a tile, one stores it: 37 columns wide, so that units of 16 bytes show.
std::string fill_and_store(const std::string& fence, const std::string& store) {
    return R"(
        .shared .align 1024 .b8 tile[1024];
        mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 0; mov.u32 %r1, tile;
        shl.b32 %r2, %r0, 2; add.u32 %r2, %r1, %r2;
        shl.b32 %r3, %r0, 1; add.u32 %r4, %r3, 1; shl.b32 %r4, %r4, 16; or.b32 %r3, %r3, %r4;
        st.shared.u32 [%r2], %r3; st.shared.u32 [%r2+512], %r3;
)" + fence +
           R"(
        bar.sync 0;
        @!%p0 ret;
        mov.u32 %r5, 0; mov.u32 %r6, 1;
)" + store +
           R"(
        cp.async.bulk.commit_group;
        cp.async.bulk.wait_group 0;
)";
}

TEST(TensorCopy, StoresDropWhatLiesOutside) {
    const std::string store = "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%q40, {%r5, %r6}], [%r1];";
    const program::Program program = compile_with_maps(fill_and_store("fence.proxy.async.shared::cta;", store), 1, 0);
    for (const LaunchOptions& options : every_policy()) {
        Device gpu;
        auto* data = gpu.buffer<std::uint16_t>(48 * 6);
        std::fill(data, data + 48 * 6, std::uint16_t{0xFFFF});
        TensorMap map = matrix(data, 37, 5, 64, 8);
        map.strides[0] = 96;
        ASSERT_TRUE(run_with_maps(gpu, program, blocks(1, 128), options, {map}, {}).ok());
        for (int r = 0; r < 6; ++r)
            for (int c = 0; c < 48; ++c) {
                const int tile = (r - 1) * 64 + c, value = tile % 256;
                // Columns 37 to 39 share a unit of 16 bytes with the tensor's last (recorded on an H200).
                EXPECT_EQ(data[r * 48 + c], r >= 1 && r < 5 && c < 40 ? value : 0xFFFF) << r << ' ' << c;
            }
    }
}

TEST(TensorCopy, WithoutTheProxyFenceAStoreSendsWhatWasThereBefore) {
    const std::string store = "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%q40, {%r5, %r6}], [%r1];";
    const program::Program bad = compile_with_maps(fill_and_store("", store), 1, 0);
    const auto first = [&](const program::Program& program, machine::CopyPolicy policy) {
        Device gpu;
        auto* data = gpu.buffer<std::uint16_t>(64 * 8);
        LaunchOptions options;
        options.copies = policy;
        EXPECT_TRUE(run_with_maps(gpu, program, blocks(1, 128), options, {matrix(data, 64, 8, 64, 4)}, {}).ok());
        return data[64 + 1];
    };
    EXPECT_EQ(first(bad, machine::CopyPolicy::eager), 1);
    EXPECT_EQ(first(bad, machine::CopyPolicy::late), 0xA5A5);  // nobody had written there
    const program::Program good = compile_with_maps(fill_and_store("fence.proxy.async;", store), 1, 0);
    EXPECT_EQ(first(good, machine::CopyPolicy::late), 1);
}

TEST(TensorCopy, ReductionsAddToWhatIsThere) {
    const std::string store =
        "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%q40, {%r5, %r6}], [%r1];";
    const program::Program program = compile_with_maps(fill_and_store("fence.proxy.async;", store), 1, 0);
    for (const LaunchOptions& options : every_policy(3)) {
        Device gpu;
        auto* data = gpu.buffer<std::uint32_t>(32 * 4);
        std::fill(data, data + 32 * 4, 10u);
        TensorMap map = matrix(data, 32, 4, 32, 8);
        map.type = TensorType::u32;
        map.strides[0] = 128;
        ASSERT_TRUE(run_with_maps(gpu, program, blocks(1, 128), options, {map}, {}).ok());
        for (std::uint32_t i = 0; i < 128; ++i) {
            const std::uint32_t pair = (i - 32) * 2 % 256;
            EXPECT_EQ(data[i], i < 32 ? 10 : 10 + (pair | (pair + 1) << 16)) << i;
        }
    }
}

std::string store_at(int column, int row) {
    return fmt::format(
        "mov.u32 %r5, {}; mov.u32 %r6, {};\n"
        "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%q40, {{%r5, %r6}}], [%r1];",
        column, row);
}

/// Coordinates 0, w, n of a row of pixels.
std::string image_store(int w, int n) {
    return fmt::format(
        "mov.u32 %r6, {}; mov.u32 %r7, {};\n"
        "cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group [%q40, {{%r5, %r6, %r7}}], [%r1];",
        w, n);
}

std::string image_load(int w) {
    return fmt::format(
        "mov.u32 %r6, {}; mov.u16 %h0, 0;\n"
        "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
        " [%r1], [%q40, {{%r5, %r6, %r5}}], [%r1+512], {{%h0}};",
        w);
}

struct Mistake {
    std::string message;
    TensorMap map;
    std::string store;
};

TEST(TensorCopy, MistakesAreFaultsThatNameTheRule) {
    Device gpu;
    auto* data = gpu.buffer<std::uint16_t>(64 * 8);
    const TensorMap good = matrix(data, 64, 8, 64, 4);
    const std::string store = "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%q40, {%r5, %r6}], [%r1];";
    const auto with = [&](auto change) {
        TensorMap map = good;
        change(map);
        return map;
    };
    const auto image = [&](int lower, int upper) {  // two images of four pixels of eight channels
        return with([&](TensorMap& m) {
            m.walk = machine::ImageWalk::im2col, m.rank = 3, m.dims = {8, 4, 2, 1, 1}, m.strides = {16, 64};
            m.lower[0] = lower, m.upper[0] = upper, m.channels_per_pixel = 8, m.pixels_per_column = 4;
        });
    };
    const std::string reduce =
        "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%q40, {%r5, %r6}], [%r1];";
    const Mistake mistakes[] = {
        {"a bulk copy's address here is a multiple of 128", good,
         "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%q40, {%r5, %r6}], [%r1+64];"},
        {"the tensor map has 2 dimensions, the instruction 3", good,
         "cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%q40, {%r5, %r6, %r5}], [%r1];"},
        {"the tensor map is tiled, the instruction im2col", with([](TensorMap& m) { m.rank = 3; }),
         "cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group [%q40, {%r5, %r6, %r5}], [%r1];"},
        {"expected a multiple of 16 bytes, found 100", with([](TensorMap& m) { m.strides[0] = 100; }), store},
        {"this reduction takes elements of u32, s32, u64, f16, f32, f64, bf16, f32_ftz, tf32, tf32_ftz, found u16",
         good, reduce},
        // What an H200 ends as an illegal instruction:
        {"this reduction takes elements of u32, s32, u64, f16, f32, f64, bf16, f32_ftz, tf32, tf32_ftz, found s64",
         with([](TensorMap& m) { m.type = TensorType::s64, m.dims[0] = m.box[0] = 16; }), reduce},
        {"coordinate 0 is a multiple of 8 with u16, found 1", good, store_at(1, 0)},
        {"coordinate 0 of a store is not negative, found -8", good, store_at(-8, 0)},
        {"coordinate 1 of a store is not negative, found -1", good, store_at(0, -1)},
        {"coordinate 1 lies in the bounding box from 0 to 2, found 3", image(0, -1), image_store(3, 0)},
        {"coordinate 2 of a store is not negative, found -1", image(0, -1), image_store(0, -1)},
        {"the bounding box of a store lies within the tensor, found corners -1 and 0", image(-1, 0), image_store(0, 0)},
        {"the bounding box of a store lies within the tensor, found corners 0 and 1", image(0, 1), image_store(0, 0)},
        {"coordinate 1 lies in the bounding box from -1 to 2, found -2", image(-1, -1), image_load(-2)},
        {"these bytes are no tensor map that tilepath has encoded", good,
         "mov.u64 %q40, %q0; cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%q40, {%r5, %r6}], [%r1];"},
        {"a tensor map's address is a multiple of 64", good,
         "add.u64 %q40, %q40, 32; cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%q40, {%r5, %r6}], [%r1];"},
        {"write of 128 bytes: no allocation holds the address",
         with([](TensorMap& m) { m.dims[1] = 9, m.box[1] = 256; }),
         "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%q40, {%r5, %r6}], [%r1];"},
        // A tensor whose extent has more than 64 bits: its end is not that of its remainder.
        {"write of 128 bytes: no allocation holds the address",
         with([](TensorMap& m) { m.dims[1] = m.strides[0] = std::uint64_t{1} << 32; }), store},
    };
    for (const Mistake& mistake : mistakes) {
        const program::Program program = compile_with_maps(fill_and_store("", mistake.store), 1, 1);
        const LaunchReport report = run_with_maps(gpu, program, blocks(1, 128, 65536), {}, {mistake.map}, {data});
        ASSERT_TRUE(report.fault) << mistake.message;
        EXPECT_NE(to_string(*report.fault).find(mistake.message), std::string::npos) << to_string(*report.fault);
    }
}

}  // namespace
}  // namespace tilepath::exec
