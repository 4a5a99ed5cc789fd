#include "report/show_descriptors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

#include "atom/instruction.h"
#include "report/layout_sheet.h"
#include "report/show_operands.h"

namespace tilepath::report {
namespace {

Listing listing_of(const std::vector<atom::FieldText>& fields) {
    Listing listing{{"bits", "field", "value"}, {}};
    for (const atom::FieldText& field : fields) listing.rows.push_back({field.bits, field.name, field.value});
    return listing;
}

void add_findings(Sheet& sheet, const Diagnostics& findings) {
    Lines lines;
    for (const Diagnostic& each : findings) {
        lines.lines.push_back(
            fmt::format("{}: {}", each.severity == Severity::error ? "error" : "warning", each.message));
        for (const std::string& note : each.notes) lines.lines.push_back("  " + note);
    }
    if (findings.empty()) lines.lines.emplace_back("nothing is wrong with it");
    sheet.add("findings", "Findings", std::move(lines));
    sheet.disagrees = has_error(findings);
}

struct Tile {
    int mn = 64, k = 16;
    number::Format format = number::Format::f16;
    int bits = 16;
};

Result<Tile> tile_of(const DescriptorQuestion& question) {
    Tile tile;
    const auto format = number::format_named(question.dtype);
    if (!format) return fail(fmt::format("unknown type '{}'", question.dtype), "for example f16, bf16, tf32, e4m3, s8");
    tile.format = *format;
    tile.bits = *format == number::Format::tf32 ? 32 : number::traits(*format).bits;
    if (tile.bits != 4 && tile.bits != 6 && tile.bits != 8 && tile.bits != 16 && tile.bits != 32 && tile.bits != 1)
        return fail(fmt::format("{} is no operand of a tensor core", question.dtype));
    tile.k = (tile.bits == 6 ? 32 : 256 / tile.bits);
    if (!question.tile) return tile;
    std::string text = *question.tile;
    for (char& c : text)
        if (c == 'x' || c == 'X') c = ',';
    const auto sizes = read_numbers(text, "--tile");
    if (!sizes || sizes->size() != 2 || (*sizes)[0] < 1 || (*sizes)[1] < 1 || (*sizes)[0] > 4096 || (*sizes)[1] > 4096)
        return fail(fmt::format("expected a tile of MN x K, each 1 to 4096, found '{}'", *question.tile),
                    "for example 64x64");
    tile.mn = static_cast<int>((*sizes)[0]);
    tile.k = static_cast<int>((*sizes)[1]);
    return tile;
}

/// The tile that a descriptor describes.
Result<void> add_tile(Sheet& sheet, const std::vector<atom::OperandPart>& parts, int base_offset,
                      const ViewQuestion& asked) {
    // (address >> 7) - base offset is the source of the swizzle: that of an address so many rows on, which is
    // subtracted again. Rows count modulo the eight of the longest pattern.
    const bool phased = base_offset != 0 && parts.front().operand.swizzle != layout::SwizzleMode::none;
    const int ahead = phased ? 128 * (8 - base_offset) : 0;
    auto view =
        shared_view("tile", parts.front().operand, parts.front().start_bytes + static_cast<unsigned>(ahead), "mn");
    if (!view) return std::unexpected(view.error());
    view->after = -ahead;
    for (std::size_t i = 1; i < parts.size(); ++i) {
        auto further = shared_view("tile", parts[i].operand, parts[i].start_bytes, "mn");
        if (!further) return std::unexpected(further.error());
        view->more.push_back({parts[i].first_k, std::move(further->layout)});
        view->shape.back() += parts[i].operand.k;
    }
    return add_view(sheet, *view, asked);
}

/// How far the start address moves per step of 32 bytes of K.
void add_steps(Sheet& sheet, const atom::SharedTile& tile, std::uint32_t start) {
    Listing steps{{"step", "k from", "start address", "field"}, {}};
    for (int i = 0; i * tile.operand.k < tile.tile_k && i < 64; ++i) {
        const std::int64_t at = start + static_cast<std::uint32_t>(tile.step_bytes(i));
        steps.rows.push_back(
            {std::int64_t{i}, std::int64_t{i} * tile.operand.k, at, fmt::format("0x{:04x}", at / 16 & 0x3fff)});
    }
    sheet.add("steps", "Along K, one instruction after the other", std::move(steps));
}

Result<Sheet> encoded(const DescriptorQuestion& question, const Tile& tile, bool tcgen05) {
    const bool padded = tcgen05 && tile.bits < 8 && tile.bits != 4;
    const int step = std::min(tile.k, tile.bits == 6 ? 32 : 256 / tile.bits);
    const auto shared = atom::shared_tile(question.major, question.swizzle, tile.bits, tile.mn, tile.k, step, padded);
    if (!shared) return std::unexpected(shared.error());
    Sheet sheet;
    Result<std::uint64_t> word = fail("");
    std::vector<atom::FieldText> fields;
    Diagnostics findings;
    if (tcgen05) {
        const auto made = atom::tcgen05_descriptor(shared->operand, question.start_bytes);
        if (!made) return std::unexpected(made.error());
        word = atom::encode(*made);
        fields = atom::fields(*made);
        findings = atom::validate(*made, shared->operand);
    } else {
        const atom::SharedOperand& o = shared->operand;
        const atom::MatrixDescriptor made{question.start_bytes,
                                          static_cast<std::uint32_t>(o.leading_bytes),
                                          static_cast<std::uint32_t>(o.stride_bytes),
                                          0,
                                          o.swizzle,
                                          0};
        word = atom::encode(made);
        fields = atom::fields(made);
        findings = atom::validate(made, o);
    }
    if (!word) return std::unexpected(word.error());
    Facts facts;
    facts.add("descriptor", fmt::format("0x{:016x}", *word));
    facts.add("of",
              fmt::format("{} × {} {}, {}-major, swizzle {}", tile.mn, tile.k, question.dtype,
                          question.major == atom::OperandMajor::k ? "K" : "MN", layout::traits(question.swizzle).name));
    facts.add("bytes", std::int64_t{shared->bytes});
    sheet.add("descriptor", "", std::move(facts));
    sheet.add("fields", "", listing_of(fields));
    add_steps(sheet, *shared, question.start_bytes);
    add_findings(sheet, findings);
    if (question.view.asks()) {
        auto composed =
            layout::ComposedLayout::make(layout::traits(question.swizzle).bytes, question.start_bytes, shared->layout);
        if (!composed) return std::unexpected(composed.error());
        const View view{"tile", {"mn", "k"}, {tile.mn, tile.k}, *std::move(composed), tile.bits, true, {}, 0};
        if (auto ok = add_view(sheet, view, question.view); !ok) return std::unexpected(ok.error());
    }
    return sheet;
}

Result<Sheet> decoded(const DescriptorQuestion& question, const Tile& tile, bool tcgen05) {
    const auto bits = read_bits(*question.bits, 64);
    if (!bits) return std::unexpected(bits.error());
    Sheet sheet;
    sheet.title = fmt::format("0x{:016x}, {}", *bits,
                              tcgen05 ? "a shared-memory descriptor of tcgen05" : "a matrix descriptor of wgmma");
    if (tcgen05) {
        const atom::Tcgen05Descriptor d = atom::decode_tcgen05_descriptor(*bits);
        sheet.add("fields", "", listing_of(atom::fields(d)));
        const int k = d.leading_is_address && tile.bits == 4 && !question.tile ? 96 : tile.k;
        const bool padded = tile.bits == 6;
        const auto parts = atom::described_parts(d, question.major, tile.bits, tile.mn, k, padded);
        const atom::SharedOperand use{question.major, layout::SwizzleMode::none, tile.bits, tile.mn, k, 16, 16, padded};
        const Diagnostics findings = atom::validate(d, use);
        add_findings(sheet, findings);
        if (!parts || !atom::operand_layout(parts->front().operand)) return sheet;
        if (auto ok = add_tile(sheet, *parts, d.base_offset, question.view); !ok) return std::unexpected(ok.error());
        return sheet;
    }
    const atom::MatrixDescriptor d = atom::decode_matrix_descriptor(*bits);
    sheet.add("fields", "", listing_of(atom::fields(d)));
    const atom::SharedOperand operand = atom::described(d, question.major, tile.bits, tile.mn, tile.k);
    add_findings(sheet, atom::validate(d, operand));
    if (!atom::operand_layout(operand)) return sheet;
    if (auto ok = add_tile(sheet, {{0, d.start_bytes, operand}}, d.base_offset, question.view); !ok)
        return std::unexpected(ok.error());
    return sheet;
}

}  // namespace

Result<void> add_view(Sheet& sheet, const View& view, const ViewQuestion& question) {
    for (const std::string& text : question.elements) {
        const auto coordinate = read_numbers(text, "--element");
        if (!coordinate) return std::unexpected(coordinate.error());
        if (auto ok = add_element(sheet, view, *coordinate); !ok) return ok;
    }
    if (question.lane) {
        if (auto ok = add_lane(sheet, view, *question.lane); !ok) return ok;
    }
    if (question.formula) add_formulae(sheet, view);
    if (question.layout || !question.asks()) add_notations(sheet, view);
    if (question.table) return add_tables(sheet, view, question.colour);
    return {};
}

Result<std::uint64_t> read_bits(const std::string& text, int bits) {
    const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    const char *begin = text.data() + (hexadecimal ? 2 : 0), *end = text.data() + text.size();
    std::uint64_t value = 0;
    const auto [at, error] = std::from_chars(begin, end, value, hexadecimal ? 16 : 10);
    if (begin == end || error != std::errc{} || at != end || (bits < 64 && value >> bits != 0))
        return fail(fmt::format("expected a number of {} bits, found '{}'", bits, text),
                    "for example 0x4000004000010000");
    return value;
}

Result<Sheet> descriptor_sheet(const DescriptorQuestion& question) {
    const bool tcgen05 = question.arch.starts_with("sm_10") || question.arch.starts_with("sm_11");
    if (!tcgen05 && question.arch != "sm_90a" && question.arch != "sm_90")
        return fail(fmt::format("{} has no matrix descriptors", question.arch),
                    "sm_90a has wgmma's, sm_100a and sm_103a tcgen05's");
    const auto tile = tile_of(question);
    if (!tile) return std::unexpected(tile.error());
    return question.bits ? decoded(question, *tile, tcgen05) : encoded(question, *tile, tcgen05);
}

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
    return sheet;
}

}  // namespace tilepath::report
