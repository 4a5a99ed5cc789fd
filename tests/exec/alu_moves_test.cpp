// mov, selp, slct, packing and prmt: PTX ISA 9.7.9.3, 9.7.9.4, 9.7.6.3, 9.7.6.4, 9.7.9.7.
#include "alu_harness.h"

namespace tilepath::exec::alu_test {
namespace {

using program::PermuteMode;

TEST(AluMoves, Mov) {
    EXPECT_EQ(Case(Op::mov, DataType::u16, 1)(0x1234), 0x1234u);
    EXPECT_EQ(Case(Op::mov, DataType::f32, 1)(0x7FA00001u), 0x7FA00001u);  // not even a NaN changes
    EXPECT_EQ(Case(Op::mov, DataType::f64, 1)(0x7FF4000000000001u), 0x7FF4000000000001u);
    EXPECT_EQ(Case(Op::mov, DataType::b128, 1)(0x0123456789ABCDEFu), 0x0123456789ABCDEFu);
}

TEST(AluMoves, SelectByPredicate) {
    Values p, a, b;
    for (int i = 0; i < warp_lanes; ++i)
        p.lane[i] = Bits(i % 3 == 0), a.lane[i] = Bits(100 + i), b.lane[i] = Bits(200 + i);
    for (DataType type : {DataType::b16, DataType::s32, DataType::f64}) {
        const int width = row_width(type);
        const Case select(Op::select, type, {width}, {width, width, 1});
        const Values chosen = select.run({a, b, p})[0], inverted = select.run({a, b, p}, all_lanes, 1 << 3)[0];
        for (int i = 0; i < warp_lanes; ++i) {
            EXPECT_EQ(chosen.lane[i], Bits((i % 3 == 0 ? 100 : 200) + i));
            EXPECT_EQ(inverted.lane[i], Bits((i % 3 == 0 ? 200 : 100) + i));
        }
    }
}

TEST(AluMoves, SelectBySign) {
    for (DataType type : {DataType::b16, DataType::u32, DataType::f64}) {
        const int width = row_width(type);
        const Case slct(Op::slct, type, {width}, {width, width, 32});
        const Case by_int = slct.with([](MicroOp& op) { op.source_type = DataType::s32; });
        const Case by_float = slct.with([](MicroOp& op) { op.source_type = DataType::f32; });
        const Case by_flushed = by_float.with([](MicroOp& op) { op.flags.ftz = true; });
        EXPECT_EQ(by_int(1, 2, 0), 1u);
        EXPECT_EQ(by_int(1, 2, 0x7FFFFFFF), 1u);
        EXPECT_EQ(by_int(1, 2, 0x80000000u), 2u);
        EXPECT_EQ(by_float(1, 2, f32(0.0f)), 1u);
        EXPECT_EQ(by_float(1, 2, f32(-0.0f)), 1u);
        EXPECT_EQ(by_float(1, 2, 0x80000001u), 2u);
        EXPECT_EQ(by_flushed(1, 2, 0x80000001u), 1u);
        EXPECT_EQ(by_flushed(1, 2, 0x80800000u), 2u);
        EXPECT_EQ(by_float(1, 2, f32(INFINITY)), 1u);
        EXPECT_EQ(by_float(1, 2, f32(-INFINITY)), 2u);
        EXPECT_EQ(by_float(1, 2, 0x7FC00000u), 2u);  // NaN: b
        EXPECT_EQ(by_flushed(1, 2, 0x7F800001u), 2u);
    }
}

TEST(AluMoves, PackAndUnpack) {
    const std::pair<DataType, DataType> forms[] = {{DataType::b16, DataType::b8},   {DataType::b32, DataType::b8},
                                                   {DataType::b32, DataType::b16},  {DataType::b64, DataType::b16},
                                                   {DataType::b64, DataType::b32},  {DataType::b64, DataType::b8},
                                                   {DataType::b128, DataType::b64}, {DataType::b128, DataType::b32}};
    for (const auto& [whole, element] : forms) {
        const int count = program::bits(whole) / program::bits(element), width = program::bits(element);
        Frame frame;
        MicroOp pack;
        pack.op = Op::pack, pack.type = whole, pack.source_type = element;
        pack.destinations = 1, pack.sources = std::uint16_t(count);
        MicroOp unpack;
        unpack.op = Op::unpack, unpack.type = element, unpack.source_type = whole;
        unpack.destinations = std::uint16_t(count), unpack.sources = 1;
        const Bits mask = width == 64 ? ~0ull : (1ull << width) - 1;
        // Elements lie two rows apart; the whole at 30.
        const auto place = [](int e) { return std::uint32_t(e * 2); };
        for (const alu::Target& target : alu::targets()) {
            std::vector<std::uint32_t> to_whole{24}, from_whole;
            std::vector<LaneMask> inverts(std::size_t(count) + 1, 0);
            for (int e = 0; e < count; ++e) to_whole.push_back(place(e)), from_whole.push_back(place(e));
            from_whole.push_back(24);
            const auto element_of = [&](int e, int lane) {
                return (0x0123456789ABCDEFull * Bits(e * 37 + lane + 1)) & mask;
            };
            const auto lane_of = [&](int row, int bits, int lane) {
                Bits value = 0;
                std::memcpy(&value, reinterpret_cast<const char*>(&frame.rows_[row]) + lane * bits / 8,
                            bits == 64 ? 8 : 4);
                return value;
            };
            for (int e = 0; e < count; ++e)
                for (int lane = 0; lane < warp_lanes; ++lane) {
                    const Bits value = element_of(e, lane);
                    std::memcpy(reinterpret_cast<char*>(&frame.rows_[place(e)]) + lane * (width == 64 ? 8 : 4), &value,
                                width == 64 ? 8 : 4);
                }
            frame.run_at(pack, target.choose(pack), all_lanes, to_whole, inverts);
            const auto* bytes = reinterpret_cast<const unsigned char*>(&frame.rows_[24]);
            const int stride = std::max(4, program::bytes(whole));
            for (int lane = 0; lane < warp_lanes; ++lane)
                for (int e = 0; e < count; ++e) {
                    Bits value = 0;  // low bits first
                    std::memcpy(&value, bytes + lane * stride + e * width / 8, std::size_t(width) / 8);
                    ASSERT_EQ(value, element_of(e, lane)) << program::traits(whole).name << " " << e;
                }
            for (int e = 0; e < count; ++e) frame.rows_[place(e)] = frame.rows_[place(e) + 1] = {};
            frame.run_at(unpack, target.choose(unpack), 0x12345678, from_whole, inverts);
            for (int e = 0; e < count; ++e)
                for (int lane = 0; lane < warp_lanes; ++lane)
                    ASSERT_EQ(lane_of(int(place(e)), width == 64 ? 64 : 32, lane),
                              (0x12345678 >> lane & 1) != 0 ? element_of(e, lane) : 0);
            // The source's own rows may take its parts.
            from_whole[0] = 24;
            frame.run_at(unpack, target.choose(unpack), all_lanes, from_whole, inverts);
            for (int lane = 0; lane < warp_lanes; ++lane) {
                ASSERT_EQ(lane_of(24, width == 64 ? 64 : 32, lane), element_of(0, lane));
                ASSERT_EQ(lane_of(int(place(count - 1)), width == 64 ? 64 : 32, lane), element_of(count - 1, lane));
            }
        }
    }
}

TEST(AluMoves, PermuteByIndex) {
    const Case prmt(Op::prmt, DataType::b32, 3);
    const Bits a = 0x83828180, b = 0x07060504;  // byte i has value i, those of a with their sign set
    EXPECT_EQ(prmt(a, b, 0x3210), 0x83828180u);
    EXPECT_EQ(prmt(a, b, 0x7654), 0x07060504u);
    EXPECT_EQ(prmt(a, b, 0x0426), 0x80048206u);
    EXPECT_EQ(prmt(a, b, 0x8C0D), 0xFF008000u);  // signs: of byte 0 all ones, of bytes 4 and 5 zero
    EXPECT_EQ(prmt(a, b, 0xFFFF3210u), 0x83828180u);
}

TEST(AluMoves, PermuteByMode) {
    // Table of PTX ISA 9.7.9.7: for c = 0 … 3 the sources of bytes 3, 2, 1, 0.
    const struct {
        PermuteMode mode;
        Bits bytes[4];
    } rows[] = {{PermuteMode::f4e, {0x03020100, 0x04030201, 0x05040302, 0x06050403}},
                {PermuteMode::b4e, {0x05060700, 0x06070001, 0x07000102, 0x00010203}},
                {PermuteMode::rc8, {0x00000000, 0x01010101, 0x02020202, 0x03030303}},
                {PermuteMode::ecl, {0x03020100, 0x03020101, 0x03020202, 0x03030303}},
                {PermuteMode::ecr, {0x00000000, 0x01010100, 0x02020100, 0x03020100}},
                {PermuteMode::rc16, {0x01000100, 0x03020302, 0x01000100, 0x03020302}}};
    for (const auto& row : rows)
        for (Bits c = 0; c < 4; ++c)
            EXPECT_EQ(Case(Op::prmt, DataType::b32, 3).variant(row.mode)(0x03020100, 0x07060504, 0xFC | c),
                      row.bytes[c]);
}

}  // namespace
}  // namespace tilepath::exec::alu_test
