// The checks from C++: a product by plain threads, right and with its operands' rows exchanged; a race; a Gemm that
// contradicts itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tilepath/tilepath.h>

namespace tilepath {
namespace {

using testing::HasSubstr;

/// Thread t of 16 computes D[t / 4, t % 4] over k of 2, from A of 4 x 2 and B of 4 x 2. `row`: of B.
std::string product(const std::string& row) {
    return R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry product(.param .u64 a, .param .u64 b, .param .u64 d)
{
    .reg .b32 %t, %m, %n;
    .reg .b64 %a, %b, %d;
    .reg .f32 %x, %y, %u, %v, %s;
    mov.u32 %t, %tid.x;
    ld.param.u64 %a, [a];
    ld.param.u64 %b, [b];
    ld.param.u64 %d, [d];
    shr.u32 %m, %t, 2;
    and.b32 %n, %t, 3;
    )" + row +
           R"(
    mad.wide.u32 %a, %m, 8, %a;
    mad.wide.u32 %b, %n, 8, %b;
    mad.wide.u32 %d, %t, 4, %d;
    ld.global.v2.f32 {%x, %y}, [%a];
    ld.global.v2.f32 {%u, %v}, [%b];
    mul.f32 %s, %x, %u;
    fma.rn.f32 %s, %y, %v, %s;
    st.global.f32 [%d], %s;
    ret;
}
.visible .entry race(.param .u64 d)
{
    .reg .b32 %t;
    .reg .b64 %d;
    mov.u32 %t, %tid.x;
    ld.param.u64 %d, [d];
    st.global.u32 [%d], %t;
    ret;
}
)";
}

struct Case {
    Module module;
    Gpu gpu = Gpu::create("sm_80").value();
    DevicePointer a = gpu.allocate(32, "A").value(), b = gpu.allocate(32, "B").value(),
                  d = gpu.allocate(64, "D").value();
    Gemm gemm{
        .d = {d, "f32", {4, 4}, {"m", "n"}}, .a = {a, "f32", {4, 2}, {"m", "k"}}, .b = {b, "f32", {4, 2}, {"n", "k"}}};

    explicit Case(const std::string& row = "") : module(Module::parse(product(row), "product.ptx").value()) {}
    Result<CheckedLaunch> check() {
        return gpu.check(module, "product", {.grid = {1}, .block = {16}}, {a, b, d}, gemm);
    }
};

TEST(Check, ProvesARightProduct) {
    const auto checked = Case().check();
    ASSERT_TRUE(checked);
    EXPECT_TRUE(checked->clean()) << (checked->findings.empty() ? "" : to_string(checked->findings.front()));
    EXPECT_EQ(checked->elements.proven, 16u);
    EXPECT_EQ(checked->elements.wrong + checked->elements.unknown, 0u);
}

TEST(Check, TellsWhereAWrongOneWasWritten) {
    const auto checked = Case("xor.b32 %n, %n, 1;").check();
    ASSERT_TRUE(checked);
    EXPECT_FALSE(checked->clean());
    ASSERT_EQ(checked->findings.size(), 1u);
    const Finding& found = checked->findings.front();
    EXPECT_EQ(found.check, "provenance");
    EXPECT_FALSE(found.note);
    EXPECT_THAT(found.place.instruction, HasSubstr("st.global.f32"));
    EXPECT_THAT(found.facts.at(0), HasSubstr("D[0, 0] gets the product of row 0 of A and column 1 of B"));
    EXPECT_THAT(
        to_string(found),
        HasSubstr("finding (provenance): writes elements of D to places of others\n  in product, product.ptx:"));
    EXPECT_EQ(checked->elements.wrong, 16u);
}

TEST(Check, NeedsNoProduct) {
    Case one;
    const auto checked = one.gpu.check(one.module, "race", {.grid = {2}, .block = {32}}, {one.d});
    ASSERT_TRUE(checked);
    ASSERT_EQ(checked->findings.size(), 1u);
    EXPECT_EQ(checked->findings[0].check, "race");
    ASSERT_TRUE(checked->findings[0].other);
    EXPECT_TRUE(checked->report.ok());
}

TEST(Check, RefusesAProductThatContradictsItself) {
    const auto refused = [](auto change, const std::string& message) {
        Case one;
        change(one.gemm);
        const auto checked = one.check();
        ASSERT_FALSE(checked) << message;
        EXPECT_THAT(to_string(checked.error()), HasSubstr(message));
    };
    refused([](Gemm& g) { g.a.dtype = "f17"; }, "gemm.a: 'f17' is no dtype");
    refused([](Gemm& g) { g.b.index = {"k", "k"}; }, "gemm.b: expected 'n' once among its indices");
    refused([](Gemm& g) { g.b.index = {"n"}; }, "gemm.b: expected as many indices");
    refused([](Gemm& g) { g.b.index = {"n", "7"}; }, "gemm.b: '7' is no index");
    refused([](Gemm& g) { g.b.shape = {4, 1}; }, "gemm.b: expected 2 of 'k', as another matrix has, found 1");
    refused([](Gemm& g) { g.a.shape = {8, 2}; }, "expected 64 bytes of one allocation");
    refused([](Gemm& g) { g.d.strides = {-4, 1}; }, "gemm.d: its strides lead out of memory");
    refused([](Gemm& g) { g.d.shape = {0, 4}; }, "gemm.d: expected 1 to");
}

TEST(Check, StridesSayWhereElementsLie) {
    Case one;  // A in columns: A[m, k] at m + 4 k, which this kernel does not read so
    one.gemm.a.strides = {1, 4};
    const auto checked = one.check();
    ASSERT_TRUE(checked);
    EXPECT_EQ(checked->elements.proven, 0u);
}

}  // namespace
}  // namespace tilepath
