#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tilepath/tilepath.h>

#include <optional>

namespace tilepath {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

const char* text = R"(.version 8.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 counter = 5;

.visible .entry saxpy(.param .u32 n, .param .f32 a, .param .u64 x, .param .u64 y)
{
    .reg .pred %p;
    .reg .f32 %a, %x, %y;
    .reg .b32 %i, %n, %t;
    .reg .b64 %dx, %dy, %o;
    mov.u32 %i, %ctaid.x;
    mov.u32 %n, %ntid.x;
    mov.u32 %t, %tid.x;
    mad.lo.u32 %i, %i, %n, %t;
    ld.param.u32 %n, [n];
    setp.ge.u32 %p, %i, %n;
    @%p exit;
    ld.param.f32 %a, [a];
    ld.param.u64 %dx, [x];
    ld.param.u64 %dy, [y];
    mul.wide.u32 %o, %i, 4;
    add.u64 %dx, %dx, %o;
    add.u64 %dy, %dy, %o;
    ld.global.f32 %x, [%dx];
    ld.global.f32 %y, [%dy];
    fma.rn.f32 %y, %a, %x, %y;
    st.global.f32 [%dy], %y;
    exit;
}
.visible .entry count()
{
    .reg .b32 %r;
    atom.global.add.u32 %r, [counter], 1;
    exit;
}
// out holds: %ctaid.y, %tid.z, the third byte of the struct
.visible .entry shapes(.param .u64 out, .param .align 4 .b8 s[8], .param .f64 d, .param .u16 h)
{
    .reg .b16 %h;
    .reg .b32 %r;
    .reg .b64 %a, %d;
    ld.param.u64 %a, [out];
    mov.u32 %r, %ctaid.y;
    st.global.u32 [%a], %r;
    mov.u32 %r, %tid.z;
    st.global.u32 [%a+4], %r;
    ld.param.u32 %r, [s+4];
    st.global.u32 [%a+8], %r;
    ld.param.b16 %h, [h];
    st.global.b16 [%a+12], %h;
    ld.param.b64 %d, [d];
    st.global.b64 [%a+16], %d;
    exit;
}
.visible .entry wait_for_ever()
{
    bar.sync 0, 64;
    exit;
}
.visible .entry endless()
{
    .reg .b32 %r;
    mov.u32 %r, 0;
A:  add.u32 %r, %r, 1;
    bra A;
}
)";

class GpuTest : public testing::Test {
  protected:
    Module module_ = Module::parse(text, "test.ptx").value();
    Gpu gpu_ = Gpu::create("sm_80").value();

    std::string error_of(std::string_view entry, const std::vector<Argument>& arguments, const LaunchShape& shape = {}) {
        const auto report = gpu_.launch(module_, entry, shape, arguments);
        return report ? "it ran" : to_string(report.error());
    }
};

TEST_F(GpuTest, RunsAKernelOverItsBuffers) {
    std::vector<float> x(1000, 2.0f), y(1000);
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<float>(i);
    const DevicePointer dx = gpu_.allocate(4000, "x").value(), dy = gpu_.allocate(4000, "y").value();
    ASSERT_TRUE(gpu_.copy_in(dx, x));
    ASSERT_TRUE(gpu_.copy_in(dy, y));
    for (const LaunchOptions& options :
         {LaunchOptions{}, LaunchOptions{.seed = 7}, LaunchOptions{.threads = 2}, LaunchOptions{.copies = CopyPolicy::late, .timeout = 60s}}) {
        ASSERT_TRUE(gpu_.copy_in(dy, y));
        const auto report = gpu_.launch(module_, "saxpy", {.grid = {4}, .block = {256}}, {1000, 3.0f, dx, dy}, options);
        ASSERT_TRUE(report) << to_string(report.error());
        EXPECT_TRUE(report->ok()) << to_string(*report);
        EXPECT_EQ(report->ctas, 4u);
        EXPECT_GT(report->operations, 0u);
        std::vector<float> out(1000);
        ASSERT_TRUE(gpu_.copy_out(out, dy));
        for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], 6 + static_cast<float>(i));
    }
    // A part of the grid: elements from 256 on stay.
    ASSERT_TRUE(gpu_.copy_in(dy, y));
    ASSERT_TRUE(gpu_.launch(module_, "saxpy", {.grid = {4}, .block = {256}}, {1000, 3.0f, dx, dy}, {.cta_count = 1}));
    std::vector<float> out(1000);
    ASSERT_TRUE(gpu_.copy_out(out, dy));
    EXPECT_EQ(out[255], 261);
    EXPECT_EQ(out[256], 256);
}

