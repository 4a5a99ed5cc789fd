// docs/layouts.md, line by line: what its blocks claim must evaluate so.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "layout/composed.h"
#include "layout/linear.h"
#include "small_layouts.h"

namespace tilepath::layout {
namespace {

ComposedLayout read(const std::string& text) {
    if (text.starts_with("bits[")) {
        auto bits = parse_linear(text);
        EXPECT_TRUE(bits) << (bits ? "" : to_string(bits.error()));
        return bits ? bits->to_layout().value_or(ComposedLayout()) : ComposedLayout();
    }
    auto layout = parse_composed(text);
    EXPECT_TRUE(layout) << (layout ? "" : to_string(layout.error()));
    return layout ? *layout : ComposedLayout();
}

std::string places(const std::vector<Location>& all) {
    std::string text;
    for (const Location& place : all) {
        if (!text.empty()) text += " | ";
        text += to_string(place);
    }
    return text;
}

std::vector<std::int64_t> coordinate(std::string text) {
    std::ranges::replace(text, ',', ' ');
    std::istringstream in(text.substr(1, text.size() - 2));
    std::vector<std::int64_t> all;
    for (std::int64_t x = 0; in >> x;) all.push_back(x);
    return all;
}

void check(const std::string& line) {
    if (std::size_t same = line.find(" == "); same != std::string::npos) {
        EXPECT_TRUE(*equal(read(line.substr(0, same)), read(line.substr(same + 4)))) << line;
        return;
    }
    std::size_t at = line.find(" at "), is = line.find(" = ", at);
    ASSERT_TRUE(at != std::string::npos && is != std::string::npos) << line;
    ComposedLayout layout = read(line.substr(0, at));
    auto evaluated = layout.evaluate(coordinate(line.substr(at + 4, is - at - 4)), layout.shape());
    ASSERT_TRUE(evaluated) << line;
    EXPECT_EQ(places(*evaluated), line.substr(is + 3)) << line;
}

TEST(Document, EveryLineOfLayoutsHolds) {
    std::ifstream in(TILEPATH_TEST_DIR "/../docs/layouts.md");
    int lines = 0;
    bool inside = false;
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with("```")) {
            inside = line == "```layout";
        } else if (inside) {
            check(line);
            ++lines;
        }
    }
    EXPECT_GE(lines, 10);
}

TEST(Document, TheTableOfSwizzlesIsTheCodes) {
    std::ifstream in(TILEPATH_TEST_DIR "/../docs/layouts.md");
    std::ostringstream all;
    all << in.rdbuf();
    for (const SwizzleTraits& row : all_swizzle_modes()) {
        if (!row.tensor_map || row.mode == SwizzleMode::none) continue;
        auto cell = [](std::optional<int> code) { return code ? fmt::format(" {} |", *code) : std::string(" |"); };
        std::string period = fmt::format("{}{}", row.pattern_bytes, row.mode == SwizzleMode::b32 ? " bytes" : "");
        std::string swizzle = row.mode == SwizzleMode::b128_atom_32b_flip_8b
                                  ? "and 8-byte halves of odd lines swapped"
                                  : fmt::format("`{}`", to_string(row.bytes));
        std::string line = "| " + std::string(row.name) + " | " + swizzle + " | " + period + " |" +
                           cell(row.tensor_map) + cell(row.wgmma) + cell(row.tcgen05);
        EXPECT_NE(all.str().find(line), std::string::npos) << line;
    }
}

}  // namespace
}  // namespace tilepath::layout
