#include "ptx/literal.h"

#include "read_text.h"

namespace tilepath::ptx {
namespace {

constexpr auto s64 = ImmediateKind::s64, u64 = ImmediateKind::u64, f32 = ImmediateKind::f32, f64 = ImmediateKind::f64;

/// The value of an operand of a mov, read through the whole reader.
Constant value_of(const std::string& expression) {
    const Module module = read_body("mov.b64 %rd1, " + expression + ";");
    if (module.instructions.empty()) return {};
    const Operand& operand = operands_of_first(module)[1];
    EXPECT_EQ(operand.kind, OperandKind::immediate) << expression;
    return {operand.immediate, operand.bits};
}

struct Row {
    const char* text;
    ImmediateKind kind;
    std::uint64_t bits;
};

void expect_rows(std::initializer_list<Row> rows) {
    for (const Row& row : rows) {
        const Constant value = value_of(row.text);
        EXPECT_EQ(value.kind, row.kind) << row.text;
        EXPECT_EQ(value.bits, row.bits) << row.text;
    }
}

constexpr std::uint64_t minus(std::uint64_t value) { return ~value + 1; }

// PTX ISA 4.5.1: signed unless the value needs 64 bits or has a U.
TEST(Literal, Integers) {
    expect_rows({{"0", s64, 0},
                 {"42", s64, 42},
                 {"42U", u64, 42},
                 {"0U", u64, 0},
                 {"0x1234", s64, 0x1234},
                 {"0X1234U", u64, 0x1234},
                 {"0xfabc123400000000", u64, 0xfabc123400000000},
                 {"0123", s64, 83},
                 {"0123U", u64, 83},
                 {"0b1011", s64, 11},
                 {"0B1011U", u64, 11},
                 {"9223372036854775807", s64, 0x7fffffffffffffff},
                 {"9223372036854775808", u64, 0x8000000000000000},
                 {"18446744073709551615", u64, ~std::uint64_t{0}},
                 {"WARP_SZ", s64, 32}});
}

// Bit patterns of IEEE 754: 1.5 = 1.1b × 2^0; 0.1 rounds to 0x3fb999999999999a.
TEST(Literal, FloatingPoint) {
    expect_rows({{"0f3f800000", f32, 0x3f800000},
                 {"0F7F800001", f32, 0x7f800001},
                 {"0d3FF0000000000000", f64, 0x3ff0000000000000},
                 {"0Dfff8000000000000", f64, 0xfff8000000000000},
                 {"1.5", f64, 0x3ff8000000000000},
                 {".5", f64, 0x3fe0000000000000},
                 {"5.", f64, 0x4014000000000000},
                 {"1e3", f64, 0x408f400000000000},
                 {"25E-2", f64, 0x3fd0000000000000},
                 {"2.5e+1", f64, 0x4039000000000000},
                 {"0.1", f64, 0x3fb999999999999a},
                 {"4.9e-324", f64, 1},
                 {"0.0", f64, 0},
                 {"-0.0", f64, 0x8000000000000000}});
}

// PTX ISA 4.5.5 and table 5.
TEST(ConstantExpression, SignsAndKinds) {
    expect_rows({{"-1", s64, minus(1)},
                 {"- 5", s64, minus(5)},
                 {"+123", s64, 123},
                 {"-(-42)", s64, 42},
                 {"-1U", u64, minus(1)},
                 {"-0xfabc123400000000", u64, minus(0xfabc123400000000)},
                 {"~5", u64, ~std::uint64_t{5}},
                 {"!5", s64, 0},
                 {"!0", s64, 1},
                 {"(.u64)-3", u64, minus(3)},
                 {"(.s64)0xffffffffffffffff", s64, minus(1)},
                 {"-1 < 0", s64, 1},
                 {"-1 < 0U", s64, 0},
                 {"-8 / 2", s64, minus(4)},
                 {"-8 / 2U", u64, 0x7ffffffffffffffc},
                 {"-7 / 2", s64, minus(3)},
                 {"-8 >> 1", s64, minus(4)},
                 {"0xfffffffffffffff8 >> 1", u64, 0x7ffffffffffffffc},
                 {"1 << 63", s64, std::uint64_t{1} << 63},
                 {"1 << 64", s64, 0},
                 {"-1 >> 100", s64, minus(1)},
                 {"7 % 4", s64, 3},
                 {"7%4", s64, 3},
                 {"-1 % 10", s64, 5},  // 2^64 − 1 = …615, unsigned
                 {"(-9223372036854775807 - 1) / -1", s64, std::uint64_t{1} << 63},
                 {"3U & 5", u64, 1},
                 {"3 | 5", s64, 7},
                 {"3 ^ 5U", u64, 6},
                 {"2 && 0", s64, 0},
                 {"2 || 0", s64, 1},
                 {"3U == 3", s64, 1},
                 {"3 != 3", s64, 0},
                 {"3 >= 4", s64, 0},
                 {"3 <= 3", s64, 1},
                 {"4 > 3", s64, 1},
                 {"1 ? 2 : 3U", u64, 2},
                 {"0 ? 2 : 3", s64, 3},
                 {"WARP_SZ*2", s64, 64}});
}

TEST(ConstantExpression, Precedence) {
    expect_rows({{"1+2*3", s64, 7},
                 {"(1+2)*3", s64, 9},
                 {"10-4-3", s64, 3},
                 {"1<<2+1", s64, 8},
                 {"1|2^3&5", s64, 3},     // 3&5 = 1; 2^1 = 3; 1|3
                 {"1 == 2 < 3", s64, 1},  // 2<3 = 1
                 {"0 && 0 || 1", s64, 1},
                 {"0 ? 1 : 0 ? 2 : 3", s64, 3},
                 {"-2*-3", s64, 6},
                 {"~0 >> 60", u64, 15},
                 {"24/4/2", s64, 3}});
}

TEST(ConstantExpression, DoublePrecision) {
    expect_rows({{"1.0+2.0", f64, 0x4008000000000000},
                 {"1.0/2.0", f64, 0x3fe0000000000000},
                 {"3.0*-0.5", f64, 0xbff8000000000000},
                 {"1.0 < 2.0", s64, 1},
                 {"1.0 == 1.0", s64, 1},
                 {"0d3FF0000000000000 - 1.0", f64, 0},
                 {"1 ? 2.0 : 4.0", f64, 0x4000000000000000}});
}

TEST(ConstantExpression, WhatIsWrong) {
    const std::pair<const char*, const char*> rows[] = {
        {"08", "expected digits of base 8"},
        {"0x", "expected digits of base 16"},
        {"0b102", "expected digits of base 2"},
        {"12ab", "expected digits of base 10"},
        {"5u", "expected digits of base 10"},
        {"18446744073709551616", "does not fit in 64 bits"},
        {"0f3f80000", "expected exactly 8 hexadecimal digits after '0f'"},
        {"0f3f8000000", "expected exactly 8 hexadecimal digits after '0f'"},
        {"0d3ff", "expected exactly 16 hexadecimal digits after '0d'"},
        {"1e999", "does not fit in f64"},
        {"1.5.5", "is not a number"},
        {"1/0", "division by zero"},
        {"1%0", "division by zero"},
        {"1+2.0", "cannot mix integers and floating-point values"},
        {"-0f3f800000", "an exact 0f… literal cannot take part in an expression"},
        {"0f3f800000+1.0", "an exact 0f… literal cannot take part in an expression"},
        {"1.0 % 2.0", "needs integers"},
        {"~1.0", "needs an integer"},
        {"(.s64)1.0", "only integers can be cast"},
        {"1.0 ? 1 : 2", "the condition of '? :' must be an integer"},
        {"1 ? 1 : 2.0", "both values of '? :' must be integers"},
        {"(1", "expected ')'"},
        {"1 ? 2", "expected ':'"},
        {"1 +", "expected a constant"}};
    for (const auto& [text, message] : rows)
        EXPECT_NE(errors_of(wrap(std::string("mov.b64 %rd1, ") + text + ";")).find(message), std::string::npos)
            << text << "\n"
            << errors_of(wrap(std::string("mov.b64 %rd1, ") + text + ";"));
}

}  // namespace
}  // namespace tilepath::ptx
