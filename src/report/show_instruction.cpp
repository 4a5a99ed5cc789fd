#include "report/show_instruction.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "atom/targets.h"
#include "number/recipe.h"

namespace tilepath::report {
namespace {

using number::Format;

std::string type_name(Format format) { return std::string(number::traits(format).name); }

/// The arithmetic of one device, and on what the knowledge rests.
void add_arithmetic(Sheet& sheet, number::Instruction instruction, atom::MmaTypes types,
                    const std::vector<std::string_view>& legal, std::string_view kind) {
    Listing listing{{"target", "arithmetic", "products per sum", "fraction bits kept", "evidence"}, {}};
    std::string_view before;
    for (const std::string_view target : legal) {
        // sm_120a and sm_120f are one device.
        const std::string_view device = target.substr(0, target.find_last_of("0123456789") + 1);
        if (device == std::exchange(before, device)) continue;
        number::DotRequest request;
        request.device = *number::generation_of(target);
        request.instruction = instruction;
        request.a = types.a;
        request.b = types.b;
        request.d = types.d;
        if (kind == "mxf8f6f4") request.scaling = number::Scaling::per_dot;
        if (kind == "mxf4" || kind == "mxf4nvf4") request.scaling = number::Scaling::per_group;
        const auto found = number::find_recipe(request);
        if (!found) continue;
        const number::DotRecipe& recipe = found->recipe;
        using Kind = number::DotRecipe::Kind;
        const char* words = recipe.kind == Kind::fused             ? "fused sum, cut off"
                            : recipe.kind == Kind::fp8_through_f16 ? "f16 sums, then C"
                            : recipe.kind == Kind::fma_chain_f64   ? "chain of fma"
                            : recipe.kind == Kind::integer         ? "exact integers"
                            : recipe.kind == Kind::cuda_core_f32   ? "f32 on the CUDA cores"
                                                                   : "popcount";
        const bool sums = recipe.kind == Kind::fused || recipe.kind == Kind::fp8_through_f16;
        listing.rows.push_back({std::string(target), std::string(words),
                                sums ? Value(std::int64_t{recipe.group_length}) : Value("-"),
                                sums ? Value(std::int64_t{recipe.fraction_bits}) : Value("-"),
                                std::string(number::name(found->evidence))});
    }
    if (!listing.rows.empty()) sheet.add("arithmetic", "Arithmetic, by the device that executes", std::move(listing));
}

void add_fragment(Listing& listing, const atom::Fragment& fragment, std::string_view lies) {
    listing.rows.push_back({fragment.operand,
                            fmt::format("{}{} × {}", fragment.blocks > 1 ? fmt::format("{} × ", fragment.blocks) : "",
                                        fragment.rows, fragment.columns),
                            fragment.format ? type_name(*fragment.format) : "-", std::string(lies),
                            std::int64_t{fragment.registers} * fragment.register_bits / 32});
}

Facts product_facts(const atom::Instruction& instruction, atom::Shape shape, atom::MmaTypes types, int blocks,
                    std::string issued) {
    Facts facts;
    facts.add("instruction", instruction.name);
    facts.add("shape", fmt::format("m {}, n {}, k {}{}", shape.m, shape.n, shape.k,
                                   blocks > 1 ? fmt::format(", {} times", blocks) : ""));
    facts.add("types", fmt::format("D {}, A {}, B {}, C {}", type_name(types.d), type_name(types.a), type_name(types.b),
                                   type_name(types.c)));
    facts.add("FLOP", std::int64_t{2} * shape.m * shape.n * shape.k * blocks);
    facts.add("issued by", std::move(issued));
    facts.add("targets", fmt::format("{}", fmt::join(atom::targets_of(instruction), " ")));
    return facts;
}

const std::vector<std::string> operand_columns{"operand", "shape", "type", "lies in", "registers per thread"};

struct Whole {
    Sheet& sheet;
    const atom::Instruction& instruction;

