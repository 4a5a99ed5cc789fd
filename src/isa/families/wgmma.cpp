// wgmma.mma_async, wgmma.fence, commit_group and wait_group: PTX ISA 9.7.15. Which shapes go with which types is for
// atom/ to say; what else is refused here, ptxas 13.0 refuses.
#include <fmt/format.h>

#include <algorithm>

#include "atom/wgmma.h"
#include "isa/matrix_rules.h"
#include "isa/plain.h"

namespace tilepath::isa {
namespace {

using program::Mma;

/// An operand that is one of two integers in the text.
std::int64_t one_of(Lowering& to, const Bound& in, std::string_view name, std::string_view what, std::int64_t first,
                    std::int64_t second) {
    const std::int64_t value = to.immediate(in[name], what);
    if (value != first && value != second)
        to.error(in[name].span, fmt::format("{} is {} or {}; found {}", what, first, second, value));
    return value;
}

/// Registers that are all of a floating type hold no packed elements.
void refuse_floats(Lowering& to, const ptx::Operand& vector, std::span<const Operand> registers) {
    const auto is_float = [&](Operand part) {
        return part.kind == Operand::Kind::reg && to.out().registers[part.index].type == DataType::f32;
    };
    if (!registers.empty() && std::ranges::all_of(registers, is_float))
        to.error(vector.span, "packed elements are held in .b32 registers; found .f32");
}

/// 0, 1, p or !p.
Operand scale_d(Lowering& to, const Bound& in) {
    const ptx::Operand& operand = in["scale_d"];
    if (operand.kind == ptx::OperandKind::immediate && operand.bits > 1)
        to.error(operand.span,
                 fmt::format("scale-d is a predicate, 0 or 1; found {}", static_cast<std::int64_t>(operand.bits)));
    return to.read_predicate(operand);
}

/// imm-trans-a and -b; with A in registers only the latter.
void read_transposes(Lowering& to, const Bound& in, Mma& mma) {
    const ptx::Operand* second = in.operand("trans_b");
    if ((second != nullptr) == mma.a_in_registers) {
        to.error(in.instruction().span,
                 mma.a_in_registers ? "with A in registers there is one transposition, imm-trans-b; found two"
                                    : "with A in shared memory there are imm-trans-a and imm-trans-b; found one");
        return;
    }
    if (second != nullptr) mma.a_column_major = one_of(to, in, "trans", "imm-trans-a", 0, 1) == 1;
    mma.b_row_major = one_of(to, in, second != nullptr ? "trans_b" : "trans", "imm-trans-b", 0, 1) == 1;
}

void read_selector(Lowering& to, const Bound& in, Mma& mma, const atom::WgmmaAtom& atom) {
    const std::int64_t selector = to.immediate(in["selector"], "the sparsity selector");
    if (selector < 0 || selector >= atom.selectors)
        to.error(in["selector"].span, fmt::format("the sparsity selector of {} is {}; found {}", atom.name,
                                                  atom.selectors == 1 ? "0" : "0 or 1", selector));
    mma.selector = static_cast<int>(selector);
    if (in["metadata"].kind == ptx::OperandKind::immediate)
        to.error(in["metadata"].span,
                 fmt::format("the metadata is a register; found '{}'", to.module().text(in["metadata"].span)));
}

void multiply(Lowering& to, const Bound& in) {
    Mma mma = describe_mma(in);
    mma.c = mma.d;
    mma.warpgroup = true;
    mma.sparse = in.has("sp");
    mma.a_in_registers = in["a"].kind == ptx::OperandKind::vector;
    auto atom = atom::wgmma({mma.m, mma.n, mma.k},
                            {number_format(mma.d), number_format(mma.a), number_format(mma.b), number_format(mma.c)},
                            mma.sparse);
    if (!atom) return refuse(to, atom.error());
    if (in.operand("scale_a") != nullptr) {
        mma.negate_a = one_of(to, in, "scale_a", "imm-scale-a", -1, 1) == -1;
        mma.negate_b = one_of(to, in, "scale_b", "imm-scale-b", -1, 1) == -1;
    }
    if (in.operand("trans") != nullptr) read_transposes(to, in, mma);
    const std::vector<Operand> destinations = write_fragment(to, in["d"], atom->d);
    if (mma.d != DataType::f32) refuse_floats(to, in["d"], destinations);
    std::vector<Operand> sources;
    if (mma.a_in_registers) {
        sources = to.read_vector(in["a"], DataType::b32);
        check_registers(to, in["a"], sources.size(), atom->a.registers);
        refuse_floats(to, in["a"], sources);
    } else {
        sources.push_back(to.read(in["a"], DataType::b64));
    }
    sources.push_back(to.read(in["b"], DataType::b64));
    const Operand accumulates = scale_d(to, in);
    sources.push_back(accumulates);
    if (mma.sparse) {
        read_selector(to, in, mma, *atom);
        sources.push_back(to.read(in["metadata"], DataType::b32));
    }
    // D is read too, unless it never is; and `_` is no source.
    const std::vector<Operand> accumulators = to.read_vector(in["d"], DataType::b32);
    if (accumulates != to.predicate_constant(false))
        sources.insert(sources.end(), accumulators.begin(), accumulators.end());
    to.out().mmas.push_back(mma);
    to.emit(Op::wgmma, mma.d, destinations, sources).detail = static_cast<std::uint32_t>(to.out().mmas.size() - 1);
}

void wait(Lowering& to, const Bound& in) {
    const std::int64_t pending = to.immediate(in["n"], "the number of groups");
    if (pending < 0)
        to.error(in["n"].span,
                 fmt::format("the number of groups that may stay pending is not negative; found {}", pending));
    to.emit(Op::wgmma_wait, DataType::none, {}, {}).immediate = pending;
}

template <Op op>
void plain(Lowering& to, const Bound&) {
    to.emit(op, DataType::none, {}, {});
}

/// `shape: m64n8k16 m64n16k16 …` of every n.
std::string shapes(int k, bool coarse) {
    std::string words = "shape:";
    for (int n = 8; n <= 256; n += coarse && n >= 32 ? 16 : 8) words += fmt::format(" m64n{}k{}", n, k);
    return words;
}

struct Types {
    std::string_view syntax;  ///< what stands between `.shape` and the operands
    std::vector<std::string_view> words;
    std::string_view tail;  ///< operands behind scale-d
    std::string shape, sparse_shape;
};

std::vector<Types>& all_types() {
    constexpr std::string_view scales = ", scale_a:none, scale_b:none";
    constexpr std::string_view transposes = ", scale_a:none, scale_b:none, trans:none{, trans_b:none}";
    constexpr std::string_view plain_types = ".dtype.atype.btype", saturating = "{.satfinite}.dtype.atype.btype";
    constexpr std::string_view f32_d = "dtype: f32", half_or_single_d = "dtype: f16 f32", s32_d = "dtype: s32";
    static std::vector<Types> rows{
        {plain_types, {half_or_single_d, "atype: f16", "btype: f16"}, transposes, shapes(16, false), shapes(32, false)},
        {plain_types, {f32_d, "atype: bf16", "btype: bf16"}, transposes, shapes(16, false), shapes(32, false)},
        {plain_types, {f32_d, "atype: tf32", "btype: tf32"}, scales, shapes(8, false), shapes(16, false)},
        {plain_types,
         {half_or_single_d, "atype: e4m3 e5m2", "btype: e4m3 e5m2"},
         scales,
         shapes(32, false),
         shapes(64, false)},
        {saturating, {s32_d, "atype: s8 u8", "btype: s8 u8"}, "", shapes(32, true), shapes(64, true)},
        {".dtype.atype.btype.bitop.popc", {s32_d, "atype: b1", "btype: b1", "bitop: and"}, "", shapes(256, true), ""},
    };
    return rows;
}

Family multiply_family(bool sparse) {
    static std::vector<std::string> texts;  // FormText points into these
    texts.reserve(2 * all_types().size());
    Family family{.manual = sparse ? "9.7.15.6.3" : "9.7.15.5.2", .forms = {}, .lower = multiply};
    for (const Types& types : all_types()) {
        const std::string& shape = sparse ? types.sparse_shape : types.shape;
        if (shape.empty()) continue;
        texts.push_back(fmt::format("wgmma.mma_async{}.sync{{.aligned}}.shape{} d:none, a:none, b:b64{}, scale_d:none{}",
                                    sparse ? ".sp" : "", types.syntax, sparse ? ", metadata:b32, selector:none" : "",
                                    types.tail));
        FormText form{texts.back(), types.words, since(8, 0, 90, Suffix::architecture)};
        form.words.push_back(shape);
        family.forms.push_back(std::move(form));
    }
    return family;
}

}  // namespace

std::vector<Family> wgmma_families() {
    constexpr Needs needs = since(8, 0, 90, Suffix::architecture);
    return {
        multiply_family(false),
        multiply_family(true),
        {.manual = "9.7.15.7.1", .forms = {{"wgmma.fence.sync{.aligned}", {}, needs}}, .lower = plain<Op::wgmma_fence>},
        {.manual = "9.7.15.7.2",
         .forms = {{"wgmma.commit_group.sync{.aligned}", {}, needs}},
         .lower = plain<Op::wgmma_commit>},
        {.manual = "9.7.15.7.3", .forms = {{"wgmma.wait_group.sync{.aligned} n:none", {}, needs}}, .lower = wait},
    };
}

}  // namespace tilepath::isa
