#include "report/show_instruction.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "number/recipe.h"

namespace tilepath::report {
namespace {

using number::Format;

std::string type_name(Format format) { return std::string(number::traits(format).name); }

/// The devices of the table of arithmetic, as targets of ptxas.
constexpr const char* targets[] = {"sm_75", "sm_80", "sm_89", "sm_90", "sm_90a", "sm_100a", "sm_103a", "sm_120a"};

int number_of(std::string_view target) { return std::stoi(std::string(target.substr(3))); }
bool specific(std::string_view target) { return target.ends_with('a'); }

/// Which targets assemble it, as ptxas 13.0 has it (tests hold the tables to it).
struct Legal {
    std::vector<std::string> operator()(const atom::MmaAtom& a) const {
        return from(a.minimum_sm, a.kind != atom::MmaKind::none, a.kind != atom::MmaKind::none && a.minimum_sm >= 120);
    }
    std::vector<std::string> operator()(const atom::SparseMmaAtom& a) const {
        return from(a.minimum_sm, a.minimum_sm >= 120, a.minimum_sm >= 120);
    }
    std::vector<std::string> operator()(const atom::WmmaAtom& a) const { return from(a.minimum_sm, false, false); }
    std::vector<std::string> operator()(const atom::WgmmaAtom&) const { return {"sm_90a"}; }
    std::vector<std::string> operator()(const atom::MatrixMove& a) const {
        return from(a.transfer.minimum_sm, a.transfer.minimum_sm >= 100, false);
    }
    std::vector<std::string> operator()(const atom::MatrixTranspose&) const { return from(75, false, false); }
    std::vector<std::string> operator()(const atom::Tcgen05Mma& a) const {
        if (a.kind == atom::Tcgen05Kind::i8) return {"sm_100a"};
        return {"sm_100a", "sm_103a"};
    }
    std::vector<std::string> operator()(const atom::TmemTransfer&) const { return {"sm_100a", "sm_103a"}; }
    std::vector<std::string> operator()(const atom::TmemCopy&) const { return {"sm_100a", "sm_103a"}; }

    static std::vector<std::string> from(int sm, bool only_specific, bool only_rtx) {
        std::vector<std::string> all;
        for (const std::string_view target : targets)
            if (number_of(target) >= sm && (!only_specific || specific(target)) &&
                (!only_rtx || number_of(target) >= 120))
                all.emplace_back(target);
        return all;
    }
};

/// The arithmetic of one device, and on what the knowledge rests.
void add_arithmetic(Sheet& sheet, number::Instruction instruction, atom::MmaTypes types,
                    const std::vector<std::string>& legal, std::string_view kind) {
    Listing listing{{"target", "arithmetic", "products per sum", "fraction bits kept", "evidence"}, {}};
    for (const std::string& target : legal) {
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
        listing.rows.push_back({target, std::string(words),
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
    facts.add("targets", fmt::format("{}", fmt::join(std::visit(Legal{}, instruction.atom), " ")));
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
        add_arithmetic(sheet, arithmetic, a.types, Legal{}(a), kind);
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
        add_arithmetic(sheet, number::Instruction::wgmma, a.types, {"sm_90a"}, "");
    }
    void operator()(const atom::Tcgen05Mma& a) const {
        Facts facts = product_facts(
            instruction, a.shape, a.types, 1,
            a.cta_group == 2 ? "one thread of a pair of CTAs, asynchronously" : "one thread, asynchronously");
        facts.add("data path", fmt::format("layout {}", atom::letter(a.data_path)));
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
        if (atom::traits(a.kind).block_scaled)
            for (const char* name : {"sfa", "sfb"})
                listing.rows.push_back({name, "-", "ue8m0 or ue4m3", "Tensor Memory", std::int64_t{0}});
        sheet.add("operands", "Operands", std::move(listing));
        add_arithmetic(sheet, number::Instruction::tcgen05_mma, a.types, Legal{}(a), atom::traits(a.kind).name);
    }
    void moves(std::string what, std::vector<std::pair<std::string, std::string>> more) const {
        Facts facts;
        facts.add("instruction", instruction.name);
        facts.add("does", std::move(what));
        for (auto& [name, value] : more) facts.add(name, value);
        facts.add("targets", fmt::format("{}", fmt::join(std::visit(Legal{}, instruction.atom), " ")));
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
        moves(
            a.store ? "stores registers to Tensor Memory" : "loads Tensor Memory to registers",
            {{"cells", fmt::format("{}{} lanes × {} columns", a.fragment.blocks > 1 ? "2 × " : "", a.lanes, a.columns)},
             {"registers per thread", std::to_string(a.fragment.registers)},
             {"lanes", "warp w touches lanes 32 (w mod 4) to 32 (w mod 4) + 31 only"}});
    }
    void operator()(const atom::TmemCopy& a) const {
        moves("copies shared memory to Tensor Memory", {{"rows", fmt::format("{} of {} bytes", a.rows, a.bytes)},
                                                        {"copies of each", std::to_string(a.destination.replicas())}});
    }
};

}  // namespace

Result<Sheet> instruction_sheet(const InstructionQuestion& question) {
    const auto instruction = atom::instruction_named(question.instruction);
    if (!instruction) return std::unexpected(instruction.error());
    Sheet sheet;
    if (!question.operand && !question.view.asks()) {
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
    const auto view = operand_view(*instruction, question.operand ? std::string_view(*question.operand) : names.front(), question.placement);
    if (!view) return std::unexpected(view.error());
    sheet.title = fmt::format("{}, operand {}: {}", instruction->name, view->name, fmt::join(view->shape, " × "));
    if (auto ok = add_view(sheet, *view, question.view); !ok) return std::unexpected(ok.error());
    return sheet;
}

}  // namespace tilepath::report
