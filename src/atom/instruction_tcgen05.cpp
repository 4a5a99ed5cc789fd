// tcgen05's instructions by name.
#include <algorithm>

#include "atom/instruction_words.h"

namespace tilepath::atom {
namespace {

using number::Format;

template <class Atom>
Result<Instruction> named(Result<Atom> made) {
    if (!made) return std::unexpected(made.error());
    std::string name = made->name;
    return Instruction{std::move(name), *std::move(made), {}};
}

bool is_repeats(std::string_view word) { return repeats_of(word).has_value(); }

Result<TmemShape> tmem_shape_in(const Words& words) {
    constexpr TmemShape shapes[] = {TmemShape::s32x32b, TmemShape::s16x64b, TmemShape::s16x128b, TmemShape::s16x256b,
                                    TmemShape::s16x32bx2};
    Words names;
    for (const TmemShape shape : shapes) names.push_back(name(shape));
    const auto found = one_of(words, names);
    if (!found) return std::unexpected(found.error());
    for (const TmemShape shape : shapes)
        if (name(shape) == *found) return shape;
    return fail(fmt::format("tcgen05.{} wants a shape", words[1]),
                fmt::format("shapes: {}; for example tcgen05.ld.32x32b.x8", fmt::join(names, " ")));
}

Result<Instruction> tmem_transfer_named(const Words& words) {
    const bool store = words[1] == "st";
    const std::string_view pack = store ? "unpack::16b" : "pack::16b";
    const Words known{"sync", "aligned", "32x32b", "16x64b", "16x128b", "16x256b", "16x32bx2", "b32", pack};
    if (auto ok = check_words(words, 2, known, is_repeats); !ok) return std::unexpected(ok.error());
    const auto shape = tmem_shape_in(words);
    if (!shape) return std::unexpected(shape.error());
    return named(tmem_transfer(store, *shape, repeats_in(words), has(words, pack)));
}

/// tcgen05.ld.red: the maximum of f32 where nothing else is said.
Result<Instruction> reducing_load_named(const Words& words) {
    const Words known{"red", "sync", "aligned", "32x32b", "16x64b", "16x128b", "16x256b", "16x32bx2",
                      "min", "max",  "abs",     "NaN",    "f32",    "s32",     "u32"};
    if (auto ok = check_words(words, 2, known, is_repeats); !ok) return std::unexpected(ok.error());
    const auto shape = tmem_shape_in(words);
    if (!shape) return std::unexpected(shape.error());
    const auto operation = one_of(words, {"max", "min"}), type = one_of(words, {"f32", "s32", "u32"});
    if (!operation) return std::unexpected(operation.error());
    if (!type) return std::unexpected(type.error());
    using Type = TmemReduction::Type;
    return named(tmem_reducing_load(*shape, repeats_in(words),
                                    {*operation != "min", has(words, "abs"), has(words, "NaN"),
                                     *type == "s32"   ? Type::s32
                                     : *type == "u32" ? Type::u32
                                                      : Type::f32}));
}

Result<Instruction> tmem_copy_named_by(const Words& words) {
    const Words shapes{"128x256b", "128x128b", "4x256b", "64x128b", "32x128b"},
        casts{"warpx2::02_13", "warpx2::01_23", "warpx4"}, sources{"b6x16_p32", "b4x16_p64"};
    const auto other = [&](std::string_view word) {
        return has(casts, word) || has(sources, word) || word == "b8x16" || word == "cta_group::1" ||
               word == "cta_group::2";
    };
    if (auto ok = check_words(words, 2, shapes, other); !ok) return std::unexpected(ok.error());
    const auto shape = one_of(words, shapes), multicast = one_of(words, casts), source = one_of(words, sources);
    const auto group = cta_group_in(words);
    for (const auto* each : {&shape, &multicast, &source})
        if (!*each) return std::unexpected(each->error());
    if (!group) return std::unexpected(group.error());
    const auto found = tmem_copy_named(*shape, *multicast);
    if (!found)
        return fail(fmt::format("tcgen05.cp has no shape '{}'{}", *shape,
                                multicast->empty() ? "" : fmt::format(" with {}", *multicast)),
                    "128x256b, 128x128b, 4x256b, 64x128b.warpx2::02_13, 64x128b.warpx2::01_23, 32x128b.warpx4");
    if (source->empty() && has(words, "b8x16"))
        return fail("tcgen05.cp widens to b8x16 from b6x16_p32 or b4x16_p64", "for example .b8x16.b6x16_p32");
    return named(tmem_copy(*found, *group,
                           source->empty()          ? MatrixData::b8
                           : *source == "b6x16_p32" ? MatrixData::b6x16_p32
                                                    : MatrixData::b4x16_p64));
}

Result<Instruction> shift_named(const Words& words) {
    const Words known{"cta_group::1", "cta_group::2", "down"};
    if (auto ok = check_words(words, 2, known, [](std::string_view) { return false; }); !ok)
        return std::unexpected(ok.error());
    const auto group = cta_group_in(words);
    if (!group) return std::unexpected(group.error());
    return named(tmem_shift(*group));
}

/// The size of scale vectors that the words name must be one of the kind's.
Result<void> check_scale_words(const Words& words, const Tcgen05Mma& mma) {
    const Words sizes{"scale_vec::1X", "scale_vec::2X", "scale_vec::4X", "block16", "block32"};
    const auto size = one_of(words, sizes);
    if (!size) return std::unexpected(size.error());
    const bool scaled = traits(mma.kind).block_scaled;
    if (!scaled && (has(words, "block_scale") || !size->empty()))
        return fail(fmt::format("kind::{} is not block-scaled", traits(mma.kind).name),
                    "block-scaled kinds: mxf8f6f4 mxf4 mxf4nvf4");
    if (size->empty()) return {};
    const bool k96 = mma.shape.k == 96;
    ScaleVector vector = ScaleVector::x1;
    if (size->starts_with("scale_vec"))
        vector = *scale_vector_named(size->substr(11));
    else if (*size == "block16")
        vector = k96 ? ScaleVector::x6 : ScaleVector::x4;
    else if (mma.kind != Tcgen05Kind::mxf8f6f4)
        vector = k96 ? ScaleVector::x3 : ScaleVector::x2;
    if (auto found = mma.scales(false, vector, 0); !found) return std::unexpected(found.error());
    return {};
}

Result<Instruction> tcgen05_mma_named(const Words& words) {
    const Words known{"cta_group::1",  "cta_group::2",  "ws",      "sp",     "block_scale", "scale_vec::1X",
                      "scale_vec::2X", "scale_vec::4X", "block16", "block32"};
    const auto other = [](std::string_view word) {
        return word.starts_with("kind::") || word.starts_with("collector::") || shape_named(word) ||
               number::format_named(word);
    };
    if (auto ok = check_words(words, 2, known, other); !ok) return std::unexpected(ok.error());
    const std::string kind_name = kind_of(words);
    std::vector<Format> types = formats_in(words);
    std::optional<Tcgen05Kind> kind = tcgen05_kind_named(kind_name.empty() ? "f16" : kind_name);
    if (!kind) {
        std::vector<std::string_view> kinds;
        for (const Tcgen05KindTraits& row : all_tcgen05_kinds()) kinds.push_back(row.name);
        return fail(fmt::format("tcgen05.mma has no kind::{}", kind_name),
                    fmt::format("kinds: {}", fmt::join(kinds, " ")));
    }
    const Tcgen05KindTraits& row = traits(*kind);
    const bool ws = has(words, "ws"), sparse = has(words, "sp");
    const auto pair = cta_group_in(words);
    if (!pair) return std::unexpected(pair.error());
    const int group = *pair;
    Shape shape{128 * group, 128, sparse ? 2 * row.k : row.k};
    if (const auto given = shape_in(words)) shape = *given;
    if (types.empty()) types = {row.accumulators.back(), row.inputs.front(), row.inputs.front()};
    if (types.size() != 3 && types.size() != 4)
        return fail(fmt::format("expected types D, A, B, found {} types", types.size()),
                    "for example tcgen05.mma.cta_group::1.kind::f16.m128n256k16.f32.f16.f16");
    auto made = tcgen05_mma(*kind, shape, {types[0], types[1], types[2], types[0]}, group, ws, sparse);
    if (made) {
        if (auto ok = check_scale_words(words, *made); !ok) return std::unexpected(ok.error());
        made->names_scale_vec =
            std::ranges::any_of(words, [](std::string_view word) { return word.starts_with("scale_vec"); });
    }
    return named(std::move(made));
}

}  // namespace

Result<Instruction> tcgen05_named(const Words& words) {
    const std::string_view what = words.size() > 1 ? words[1] : "";
    if (what == "mma") return tcgen05_mma_named(words);
    if (what == "ld" && has(words, "red")) return reducing_load_named(words);
    if (what == "ld" || what == "st") return tmem_transfer_named(words);
    if (what == "cp") return tmem_copy_named_by(words);
    if (what == "shift") return shift_named(words);
    return fail(fmt::format("no tcgen05 instruction '{}' moves or multiplies elements", what),
                "tcgen05.mma, tcgen05.ld, tcgen05.ld.red, tcgen05.st, tcgen05.cp, tcgen05.shift");
}

}  // namespace tilepath::atom