    template <class Atom>
    void registers(const Atom& a, int blocks, number::Instruction arithmetic, std::string_view kind) const {
        sheet.add("instruction", "", product_facts(instruction, a.shape, a.types, blocks, "a warp"));
        Listing listing{operand_columns, {}};
        for (const atom::Fragment* each : {&a.a, &a.b, &a.c, &a.d}) add_fragment(listing, *each, "registers");
        if constexpr (std::is_same_v<Atom, atom::SparseMmaAtom>) {
            atom::Fragment meta = a.metadata(0);
            meta.operand = "meta";
            add_fragment(listing, meta, fmt::format("registers of {} lanes", a.selectors == 1 ? "all" : "some"));
        }
        sheet.add("operands", "Operands", std::move(listing));
        add_arithmetic(sheet, arithmetic, a.types, atom::targets_of(instruction), kind);
    }
    void operator()(const atom::MmaAtom& a) const {
        static constexpr std::string_view kinds[] = {"", "f8f6f4", "mxf8f6f4", "mxf4", "mxf4nvf4"};
        registers(a, a.blocks, number::Instruction::mma_sync, kinds[static_cast<std::size_t>(a.kind)]);
    }
    void operator()(const atom::SparseMmaAtom& a) const { registers(a, 1, number::Instruction::mma_sync, ""); }
    void operator()(const atom::WmmaAtom& a) const { registers(a, 1, number::Instruction::wmma, ""); }
    void operator()(const atom::WgmmaAtom& a) const {
        sheet.add("instruction", "", product_facts(instruction, a.shape, a.types, 1, "a warpgroup, asynchronously"));
        Listing listing{operand_columns, {}};
        add_fragment(listing, a.a, "registers, or shared memory");
        listing.rows.push_back({"B", fmt::format("{} × {}", a.shape.k, a.shape.n), type_name(a.types.b),
                                "shared memory", std::int64_t{0}});
        add_fragment(listing, a.d, "registers");
        sheet.add("operands", "Operands", std::move(listing));
        add_arithmetic(sheet, number::Instruction::wgmma, a.types, atom::targets_of(instruction), "");
    }
    void operator()(const atom::Tcgen05Mma& a) const {
        Facts facts = product_facts(
            instruction, a.shape, a.types, 1,
            a.cta_group == 2 ? "one thread of a pair of CTAs, asynchronously" : "one thread, asynchronously");
        facts.add("data path", fmt::format("layout {}", atom::letter(a.data_path)));
        if (a.shape_evidence != "manual") facts.add("shape from", std::string(a.shape_evidence));
        facts.add("D takes", fmt::format("{} of 512 columns of Tensor Memory in each CTA", a.d_columns));
        sheet.add("instruction", "", std::move(facts));
        Listing listing{operand_columns, {}};
        listing.rows.push_back({"A", fmt::format("{} × {}", a.shape.m, a.stored_k()), type_name(a.types.a),
                                "shared memory, or Tensor Memory", std::int64_t{0}});
        listing.rows.push_back({"B", fmt::format("{} × {}", a.shape.k, a.shape.n), type_name(a.types.b),
                                "shared memory", std::int64_t{0}});
        listing.rows.push_back({"D", fmt::format("{} × {}", a.shape.m, a.shape.n), type_name(a.types.d),
                                "Tensor Memory", std::int64_t{0}});
        if (a.sparse)
            listing.rows.push_back({"meta", fmt::format("{} × {}", a.shape.m, a.shape.k / a.chunk), "4 bits",
                                    "Tensor Memory", std::int64_t{0}});
        if (atom::traits(a.kind).block_scaled) {
            const int factors = atom::factors_of(a.default_scale_vector());
            const char* type = a.kind == atom::Tcgen05Kind::mxf4nvf4 ? "ue4m3 or ue8m0" : "ue8m0";
            listing.rows.push_back(
                {"sfa", fmt::format("{} × {}", a.shape.m, factors), type, "Tensor Memory", std::int64_t{0}});
            listing.rows.push_back(
                {"sfb", fmt::format("{} × {}", a.shape.n, factors), type, "Tensor Memory", std::int64_t{0}});
        }
        sheet.add("operands", "Operands", std::move(listing));
        if (a.shape.k == 96) {
            sheet.add("arithmetic", "Arithmetic",
                      Lines{{"unknown: no source tells how the sum of 96 products is cut off"}});
            return;
        }
        add_arithmetic(sheet, number::Instruction::tcgen05_mma, a.types, atom::targets_of(instruction),
                       atom::traits(a.kind).name);
    }
    void moves(std::string what, std::vector<std::pair<std::string, std::string>> more) const {
        Facts facts;
        facts.add("instruction", instruction.name);
        facts.add("does", std::move(what));
        for (auto& [name, value] : more) facts.add(name, value);
        facts.add("targets", fmt::format("{}", fmt::join(atom::targets_of(instruction), " ")));
        sheet.add("instruction", "", std::move(facts));
    }
    void operator()(const atom::MatrixMove& a) const {
        const atom::MatrixTransfer& t = a.transfer;
        moves(a.store ? "stores matrices from registers to shared memory"
                      : "loads matrices from shared memory to registers",
              {{"matrices", fmt::format("{} of {} × {} elements of {} bits", t.matrices, t.stored_rows,
                                        t.stored_columns, t.stored_bits)},
               {"addresses", fmt::format("lane {}·matrix + row names a row of 16 bytes; lanes 0 to {} count",
                                         t.stored_rows, t.matrices * t.stored_rows - 1)},
               {"registers per thread", std::to_string(t.fragment.registers)}});
        Listing listing{
            {"matrix", "rows", "addresses from lanes", a.store ? "given in register" : "received in register"}, {}};
        for (int matrix = 0; matrix < t.matrices; ++matrix) {
            const int each = t.fragment.registers / t.matrices, first = matrix * t.stored_rows;
            listing.rows.push_back(
                {std::int64_t{matrix}, fmt::format("0-{}", t.stored_rows - 1),
                 fmt::format("{}-{}", first, first + t.stored_rows - 1),
                 each == 1 ? std::to_string(matrix) : fmt::format("{}-{}", matrix * each, matrix * each + each - 1)});
        }
        sheet.add("matrices", "", std::move(listing));
    }
    void operator()(const atom::MatrixTranspose&) const {
        moves("transposes an 8 × 8 matrix of 16-bit elements in registers", {});
    }
    void operator()(const atom::TmemTransfer& a) const {
        std::vector<std::pair<std::string, std::string>> more{
            {"cells", fmt::format("{}{} lanes × {} columns", a.fragment.blocks > 1 ? "2 × " : "", a.lanes, a.columns)},
            {"registers per thread", std::to_string(a.fragment.registers)},
            {"lanes", "warp w touches lanes 32 (w mod 4) to 32 (w mod 4) + 31 only"}};
        if (a.reduction)
            more.emplace_back("reduces", fmt::format("{} of each thread's columns, into one further register",
                                                     a.reduction->maximum ? "maximum" : "minimum"));
        if (a.reduction && a.fragment.blocks > 1)
            more.emplace_back("evidence",
                              "inferred: each thread reduces its own block; the manual says \"in each lane\"");
        moves(a.store ? "stores registers to Tensor Memory" : "loads Tensor Memory to registers", std::move(more));
    }
    void operator()(const atom::TmemCopy& a) const {
        std::vector<std::pair<std::string, std::string>> more{
            {"rows", fmt::format("{} of {} bytes", a.rows, a.bytes)},
            {"copies of each", std::to_string(a.destination.replicas())}};
        if (a.element_bits != 8) {
            more.emplace_back("widens", fmt::format("16 elements of {} bits in each 16 bytes of the source, to bytes",
                                                    a.element_bits));
            more.emplace_back("evidence", std::string(a.evidence));
        }
        moves("copies shared memory to Tensor Memory", std::move(more));
    }
    void operator()(const atom::TmemShift& a) const {
        moves("shifts rows of Tensor Memory down by one lane",
              {{"rows", "31 in each window of 32 lanes, 32 bytes, 8 columns; a window's last stays"},
               {"lanes", "the address' lane is a multiple of 32"},
               {"evidence", std::string(a.evidence)}});
    }
};

/// On what the layout of an operand rests, where that is less than the manual or a GPU.
std::string evidence_of(const atom::Instruction& instruction, std::string_view operand, const OperandPlacement& p) {
    if (const auto* shift = std::get_if<atom::TmemShift>(&instruction.atom)) return std::string(shift->evidence);
    if (const auto* copy = std::get_if<atom::TmemCopy>(&instruction.atom))
        return copy->element_bits == 8 ? "" : std::string(copy->evidence);
    const auto* mma = std::get_if<atom::Tcgen05Mma>(&instruction.atom);
    if (!mma) return {};
    if (operand == "meta") return std::string(mma->metadata(p.selector)->evidence);
    if (mma->shape.k == 96 && (operand == "sfa" || operand == "sfb")) return std::string(atom::wrapping_factors);
    if (p.swizzle == layout::SwizzleMode::b128_atom_32b && p.major == atom::OperandMajor::k)
        return "inferred: PTX ISA 9.7.16.10.3 lets K-major operands have 128B_atom_32B, 9.7.16.10.6 names no such "
               "atom, "
               "and CUTLASS refuses it";
    return {};
}

}  // namespace

Result<Sheet> instruction_sheet(const InstructionQuestion& question) {
    const auto instruction = atom::instruction_named(question.instruction);
    if (!instruction) return std::unexpected(instruction.error());
    Sheet sheet;
    if (!question.operand && !question.view.asks()) {
        if (auto ok = check_no_placement(question.placement); !ok) return std::unexpected(ok.error());
        std::visit(Whole{sheet, *instruction}, instruction->atom);
        if (!instruction->others.empty()) {
            std::vector<std::string> some(
                instruction->others.begin(),
                instruction->others.begin() +
                    static_cast<std::ptrdiff_t>(std::min<std::size_t>(6, instruction->others.size())));
            if (instruction->others.size() > some.size())
                some.push_back(fmt::format("… {} in all", instruction->others.size()));
            sheet.add("others", "The name also fits", Lines{std::move(some)});
        }
        return sheet;
    }
    const std::vector<std::string_view> names = operand_names(*instruction);
    if (!question.operand && names.size() != 1)
        return fail("of which operand?", fmt::format("give --operand {}", fmt::join(names, "|")));
    const auto view = operand_view(*instruction, question.operand ? std::string_view(*question.operand) : names.front(),
                                   question.placement);
    if (!view) return std::unexpected(view.error());
    sheet.title = fmt::format("{}, operand {}: {}", instruction->name, view->name, fmt::join(view->shape, " × "));
    if (auto ok = add_view(sheet, *view, question.view); !ok) return std::unexpected(ok.error());
    if (const std::string evidence = evidence_of(*instruction, view->name, question.placement); !evidence.empty())
        sheet.add("evidence", "Evidence", Lines{{evidence}});
    return sheet;
}

}  // namespace tilepath::report
