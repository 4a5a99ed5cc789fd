// atom/: what each tensor instruction reads and writes, as data: layouts of its operands over lanes, registers and
// bits, and codecs of its descriptors. Whoever gathers, scatters, checks or draws reads these tables; no fragment map
// is written elsewhere.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "layout/layout.h"
#include "number/format.h"

namespace tilepath::atom {

/// Which way an operand's rows run: `.row` or `.col` of PTX.
enum class Major : std::uint8_t { row, column };

/// An operand in registers: a matrix whose element (block, row, column) lies in bits of one register of one lane.
struct Fragment {
    std::string operand;                   ///< as the manual names it: "A", "B", "C", "D", "metadata"
    int blocks = 1;                        ///< independent matrices: the four of mma.m8n8k4 (f16), those of ldmatrix
    int rows = 0;                          ///< A: m, B: k, C and D: m
    int columns = 0;                       ///< A: k, B: n, C and D: n
    std::optional<number::Format> format;  ///< none where only bits move
    int element_bits = 0;                  ///< width of an element's field in the register (tf32 32; e3m2 6)
    int registers = 0;                     ///< per thread
    int register_bits = 32;                ///< 64 for f64
    /// (block, row, column) to laneid (wid_in_wg too for a warpgroup's operand), reg, bit. Shape (blocks, rows,
    /// columns).
    layout::Layout layout;

    int elements() const { return blocks * rows * columns; }
    /// Places of each element: more than one only in wmma's f16 operands.
    int copies() const { return static_cast<int>(layout.replicas()); }
};

/// Where one element lies. `bit` counts from the register's lowest bit.
struct ElementPlace {
    std::uint8_t warp = 0;  ///< in the warpgroup; 0 for a warp's operand
    std::uint8_t lane = 0;
    std::uint16_t reg = 0;
    std::uint8_t bit = 0;

    friend bool operator==(const ElementPlace&, const ElementPlace&) = default;
};

/// The place of every element, row-major in (block, row, column): entry `(block * rows + row) * columns + column`.
/// `copy` picks one of an element's places; all copies hold the same value.
std::vector<ElementPlace> places(const Fragment& fragment, int copy = 0);

/// The other way: what each register holds. Entry `(lane * registers + reg) * slots + slot` is the element's number as
/// above, or -1 for a field that holds none; slots are `register_bits / slot_bits` fields from low to high.
struct HeldElements {
    int registers = 0;
    int slots = 0;      ///< fields per register
    int slot_bits = 0;  ///< their pitch: 8 for a 6-bit float in a byte
    std::vector<std::int32_t> elements;

    std::int32_t at(int lane, int reg, int slot) const {
        return elements[static_cast<std::size_t>((lane * registers + reg) * slots + slot)];
    }
};

/// `lane` counts through the warps of a warpgroup: 0 to 127.
HeldElements held(const Fragment& fragment);

}  // namespace tilepath::atom
