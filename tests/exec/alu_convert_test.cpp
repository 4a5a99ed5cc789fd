// cvt: the vector code against number::convert, which is tested on its own, exhaustively for 16-bit sources, and some
// by hand.
#include <cmath>

#include "alu_harness.h"
#include "number/conversion.h"

namespace tilepath::exec::alu_test {
namespace {

using number::Conversion;
using number::Format;
using number::Rounding;

constexpr DataType integers[] = {DataType::u8,  DataType::s8,  DataType::u16, DataType::s16,
                                 DataType::u32, DataType::s32, DataType::u64, DataType::s64};
constexpr DataType floats[] = {DataType::f16, DataType::bf16, DataType::f32, DataType::f64};
constexpr Rounding roundings[] = {Rounding::rn, Rounding::rz, Rounding::rm, Rounding::rp};

Case cvt(DataType to, DataType from, const Conversion& how = {}) {
    return Case(Op::cvt, to, {row_width(to)}, {row_width(from)}).with([&](MicroOp& op) {
        op.source_type = from;
        op.rounding = how.rounding;
        op.flags.integer_rounding = how.to_integral;
        op.flags.ftz = how.ftz, op.flags.sat = how.saturate, op.flags.satfinite = how.satfinite,
        op.flags.relu = how.relu;
    });
}

/// All 16-bit sources; for wider ones random bits, integers near powers of two as numbers, halves, special values.
std::vector<Values> sources(DataType type) {
    std::vector<Bits> all;
    const int width = program::bits(type);
    if (width <= 16)
        for (Bits bits = 0; bits < 1ull << width; ++bits) all.push_back(bits);
    else {
        std::mt19937_64 random(4);
        for (int i = 0; i < 2000; ++i) all.push_back(random() >> (random() % 64));
        for (const double sign : {1.0, -1.0})
            for (int power = -30; power <= 66; ++power)
                for (const double step : {0.0, 0.25, 0.5, 0.75, 1.0, 1.5, -0.5, -1.0, -0.25}) {
                    const double value = sign * (std::ldexp(1.0, power) + step);
                    if (type == DataType::f64) all.push_back(f64(value)), all.push_back(f64(std::nextafter(value, 0)));
                    if (type == DataType::f32)
                        all.push_back(f32(float(value))), all.push_back(f32(std::nextafter(float(value), 0.0f)));
                    if (!program::is_float(type) && std::abs(value) < 0x1p63) all.push_back(Bits(std::int64_t(value)));
                }
        for (int i = 0; i < 600; ++i) {  // exponents that halves and f32 have
            if (type == DataType::f32)
                all.push_back((random() & 0x80FFFFFF) | (100 + random() % 50) << 23 | (random() % 2 << 12));
            if (type == DataType::f64)
                all.push_back((random() & 0x800FFFFFFFFFFFFF) | (1023 - 160 + random() % 300) << 52);
        }
        const Bits words[] = {0,          1,          0x007FFFFF, 0x00800000, 0x7F7FFFFF, 0x7F800000,
                              0x7F800001, 0x7FC12345, 0x477FEFFF, 0x477FF000, 0x477FE000, 0x33000000,
                              0x33000001, 0x38800000, 0x387FE000, 0x387FF000, 0x7FFFFFFF};
        const Bits longs[] = {0,
                              1,
                              0x000FFFFFFFFFFFFF,
                              0x0010000000000000,
                              0x7FEFFFFFFFFFFFFF,
                              0x7FF0000000000000,
                              0x7FF0000000000001,
                              0x7FF8123456789ABC,
                              0x36A0000000000000,
                              0x47EFFFFFE0000000,
                              0x47EFFFFFF0000000};
        for (Bits bits : words) all.push_back(bits), all.push_back(bits | 0x80000000);
        if (width == 64)
            for (Bits bits : longs) all.push_back(bits), all.push_back(bits | 1ull << 63);
    }
    std::vector<Values> batches((all.size() + warp_lanes - 1) / warp_lanes);
    const Bits mask = width == 64 ? ~0ull : (1ull << width) - 1;
    for (std::size_t i = 0; i < all.size(); ++i) batches[i / warp_lanes].lane[i % warp_lanes] = all[i] & mask;
    return batches;
}

void expect_like_model(DataType to, DataType from, const Conversion& how) {
    const Case with = cvt(to, from, how);
    const Format from_format = *program::format_of(from), to_format = *program::format_of(to);
    // Every source in the plain form; every ninth batch of them in the others.
    const std::vector<Values> all = sources(from);
    const bool plain = how.rounding == Rounding::rn && !how.ftz && !how.saturate;
    for (std::size_t batch = plain ? 0 : std::size_t(how.rounding); batch < all.size(); batch += plain ? 1 : 9) {
        const Values& a = all[batch];
        const Values d = with.run({a})[0];
        for (int i = 0; i < warp_lanes; ++i)
            ASSERT_EQ(d.lane[i], number::convert(a.lane[i], from_format, to_format, how))
                << "cvt." << program::traits(to).name << "." << program::traits(from).name << " rounding "
                << int(how.rounding) << (how.to_integral ? "i" : "") << (how.ftz ? " ftz" : "")
                << (how.saturate ? " sat" : "") << (how.relu ? " relu" : "") << std::hex << " " << a.lane[i];
    }
}

TEST(AluConvert, IntegerToInteger) {
    for (DataType from : integers)
        for (DataType to : integers)
            for (const bool sat : {false, true}) expect_like_model(to, from, {.saturate = sat});
    EXPECT_EQ(cvt(DataType::s32, DataType::s8)(0x180), 0xFFFFFF80u);  // what is wider than the type is chopped
    EXPECT_EQ(cvt(DataType::s16, DataType::s8)(0x80), 0xFF80u);       // written zero-extended
    EXPECT_EQ(cvt(DataType::u64, DataType::s32)(0x80000000u), 0xFFFFFFFF80000000u);
}

TEST(AluConvert, FloatToInteger) {
    for (DataType from : floats)
        for (DataType to : integers)
            for (Rounding rounding : roundings)
                for (const bool ftz : {false, true}) {
                    if (ftz && from != DataType::f32) continue;
                    expect_like_model(to, from, {.rounding = rounding, .to_integral = true, .ftz = ftz});
                }
    const auto rzi = [](DataType to, DataType from) {
        return cvt(to, from, {.rounding = Rounding::rz, .to_integral = true});
    };
    EXPECT_EQ(rzi(DataType::s32, DataType::f32)(0x7FC00000), 0u);  // PTX ISA 9.7.9.21: NaN
    EXPECT_EQ(rzi(DataType::s32, DataType::f64)(0x7FF8000000000000), 0x80000000u);
    EXPECT_EQ(rzi(DataType::s64, DataType::f32)(0x7FC00000), 1ull << 63);
    EXPECT_EQ(rzi(DataType::u32, DataType::f32)(f32(-1.0f)), 0u);
    EXPECT_EQ(rzi(DataType::u32, DataType::f32)(f32(4294967296.0f)), 0xFFFFFFFFu);
    EXPECT_EQ(rzi(DataType::s32, DataType::f32)(f32(-3e9f)), 0x80000000u);
    EXPECT_EQ(rzi(DataType::s8, DataType::f32)(f32(-1.5f)), 0xFFu);
    EXPECT_EQ(cvt(DataType::s32, DataType::f32, {.rounding = Rounding::rn, .to_integral = true})(f32(2.5f)), 2u);
    EXPECT_EQ(cvt(DataType::s32, DataType::f32, {.rounding = Rounding::rp, .to_integral = true})(1), 1u);
    EXPECT_EQ(cvt(DataType::s32, DataType::f32, {.rounding = Rounding::rp, .to_integral = true, .ftz = true})(1), 0u);
}

TEST(AluConvert, IntegerToFloat) {
    for (DataType from : integers)
        for (DataType to : floats)
            for (Rounding rounding : roundings) expect_like_model(to, from, {.rounding = rounding});
    EXPECT_EQ(cvt(DataType::f32, DataType::s32)(0x7FFFFFFF), f32(2147483648.0f));
    EXPECT_EQ(cvt(DataType::f32, DataType::u32, {.rounding = Rounding::rz})(0xFFFFFFFFu), 0x4F7FFFFFu);
    EXPECT_EQ(cvt(DataType::f16, DataType::s32)(2049), 0x6800u);  // a tie
    EXPECT_EQ(cvt(DataType::f16, DataType::u32)(65520), 0x7C00u);
}

TEST(AluConvert, FloatToFloat) {
    for (DataType from : floats)
        for (DataType to : floats)
            for (Rounding rounding : roundings)
                for (const bool ftz : {false, true})
                    for (const bool sat : {false, true}) {
                        if (ftz && from != DataType::f32 && to != DataType::f32) continue;
                        if (sat && to == DataType::bf16) continue;
                        expect_like_model(to, from, {.rounding = rounding, .ftz = ftz, .saturate = sat});
                    }
    for (DataType type : floats)
        for (Rounding rounding : roundings)
            for (const bool ftz : {false, true})
                if (!ftz || type == DataType::f32)
                    expect_like_model(type, type, {.rounding = rounding, .to_integral = true, .ftz = ftz});
    for (DataType to : {DataType::f16, DataType::bf16})
        for (const Conversion& how : {Conversion{.relu = true}, Conversion{.satfinite = true, .relu = true},
                                      Conversion{.rounding = Rounding::rz, .satfinite = true}})
            expect_like_model(to, DataType::f32, how);
    for (const Conversion& how :
         {Conversion{.rounding = Rounding::rna}, Conversion{.rounding = Rounding::rna, .satfinite = true}, Conversion{},
          Conversion{.rounding = Rounding::rz, .relu = true}})
        expect_like_model(DataType::tf32, DataType::f32, how);
}

TEST(AluConvert, FloatToFloatByHand) {
    EXPECT_EQ(cvt(DataType::f16, DataType::f32)(f32(65519.99f)), 0x7BFFu);
    EXPECT_EQ(cvt(DataType::f16, DataType::f32)(f32(65520.0f)), 0x7C00u);
    EXPECT_EQ(cvt(DataType::f16, DataType::f32)(f32(0x1p-25f)), 0u);
    EXPECT_EQ(cvt(DataType::f16, DataType::f32)(f32(-0x1.8p-25f)), 0x8001u);
    EXPECT_EQ(cvt(DataType::f16, DataType::f32)(0xFFC00001u), 0x7FFFu);
    EXPECT_EQ(cvt(DataType::f32, DataType::f16)(0x8001), f32(-0x1p-24f));
    EXPECT_EQ(cvt(DataType::bf16, DataType::f32)(0x3F808000), 0x3F80u);
    EXPECT_EQ(cvt(DataType::bf16, DataType::f32)(0x3F818000), 0x3F82u);
    EXPECT_EQ(cvt(DataType::f32, DataType::bf16)(0x1FF81), 0xFF810000u);
    EXPECT_EQ(cvt(DataType::tf32, DataType::f32, {.rounding = Rounding::rna})(0x3F801000), 0x3F802000u);
    EXPECT_EQ(cvt(DataType::tf32, DataType::f32, {.rounding = Rounding::rna})(0xBF800FFF), 0xBF800000u);
    EXPECT_EQ(cvt(DataType::f32, DataType::f32, {.rounding = Rounding::rm, .to_integral = true})(f32(-0.25f)),
              f32(-1.0f));
    EXPECT_EQ(cvt(DataType::f32, DataType::f32, {.rounding = Rounding::rn, .to_integral = true})(f32(-0.5f)),
              0x80000000u);
    EXPECT_EQ(cvt(DataType::f32, DataType::f32, {.saturate = true})(0xFFC00000), 0u);
}

/// d = {cvt(a), cvt(b)}: the first source is the upper element.
TEST(AluConvert, Packed) {
    std::mt19937_64 random(6);
    const auto batches = sources(DataType::f32);
    const struct {
        DataType to;
        Conversion how;
        int count;
    } forms[] = {{DataType::f16x2, {}, 2},
                 {DataType::f16x2, {.relu = true}, 2},
                 {DataType::f16x2, {.rounding = Rounding::rz, .satfinite = true}, 2},
                 {DataType::bf16x2, {}, 2},
                 {DataType::bf16x2, {.relu = true}, 2},
                 {DataType::bf16x2, {.rounding = Rounding::rz}, 2},
                 {DataType::e4m3x2, {.satfinite = true}, 2},
                 {DataType::e5m2x2, {.satfinite = true, .relu = true}, 2},
                 {DataType::e2m1x2, {.satfinite = true}, 2},
                 {DataType::e2m3x2, {.satfinite = true}, 2},
                 {DataType::e3m2x2, {.satfinite = true, .relu = true}, 2},
                 {DataType::ue8m0x2, {.rounding = Rounding::rp, .satfinite = true}, 2},
                 {DataType::ue8m0x2, {.rounding = Rounding::rz}, 2},
                 {DataType::f16x2, {.rounding = Rounding::rs}, 2},
                 {DataType::e4m3x4, {.rounding = Rounding::rs, .satfinite = true}, 4},
                 {DataType::e2m1x4, {.rounding = Rounding::rs, .satfinite = true}, 4}};
    for (const auto& [to, how, count] : forms) {
        const bool stochastic = how.rounding == Rounding::rs;
        const Case with =
            cvt(to, DataType::f32, how).with([&](MicroOp& op) { op.sources = std::uint16_t(count + stochastic); });
        const Case packed(Op::cvt, to, {32}, std::vector<int>(std::size_t(count + stochastic), 32));
        const Format format = *program::format_of(to);
        for (std::size_t batch = 0; batch + 4 < batches.size(); ++batch) {
            std::vector<Values> operands(batches.begin() + std::ptrdiff_t(batch),
                                         batches.begin() + std::ptrdiff_t(batch) + count);
            Values rbits;
            for (Bits& lane : rbits.lane) lane = std::uint32_t(random());
            if (stochastic) operands.push_back(rbits);
            Case both = packed;
            both.op = with.op;
            const Values d = both.run(operands)[0];
            for (int i = 0; i < warp_lanes; ++i) {
                Bits expected = 0;
                for (int e = 0; e < count; ++e) {
                    Conversion one = how;
                    if (stochastic) one.random_bits = number::random_bits_of(format, std::uint32_t(rbits.lane[i]), e);
                    expected |= number::convert(operands[std::size_t(count - 1 - e)].lane[i], Format::f32, format, one)
                                << (e * number::packed_bits(format));
                }
                ASSERT_EQ(d.lane[i], expected) << program::traits(to).name;
            }
        }
    }
    const std::pair<DataType, DataType> repacked[] = {
        {DataType::f16x2, DataType::e4m3x2}, {DataType::f16x2, DataType::e5m2x2},  {DataType::e4m3x2, DataType::f16x2},
        {DataType::e5m2x2, DataType::f16x2}, {DataType::f16x2, DataType::e2m1x2},  {DataType::f16x2, DataType::e2m3x2},
        {DataType::f16x2, DataType::e3m2x2}, {DataType::bf16x2, DataType::ue8m0x2}};
    for (const auto& [to, from] : repacked)
        for (const bool relu : {false, true}) {
            if (relu && (to == DataType::bf16x2)) continue;
            const Conversion how{.satfinite = program::bits(to) < 32, .relu = relu};
            const Format to_format = *program::format_of(to), from_format = *program::format_of(from);
            for (const Values& source : sources(program::bits(from) <= 16 ? from : DataType::u32)) {
                const Values d = cvt(to, from, how).run({source})[0];
                for (int i = 0; i < warp_lanes; ++i)
                    ASSERT_EQ(d.lane[i], number::convert_packed(source.lane[i], 2, from_format, to_format, how))
                        << program::traits(to).name << "." << program::traits(from).name << std::hex << " "
                        << source.lane[i];
            }
        }
}

TEST(AluConvert, PackClamped) {
    const auto pack = [](int bits, bool is_signed) {
        const std::vector<int> sources(bits == 16 ? 2 : 3, 32);
        return Case(Op::cvt_pack, DataType::b32, {32}, sources).variant(is_signed).with([&](MicroOp& op) {
            op.vector = std::uint8_t(bits);
        });
    };
    const auto minus = [](std::uint32_t value) { return Bits(0u - value); };
    EXPECT_EQ(pack(16, true)(40000, minus(40000)), 0x7FFF8000u);
    EXPECT_EQ(pack(16, false)(70000, minus(5)), 0xFFFF0000u);
    EXPECT_EQ(pack(8, false)(300, 7, 0x89ABCDEF), 0xCDEFFF07u);
    EXPECT_EQ(pack(8, true)(minus(300), 7, 0x89ABCDEF), 0xCDEF8007u);
    EXPECT_EQ(pack(4, true)(minus(3), 9, 0x89ABCDEF), 0xABCDEFD7u);
    EXPECT_EQ(pack(4, false)(20, 3, 0), 0xF3u);
    EXPECT_EQ(pack(2, true)(minus(1), 7, 1), 0x1Du);
    EXPECT_EQ(pack(2, false)(minus(1), 2, 0xFFFFFFFF), 0xFFFFFFF2u);
    std::mt19937_64 random(14);
    for (const int bits : {2, 4, 8, 16})
        for (const bool is_signed : {false, true})
            for (int round = 0; round < 20; ++round) {
                Values a, b, c;
                for (int i = 0; i < warp_lanes; ++i) {
                    a.lane[i] = std::uint32_t(std::int32_t(random()) >> (random() % 32));
                    b.lane[i] = std::uint32_t(std::int32_t(random()) >> (random() % 32));
                    c.lane[i] = std::uint32_t(random());
                }
                const Values d = pack(bits, is_signed).run(bits == 16 ? std::vector{a, b} : std::vector{a, b, c})[0];
                for (int i = 0; i < warp_lanes; ++i)
                    ASSERT_EQ(d.lane[i], number::convert_pack(std::uint32_t(a.lane[i]), std::uint32_t(b.lane[i]),
                                                              std::uint32_t(c.lane[i]), bits, is_signed, true));
            }
}

}  // namespace
}  // namespace tilepath::exec::alu_test
