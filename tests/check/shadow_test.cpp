// How the checks' shadows keep origins, and how events reach the checks on their thread.
#include "check/provenance/shadow.h"

#include <gtest/gtest.h>

#include "check/provenance/regular_operand.h"
#include "check/relay.h"
#include "small_kernel.h"

namespace tilepath::check {
namespace {

Word follows(Origin first) { return {first, first.byte(1), first.byte(2), first.byte(3)}; }

Words words_of(std::size_t count) {
    Words out;
    out.resize(count, {});
    return out;
}

TEST(Words, KeepEveryWordAsItWas) {
    const Origin a = Origin::memory(0x7f0012345678), sum = Origin::sum(3, 5, 7), element = Origin::element(0x1000);
    const Origin next = Origin::sum(3, 6, 7), far = Origin::sum(3, 9, 7);
    const Word all[] = {
        {},
        follows(Origin::zero()),
        follows(Origin::unwritten()),
        follows(a),
        follows(sum),
        follows(element),
        follows(sum.byte(4)),                            // the upper half of 8 bytes
        {sum, sum.byte(1), next, next.byte(1)},          // two f16 of D, neighbours
        {sum, sum.byte(1), far, far.byte(1)},            // no neighbours
        {a, a.byte(1), Origin::zero(), Origin::zero()},  // a 16-bit load
        {a.byte(2), a.byte(1), a, a},                    // bytes in another order
    };
    Words words = words_of(std::size(all));
    for (std::size_t round = 0; round < 2; ++round) {  // the second time over others
        for (std::size_t i = 0; i < std::size(all); ++i) words.set(i, all[(i + 3 * round) % std::size(all)]);
        for (std::size_t i = 0; i < std::size(all); ++i) {
            const Word& is = all[(i + 3 * round) % std::size(all)];
            EXPECT_EQ(words.word(i), is) << i;
            for (std::size_t b = 0; b < 4; ++b) EXPECT_EQ(words.byte(4 * i + b), is[b]) << i << ' ' << b;
        }
    }
    Words copy = words_of(std::size(all));
    for (std::size_t i = 0; i < std::size(all); ++i) copy.take(i, words, i);
    for (std::size_t i = 0; i < std::size(all); ++i) EXPECT_EQ(copy.word(i), words.word(i)) << i;
}

TEST(Words, RoomOfWordsApartIsUsedAgain) {
    Words words = words_of(8);
    const Origin a = Origin::memory(64);
    const auto apart = [&](std::uint64_t i) { return Word{a, a, Origin::memory(i), a}; };
    for (std::uint64_t i = 0; i < 8; ++i) words.set(i, apart(i));
    const std::size_t bytes = words.bytes();
    for (std::uint64_t round = 0; round < 100; ++round)
        for (std::uint64_t i = 0; i < 8; ++i) words.set(i, follows(a)), words.set(i, apart(round));
    EXPECT_LE(words.bytes(), bytes + 64);
    EXPECT_EQ(words.word(3), apart(99));
}

TEST(MemoryShadow, BytesAndWordsAreTheSameMemory) {
    MemoryShadow memory;
    const MemoryShadow::Cta cta{1, 0};
    std::array<Origin, 8> bytes{};
    memory.read_global(4094, 8, bytes.data());  // nobody has written it, over two pages
    for (std::uint64_t i = 0; i < 8; ++i) EXPECT_EQ(bytes[i], Origin::memory(4094 + i));
    memory.write_shared(cta, 6, 8, bytes.data());
    std::array<Origin, 12> read{};
    memory.read_shared(cta, 4, 12, read.data());
    EXPECT_EQ(read[1], Origin::unwritten());
    for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(read[i + 2], bytes[i]);
    EXPECT_EQ(read[10], Origin::unwritten());
    const std::uint64_t version = memory.version(cta);
    memory.copy_in(cta, 16, 8192, 8, 16);
    EXPECT_GT(memory.version(cta), version);
    Words words = words_of(4);
    memory.read_shared(cta, 16, 4, words, 0);
    EXPECT_EQ(words.word(1), follows(Origin::memory(8196)));
    EXPECT_EQ(words.word(2), follows(Origin::zero()));
    memory.write_global(4096 - 8, 4, words, 0);
    memory.read_global(4096, 4, bytes.data());
    EXPECT_EQ(bytes[0], Origin::zero());
    memory.read_global(4096 - 4, 4, bytes.data());
    EXPECT_EQ(bytes[3], Origin::memory(8199));
}

/// A, four rows of eight 16-bit elements; B, two of them.
Product small_product(bool in_rows) {
    const auto matrix = [in_rows](ProductMatrix::Role role, machine::Address base, std::uint32_t rows) {
        ProductMatrix out;
        out.role = role, out.base = base, out.unit_bytes = 2;
        for (std::uint32_t i = 0; i < rows * 8; ++i) out.units.push_back({i / 8, i % 8});
        if (in_rows) out.find_rows();
        return out;
    };
    Product out;
    out.matrices = {matrix(ProductMatrix::Role::a, 0x1000, 4), matrix(ProductMatrix::Role::b, 0x2000, 2)};
    return out;
}

/// An operand of two rows of four elements, each two words, from these words.
RegularOperand read_two_rows(const Product& product, const std::array<Word, 4>& from) {
    Words words = words_of(4);
    for (std::size_t i = 0; i < 4; ++i) words.set(i, from[i]);
    RegularReader reader(product, 2, 4, 16);
    const auto runs = runs_of(2, 4, 16, [](int row, int column) { return (row * 4 + column) * 16; });
    for (const ElementRun& run : runs)
        if (!reader.add(run, [&](std::int32_t i) { return words.packed(static_cast<std::size_t>(i)); })) return {};
    return reader.take();
}

class Regular : public testing::TestWithParam<bool> {};

TEST_P(Regular, IsRowsOfOneMatrixWithEqualK) {
    const Product product = small_product(GetParam());
    const auto at = [](machine::Address address) { return follows(Origin::memory(address)); };
    const RegularOperand a = read_two_rows(product, {at(0x1008), at(0x100c), at(0x1038), at(0x103c)});
    ASSERT_TRUE(a.holds());
    EXPECT_EQ(a.rows, (std::vector<std::uint32_t>{0, 3}));
    EXPECT_EQ(a.k, 4u);
    EXPECT_FALSE(read_two_rows(product, {at(0x1008), at(0x100c), at(0x1034), at(0x1038)}).holds());  // another k
    EXPECT_FALSE(read_two_rows(product, {at(0x1008), at(0x1018), at(0x1038), at(0x103c)}).holds());  // two rows in one
    EXPECT_FALSE(read_two_rows(product, {at(0x100c), at(0x1010), at(0x103c), at(0x1040)}).holds());  // over a row's end
    EXPECT_FALSE(read_two_rows(product, {at(0x1008), at(0x100c), at(0x2008), at(0x200c)}).holds());  // two matrices
    EXPECT_FALSE(read_two_rows(product, {at(0x1009), at(0x100d), at(0x1039), at(0x103d)}).holds());  // between elements
    EXPECT_FALSE(read_two_rows(product, {at(0x1008), {}, at(0x1038), at(0x103c)}).holds());
    const RegularOperand b = read_two_rows(product, {at(0x2008), at(0x200c), at(0x2018), at(0x201c)});
    ASSERT_TRUE(b.holds());
    const RegularRows rows_a{a.rows, &a}, rows_b{b.rows, &b};
    const std::uint32_t m[] = {0, 3}, other[] = {0, 2}, n[] = {0, 1};
    EXPECT_EQ(regular_product(rows_a, rows_b, {}, {}), (KSets::Range{4, 8}));
    EXPECT_EQ(regular_product(rows_a, rows_b, m, n), (KSets::Range{4, 8}));
    EXPECT_FALSE(regular_product(rows_a, rows_b, other, n));
    EXPECT_FALSE(regular_product(rows_a, rows_b, m, other));
    EXPECT_FALSE(regular_product(rows_b, rows_a, {}, {}));
    const RegularOperand early = read_two_rows(product, {at(0x2000), at(0x2004), at(0x2010), at(0x2014)});
    EXPECT_FALSE(regular_product(rows_a, {early.rows, &early}, {}, {}));
}

INSTANTIATE_TEST_SUITE_P(Units, Regular, testing::Bool(),
                         [](const auto& each) { return each.param ? "InRows" : "OneByOne"; });

TEST(ProductMatrix, StretchesAreTheSameWhereRowsAreFound) {
    constexpr std::uint32_t rows = 5, length = 6, pitch = 8;  // two units of padding behind each row
    ProductMatrix matrix;
    matrix.unit_bytes = 1, matrix.elements_per_unit = 2;
    for (std::uint32_t i = 0; i < rows * pitch; ++i)
        matrix.units.push_back(i % pitch < length ? ProductMatrix::Place{i / pitch, i % pitch * 2}
                                                  : ProductMatrix::Place{});
    ProductMatrix quick = matrix;
    quick.find_rows();
    for (std::uint64_t first = 0; first < rows * pitch; ++first)
        for (std::uint64_t count = 1; count < pitch + 2; ++count) {
            const bool inside = first % pitch + count <= length;
            EXPECT_EQ(quick.stretch(first, count), inside ? matrix.units[first] : ProductMatrix::Place{});
            EXPECT_EQ(matrix.stretch(first, count).row == ProductMatrix::Place::nowhere, !inside) << first << count;
        }
    std::swap(matrix.units[3], matrix.units[4]);
    matrix.find_rows();
    EXPECT_EQ(matrix.stretch(3, 2), ProductMatrix::Place{});
    EXPECT_EQ(matrix.stretch(8, 6), matrix.units[8]);
}

/// What comes, as text.
struct Scribe : machine::Observer {
    std::string text;
    void access(const machine::Access& event) override {
        text += fmt::format("access {} {} {}", event.site.warp, event.site.lanes, event.bytes);
        for (const machine::Address each : event.addresses) text += fmt::format(" {:x}", each);
        text += "\n";
    }
    void copy_issued(const machine::Copy& event) override { text += fmt::format("copy {:x}\n", event.destination); }
    void barrier(const machine::BarrierEvent& event) override {
        text += fmt::format("barrier {} {}\n", int(event.kind), event.generation);
    }
    void bulk_issued(const machine::BulkCopy& event) override { text += fmt::format("bulk {}\n", event.bytes); }
    void cta_ends(const machine::CtaEvent& event) override { text += fmt::format("end {}\n", event.cta); }
};

TEST(Relay, HandsOnEveryEventInOrder) {
    // Enough for several blocks, then for none.
    for (const int times : {2000, 1}) {
        const std::string body = fmt::format(R"(
    mov.u32 %r10, 0;
    mad.lo.u32 %r11, %r1, 16, %r2;
    mul.wide.u32 %rd2, %r1, 16;
    add.s64 %rd3, %rd1, %rd2;
LOOP:
    cp.async.cg.shared.global [%r11], [%rd3], 16;
    cp.async.wait_all;
    ld.shared.u32 %r12, [%r11];
    bar.sync 0;
    add.u32 %r10, %r10, 1;
    setp.lt.u32 %p3, %r10, {};
    @%p3 bra LOOP;
)",
                                             times);
        Scribe direct, relayed;
        Relay relay;
        relay.add(relayed);
        machine::Tee both;
        both.add(direct), both.add(relay);
        findings_of(body, {.ctas = 2, .also = &both});
        relay.drain();
        EXPECT_EQ(direct.text, relayed.text);
        EXPECT_GE(direct.text.size(), std::size_t(times) * 100);
    }
}

}  // namespace
}  // namespace tilepath::check