TEST_F(GpuTest, ArgumentsKeepTheirBits) {
    struct {
        std::int32_t first = 1, second = -7;
    } s;
    const DevicePointer out = gpu_.allocate(24).value();
    const std::vector<std::uint8_t> raw = Argument::by_value(s).bytes();
    for (const Argument& structure : {Argument::by_value(s), Argument::raw(raw)}) {
        ASSERT_TRUE(gpu_.copy_in(out, std::vector<std::uint8_t>(24, 0xFF)));
        const auto report = gpu_.launch(module_, "shapes", {.grid = {1, 3, 1}, .block = {1, 1, 2}},
                                        {out, structure, 1.5, std::uint16_t{0xBEEF}}, {.seed = 1, .first_cta = 2});
        ASSERT_TRUE(report) << to_string(report.error());
        ASSERT_TRUE(report->ok()) << to_string(*report);
        std::vector<std::uint32_t> words(6);
        ASSERT_TRUE(gpu_.copy_out(words, out));
        EXPECT_EQ(words[0], 2u);
        EXPECT_LE(words[1], 1u);
        EXPECT_EQ(words[2], static_cast<std::uint32_t>(-7));
        EXPECT_EQ(words[3], 0xFFFFBEEFu);
        EXPECT_EQ(words[5], 0x3FF80000u);
    }
}

TEST_F(GpuTest, ArgumentsMustFitTheParameters) {
    const DevicePointer p = gpu_.allocate(16).value();
    EXPECT_THAT(error_of("saxpy", {1000, 3.0f, p}),
                HasSubstr("'saxpy' has 4 parameters, found 3 arguments\n      = its parameters: .u32 n, .f32 a, .u64 x, .u64 y"));
    EXPECT_THAT(error_of("count", {1}), HasSubstr("it takes none"));
    const std::string all = error_of("saxpy", {std::uint64_t{1000}, 3, 0, 1.0});
    EXPECT_THAT(all, HasSubstr("argument 0 of 'saxpy': expected 4 bytes for .u32 n, found an integer of 8 bytes"));
    EXPECT_THAT(all, HasSubstr("write std::uint32_t{…} or std::int32_t{…}"));
    EXPECT_THAT(all, HasSubstr("argument 1 of 'saxpy': expected 4 bytes for .f32 a, found an integer of 4 bytes"));
    EXPECT_THAT(all, HasSubstr("write a float: 1.0f"));
    EXPECT_THAT(all, HasSubstr("argument 2 of 'saxpy': expected 8 bytes for .u64 x, found an integer of 4 bytes"));
    EXPECT_THAT(all, HasSubstr("argument 3 of 'saxpy': expected 8 bytes for .u64 y, found a floating-point number of 8 bytes"));
    EXPECT_THAT(error_of("shapes", {p, Argument::by_value(std::int64_t{1}), 1.0f, std::uint16_t{1}}),
                HasSubstr("argument 2 of 'shapes': expected 8 bytes for .f64 d, found a floating-point number of 4 bytes"));
    EXPECT_THAT(error_of("shapes", {p, Argument::by_value(std::int32_t{1}), 1.0, std::uint16_t{1}}),
                HasSubstr("argument 1 of 'shapes': expected 8 bytes for .b8 s[8], found a value of 4 bytes"));
}

TEST_F(GpuTest, LaunchesThatCannotBegin) {
    EXPECT_THAT(error_of("saxpi", {}), HasSubstr("has no entry 'saxpi'"));
    EXPECT_THAT(error_of("", {}), HasSubstr("5 entries; say which one to run"));
    EXPECT_THAT(error_of("count", {}, {.block = {2048}}), HasSubstr("block.x: expected 1 to 1024, found 2048"));
    EXPECT_THAT(error_of("count", {}, {.dynamic_shared_bytes = 1 << 20}), HasSubstr("shared memory: sm_80 has at most"));
    EXPECT_FALSE(gpu_.launch(module_, "count", {.grid = {2}}, {}, {.first_cta = 2}));
}

