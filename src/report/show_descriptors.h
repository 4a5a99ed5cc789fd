#pragma once
#include <optional>
#include <string>
#include <vector>

#include "atom/blackwell.h"
#include "base/result.h"
#include "report/sheet.h"
#include "report/view.h"

namespace tilepath::report {

/// How a matrix is to be shown: shared by all that show one.
struct ViewQuestion {
    std::vector<std::string> elements;
    std::optional<int> lane;
    bool table = false, formula = false, layout = false;
    Colour colour = Colour::automatic;

    bool asks() const { return !elements.empty() || lane || table || formula || layout; }
};
/// Adds what is asked of a matrix; its notations if nothing is.
Result<void> add_view(Sheet& sheet, const View& view, const ViewQuestion& question);

/// A 64-bit descriptor of a shared operand: decoded from `bits`, or encoded from the tile.
struct DescriptorQuestion {
    std::optional<std::string> bits;  ///< 0x…
    std::string arch = "sm_90a";      ///< sm_90a: wgmma's; sm_100a, sm_103a: tcgen05's
    atom::OperandMajor major = atom::OperandMajor::k;
    layout::SwizzleMode swizzle = layout::SwizzleMode::b128;  ///< to encode
    std::string dtype = "f16";
    std::optional<std::string> tile;  ///< mn × k: `64x64`
    std::uint32_t start_bytes = 0;    ///< to encode
    ViewQuestion view;
};
Result<Sheet> descriptor_sheet(const DescriptorQuestion& question);

/// tcgen05's instruction descriptor: decoded (0x…), or encoded from an instruction's name.
struct InstructionDescriptorQuestion {
    std::string text;
    std::string kind = "f16";
    int cta_group = 1;
    bool weight_stationary = false;
    bool a_mn_major = false, b_mn_major = false;

    bool decodes() const { return text.starts_with("0x") || text.starts_with("0X"); }
};
Result<Sheet> instruction_descriptor_sheet(const InstructionDescriptorQuestion& question);

/// The zero-column mask of tcgen05.mma.ws and the columns that it zeroes.
Result<Sheet> zero_column_mask_sheet(const std::string& bits, int m, int n);

/// Tensor Memory: the lanes of each warp, and what an address says.
Result<Sheet> tensor_memory_sheet(const std::optional<std::string>& address);

struct ScaleFactorQuestion {
    std::string vector = "1X";
    int id = 0, rows = 128;
    bool split = false;
    ViewQuestion view;
};
Result<Sheet> scale_factor_sheet(const ScaleFactorQuestion& question);

/// A descriptor's fields as a table, and what is wrong with it; the sheet disagrees if something is.
Listing listing_of(const std::vector<atom::FieldText>& fields);
void add_findings(Sheet& sheet, const Diagnostics& findings);

/// `0x1f` or decimal, of at most so many bits.
Result<std::uint64_t> read_bits(const std::string& text, int bits);

}  // namespace tilepath::report
