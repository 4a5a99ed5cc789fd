// Clusters: PTX ISA 9.7.9.23, 9.7.9.24, 9.7.13.3; dependent grids, 9.7.13.13; registers of a warpgroup, 9.7.19.5.
#include <fmt/format.h>

#include "isa/plain.h"
#include "isa/spaces.h"

namespace tilepath::isa {
namespace {

constexpr std::string_view space = "space: shared::cluster";
constexpr std::string_view types = "type: u32 u64";

const ptx::Symbol* symbol_of(Lowering& to, const ptx::Operand& operand) {
    return operand.kind == ptx::OperandKind::identifier ? to.module().symbol(operand) : nullptr;
}

/// A variable whose address is mapped lies in shared memory.
void check_shared(Lowering& to, const ptx::Operand& operand) {
    const ptx::Symbol* symbol = symbol_of(to, operand);
    if (!symbol || symbol->kind != ptx::SymbolKind::variable) return;
    const ptx::Space its = to.module().variable(*symbol).space;
    if (its != ptx::Space::reg && its != ptx::Space::shared)
        to.error(operand.span,
                 fmt::format("'{}' lies in .{}, not in shared memory", to.module().text(operand.span), ptx::word(its)));
}

void map_address(Lowering& to, const Bound& in) {
    const Operand d = to.write(in["d"], in.type());
    check_shared(to, in["a"]);
    const Operand from = to.read(in["a"], in.type());
    if (const ptx::Symbol* symbol = symbol_of(to, in["b"]); symbol && symbol->kind == ptx::SymbolKind::variable)
        if (to.module().variable(*symbol).space != ptx::Space::reg)
            to.error(in["b"].span, fmt::format("a rank is no address; found '{}'", to.module().text(in["b"].span)));
    const Operand rank = to.read(in["b"], DataType::u32);
    to.emit(Op::mapa, in.type(), {d}, {from, rank}).space = space_named(in.word("space"));
}

void rank_of_address(Lowering& to, const Bound& in) {
    check_shared(to, in["a"]);
    const Operand d = to.write(in["d"], DataType::u32);
    to.emit(Op::getctarank, in.type(), {d}, {to.read(in["a"], in.type())}).space = space_named(in.word("space"));
}

void barrier(Lowering& to, const Bound& in) {
    MicroOp& out = to.emit(Op::cluster_barrier, DataType::none, {}, {});
    out.variant = static_cast<std::uint8_t>((in.has("wait") ? 1 : 0) | (in.word("sem") == "relaxed" ? 2 : 0));
    out.flags.aligned = in.has("aligned");
}

void set_registers(Lowering& to, const Bound& in) {
    const std::int64_t count = to.immediate(in["a"], "the number of registers");
    if (count < 24 || count > 256 || count % 8 != 0)
        to.error(in["a"].span,
                 fmt::format("the number of registers is a multiple of 8 from 24 to 256; found {}", count));
    MicroOp& out = to.emit(Op::setmaxnreg, DataType::u32, {}, {});
    out.immediate = count;
    out.variant = in.word("action") == "inc" ? 1 : 0;
}

void try_cancel(Lowering& to, const Bound& in) {
    const Space where = space_named(in.word("space"));
    const Operand answer = whole_address(to, to.address(in["a"], where));
    const Operand mbarrier = whole_address(to, to.address(in["mbar"], where));
    MicroOp& out = to.emit(Op::try_cancel, DataType::b128, {}, {answer, mbarrier});
    out.space = where;
    out.variant = in.has("multicast::cluster::all") ? 1 : 0;
}

/// is_canceled, one coordinate of the first CTA, or all three and an unspecified fourth register.
void query_cancel(Lowering& to, const Bound& in) {
    const std::string_view what = in.word("what");
    std::uint8_t variant = what == "is_canceled" ? 0 : 4;
    if (what.find("::") != std::string_view::npos) variant = static_cast<std::uint8_t>(1 + what.back() - 'x');
    std::vector<Operand> destinations;
    if (variant == 0) {
        destinations.push_back(to.write(in["d"], DataType::pred));
    } else if (variant == 4) {
        destinations = to.write_vector(in["d"], DataType::b32);
        if (destinations.size() != 4)
            to.error(in["d"].span, fmt::format("expected a vector of 4 registers, found {}", destinations.size()));
    } else {
        destinations.push_back(to.write(in["d"], DataType::b32));
    }
    to.emit(Op::query_cancel, variant == 0 ? DataType::pred : DataType::b32, destinations,
            std::vector{to.read(in["a"], DataType::b128)})
        .variant = variant;
}

/// Grids run one after another: those before this one have completed, and those behind it start when it has.
void order_grids(Lowering&, const Bound&) {}

}  // namespace

std::vector<Family> cluster_families() {
    constexpr std::string_view cta_space = "space: shared::cta", answered = "done: mbarrier::complete_tx::bytes";
    constexpr std::string_view cancel = "clusterlaunchcontrol.try_cancel.async{.space}.done.b128 [a], [mbar]";
    constexpr std::string_view cancel_for_all =
        "clusterlaunchcontrol.try_cancel.async{.space}.done.multicast::cluster::all.b128 [a], [mbar]";
    return {
        {.manual = "9.7.9.23",
         .forms = {{"mapa{.space}.type d, a, b:u32", {space, types}, since(7, 8, 90)}},
         .lower = map_address},
        {.manual = "9.7.9.24",
         .forms = {{"getctarank{.space}.type d:u32, a", {space, types}, since(7, 8, 90)}},
         .lower = rank_of_address},
        {.manual = "9.7.13.3",
         .forms = {{"barrier.cluster.arrive{.aligned}", {}, since(7, 8, 90)},
                   {"barrier.cluster.arrive.sem{.aligned}", {"sem: release relaxed"}, since(8, 0, 90)},
                   {"barrier.cluster.wait{.aligned}", {}, since(7, 8, 90)},
                   {"barrier.cluster.wait.acquire{.aligned}", {}, since(8, 0, 90)}},
         .lower = barrier},
        {.manual = "9.7.13.17",
         .forms = {{cancel, {cta_space, answered}, since(8, 6, 100)},
                   {cancel_for_all, {cta_space, answered}, since(8, 6, 100, Suffix::families)}},
         .lower = try_cancel},
        {.manual = "9.7.13.18",
         .forms = {{"clusterlaunchcontrol.query_cancel.what.pred.b128 d:pred, a:b128",
                    {"what: is_canceled"},
                    since(8, 6, 100)},
                   {"clusterlaunchcontrol.query_cancel.what.v4.b32.b128 d:b32, a:b128",
                    {"what: get_first_ctaid"},
                    since(8, 6, 100)},
                   {"clusterlaunchcontrol.query_cancel.what.b32.b128 d:b32, a:b128",
                    {"what: get_first_ctaid::x get_first_ctaid::y get_first_ctaid::z"},
                    since(8, 6, 100)}},
         .lower = query_cancel},
        {.manual = "9.7.13.13",
         .forms = {{"griddepcontrol.action", {"action: launch_dependents wait"}, since(7, 8, 90)}},
         .lower = order_grids},
        {.manual = "9.7.19.5",
         .forms = {{"setmaxnreg.action.sync.aligned.type a",
                    {"action: inc dec", "type: u32"},
                    since(8, 0, 90, Suffix::families)}},
         .lower = set_registers},
    };
}

}  // namespace tilepath::isa