TEST_F(GpuTest, VariablesLiveAsLongAsTheGpu) {
    const auto counter = gpu_.variable(module_, "counter");
    ASSERT_TRUE(counter) << to_string(counter.error());
    std::vector<std::uint32_t> value(1);
    auto now = [&] {
        EXPECT_TRUE(gpu_.copy_out(value, *counter));
        return value[0];
    };
    EXPECT_EQ(now(), 5u);
    ASSERT_TRUE(gpu_.launch(module_, "count", {.grid = {3}, .block = {40}}, {}));
    EXPECT_EQ(now(), 125u);
    const Module copy = module_;
    ASSERT_TRUE(gpu_.launch(copy, "count", {}, {}));
    EXPECT_EQ(now(), 126u);
    ASSERT_TRUE(gpu_.copy_in(*counter, std::vector<std::uint32_t>{0}));
    ASSERT_TRUE(gpu_.launch(module_, "count", {}, {}));
    EXPECT_EQ(now(), 1u);
    // The same text read again is another module, with variables of its own.
    const Module again = Module::parse(text, "test.ptx").value();
    const auto other = gpu_.variable(again, "counter");
    ASSERT_TRUE(other);
    EXPECT_NE(other->address, counter->address);
    EXPECT_THAT(to_string(gpu_.variable(module_, "counters").error()), HasSubstr("its variables: counter"));
}

TEST_F(GpuTest, FaultsAreData) {
    const DevicePointer x = gpu_.allocate(4000, "x").value(), y = gpu_.allocate(256, "y").value();
    const auto report = gpu_.launch(module_, "saxpy", {.grid = {4}, .block = {256}}, {1000, 3.0f, x, y}, {.seed = 1});
    ASSERT_TRUE(report);
    ASSERT_FALSE(report->ok());
    ASSERT_TRUE(report->fault);
    const Fault& fault = *report->fault;
    EXPECT_EQ(fault.kind, "out of bounds");
    EXPECT_EQ(fault.space, "global");
    EXPECT_EQ(fault.bytes, 4u);
    EXPECT_GE(*fault.address, y.address + 256);
    EXPECT_EQ(fault.place.function, "saxpy");
    EXPECT_EQ(fault.place.file, "test.ptx");
    EXPECT_EQ(fault.place.line, 26u);
    EXPECT_EQ(fault.place.instruction, "ld.global.f32 %y, [%dy];");
    EXPECT_EQ(fault.thread.x, fault.warp * 32 + fault.lane);
    EXPECT_EQ(fault.lanes >> fault.lane & 1, 1u);
    EXPECT_EQ((*fault.address - y.address) / 4, std::uint64_t{fault.cta.x} * 256 + fault.thread.x);
    EXPECT_THAT(to_string(*report), HasSubstr("behind y (256 bytes"));
    EXPECT_EQ(to_string(*report), fault.text);
    // The Gpu goes on.
    EXPECT_TRUE(gpu_.launch(module_, "count", {}, {})->ok());
}

TEST_F(GpuTest, DeadlocksAndTimeLimitsSayWhoWaits) {
    const auto stuck = gpu_.launch(module_, "wait_for_ever", {.block = {32}}, {});
    ASSERT_TRUE(stuck);
    ASSERT_TRUE(stuck->deadlock);
    EXPECT_FALSE(stuck->deadlock->timed_out);
    ASSERT_EQ(stuck->deadlock->waiting.size(), 1u);
    EXPECT_EQ(stuck->deadlock->waiting[0].lanes, 0xFFFFFFFFu);
    EXPECT_EQ(stuck->deadlock->waiting[0].place.instruction, "bar.sync 0, 64;");
    EXPECT_THAT(stuck->deadlock->waiting[0].waits_for, HasSubstr("32 of 64 threads have arrived"));
    const auto endless = gpu_.launch(module_, "endless", {}, {}, {.timeout = 50ms});
    ASSERT_TRUE(endless);
    ASSERT_TRUE(endless->deadlock);
    EXPECT_TRUE(endless->deadlock->timed_out);
    EXPECT_THAT(to_string(*endless), HasSubstr("time limit"));
}

