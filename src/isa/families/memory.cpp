// ld, ldu, st: PTX ISA 9.7.9.8 to 9.7.9.12. Memory order and cache hints change no result of a kernel without a race:
// they are read and kept out of the micro-operation.
#include <fmt/format.h>

#include "isa/plain.h"
#include "isa/spaces.h"

namespace tilepath::isa {
namespace {

std::size_t vector_length(std::string_view word) { return word.empty() ? 1 : static_cast<std::size_t>(word[1] - '0'); }

/// What the words of a vector access may not say together.
void check_vector(Lowering& to, const Bound& in, const ptx::Operand& operand, std::size_t found, Space space) {
    const std::size_t length = vector_length(in.word("vec"));
    const std::size_t bits = length * static_cast<std::size_t>(program::bits(in.type()));
    if (found != length)
        to.error(operand.span, fmt::format("expected a vector of {} registers, found {}", length, found));
    // 128 bits in any parts, as ptxas 13.0 has it; 256 only in parts of 32 or 64.
    const bool wide = bits == 256 && length >= 4;
    if (length > 1 && bits > 128) {
        const std::string what = fmt::format(".{}.{}", in.word("vec"), program::traits(in.type()).name);
        if (!wide || in.form().opcode == "ldu")
            to.error(in.instruction().span, fmt::format("'{}' has no {}", in.form().opcode, what),
                     "vectors have at most 128 bits; from sm_100 on ld and st have .v8 of 32 and .v4 of 64 bits too");
        else if (available(to, in.instruction().span, what, since(8, 8, 100)) && space != Space::global &&
                 space != Space::generic)
            to.error(in.instruction().span, fmt::format("{} is for global memory only", what));
    }
    if (in.has("evict2") && !wide)
        to.error(in.instruction().span, fmt::format(".{} goes only with vectors of 256 bits", in.word("evict2")),
                 "use .v8.b32 or .v4.b64, or leave it out");
    if (in.type() == DataType::b128 && (in.has("sys") || in.word("scope") == "sys"))
        available(to, in.instruction().span, ".b128 with .sys", since(8, 4, 70));
    if (in.operand("policy")) to.read(in["policy"], DataType::u64);
}

void lower_ld(Lowering& to, const Bound& in) {
    const Address from = to.address(in["a"], space_named(in.word("ss")));
    const std::vector<Operand> into = to.write_vector_wider(in["d"], in.type());
    check_vector(to, in, in["d"], into.size(), from.space);
    MicroOp& op = to.emit(Op::ld, in.type(), into, std::vector{from.base});
    op.space = from.space;
    op.immediate = from.offset;
    op.vector = static_cast<std::uint8_t>(into.size());
}

void lower_st(Lowering& to, const Bound& in) {
    const Address at = to.address(in["a"], space_named(in.word("ss")));
    const ptx::Symbol* symbol = in["a"].kind == ptx::OperandKind::address ? to.module().symbol(in["a"]) : nullptr;
    if (at.space == Space::param && symbol && symbol->kind == ptx::SymbolKind::param)
        to.error(in["a"].span, "the parameters of an entry are not written", "copy them to local memory first");
    std::vector<Operand> sources{at.base};
    for (Operand value : to.read_vector_wider(in["b"], in.type())) sources.push_back(value);
    check_vector(to, in, in["b"], sources.size() - 1, at.space);
    MicroOp& op = to.emit(Op::st, in.type(), std::vector<Operand>{}, sources);
    op.space = at.space;
    op.immediate = at.offset;
    op.vector = static_cast<std::uint8_t>(sources.size() - 1);
}

constexpr std::string_view types = "type: b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64";
constexpr std::string_view vectors = "vec: v2 v4 v8";
constexpr std::string_view scopes = "scope: cta cluster gpu sys";
/// Spaces that several threads see, so that order means something.
constexpr std::string_view ordered_spaces = "ss: global shared shared::cta shared::cluster";
constexpr std::string_view global = "ss: global";

/// Cache hints, each combination once; only global memory has them. `.cop` and `.evict1` exclude each other.
struct Hint {
    std::string_view syntax;
    bool with_cop, policy;
};
constexpr Hint load_hints[] = {{".prefetch", true, false},
                               {".evict1{.evict2}{.prefetch}", false, false},
                               {".evict2{.prefetch}", false, false},
                               {".L2::cache_hint{.prefetch}", true, true},
                               {".evict1{.evict2}.L2::cache_hint{.prefetch}", false, true},
                               {".evict2.L2::cache_hint{.prefetch}", false, true}};
constexpr Hint store_hints[] = {{".evict1{.evict2}", false, false},
                                {".evict2", false, false},
                                {".L2::cache_hint", true, true},
                                {".evict1{.evict2}.L2::cache_hint", false, true},
                                {".evict2.L2::cache_hint", false, true}};

/// How an access is ordered, before its hints: `.volatile{.ss}`.
struct Access {
    std::string_view syntax, spaces, cop;  ///< cop: "" if it takes none
    Needs needs;
    bool evicts = true, prefetches = true;  ///< which hints go with it
    std::vector<std::string_view> words = {};
};

void add_forms(Family& family, std::string_view opcode, std::string_view operands, std::span<const Hint> hints,
               const Access& access) {
    std::vector<std::string_view> words{
        types, vectors, "evict1: L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last L1::no_allocate",
        "evict2: L2::evict_normal L2::evict_first L2::evict_last", "prefetch: L2::64B L2::128B L2::256B"};
    words.insert(words.end(), access.words.begin(), access.words.end());
    if (!access.cop.empty()) words.push_back(access.cop);
    auto add = [&](std::string_view cop, std::string_view hint, std::string_view policy, std::string_view spaces,
                   Needs needs) {
        std::vector<std::string_view> all = words;
        all.push_back(spaces);
        family.forms.push_back(
            {keep(fmt::format("{}{}{}{}{{.vec}}.type {}{}", opcode, access.syntax, cop, hint, operands, policy)), all,
             needs});
    };
    const std::string_view cop = access.cop.empty() ? "" : "{.cop}";
    add(cop, "", "", access.spaces, access.needs);
    for (const Hint& hint : hints)
        if (hint.syntax == ".prefetch" ? access.prefetches : access.evicts)
            add(hint.with_cop ? cop : "", hint.syntax, hint.policy ? ", policy:b64" : "", global,
                later(access.needs, since(7, 4, 75)));
}

}  // namespace

std::vector<Family> memory_families() {
    Family loads{.manual = "9.7.9.8", .forms = {}, .lower = lower_ld},
        cached{.manual = "9.7.9.9", .forms = {}, .lower = lower_ld};
    Family stores{.manual = "9.7.9.11", .forms = {}, .lower = lower_st};
    constexpr std::string_view from = "d, [a]", into = "[a], b";
    add_forms(
        loads, "ld", from, load_hints,
        {"{.weak}{.ss}", "ss: const global local param param::entry param::func shared shared::cta shared::cluster",
         "cop: ca cg cs lu cv", since(1, 0)});
    add_forms(loads, "ld", from, load_hints, {".volatile{.ss}", ordered_spaces, "", since(1, 1), false});
    add_forms(
        loads, "ld", from, load_hints,
        {".order.scope{.ss}", ordered_spaces, "", since(6, 0, 70), true, true, {"order: relaxed acquire", scopes}});
    add_forms(cached, "ld", from, load_hints, {".ss.nc", global, "cop: ca cg cs", since(3, 1, 32)});
    add_forms(stores, "st", into, store_hints,
              {"{.weak}{.ss}", "ss: global local param param::func shared shared::cta shared::cluster",
               "cop: wb cg cs wt", since(1, 0)});
    add_forms(stores, "st", into, store_hints, {".volatile{.ss}", ordered_spaces, "", since(1, 1), false});
    add_forms(
        stores, "st", into, store_hints,
        {".order.scope{.ss}", ordered_spaces, "", since(6, 0, 70), true, true, {"order: relaxed release", scopes}});
    loads.forms.push_back({"ld.mmio.relaxed.sys{.ss}.type d, [a]", {types, global}, since(8, 2, 70)});
    stores.forms.push_back({"st.mmio.relaxed.sys{.ss}.type [a], b", {types, global}, since(8, 2, 70)});
    return {
        std::move(loads),
        std::move(cached),
        {.manual = "9.7.9.10",
         .forms = {{"ldu{.ss}{.vec}.type d, [a]", {types, global, "vec: v2 v4"}, since(2, 0)}},
         .lower = lower_ld},
        std::move(stores),
    };
}

}  // namespace tilepath::isa
