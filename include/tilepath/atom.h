#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tilepath/diagnostic.h>
#include <tilepath/layout.h>

namespace tilepath {

/// Where an element lies in registers; `bit` is its lowest, counted from the register's lowest.
struct RegisterPlace {
    int lane = 0, reg = 0, bit = 0;

    friend bool operator==(const RegisterPlace&, const RegisterPlace&) = default;
};

/// An element of an operand. `block` counts the independent matrices of f16's m8n8k4; otherwise 0.
struct Element {
    int row = 0, column = 0, block = 0;

    friend bool operator==(const Element&, const Element&) = default;
};

/// An operand of a Tensor-Core instruction that lies in the registers of a warp.
struct Fragment {
    std::string operand;  ///< "A" (m × k), "B" (k × n), "C", "D" (m × n)
    std::string type;     ///< "f16", "s8", …
    int blocks = 1, rows = 0, columns = 0;
    int element_bits = 0;                    ///< of an element's field in the register
    int registers = 0, register_bits = 32;   ///< per lane
    Layout layout;                           ///< (block, row, column) to laneid, reg, bit

    /// Who holds the element; empty outside the matrix.
    std::vector<RegisterPlace> holders(const Element& element) const;
    /// The element whose field covers that bit; nothing for bits that hold none.
    std::optional<Element> held(const RegisterPlace& place) const;
};

/// D = A B + C by one warp.
struct MmaAtom {
    std::string name;  ///< "m16n8k16.row.col.f32.f16.f16.f32"
    int m = 0, n = 0, k = 0;
    int minimum_sm = 80;  ///< the first architecture that has it: 80 for sm_80
    Fragment a, b, c, d;
};

/// The mma.sync of that name as PTX writes it, "mma.sync.aligned." or not in front: "m16n8k16.row.col.f32.f16.f16.f32",
/// types in the order D, A, B, C. The error names the rule that it breaks.
Result<MmaAtom> mma_sync(std::string_view name);
/// The names of all there are.
std::vector<std::string> mma_sync_names();

}  // namespace tilepath
