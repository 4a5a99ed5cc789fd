#include "report/show_descriptors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

#include "atom/instruction.h"
#include "report/layout_sheet.h"
#include "report/show_operands.h"

namespace tilepath::report {
namespace {

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

}  // namespace tilepath::report
