#include "atom/rules.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace tilepath::atom {
namespace {

using layout::Axis;
using layout::Iter;
using layout::Layout;
using layout::Mode;
using number::Format;

Fragment fragment(std::string operand, int rows, int columns, Format format, Packing packing, Mode row, Mode column) {
    std::vector<layout::AxisOffset> offset;
    if (packing.offset != 0) offset.push_back({packing.offset, Axis::bit});
    for (Mode* mode : {&row, &column}) std::erase_if(*mode, [](const Iter& iter) { return iter.extent == 1; });
    for (Mode* mode : {&row, &column})
        if (mode->empty()) mode->push_back({});
    Result<Layout> layout = Layout::make({{{1, 0}}, std::move(row), std::move(column)}, {}, std::move(offset));
    TILEPATH_ASSERT(layout, "a fragment rule made a malformed layout");
    Fragment made;
    made.operand = std::move(operand);
    made.rows = rows;
    made.columns = columns;
    made.format = format;
    made.element_bits = packing.bits;
    made.register_bits = packing.register_bits;
    made.layout = *std::move(layout);
    TILEPATH_ASSERT(made.layout.size() == made.elements(), "a fragment rule of another size");
    std::int64_t registers = 1;
    for (const Iter& iter : made.layout.digits())
        if (iter.axis == Axis::reg) registers += (iter.extent - 1) * iter.stride;
    made.registers = static_cast<int>(registers);
    return made;
}

}  // namespace

bool has(const std::vector<Format>& formats, Format format) {
    return std::ranges::find(formats, format) != formats.end();
}

std::string names(const std::vector<Format>& formats) {
    std::string text;
    for (const Format format : formats) text.append(text.empty() ? "" : ", ").append(number::traits(format).name);
    return text;
}

Packing packed(Format format) {
    if (format == Format::f64) return {64, 64, 0, 64};
    if (format == Format::tf32) return {32, 32, 0, 32};
    int bits = number::traits(format).bits;
    return {bits == 6 ? 8 : bits, bits, 0, 32};
}

Packing in_bytes(Format format) {
    int bits = number::traits(format).bits;
    return {8, bits, format == Format::e2m1 ? 2 : 0, 32};
}

Fragment a_fragment(int m, int k, Format format, Packing packing) {
    int per_register = packing.register_bits / packing.pitch;
    int halves = m >= 16 ? 2 : 1, columns = k / (4 * per_register);
    Mode row{{m / (8 * halves), halves * columns, Axis::reg}, {halves, 1, Axis::reg}, {8, 4, Axis::laneid}};
    Mode column{{columns, halves, Axis::reg}, {4, 1, Axis::laneid}, {per_register, packing.pitch, Axis::bit}};
    return fragment("A", m, k, format, packing, std::move(row), std::move(column));
}

Fragment b_fragment(int k, int n, Format format, Packing packing) {
    int per_register = packing.register_bits / packing.pitch;
    int registers = k / (4 * per_register);
    Mode row{{registers, 1, Axis::reg}, {4, 1, Axis::laneid}, {per_register, packing.pitch, Axis::bit}};
    Mode column{{n / 8, registers, Axis::reg}, {8, 4, Axis::laneid}};
    return fragment("B", k, n, format, packing, std::move(row), std::move(column));
}

Fragment c_fragment(std::string operand, int m, int n, Format format) {
    Packing packing = packed(format);
    int halves = m >= 16 ? 2 : 1, row_registers = packing.pitch == 16 ? 1 : 2;  // that a row of eight columns fills
    int block = halves * row_registers * (n / 8);
    Mode row{{m / (8 * halves), block, Axis::reg}, {halves, row_registers, Axis::reg}, {8, 4, Axis::laneid}};
    Iter pair = packing.pitch == 16 ? Iter{2, 16, Axis::bit} : Iter{2, 1, Axis::reg};
    Mode column{{n / 8, halves * row_registers, Axis::reg}, {4, 1, Axis::laneid}, pair};
    return fragment(std::move(operand), m, n, format, packing, std::move(row), std::move(column));
}

Fragment transposed(const Fragment& fragment, std::string operand) {
    const std::vector<Mode>& modes = fragment.layout.shard();
    Result<Layout> layout =
        Layout::make({modes[0], modes[2], modes[1]}, fragment.layout.replica(), fragment.layout.offset());
    TILEPATH_ASSERT(layout, "a transposed fragment is malformed");
    Fragment made = fragment;
    made.operand = std::move(operand);
    std::swap(made.rows, made.columns);
    made.layout = *std::move(layout);
    return made;
}

}  // namespace tilepath::atom
