// mma.sync and mma.sp with a .kind: 8-, 6- and 4-bit floats, and block scales. PTX ISA 9.7.14.3, 9.7.14.5, 9.7.14.6.
#include "isa/matrix_rules.h"
#include "isa/plain.h"

namespace tilepath::isa {
namespace {

constexpr std::string_view row_a = "alayout: row", col_b = "blayout: col";
constexpr std::string_view f32_d = "dtype: f32", f32_c = "ctype: f32";
constexpr std::string_view all_a = "atype: e4m3 e5m2 e3m2 e2m3 e2m1", all_b = "btype: e4m3 e5m2 e3m2 e2m3 e2m1";
constexpr std::string_view half_or_single_d = "dtype: f16 f32", half_or_single_c = "ctype: f16 f32";

/// kind::f8f6f4: fp8 from sm_100a on, sparse with f32 results only; narrower floats from sm_120a on (ptxas 13.0).
std::vector<FormText> narrow_forms(std::string_view syntax, std::string_view shapes_of_bytes, std::string_view shape,
                                   std::string_view bytes_d, std::string_view bytes_c) {
    constexpr std::string_view kind = "kind: kind::f8f6f4", bytes_a = "atype: e4m3 e5m2", bytes_b = "btype: e4m3 e5m2";
    constexpr std::string_view narrow_a = "atype: e3m2 e2m3 e2m1", narrow_b = "btype: e3m2 e2m3 e2m1";
    const Needs bytes = since(8, 6, 100, Suffix::families), narrow = since(8, 7, 120, Suffix::families);
    return {{syntax, {shapes_of_bytes, row_a, col_b, kind, bytes_d, bytes_a, bytes_b, bytes_c}, bytes},
            {syntax, {shape, row_a, col_b, kind, half_or_single_d, bytes_a, narrow_b, half_or_single_c}, narrow},
            {syntax, {shape, row_a, col_b, kind, half_or_single_d, narrow_a, all_b, half_or_single_c}, narrow}};
}

/// Kinds that scale blocks: `kind`, `scale_vec`, types of A and B, of the scales.
struct ScaledWords {
    std::string_view kind, shape, sparse_shape;
    std::string_view scale_vec;
    bool optional;  ///< scale_vec
    std::string_view a, b, scale;
    bool four_bits;
    int minor;  ///< of PTX ISA
};
constexpr std::string_view e2m1_a = "atype: e2m1", e2m1_b = "btype: e2m1";
constexpr ScaledWords scaled_words[] = {
    {"kind: kind::mxf8f6f4", "shape: m16n8k32", "shape: m16n8k64", "scale_vec: scale_vec::1X", true, all_a, all_b,
     "stype: ue8m0", false, 0},
    {"kind: kind::mxf4", "shape: m16n8k64", "shape: m16n8k128", "scale_vec: scale_vec::2X", true, e2m1_a, e2m1_b,
     "stype: ue8m0", true, 0},
    {"kind: kind::mxf4nvf4", "shape: m16n8k64", "shape: m16n8k128", "scale_vec: scale_vec::2X", false, e2m1_a, e2m1_b,
     "stype: ue8m0", true, 0},
    {"kind: kind::mxf4nvf4", "shape: m16n8k64", "shape: m16n8k128", "scale_vec: scale_vec::4X", false, e2m1_a, e2m1_b,
     "stype: ue4m3", true, 0},
    {"kind: kind::mxf4nvf4", "shape: m16n8k64", "shape: m16n8k128", "scale_vec: scale_vec::4X", false, e2m1_a, e2m1_b,
     "stype: ue8m0", true, 1},
};

std::vector<FormText> scaled_forms(bool sparse) {
    const std::string_view of_a = ", scale_a:none, selector_a:none, scale_b:none, selector_b:none";
    std::vector<FormText> forms;
    for (const ScaledWords& row : scaled_words) {
        const std::string_view syntax = keep(
            fmt::format("mma{}.sync.aligned.shape.alayout.blayout.kind.block_scale{}.dtype.atype.btype.ctype.stype "
                        "d:none, a:none, b:none, c:none{}{}",
                        sparse ? ".sp" : "", row.optional ? "{.scale_vec}" : ".scale_vec",
                        sparse ? ", metadata:b32, selector:none" : "", of_a));
        auto add = [&](Needs needs) {
            std::vector<std::string_view> words{sparse ? row.sparse_shape : row.shape,
                                                row_a,
                                                col_b,
                                                row.kind,
                                                row.scale_vec,
                                                f32_d,
                                                row.a,
                                                row.b,
                                                f32_c,
                                                row.scale};
            if (sparse) words.push_back("sp: sp::ordered_metadata");
            if (row.minor > 0) needs.major = 9, needs.minor = row.minor;
            forms.push_back({syntax, std::move(words), needs});
        };
        if (!sparse || !row.four_bits) {
            add(since(8, 7, 120, Suffix::families));
        } else {
            // Not of the family: ptxas 13.0 has them on these two.
            add(since(8, 7, 120, Suffix::architecture));
            add(since(8, 8, 121, Suffix::architecture));
        }
    }
    return forms;
}

Family narrow_family() {
    return {.manual = "9.7.14.5.14",
            .forms = narrow_forms(
                "mma.sync.aligned.shape.alayout.blayout.kind.dtype.atype.btype.ctype d:none, a:none, b:none, c:none",
                "shape: m16n8k16 m16n8k32", "shape: m16n8k32", half_or_single_d, half_or_single_c),
            .lower = lower_mma,
            .evidence = Evidence::Kind::model};
}

Family sparse_narrow_family() {
    constexpr std::string_view syntax =
        "mma.sp.sync.aligned.shape.alayout.blayout.kind.dtype.atype.btype.ctype "
        "d:none, a:none, b:none, c:none, metadata:b32, selector:none";
    constexpr std::string_view shape = "shape: m16n8k64";
    Family family{.manual = "9.7.14.6.3",
                  .forms = narrow_forms(syntax, shape, shape, f32_d, f32_c),
                  .lower = lower_sparse_mma,
                  .evidence = Evidence::Kind::model};
    family.forms.push_back({syntax,
                            {shape, row_a, col_b, "kind: kind::f8f6f4", "dtype: f16", "atype: e4m3 e5m2",
                             "btype: e4m3 e5m2", "ctype: f16"},
                            since(8, 7, 120, Suffix::families)});
    for (FormText& form : family.forms) form.words.push_back("sp: sp::ordered_metadata");
    return family;
}

}  // namespace

std::vector<Family> mma_kinds_families() {
    return {
        narrow_family(),
        {.manual = "9.7.14.5.14, 9.7.14.3",
         .forms = scaled_forms(false),
         .lower = lower_mma,
         .evidence = Evidence::Kind::model},
        sparse_narrow_family(),
        {.manual = "9.7.14.6.3, 9.7.14.3",
         .forms = scaled_forms(true),
         .lower = lower_sparse_mma,
         .evidence = Evidence::Kind::model},
    };
}

}  // namespace tilepath::isa
