#include "base/diagnostic.h"

#include <gtest/gtest.h>

#include "base/source.h"

namespace tilepath {
namespace {

TEST(Diagnostic, ShowsLineColumnSourceLineAndCaret) {
    Source source("a.ptx", "first\n  add.f33 %f1;\n");
    Diagnostic diagnostic{Severity::error, "unknown type '.f33'", source.place({11, 15}), {"expected f32 or f64"}};
    EXPECT_EQ(to_string(diagnostic),
              "a.ptx:2:6: error: unknown type '.f33'\n"
              "    2 |   add.f33 %f1;\n"
              "      |      ^~~~\n"
              "      = expected f32 or f64\n");
}

TEST(Diagnostic, LongLinesShowAWindowAroundTheColumn) {
    Source source("a.ptx", std::string(5000, 'x') + "!" + std::string(5000, 'x'));
    std::string text = to_string(Diagnostic{Severity::error, "m", source.place({5000, 5001}), {}});
    EXPECT_LT(text.size(), 400u);
    std::size_t shown = text.find('!'), caret = text.find('^');
    ASSERT_NE(shown, std::string::npos);
    EXPECT_EQ(shown - text.rfind('\n', shown), caret - text.rfind('\n', caret));
}

TEST(Source, PlacesAtTheEndOfTheText) {
    Source source("a", "x\r\ny");
    EXPECT_EQ(source.line_text(1), "x");
    EXPECT_EQ(source.place({4, 4}).line, 2u);
    EXPECT_EQ(source.place({4, 4}).column, 2u);
    EXPECT_EQ(Source("empty", "").place({0, 0}).line, 1u);
}

}  // namespace
}  // namespace tilepath
