#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tilepath/tilepath.h>

#include <numeric>

namespace tilepath {
namespace {

using testing::HasSubstr;

// Loads the box at (8, 1) of a 16-bit tensor and writes its first 64 bytes to `out`.
const char* text = R"(.version 8.0
.target sm_90a
.address_size 64
.visible .entry load(.param .align 64 .b8 map[128], .param .u64 out)
{
    .reg .pred %p;
    .reg .b32 %r, %x, %y, %t, %s;
    .reg .b64 %m, %o, %d;
    .shared .align 128 .b8 box[128];
    .shared .align 8 .b64 bar;
    mov.u32 %t, %tid.x;
    mov.b64 %m, map;
    cvta.param.u64 %m, %m;
    ld.param.u64 %o, [out];
    setp.ne.u32 %p, %t, 0;
    @%p bra wait;
    mbarrier.init.shared::cta.b64 [bar], 1;
    fence.proxy.async;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 64;
    mov.u32 %x, 8;
    mov.u32 %y, 1;
    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [box], [%m, {%x, %y}], [bar];
wait:
    bar.sync 0;
again:
    mbarrier.try_wait.parity.shared::cta.b64 %p, [bar], 0;
    @!%p bra again;
    mov.u32 %s, box;
    mad.lo.u32 %s, %t, 4, %s;
    ld.shared.u32 %r, [%s];
    mul.wide.u32 %d, %t, 4;
    add.u64 %d, %o, %d;
    st.global.u32 [%d], %r;
    ret;
}
)";

TensorMap tensor(DevicePointer address) {
    return {.dtype = "u16", .address = address, .dims = {32, 4}, .strides = {64}, .box = {8, 4}};
}

TEST(ApiTensorMap, AKernelLoadsItsBox) {
    auto module = Module::parse(text, "load.ptx");
    ASSERT_TRUE(module) << to_string(module.error().front());
    auto gpu = Gpu::create("sm_90a").value();
    std::vector<std::uint16_t> elements(32 * 4);
    std::iota(elements.begin(), elements.end(), std::uint16_t{0});
    const auto from = gpu.allocate(256, "tensor").value(), to = gpu.allocate(64, "out").value();
    ASSERT_TRUE(gpu.copy_in(from, elements));
    const auto map = argument(tensor(from));
    ASSERT_TRUE(map) << to_string(map.error().front());
    const auto report = gpu.launch(*module, "load", {.grid = {1}, .block = {16}}, {*map, to});
    ASSERT_TRUE(report) << to_string(report.error().front());
    ASSERT_TRUE(report->ok()) << to_string(*report);
    std::vector<std::uint16_t> got(32);
    ASSERT_TRUE(gpu.copy_out(got, to));
    // Rows 1 to 3 from column 8 on, and zeros for the row outside.
    for (std::size_t row = 0; row < 4; ++row)
        for (std::size_t column = 0; column < 8; ++column)
            EXPECT_EQ(got[row * 8 + column], row == 3 ? 0 : (row + 1) * 32 + 8 + column);
}

std::string error_of(const TensorMap& map) {
    const auto encoded = encode(map);
    std::string out;
    if (!encoded)
        for (const Diagnostic& each : encoded.error()) out += to_string(each) + "\n";
    return out;
}

TEST(ApiTensorMap, MistakesAreTold) {
    const TensorMap right = tensor({4096});
    EXPECT_EQ(error_of(right), "");
    const auto with = [&](auto change) {
        TensorMap map = right;
        change(map);
        return error_of(map);
    };
    EXPECT_THAT(with([](TensorMap& m) { m.dtype = "f8"; }), HasSubstr("no dtype 'f8'"));
    EXPECT_THAT(with([](TensorMap& m) { m.swizzle = "256B"; }), HasSubstr("no swizzle '256B'"));
    EXPECT_THAT(with([](TensorMap& m) { m.interleave = "8B"; }), HasSubstr("no interleave '8B'"));
    EXPECT_THAT(with([](TensorMap& m) { m.dims.clear(); }), HasSubstr("expected 1 to 5 dimensions, found 0"));
    EXPECT_THAT(with([](TensorMap& m) { m.strides.clear(); }), HasSubstr("strides: expected 1 numbers"));
    EXPECT_THAT(with([](TensorMap& m) { m.box = {8}; }), HasSubstr("box: expected 2 numbers"));
    EXPECT_THAT(with([](TensorMap& m) { m.address = {4097}; }), HasSubstr("address"));
    EXPECT_THAT(with([](TensorMap& m) { m.box = {3, 4}; }), HasSubstr("multiple of 16 bytes"));
}

}  // namespace
}  // namespace tilepath
