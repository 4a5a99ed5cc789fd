// tcgen05's instruction descriptor and zero-column mask, Tensor Memory and scale factors in it.
#include <fmt/format.h>

#include "atom/instruction.h"
#include "report/show_descriptors.h"
#include "report/show_operands.h"

namespace tilepath::report {

Result<Sheet> instruction_descriptor_sheet(const InstructionDescriptorQuestion& question) {
    Sheet sheet;
    if (!question.decodes()) {
        const auto instruction = atom::instruction_named(question.text);
        if (!instruction) return std::unexpected(instruction.error());
        const auto* mma = std::get_if<atom::Tcgen05Mma>(&instruction->atom);
        if (!mma)
            return fail(fmt::format("{} has no instruction descriptor", instruction->name), "only tcgen05.mma has one");
        const auto major = [](bool mn) { return mn ? atom::OperandMajor::mn : atom::OperandMajor::k; };
        const atom::InstructionDescriptor d =
            atom::instruction_descriptor(*mma, major(question.a_mn_major), major(question.b_mn_major));
        const auto word = atom::encode(d);
        if (!word) return std::unexpected(word.error());
        Facts facts;
        facts.add("descriptor", fmt::format("0x{:08x}", *word));
        facts.add("of", mma->name);
        sheet.add("descriptor", "", std::move(facts));
        sheet.add("fields", "", listing_of(atom::fields(d)));
        return sheet;
    }
    const auto kind = atom::tcgen05_kind_named(question.kind);
    if (!kind)
        return fail(fmt::format("tcgen05.mma has no kind::{}", question.kind),
                    "kinds: f16 tf32 f8f6f4 i8 mxf8f6f4 mxf4 mxf4nvf4");
    const auto bits = read_bits(question.text, 32);
    if (!bits) return std::unexpected(bits.error());
    const auto d = atom::decode_instruction_descriptor(static_cast<std::uint32_t>(*bits), *kind);
    sheet.title = fmt::format("0x{:08x}, an instruction descriptor of tcgen05.mma.kind::{}", *bits, question.kind);
    sheet.add("fields", "", listing_of(atom::fields(d)));
    const auto mma = atom::described(d, question.cta_group, question.weight_stationary);
    if (mma) {
        Facts facts;
        facts.add("describes", mma->name);
        sheet.add("describes", "", std::move(facts));
    }
    add_findings(sheet, mma ? Diagnostics{} : mma.error());
    return sheet;
}

Result<Sheet> zero_column_mask_sheet(const std::string& text, int m, int n) {
    const auto bits = read_bits(text, 64);
    if (!bits) return std::unexpected(bits.error());
    const atom::ZeroColumnMask mask = atom::decode_zero_column_mask(*bits);
    const auto zeroed = atom::zeroed_columns(mask, m, n);
    if (!zeroed) return std::unexpected(zeroed.error());
    Sheet sheet;
    sheet.title = fmt::format("0x{:016x}, a zero-column mask for m {}, n {}", *bits, m, n);
    sheet.add("fields", "", listing_of(atom::fields(mask)));
    const int parts = 128 / m, width = n / parts;
    Grid picture = grid("part", parts, "column", width);
    picture.shade_name = "0 used, 1 zeroed";
    picture.shades = 2;
    for (std::size_t i = 0; i < zeroed->size(); ++i) {
        picture.cells[i].text = std::string(1, (*zeroed)[i] ? '1' : '0');
        picture.cells[i].shade = (*zeroed)[i] ? 1 : 0;
        picture.cells[i].title = fmt::format("column {} of B {}", i, (*zeroed)[i] ? "counts as zeros" : "is used");
    }
    sheet.add("mask", "Columns of B, from the lowest: 1 counts as zeros", std::move(picture));
    return sheet;
}

Result<Sheet> tensor_memory_sheet(const std::optional<std::string>& address) {
    Sheet sheet;
    Facts facts;
    if (address) {
        const auto bits = read_bits(*address, 32);
        if (!bits) return std::unexpected(bits.error());
        const std::uint64_t lane = *bits >> 16, column = *bits & 0xffff;
        if (lane >= 128 || column >= 512)
            return fail(fmt::format("lane {} and column {} are outside Tensor Memory", lane, column),
                        "it has 128 lanes and 512 columns; an address is lane << 16 | column");
        facts.add("address", fmt::format("0x{:08x}", *bits));
        facts.add("lane", static_cast<std::int64_t>(lane));
        facts.add("column", static_cast<std::int64_t>(column));
        facts.add("touched by", fmt::format("warp {} of each warpgroup", lane / 32));
    } else {
        facts.add("lanes", std::int64_t{128});
        facts.add("columns", std::int64_t{512});
        facts.add("cells", "32 bits; 256 KiB in each SM");
        facts.add("address", "lane << 16 | column");
        facts.add("allocated", "by columns, 32, 64, 128, 256 or 512, by one warp");
    }
    sheet.add("tensor_memory", "", std::move(facts));
    Listing windows{{"warp mod 4", "lanes", "first address"}, {}};
    for (int warp = 0; warp < 4; ++warp) {
        const int first = atom::first_tmem_lane(warp);
        windows.rows.push_back(
            {std::int64_t{warp}, fmt::format("{} to {}", first, first + 31), fmt::format("0x{:08x}", first << 16)});
    }
    sheet.add("windows", "The lanes that tcgen05.ld and tcgen05.st of a warp may touch", std::move(windows));
    return sheet;
}

Result<Sheet> scale_factor_sheet(const ScaleFactorQuestion& question) {
    const auto vector = atom::scale_vector_named(question.vector);
    if (!vector) return fail(fmt::format("expected --vec 1X, 2X, 4X, 3X or 6X, found '{}'", question.vector));
    const auto scales = atom::scale_factors(*vector, question.rows, question.id, question.split);
    if (!scales) return std::unexpected(scales.error());
    const View view = scale_factor_view(*scales, "factor", "row");
    Sheet sheet;
    sheet.title = fmt::format("scale_vec::{}, factor id {}: {} rows × {} factors in Tensor Memory", atom::name(*vector),
                              question.id, scales->rows, scales->factors);
    if (auto ok = add_view(sheet, view, question.view); !ok) return std::unexpected(ok.error());
    if (!scales->evidence.empty()) sheet.add("evidence", "Evidence", Lines{{std::string(scales->evidence)}});
    return sheet;
}

}  // namespace tilepath::report
