// All vector units give what the baseline gives, on random operations, bits, masks and places: operands that share rows
// included.
#include <map>
#include <set>

#include "alu_harness.h"

namespace tilepath::exec::alu_test {
namespace {

using program::BoolOp;
using program::Compare;

/// Rows and predicates by one numbering, so that an operand's place is good whichever of them it is.
struct Machine {
    static constexpr std::uint32_t places = 48;
    Row rows[places + 4];
    LaneMask predicates[places];

    explicit Machine(std::mt19937_64& random) {
        static constexpr std::uint32_t special[] = {0,          1,          0x80000000, 0x7F800000, 0xFF800000,
                                                    0x7FFFFFFF, 0x7F800001, 0x00800000, 0x007FFFFF, 0x3F800000,
                                                    0xBF800000, 0x7C007BFF, 0xFFFFFFFF, 0x00010002};
        for (Row& row : rows)
            for (std::uint32_t& lane : row.lane)
                lane = random() % 4 == 0 ? special[random() % std::size(special)] : std::uint32_t(random());
        for (LaneMask& mask : predicates) mask = LaneMask(random());
        predicates[predicate_false] = 0;
        predicates[predicate_true] = all_lanes;
    }
    bool operator==(const Machine& other) const {
        return std::memcmp(rows, other.rows, sizeof rows) == 0 &&
               std::memcmp(predicates, other.predicates, sizeof predicates) == 0;
    }
};

/// An operation with any modifiers, most of them of no instruction: those have no body.
MicroOp any_operation(std::mt19937_64& random) {
    static const std::vector<DataType> types = [] {
        std::vector<DataType> all;
        for (int i = 0; i <= int(DataType::ue4m3); ++i) all.push_back(DataType(i));
        return all;
    }();
    MicroOp op;
    op.op = Op(random() % std::uint64_t(program::op_count()));
    op.type = types[random() % types.size()];
    op.source_type = random() % 2 == 0 ? op.type : types[random() % types.size()];
    op.rounding = number::Rounding(random() % 6);
    const std::uint64_t flags = random() & random();
    op.flags.ftz = flags & 1, op.flags.sat = flags & 2, op.flags.satfinite = flags & 4, op.flags.relu = flags & 8;
    op.flags.approx = flags & 16, op.flags.full = flags & 32, op.flags.nan = flags & 64,
    op.flags.xorsign_abs = flags & 128;
    op.flags.abs = flags & 256, op.flags.integer_rounding = flags & 512;
    op.flags.carry_in = flags & 1024, op.flags.carry_out = flags & 2048;
    op.compare = Compare(random() % 18);
    op.bool_op = BoolOp(random() % 4);
    op.variant = std::uint8_t(random() % 4);
    if (op.op == Op::prmt) op.variant = std::uint8_t(random() % 7);
    op.immediate = std::int64_t(random() % 256);
    const program::OpTraits& row = program::traits(op.op);
    op.destinations = std::uint16_t(row.destinations >= 0 ? row.destinations : 1 + int(random() % 2));
    op.sources = std::uint16_t(row.sources >= 0 ? row.sources : 2 + int(random() % 2));
    const bool whole = op.type != DataType::none && op.source_type != DataType::none;
    if (op.op == Op::unpack && whole)
        op.destinations = std::uint16_t(program::bits(op.source_type) / program::bits(op.type)), op.sources = 1;
    if (op.op == Op::pack && whole)
        op.destinations = 1, op.sources = std::uint16_t(program::bits(op.type) / program::bits(op.source_type));
    if (op.op == Op::cvt) op.sources = std::uint16_t(1 + random() % 5);
    if (op.op == Op::cvt_pack) op.destinations = 1, op.vector = std::uint8_t(2 << (random() % 4));
    if (op.op == Op::set) op.destinations = 1;
    if (op.op == Op::add_carry || op.op == Op::sub_carry || op.op == Op::mad_carry)
        op.destinations = 1 + op.flags.carry_out, op.sources = std::uint16_t(op.sources + op.flags.carry_in);
    if (op.op == Op::lop3 && op.bool_op != BoolOp::none) op.destinations = 2, op.sources = 4;
    return op;
}

/// Whether what a body reads by number is there: the predicates of .BoolOp.
bool complete(const MicroOp& op) {
    if (op.op == Op::setp || op.op == Op::set) return op.sources == (op.bool_op == BoolOp::none ? 2 : 3);
    return op.destinations > 0;
}

void run(const MicroOp& op, LaneFunction body, Machine& machine, LaneMask active,
         const std::vector<std::uint32_t>& places, const std::vector<LaneMask>& inverts) {
    Decoded decoded;
    decoded.op = &op;
    decoded.places = places.data(), decoded.inverts = inverts.data();
    const std::uint32_t* source = places.data() + op.destinations;
    decoded.d = places[0];
    if (op.sources > 0) decoded.a = source[0];
    if (op.sources > 1) decoded.b = source[1];
    if (op.sources > 2) decoded.c = source[2];
    body(decoded, machine.rows, machine.predicates, active);
}

TEST(AluTargets, AgreeOnRandomOperations) {
    const std::uint64_t seed = 20;
    std::mt19937_64 random(seed);
    const auto targets = alu::targets();
    std::map<Op, std::set<DataType>> reached;
    for (int round = 0; round < 400000; ++round) {
        const MicroOp op = any_operation(random);
        if (op.type == DataType::none || op.source_type == DataType::none || !complete(op)) continue;
        const LaneFunction baseline = targets[0].choose(op);
        for (const alu::Target& target : targets)
            ASSERT_EQ(target.choose(op) == nullptr, baseline == nullptr) << target.name;
        if (baseline == nullptr) continue;
        reached[op.op].insert(op.type);

        // Places that the operands' rows share, as registers whose lives have ended and begun do.
        std::vector<std::uint32_t> places;
        for (int i = 0; i < op.destinations + op.sources; ++i) places.push_back(2 + std::uint32_t(random() % 40));
        // Destinations of one operation are different registers.
        for (int i = 0; i < op.destinations; ++i) places[std::size_t(i)] = 2 + std::uint32_t(4 * i + int(random() % 2));
        std::vector<LaneMask> inverts;
        for (std::size_t i = 0; i < places.size(); ++i) inverts.push_back(random() % 2 == 0 ? 0 : all_lanes);
        const LaneMask active = random() % 3 == 0   ? all_lanes
                                : random() % 3 == 0 ? LaneMask(1u << (random() % 32))
                                                    : LaneMask(random());

        Machine first(random);
        const Machine before = first;
        run(op, baseline, first, active, places, inverts);
        for (const alu::Target& target : targets.subspan(1)) {
            Machine other = before;
            run(op, target.choose(op), other, active, places, inverts);
            ASSERT_TRUE(other == first) << target.name << " " << program::traits(op.op).name << "."
                                        << program::traits(op.type).name << "." << program::traits(op.source_type).name
                                        << " round " << round << " seed " << seed;
        }
        // Nothing but the destinations' active lanes changes. A destination is at most four rows.
        for (std::uint32_t place = 0; place < Machine::places; ++place) {
            bool destination = false;
            for (int i = 0; i < op.destinations; ++i)
                destination |= place >= places[std::size_t(i)] && place < places[std::size_t(i)] + 4;
            const bool same = std::memcmp(&before.rows[place], &first.rows[place], sizeof(Row)) == 0;
            ASSERT_TRUE(same || destination) << program::traits(op.op).name << " wrote row " << place;
            ASSERT_EQ((before.predicates[place] ^ first.predicates[place]) & ~active, 0u)
                << program::traits(op.op).name;
        }
    }
    // All that have bodies were met, the arithmetic ones in several types.
    EXPECT_GE(reached.size(), 55u);
    EXPECT_GE(reached[Op::add].size(), 12u);
    EXPECT_GE(reached[Op::cvt].size(), 20u);
}

/// The body that the interpreter gets is the best target's.
TEST(AluTargets, TheBestIsChosen) {
    const Case add(Op::add, DataType::f32, 2);
    EXPECT_EQ(lane_function(add.op), alu::targets().back().choose(add.op));
    EXPECT_EQ(alu::targets().front().name, std::string("baseline"));
}

TEST(AluTargets, OthersHaveNoBody) {
    for (const Op op : {Op::ld, Op::st, Op::shfl, Op::bra, Op::special, Op::cvta, Op::nanosleep, Op::fence, Op::mma})
        EXPECT_EQ(lane_function(Case(op, DataType::u32, 1).op), nullptr) << program::traits(op).name;
    EXPECT_EQ(lane_function(Case(Op::add, DataType::b32, 2).op), nullptr);
    EXPECT_EQ(lane_function(Case(Op::sin, DataType::f64, 1).op), nullptr);
}

}  // namespace
}  // namespace tilepath::exec::alu_test
