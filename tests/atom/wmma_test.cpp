#include "atom/wmma.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <tuple>

namespace tilepath::atom {
namespace {

using enum number::Format;

struct Recorded {
    std::string operand, shape, type, layout;
    int reg = 0, slot = 0;
    std::vector<std::pair<int, int>> element_of_lane;
};

std::vector<Recorded> recorded() {
    std::ifstream in(TILEPATH_TEST_DIR "/vectors/wmma_fragments.txt");
    std::vector<Recorded> all;
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with('#')) continue;
        std::istringstream fields(line);
        Recorded row;
        fields >> row.operand >> row.shape >> row.type >> row.layout >> row.reg >> row.slot;
        char comma = 0;
        for (int r = 0, c = 0; fields >> r >> comma >> c;) row.element_of_lane.emplace_back(r, c);
        all.push_back(row);
    }
    return all;
}

/// The fragment that a recorded line speaks of.
const Fragment* find(const std::vector<WmmaAtom>& atoms, const Recorded& row) {
    number::Format type = *number::format_named(row.type);
    for (const WmmaAtom& atom : atoms) {
        if (to_string(atom.shape) != row.shape) continue;
        if (row.operand == "a" && atom.types.a == type) return &atom.a;
        if (row.operand == "b" && atom.types.b == type) return &atom.b;
        if (row.operand == "c" && atom.types.c == type) return &atom.c;
    }
    return nullptr;
}

TEST(Wmma, FragmentsAreTheRecordedOnes) {
    std::vector<WmmaAtom> atoms = all_wmma();
    std::map<std::tuple<std::string, std::string, std::string, std::string>, int> fields;
    std::vector<Recorded> all = recorded();
    ASSERT_GT(all.size(), 800u);
    for (const Recorded& row : all) {
        const Fragment* fragment = find(atoms, row);
        ASSERT_TRUE(fragment) << row.operand << " " << row.shape << " " << row.type;
        ASSERT_EQ(row.element_of_lane.size(), 32u);
        HeldElements holds = held(*fragment);
        for (int lane = 0; lane < 32; ++lane) {
            auto [r, c] = row.element_of_lane[static_cast<std::size_t>(lane)];
            ASSERT_EQ(holds.at(lane, row.reg, row.slot), r * fragment->columns + c)
                << row.operand << " " << row.shape << " " << row.type << " lane " << lane << " register " << row.reg;
        }
        ++fields[{row.operand, row.shape, row.type, row.layout}];
    }
    // Every operand of every atom was recorded, in every register and field.
    for (const WmmaAtom& atom : atoms) {
        for (auto [name, fragment] : {std::pair{"a", &atom.a}, {"b", &atom.b}, {"c", &atom.c}}) {
            HeldElements holds = held(*fragment);
            std::string type(number::traits(*fragment->format).name);
            int rows = fields[{name, to_string(atom.shape), type, name == std::string("b") ? "col" : "row"}];
            EXPECT_EQ(rows, holds.registers * holds.slots) << atom.name << " " << name;
        }
    }
}

TEST(Wmma, CopiesHoldTheSameElement) {
    auto atom = wmma({32, 8, 16}, {f32, f16, f16, f32});
    ASSERT_TRUE(atom);
    EXPECT_EQ(atom->b.copies(), 4);
    EXPECT_EQ(atom->a.copies(), 1);
    HeldElements holds = held(atom->b);
    for (int copy = 0; copy < 4; ++copy) {
        std::vector<ElementPlace> where = places(atom->b, copy);
        for (std::size_t element = 0; element < where.size(); ++element) {
            ElementPlace at = where[element];
            EXPECT_EQ(at.reg / 2, copy);
            EXPECT_EQ(holds.at(at.lane, at.reg, at.bit / 16), static_cast<int>(element));
        }
    }
}

TEST(Wmma, BadCombinationsNameTheRule) {
    auto message = [](Shape shape, MmaTypes types) {
        auto atom = wmma(shape, types);
        return atom ? "legal" : atom.error().front().message;
    };
    EXPECT_EQ(message({16, 8, 16}, {f32, f16, f16, f32}), "f16 wmma has no shape m16n8k16");
    EXPECT_EQ(message({16, 16, 16}, {s32, s8, u8, s32}), "wmma wants A and B of one type, found s8 and u8");
    EXPECT_EQ(message({16, 16, 16}, {f16, bf16, bf16, f32}), "bf16 wmma accumulates in f32, found D f16 and C f32");
    EXPECT_EQ(message({16, 16, 16}, {f32, e4m3, e4m3, f32}), "wmma multiplies no e4m3 matrices");
    EXPECT_EQ(message({16, 16, 16}, {f16, f16, f16, f32}), "legal");
}

}  // namespace
}  // namespace tilepath::atom