TEST_F(GpuTest, CopiesStayWithinAnAllocation) {
    const DevicePointer p = gpu_.allocate(16, "sixteen").value();
    std::vector<std::uint8_t> bytes(16, 7);
    EXPECT_TRUE(gpu_.copy_in(p, bytes));
    EXPECT_TRUE(gpu_.copy_in(p + 12, std::vector<float>{1}));
    std::vector<float> last(1);
    EXPECT_TRUE(gpu_.copy_out(last, p + 12));
    EXPECT_EQ(last[0], 1);
    EXPECT_THAT(to_string(gpu_.copy_in(p + 1, bytes).error()), HasSubstr("only 15 up to its end"));
    EXPECT_THAT(to_string(gpu_.copy_out(bytes, {64}).error()), HasSubstr("no allocation there\n      = the nearest is 'sixteen', 16 bytes"));
    EXPECT_TRUE(gpu_.copy_in({64}, std::vector<std::uint8_t>{})) << "nothing to copy";
    EXPECT_TRUE(gpu_.release(p));
    EXPECT_FALSE(gpu_.release(p));
    EXPECT_FALSE(gpu_.copy_in(p, bytes));
    EXPECT_FALSE(gpu_.allocate(std::uint64_t{1} << 60));
}

TEST(Gpu, UnknownArchitecturesAndTooManyGpus) {
    const auto unknown = Gpu::create("sm_42");
    ASSERT_FALSE(unknown);
    EXPECT_THAT(to_string(unknown.error()), HasSubstr("devices: sm_80"));
    std::vector<Gpu> all;
    for (;;) {
        auto gpu = Gpu::create("sm_90a");
        if (!gpu) break;
        all.push_back(std::move(*gpu));
        ASSERT_LE(all.size(), 8u);
    }
    EXPECT_EQ(all.size(), 8u);
    // Independent memories.
    const DevicePointer p = all[0].allocate(4).value();
    EXPECT_FALSE(all[1].copy_in(p, std::vector<float>{1}));
    all.pop_back();
    EXPECT_TRUE(Gpu::create("sm_80"));
}

TEST(Module, TellsWhatIsInIt) {
    const Module module = Module::parse(text, "test.ptx").value();
    EXPECT_EQ(module.name(), "test.ptx");
    EXPECT_EQ(module.target(), "sm_80");
    EXPECT_EQ(module.entries(), (std::vector<std::string>{"saxpy", "count", "shapes", "wait_for_ever", "endless"}));
    const auto parameters = module.parameters("shapes");
    ASSERT_TRUE(parameters) << to_string(parameters.error());
    ASSERT_EQ(parameters->size(), 4u);
    EXPECT_EQ((*parameters)[1].name, "s");
    EXPECT_EQ((*parameters)[1].type, "b8");
    EXPECT_EQ((*parameters)[1].bytes, 8u);
    EXPECT_EQ((*parameters)[1].alignment, 4u);
    EXPECT_EQ((*parameters)[3].type, "u16");
    EXPECT_TRUE(module.parameters("count")->empty());
    EXPECT_FALSE(module.parameters());
}

TEST(Module, ErrorsHavePlaces) {
    const auto broken = Module::parse(".version 8.0\n.target sm_80\n.visible .entry k() { mov.u32 %r1, %q1; }\n", "broken.ptx");
    ASSERT_FALSE(broken);
    ASSERT_GE(broken.error().size(), 2u) << "all errors, not only the first";
    EXPECT_EQ(broken.error()[0].place->file, "broken.ptx");
    EXPECT_EQ(broken.error()[0].place->line, 3u);
    EXPECT_FALSE(Module::read("/no/such.ptx"));
    const Module module = Module::parse(".version 8.0\n.target sm_80\n.visible .entry k() { frobnicate; exit; }\n", "odd.ptx").value();
    const auto report = Gpu::create("sm_80")->launch(module, "k", {}, {});
    ASSERT_FALSE(report);
    EXPECT_THAT(to_string(report.error()), HasSubstr("frobnicate"));
}

}  // namespace
}  // namespace tilepath
