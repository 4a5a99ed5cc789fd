#include "report/show_operands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/assert.h"
#include "layout/operations.h"

namespace tilepath::report {
namespace {

using layout::Layout;
using number::Format;

int bits_of(Format format) { return format == Format::tf32 ? 32 : number::traits(format).bits; }

View layout_view(std::string name, Layout layout, std::string rows, std::string columns, int bits) {
    const std::vector<std::int64_t> shape = layout.shape();
    return {std::move(name), {std::move(rows), std::move(columns)}, shape, std::move(layout), bits, false, {}, 0};
}

std::unexpected<Diagnostics> no_operand(const atom::Instruction& instruction, std::string_view operand) {
    return fail(fmt::format("{} has no operand '{}'", instruction.name, operand),
                fmt::format("its operands: {}", fmt::join(operand_names(instruction), ", ")));
}

Result<void> only_from(const OperandPlacement& placement, std::initializer_list<std::string_view> places) {
    if (!placement.from || std::ranges::find(places, *placement.from) != places.end()) return {};
    return fail(fmt::format("the operand does not come from '{}'", *placement.from),
                fmt::format("it comes from {}", fmt::join(places, " or ")));
}

/// A, B, C and D of what keeps all in registers.
template <class Atom>
Result<View> register_operand(const atom::Instruction& instruction, const Atom& atom, std::string_view operand,
                              const OperandPlacement& placement) {
    if (auto ok = only_from(placement, {"registers"}); !ok) return std::unexpected(ok.error());
    if (operand == "A") return fragment_view("A", atom.a, "m", "k");
    if (operand == "B") return fragment_view("B", atom.b, "k", "n");
    if (operand == "C") return fragment_view("C", atom.c, "m", "n");
    if (operand == "D") return fragment_view("D", atom.d, "m", "n");
    return no_operand(instruction, operand);
}

Result<View> view(const atom::Instruction& instruction, const atom::MmaAtom& atom, std::string_view operand,
                  const OperandPlacement& p) {
    if (operand == "sfa" || operand == "sfb") {
        // Only the operand that is asked for has the selector given; the other's is as good as any.
        const atom::ScaleSelector given{p.scale_id, p.thread_id}, zero;
        const atom::ScaleVector vector =
            p.vector.value_or(atom.kind == atom::MmaKind::mxf4       ? atom::ScaleVector::x2
                              : atom.kind == atom::MmaKind::mxf4nvf4 ? atom::ScaleVector::x4
                                                                     : atom::ScaleVector::x1);
        const Format scale = vector == atom::ScaleVector::x4 ? Format::ue4m3 : Format::ue8m0;
        const auto scales = atom::mma_scales(atom.kind, vector, scale, operand == "sfa" ? given : zero,
                                             operand == "sfb" ? given : zero);
        if (!scales) return std::unexpected(scales.error());
        return operand == "sfa" ? fragment_view("sfa", scales->a, "m", "block")
                                : fragment_view("sfb", scales->b, "block", "n");
    }
    return register_operand(instruction, atom, operand, p);
}

Result<View> view(const atom::Instruction& instruction, const atom::SparseMmaAtom& atom, std::string_view operand,
                  const OperandPlacement& p) {
    if (operand == "meta") {
        if (p.selector < 0 || p.selector >= atom.selectors)
            return fail(fmt::format("{} has a sparsity selector of 0 to {}, found {}", instruction.name,
                                    atom.selectors - 1, p.selector));
        return fragment_view("meta", atom.metadata(p.selector), "m", "chunk");
    }
    return register_operand(instruction, atom, operand, p);
}

Result<View> view(const atom::Instruction& instruction, const atom::WmmaAtom& atom, std::string_view operand,
                  const OperandPlacement& p) {
    return register_operand(instruction, atom, operand, p);
}

Result<View> view(const atom::Instruction& instruction, const atom::WgmmaAtom& atom, std::string_view operand,
                  const OperandPlacement& p) {
    if (operand == "D") {
        if (auto ok = only_from(p, {"registers"}); !ok) return std::unexpected(ok.error());
        return fragment_view("D", atom.d, "m", "n");
    }
    if (operand == "meta" && atom.sparse) {
        if (p.selector < 0 || p.selector >= atom.selectors)
            return fail(fmt::format("{} has a sparsity selector of 0 to {}, found {}", instruction.name,
                                    atom.selectors - 1, p.selector));
        return fragment_view("meta", atom.metadata(p.selector), "m", "chunk");
    }
    if (operand == "A" && (!p.from || *p.from == "registers")) return fragment_view("A", atom.a, "m", "k");
    if (operand != "A" && operand != "B") return no_operand(instruction, operand);
    if (operand == "A") {
        if (auto ok = only_from(p, {"registers", "shared"}); !ok) return std::unexpected(ok.error());
    } else if (auto ok = only_from(p, {"shared"}); !ok) {
        return std::unexpected(ok.error());
    }
    if (p.major == atom::OperandMajor::mn && !atom.may_transpose)
        return fail(fmt::format("{} operands of wgmma must be K-major", number::traits(atom.types.a).name),
                    "only 16-bit types may be MN-major");
    const bool a = operand == "A";
    const int k = a && atom.sparse ? atom.shape.k / 2 : atom.shape.k, mn = a ? atom.shape.m : atom.shape.n;
    const auto tile = atom::shared_tile(p.major, p.swizzle, bits_of(a ? atom.types.a : atom.types.b), mn, k, k);
    if (!tile) return std::unexpected(tile.error());
    return shared_view(std::string(operand), tile->operand, p.start_bytes, a ? "m" : "n");
}

Result<View> view(const atom::Instruction& instruction, const atom::MatrixMove& move, std::string_view operand,
                  const OperandPlacement&) {
    if (operand == "matrices") return fragment_view("matrices", move.transfer.fragment, "row", "column");
    return no_operand(instruction, operand);
}

Result<View> view(const atom::Instruction& instruction, const atom::MatrixTranspose& move, std::string_view operand,
                  const OperandPlacement&) {
    if (operand == "source") return fragment_view("source", move.source, "row", "column");
    if (operand == "destination") return fragment_view("destination", move.destination, "row", "column");
    return no_operand(instruction, operand);
}

Result<View> scale_view(const atom::Tcgen05Mma& mma, std::string_view operand, const OperandPlacement& p) {
    const bool b = operand == "sfb";
    const auto scales = mma.scales(b, p.vector.value_or(mma.default_scale_vector()), p.scale_id);
    if (!scales) return std::unexpected(scales.error());
    return scale_factor_view(*scales, std::string(operand), b ? "n" : "m");
}

Result<View> view(const atom::Instruction& instruction, const atom::Tcgen05Mma& mma, std::string_view operand,
                  const OperandPlacement& p) {
    if (operand == "D") {
        if (auto ok = only_from(p, {"tmem"}); !ok) return std::unexpected(ok.error());
        return layout_view("D", mma.d, "m", "n", bits_of(mma.types.d));
    }
    if (operand == "meta" && mma.sparse) {
        const auto metadata = mma.metadata(p.selector);
        if (!metadata) return std::unexpected(metadata.error());
        return layout_view("meta", metadata->layout, "m", "chunk", 4);
    }
    if ((operand == "sfa" || operand == "sfb") && atom::traits(mma.kind).block_scaled)
        return scale_view(mma, operand, p);
    if (operand == "A" && p.from && *p.from == "tmem")
        return layout_view("A", mma.a_tensor_memory, "m", "k", bits_of(mma.types.a));
    if (operand != "A" && operand != "B") return no_operand(instruction, operand);
    const bool a = operand == "A";
    if (a) {
        if (auto ok = only_from(p, {"shared", "tmem"}); !ok) return std::unexpected(ok.error());
    } else if (auto ok = only_from(p, {"shared"}); !ok) {
        return std::unexpected(ok.error());
    }
    const auto tile = a ? mma.shared_a(p.major, p.swizzle) : mma.shared_b(p.major, p.swizzle);
    if (!tile) return std::unexpected(tile.error());
    return shared_view(std::string(operand), tile->operand, p.start_bytes, a ? "m" : "n");
}

Result<View> view(const atom::Instruction& instruction, const atom::TmemTransfer& transfer, std::string_view operand,
                  const OperandPlacement&) {
    if (operand == "TMEM") return fragment_view("TMEM", transfer.fragment, "lane", "column");
    if (operand == "redval" && transfer.reduction) return fragment_view("redval", transfer.reduced, "lane", "value");
    return no_operand(instruction, operand);
}

Result<View> view(const atom::Instruction& instruction, const atom::TmemCopy& copy, std::string_view operand,
                  const OperandPlacement&) {
    if (operand == "rows") return layout_view("rows", copy.destination, "row", "byte", copy.element_bits);
    return no_operand(instruction, operand);
}

Result<View> view(const atom::Instruction& instruction, const atom::TmemShift& shift, std::string_view operand,
                  const OperandPlacement&) {
    if (operand == "source") return layout_view("source", shift.source, "row", "column", 32);
    if (operand == "destination") return layout_view("destination", shift.destination, "row", "column", 32);
    return no_operand(instruction, operand);
}

using NameList = std::vector<std::string_view>;

struct Names {
    NameList operator()(const atom::MmaAtom& atom) const {
        const bool scaled = atom.kind != atom::MmaKind::none && atom.kind != atom::MmaKind::f8f6f4;
        return scaled ? NameList{"A", "B", "C", "D", "sfa", "sfb"} : NameList{"A", "B", "C", "D"};
    }
    NameList operator()(const atom::SparseMmaAtom&) const { return {"A", "B", "C", "D", "meta"}; }
    NameList operator()(const atom::WmmaAtom&) const { return {"A", "B", "C", "D"}; }
    NameList operator()(const atom::WgmmaAtom& atom) const {
        return atom.sparse ? NameList{"A", "B", "D", "meta"} : NameList{"A", "B", "D"};
    }
    NameList operator()(const atom::MatrixMove&) const { return {"matrices"}; }
    NameList operator()(const atom::MatrixTranspose&) const { return {"source", "destination"}; }
    NameList operator()(const atom::Tcgen05Mma& mma) const {
        NameList all{"A", "B", "D"};
        if (mma.sparse) all.push_back("meta");
        if (atom::traits(mma.kind).block_scaled) all.insert(all.end(), {"sfa", "sfb"});
        return all;
    }
    NameList operator()(const atom::TmemTransfer& transfer) const {
        return transfer.reduction ? NameList{"TMEM", "redval"} : NameList{"TMEM"};
    }
    NameList operator()(const atom::TmemCopy&) const { return {"rows"}; }
    NameList operator()(const atom::TmemShift&) const { return {"source", "destination"}; }
};

}  // namespace

std::vector<std::string_view> operand_names(const atom::Instruction& instruction) {
    return std::visit(Names{}, instruction.atom);
}

Result<View> operand_view(const atom::Instruction& instruction, std::string_view operand,
                          const OperandPlacement& placement) {
    const std::vector<std::string_view> names = operand_names(instruction);
    if (std::ranges::find(names, operand) == names.end()) return no_operand(instruction, operand);
    if (auto ok = check_relevance(instruction, operand, placement); !ok) return std::unexpected(ok.error());
    return std::visit([&](const auto& atom) { return view(instruction, atom, operand, placement); }, instruction.atom);
}

View fragment_view(std::string name, const atom::Fragment& fragment, std::string rows, std::string columns) {
    View made{std::move(name), {}, {}, fragment.layout, fragment.element_bits, false, {}, 0};
    if (fragment.blocks > 1) {
        made.dimensions.emplace_back("block");
        made.shape.push_back(fragment.blocks);
    }
    made.dimensions.insert(made.dimensions.end(), {std::move(rows), std::move(columns)});
    made.shape.insert(made.shape.end(), {fragment.rows, fragment.columns});
    // A fragment of one block keeps that dimension in its layout; it says nothing here.
    if (auto grouped = layout::group(fragment.layout, made.shape)) made.layout = *std::move(grouped);
    return made;
}

Result<View> shared_view(std::string name, const atom::SharedOperand& operand, std::uint32_t start_bytes,
                         std::string mn) {
    auto layout = atom::operand_layout(operand);
    if (!layout) return std::unexpected(layout.error());
    auto composed =
        layout::ComposedLayout::make(layout::traits(operand.swizzle).bytes, start_bytes, *std::move(layout));
    if (!composed) return std::unexpected(composed.error());
    return View{std::move(name),
                {std::move(mn), "k"},
                {operand.mn, operand.k},
                *std::move(composed),
                operand.element_bits,
                true,
                {}};
}

View scale_factor_view(const atom::ScaleFactors& scales, std::string name, std::string rows) {
    View made{std::move(name),
              {std::move(rows), "block"},
              {scales.rows, scales.factors},
              scales.runs.front().layout,
              8,
              false,
              {}};
    for (std::size_t i = 1; i < scales.runs.size(); ++i)
        made.more.push_back({scales.runs[i].first, scales.runs[i].layout});
    return made;
}

}  // namespace tilepath::report
