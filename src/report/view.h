#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "layout/composed.h"
#include "report/sheet.h"

namespace tilepath::report {

/// Columns (of the last dimension) from `begin` on that a layout of their own places.
struct ViewPart {
    std::int64_t begin = 0;
    layout::ComposedLayout layout;
};

/// A matrix and where its elements lie: whatever `show` and `layout` are asked about. Everything below is read off the
/// layout, by evaluating it.
struct View {
    std::string name;                     ///< "A"
    std::vector<std::string> dimensions;  ///< "m", "k"
    std::vector<std::int64_t> shape;
    layout::ComposedLayout layout;  ///< of that many elements
    int element_bits = 0;           ///< 0: not known
    bool bytes = false;             ///< the axis m counts bytes of shared memory, so that banks mean something
    std::vector<ViewPart> more;     ///< further columns: factors in the next cell, an operand's second buffer
    std::int64_t after = 0;         ///< bytes to add after the swizzle: less than 0 where a pattern has a phase

    std::string coordinate_text(std::int64_t element) const;
    std::int64_t size() const;
    bool uses(layout::Axis axis) const;
    /// All places of an element.
    std::vector<layout::Location> at(std::int64_t element) const;
    Result<std::vector<layout::Location>> evaluate(std::span<const std::int64_t> coordinate) const;
    /// Each part as a view of its own; the matrix itself where it is in one.
    std::vector<View> parts() const;
};

/// What a square's colour stands for.
enum class Colour : std::uint8_t { automatic, lane, reg, bank };

/// `lane 6, register 1, bits 16-31`; `byte 4752 = 0x1290, bank 4`; `TMEM lane 5, column 7, bits 24-31`.
std::string place_words(const View& view, const layout::Location& place);
/// `T6 r1 b16`, for squares of a picture.
std::string place_short(const View& view, const layout::Location& place);

/// Who holds an element: a sentence per place, and its numbers.
Result<void> add_element(Sheet& sheet, const View& view, std::span<const std::int64_t> coordinate);
/// Everything that a lane (of the warpgroup: 0 to 127; of Tensor Memory, where the operand lies there) holds.
Result<void> add_lane(Sheet& sheet, const View& view, std::int64_t lane);
/// The matrix with each element's place, and the places with their elements.
Result<void> add_tables(Sheet& sheet, const View& view, Colour colour);
/// Coordinates to places and back, as arithmetic.
void add_formulae(Sheet& sheet, const View& view);
/// The layout as S + R + O, CuTe's tree, and bases over bits, or why it has no such form.
void add_notations(Sheet& sheet, const View& view);

}  // namespace tilepath::report
