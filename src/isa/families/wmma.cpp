// wmma.load, wmma.mma, wmma.store: PTX ISA 9.7.14.4. Their fragments are opaque in the manual; atom/ has them as
// recorded.
#include <fmt/format.h>

#include "atom/wmma.h"
#include "isa/matrix_rules.h"
#include "isa/plain.h"
#include "isa/spaces.h"

namespace tilepath::isa {
namespace {

using program::Mma;

enum class Matrix : std::uint8_t { a, b, c };  // in the order of wmma_load's variant

number::Format format_in(const atom::WmmaAtom& atom, Matrix matrix) {
    return matrix == Matrix::a ? atom.types.a : matrix == Matrix::b ? atom.types.b : atom.types.c;
}

const atom::Fragment& fragment_in(const atom::WmmaAtom& atom, Matrix matrix) {
    return matrix == Matrix::a ? atom.a : matrix == Matrix::b ? atom.b : atom.c;
}

/// A load or store names one matrix: any atom that has it in that shape and type will do.
const atom::WmmaAtom* atom_with(Lowering& to, const Bound& in, Matrix matrix) {
    static const std::vector<atom::WmmaAtom> all = atom::all_wmma();
    const atom::Shape shape = shape_named(in.word("shape"));
    for (const atom::WmmaAtom& each : all)
        if (each.shape == shape && format_in(each, matrix) == number_format(in.type()))
            return has_target(to, each.minimum_sm, each.name) ? &each : nullptr;
    to.error(in.instruction().span,
             fmt::format("wmma has no {} of .{} with shape {}", matrix == Matrix::c ? "C or D" : "A or B",
                         program::traits(in.type()).name, in.word("shape")),
             "`tilepath show wmma` lists the shapes of each type");
    return nullptr;
}

Mma describe_wmma(const Bound& in, const atom::WmmaAtom& atom) {
    Mma mma = describe_mma(in);
    mma.wmma = true;
    mma.a = data_type(atom.types.a), mma.b = data_type(atom.types.b);
    mma.c = data_type(atom.types.c), mma.d = data_type(atom.types.d);
    return mma;
}

void check_layouts(Lowering& to, const Bound& in, const atom::WmmaAtom& atom, bool a_is_row, bool b_is_column) {
    if (atom.row_col_only && !(a_is_row && b_is_column))
        to.error(in.instruction().span, fmt::format("with types of less than 8 bits A is .row and B is .col"));
}

MicroOp& emit_transfer(Lowering& to, const Bound& in, Op op, const Mma& mma, std::span<const Operand> destinations,
                       std::vector<Operand> sources) {
    const Address at = to.address(in["p"], space_named(in.word("ss")));
    sources.insert(sources.begin(), at.base);
    if (const ptx::Operand* stride = in.operand("stride")) sources.push_back(to.read(*stride, DataType::u32));
    to.out().mmas.push_back(mma);
    MicroOp& out = to.emit(op, in.type(), destinations, sources);
    out.detail = static_cast<std::uint32_t>(to.out().mmas.size() - 1);
    out.space = at.space;
    out.immediate = at.offset;
    return out;
}

void load(Lowering& to, const Bound& in) {
    const Matrix matrix = in.has("a") ? Matrix::a : in.has("b") ? Matrix::b : Matrix::c;
    const atom::WmmaAtom* atom = atom_with(to, in, matrix);
    if (!atom) return;
    const bool column = in.word("layout") == "col";
    check_layouts(to, in, *atom, matrix != Matrix::a || !column, matrix != Matrix::b || column);
    Mma mma = describe_wmma(in, *atom);
    (matrix == Matrix::a   ? mma.a_column_major
     : matrix == Matrix::b ? mma.b_row_major
                           : mma.c_column_major) = matrix == Matrix::b ? !column : column;
    std::vector<Operand> destinations = write_fragment(to, in["d"], fragment_in(*atom, matrix));
    emit_transfer(to, in, Op::wmma_load, mma, destinations, {}).variant = static_cast<std::uint8_t>(matrix);
}

void store(Lowering& to, const Bound& in) {
    const atom::WmmaAtom* atom = atom_with(to, in, Matrix::c);
    if (!atom) return;
    Mma mma = describe_wmma(in, *atom);
    mma.c_column_major = in.word("layout") == "col";
    emit_transfer(to, in, Op::wmma_store, mma, {}, read_fragment(to, in["r"], atom->c, in.type()));
}

void multiply(Lowering& to, const Bound& in) {
    Mma mma = describe_mma(in);
    // Without multiplicand types they are f16.
    if (mma.a == DataType::none) mma.a = mma.b = DataType::f16;
    mma.wmma = true;
    auto atom = atom::wmma({mma.m, mma.n, mma.k},
                           {number_format(mma.d), number_format(mma.a), number_format(mma.b), number_format(mma.c)});
    if (!atom) return refuse(to, atom.error());
    check_layouts(to, in, *atom, !mma.a_column_major, !mma.b_row_major);
    if (has_target(to, atom->minimum_sm, atom->name)) emit_mma(to, in, mma, atom->a, atom->b, atom->c, atom->d);
}

constexpr std::string_view shapes = "shape: m16n16k16 m8n32k16 m32n8k16 m16n16k8 m8n8k4 m8n8k32 m8n8k128";
constexpr std::string_view layout = "layout: row col", spaces = "ss: global shared shared::cta";

Family load_family() {
    Family family{.manual = "9.7.14.4.3", .forms = {}, .lower = load};
    for (std::string_view syntax : {"wmma.load.a.sync.aligned.layout.shape{.ss}.type d:none, [p]{, stride}",
                                    "wmma.load.b.sync.aligned.layout.shape{.ss}.type d:none, [p]{, stride}"})
        family.forms.insert(family.forms.end(),
                            {{syntax, {layout, shapes, spaces, "type: f16"}, since(6, 0, 70)},
                             {syntax, {layout, shapes, spaces, "type: s8 u8"}, since(6, 3, 72)},
                             {syntax, {layout, shapes, spaces, "type: s4 u4 b1"}, since(6, 3, 75)},
                             {syntax, {layout, shapes, spaces, "type: bf16 tf32 f64"}, since(7, 0, 80)}});
    constexpr std::string_view accumulator = "wmma.load.c.sync.aligned.layout.shape{.ss}.type d:none, [p]{, stride}";
    family.forms.insert(family.forms.end(), {{accumulator, {layout, shapes, spaces, "type: f16 f32"}, since(6, 0, 70)},
                                             {accumulator, {layout, shapes, spaces, "type: s32"}, since(6, 3, 72)},
                                             {accumulator, {layout, shapes, spaces, "type: f64"}, since(7, 0, 80)}});
    return family;
}

}  // namespace

std::vector<Family> wmma_families() {
    constexpr std::string_view store_syntax = "wmma.store.d.sync.aligned.layout.shape{.ss}.type [p], r:none{, stride}";
    constexpr std::string_view any_a = "alayout: row col", any_b = "blayout: row col", s32_d = "dtype: s32",
                               s32_c = "ctype: s32";
    constexpr std::string_view integers =
        "wmma.mma.sync.aligned.alayout.blayout.shape.dtype.atype.btype.ctype{.satfinite} d:none, a:none, b:none, "
        "c:none";
    constexpr std::string_view single_bit =
        "wmma.mma.bitop.popc.sync.aligned.alayout.blayout.shape.dtype.atype.btype.ctype d:none, a:none, b:none, c:none";
    constexpr std::string_view floats =
        "wmma.mma.sync.aligned.alayout.blayout.shape.dtype.atype.btype.ctype d:none, a:none, b:none, c:none";
    return {
        load_family(),
        {.manual = "9.7.14.4.4",
         .forms = {{store_syntax, {layout, shapes, spaces, "type: f16 f32"}, since(6, 0, 70)},
                   {store_syntax, {layout, shapes, spaces, "type: s32"}, since(6, 3, 72)},
                   {store_syntax, {layout, shapes, spaces, "type: f64"}, since(7, 0, 80)}},
         .lower = store},
        {.manual = "9.7.14.4.5",
         .forms = {{"wmma.mma.sync.aligned.alayout.blayout.shape.dtype.ctype d:none, a:none, b:none, c:none",
                    {any_a, any_b, shapes, "dtype: f16 f32", "ctype: f16 f32"},
                    since(6, 0, 70)},
                   {integers, {any_a, any_b, shapes, s32_d, "atype: s8 u8", "btype: s8 u8", s32_c}, since(6, 3, 72)},
                   {integers, {any_a, any_b, shapes, s32_d, "atype: s4 u4", "btype: s4 u4", s32_c}, since(6, 3, 75)},
                   {single_bit,
                    {any_a, any_b, shapes, s32_d, "atype: b1", "btype: b1", s32_c, "bitop: xor"},
                    since(6, 3, 75)},
                   {single_bit,
                    {any_a, any_b, shapes, s32_d, "atype: b1", "btype: b1", s32_c, "bitop: and"},
                    since(7, 1, 80)},
                   {floats,
                    {any_a, any_b, shapes, "dtype: f32", "atype: bf16 tf32", "btype: bf16 tf32", "ctype: f32"},
                    since(7, 0, 80)},
                   {"wmma.mma.sync.aligned.alayout.blayout.shape{.rnd}.dtype.atype.btype.ctype d:none, a:none, b:none, "
                    "c:none",
                    {any_a, any_b, shapes, "rnd: rn rz rm rp", "dtype: f64", "atype: f64", "btype: f64", "ctype: f64"},
                    since(7, 0, 80)}},
         .lower = multiply},
    };
}

}  // namespace tilepath::isa
