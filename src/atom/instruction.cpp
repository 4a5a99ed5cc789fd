#include "atom/instruction.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "atom/families.h"

namespace tilepath::atom {
namespace {

using number::Format;
using Words = std::vector<std::string_view>;

bool has(const Words& words, std::string_view word) { return std::ranges::find(words, word) != words.end(); }

std::vector<Format> formats_in(const Words& words) {
    std::vector<Format> all;
    for (const std::string_view word : words)
        if (const auto format = number::format_named(word)) all.push_back(*format);
    return all;
}

std::optional<Shape> shape_in(const Words& words) {
    for (const std::string_view word : words)
        if (const auto shape = shape_named(word)) return shape;
    return std::nullopt;
}

/// `x4`.
std::optional<int> repeats_of(std::string_view word) {
    int value = 0;
    if (word.size() < 2 || word[0] != 'x') return std::nullopt;
    const auto [end, error] = std::from_chars(word.data() + 1, word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
    return value;
}

/// 1 if there is none.
int repeats_in(const Words& words) {
    for (const std::string_view word : words)
        if (const auto repeats = repeats_of(word)) return *repeats;
    return 1;
}

/// An error at the first word, from `first` on, that is none of the known ones and that `other` does not take.
template <class Other>
Result<void> check_words(const Words& words, std::size_t first, const Words& known, Other other) {
    for (std::size_t i = first; i < words.size(); ++i)
        if (!has(known, words[i]) && !other(words[i]))
            return fail(fmt::format("{} has no word '{}'",
                                    fmt::join(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(first), "."),
                                    words[i]),
                        fmt::format("its words: {}", fmt::join(known, " ")));
    return {};
}

/// Whether the words come in the name, in that order.
bool is_part(const Words& words, std::string_view name) {
    const Words whole = words_of(name);
    auto at = whole.begin();
    for (const std::string_view word : words) {
        at = std::find(at, whole.end(), word);
        if (at == whole.end()) return false;
        ++at;
    }
    return true;
}

/// The candidates whose names hold the words, those with f32 results and f16 elements first.
template <class Atom>
Result<Instruction> pick(const Words& words, const std::vector<std::pair<std::string, Atom>>& all) {
    std::vector<const std::pair<std::string, Atom>*> found;
    for (const auto& each : all)
        if (is_part(words, each.first)) found.push_back(&each);
    if (found.empty()) return fail("");
    const auto rank = [](const auto* each) {
        const MmaTypes& types = each->second.types;
        return (types.a == Format::f16 ? 0 : 2) + (types.d == Format::f32 ? 0 : 1);
    };
    std::ranges::stable_sort(found, {}, rank);
    Instruction made{found.front()->first, found.front()->second, {}};
    for (std::size_t i = 1; i < found.size(); ++i) made.others.push_back(found[i]->first);
    return made;
}

std::string kind_of(const Words& words) {
    for (const std::string_view word : words)
        if (word.starts_with("kind::")) return std::string(word.substr(6));
    return {};
}

MmaKind mma_kind(const Words& words) {
    const std::string kind = kind_of(words);
    return kind == "f8f6f4"     ? MmaKind::f8f6f4
           : kind == "mxf8f6f4" ? MmaKind::mxf8f6f4
           : kind == "mxf4"     ? MmaKind::mxf4
           : kind == "mxf4nvf4" ? MmaKind::mxf4nvf4
                                : MmaKind::none;
}

std::unexpected<Diagnostics> unknown(std::string_view what, const Words& words, std::string example) {
    return fail(fmt::format("no {} has all of: {}", what, fmt::join(words, " ")), std::move(example));
}

/// Why a fully named product does not exist; the general answer if too little is named.
template <class Make>
std::unexpected<Diagnostics> why(std::string_view what, const Words& words, std::string example, Make make) {
    const auto shape = shape_in(words);
    std::vector<Format> types = formats_in(words);
    if (types.size() == 3) types.push_back(types[0]);
    if (shape && types.size() == 4) {
        const auto made = make(*shape, MmaTypes{types[0], types[1], types[2], types[3]});
        if (!made) return std::unexpected(made.error());
    }
    return unknown(what, words, std::move(example));
}

Result<Instruction> mma_named(const Words& words) {
    const bool sparse = has(words, "sp") || has(words, "sp::ordered_metadata");
    Words rest = words;
    std::erase_if(rest, [](std::string_view word) { return word == "block_scale" || word.starts_with("scale_vec"); });
    if (sparse) {
        std::vector<std::pair<std::string, SparseMmaAtom>> all;
        std::erase_if(rest, [](std::string_view word) { return word.starts_with("sp"); });
        for (SparseMmaAtom& atom : all_mma_sp())
            all.emplace_back(fmt::format("mma.sp{}.sync.aligned.{}",
                                         atom.ordered_metadata_only ? "::ordered_metadata" : "", atom.name),
                             std::move(atom));
        // `sp` comes before `sync` in the name and was taken out of the words.
        if (auto made = pick(rest, all)) return made;
        return why("mma.sp", words, "for example mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
                   [&](Shape shape, MmaTypes types) { return mma_sp(shape, types, mma_kind(words)); });
    }
    std::vector<std::pair<std::string, MmaAtom>> all;
    for (MmaAtom& atom : all_mma_sync()) all.emplace_back("mma.sync.aligned." + atom.name, std::move(atom));
    if (auto made = pick(rest, all)) return made;
    return why("mma.sync", words, "for example mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
               [&](Shape shape, MmaTypes types) {
                   return mma_sync(shape, types, has(words, "col") && !has(words, "row") ? Major::column : Major::row,
                                   Major::column, mma_kind(words));
               });
}

Result<Instruction> wmma_named(const Words& words) {
    std::vector<std::pair<std::string, WmmaAtom>> all;
    for (WmmaAtom& atom : all_wmma()) all.emplace_back("wmma.mma.sync.aligned." + atom.name, std::move(atom));
    if (auto made = pick(words, all)) return made;
    return why("wmma", words, "for example wmma.m16n16k16.f32.f16.f16.f32", wmma);
}

Result<Instruction> wgmma_named(const Words& words) {
    const bool sparse = has(words, "sp");
    std::vector<std::pair<std::string, WgmmaAtom>> all;
    for (WgmmaAtom& atom : all_wgmma())
        if (atom.sparse == sparse)
            all.emplace_back(fmt::format("wgmma.mma_async{}.sync.aligned.{}", sparse ? ".sp" : "", atom.name),
                             std::move(atom));
    if (auto made = pick(words, all)) return made;
    return why("wgmma", words, "for example wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16",
               [&](Shape shape, MmaTypes types) { return wgmma(shape, types, sparse); });
}

Result<Instruction> matrix_named(const Words& words) {
    const bool store = words[0] == "stmatrix", transposed = has(words, "trans");
    MatrixShape shape = MatrixShape::m8n8;
    MatrixData data = MatrixData::b16;
    for (std::size_t i = 1; i < words.size(); ++i) {
        const std::string_view word = words[i];
        if (word == "m8n8")
            shape = MatrixShape::m8n8;
        else if (word == "m16n16")
            shape = MatrixShape::m16n16;
        else if (word == "m8n16")
            shape = MatrixShape::m8n16;
        else if (word == "m16n8")
            shape = MatrixShape::m16n8;
        else if (word == "b8")
            data = MatrixData::b8;
        else if (word == "b6x16_p32")
            data = MatrixData::b6x16_p32;
        else if (word == "b4x16_p64")
            data = MatrixData::b4x16_p64;
        else if (word != "sync" && word != "aligned" && word != "trans" && word != "b16" && word != "shared" &&
                 word != "b8x16" && word != "shared::cta" && !repeats_of(word))
            return fail(fmt::format("{} has no word '{}'", words[0], word),
                        "for example ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16");
    }
    auto transfer = (store ? stmatrix : ldmatrix)(shape, repeats_in(words), transposed, data);
    if (!transfer) return std::unexpected(transfer.error());
    std::string name = fmt::format("{}.sync.aligned.{}", words[0], transfer->name);
    return Instruction{std::move(name), MatrixMove{*std::move(transfer), store}, {}};
}

Result<Instruction> tmem_transfer_named(const Words& words) {
    const Words known{"sync",     "aligned", "32x32b",
                      "16x64b",   "16x128b", "16x256b",
                      "16x32bx2", "b32",     words[1] == "st" ? "unpack::16b" : "pack::16b"};
    if (auto ok = check_words(words, 2, known, [](std::string_view word) { return repeats_of(word).has_value(); }); !ok)
        return std::unexpected(ok.error());
    for (const TmemShape shape :
         {TmemShape::s32x32b, TmemShape::s16x64b, TmemShape::s16x128b, TmemShape::s16x256b, TmemShape::s16x32bx2}) {
        if (!has(words, name(shape))) continue;
        auto made = tmem_transfer(words[1] == "st", shape, repeats_in(words),
                                  has(words, "pack::16b") || has(words, "unpack::16b"));
        if (!made) return std::unexpected(made.error());
        std::string full = made->name;
        return Instruction{std::move(full), *std::move(made), {}};
    }
    return fail(fmt::format("tcgen05.{} wants a shape", words[1]),
                "shapes: 32x32b 16x64b 16x128b 16x256b 16x32bx2; for example tcgen05.ld.32x32b.x8");
}

Result<Instruction> tmem_copy_named_by(const Words& words) {
    const Words casts{"warpx2::02_13", "warpx2::01_23", "warpx4"}, groups{"cta_group::1", "cta_group::2"};
    const auto other = [&](std::string_view word) { return has(casts, word) || has(groups, word); };
    if (auto ok = check_words(words, 2, {"128x256b", "128x128b", "4x256b", "64x128b", "32x128b"}, other); !ok)
        return std::unexpected(ok.error());
    std::string_view shape, multicast;
    for (std::size_t i = 2; i < words.size(); ++i) {
        if (has(casts, words[i]))
            multicast = words[i];
        else if (!has(groups, words[i]))
            shape = words[i];
    }
    const int group = has(words, "cta_group::2") ? 2 : 1;
    const auto found = tmem_copy_named(shape, multicast);
    if (!found)
        return fail(fmt::format("tcgen05.cp has no shape '{}'{}", shape,
                                multicast.empty() ? "" : fmt::format(" with {}", multicast)),
                    "128x256b, 128x128b, 4x256b, 64x128b.warpx2::02_13, 64x128b.warpx2::01_23, 32x128b.warpx4");
    TmemCopy copy = tmem_copy(*found, group);
    std::string full = copy.name;
    return Instruction{std::move(full), std::move(copy), {}};
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
    const int group = has(words, "cta_group::2") ? 2 : 1;
    Shape shape{128 * group, 128, sparse ? 2 * row.k : row.k};
    if (const auto given = shape_in(words)) shape = *given;
    if (types.empty()) types = {row.accumulators.back(), row.inputs.front(), row.inputs.front()};
    if (types.size() != 3 && types.size() != 4)
        return fail(fmt::format("expected types D, A, B, found {} types", types.size()),
                    "for example tcgen05.mma.cta_group::1.kind::f16.m128n256k16.f32.f16.f16");
    auto made = tcgen05_mma(*kind, shape, {types[0], types[1], types[2], types[0]}, group, ws, sparse);
    if (!made) return std::unexpected(made.error());
    std::string full = made->name;
    return Instruction{std::move(full), *std::move(made), {}};
}

Result<Instruction> tcgen05_named(const Words& words) {
    const std::string_view what = words.size() > 1 ? words[1] : "";
    if (what == "mma") return tcgen05_mma_named(words);
    if (what == "ld" || what == "st") return tmem_transfer_named(words);
    if (what == "cp") return tmem_copy_named_by(words);
    return fail(fmt::format("no tcgen05 instruction '{}' moves or multiplies elements", what),
                "tcgen05.mma, tcgen05.ld, tcgen05.st, tcgen05.cp");
}

}  // namespace

std::vector<std::string_view> words_of(std::string_view name) {
    Words words;
    for (std::size_t begin = 0; begin <= name.size();) {
        const std::size_t end = std::min(name.find('.', begin), name.size());
        if (end > begin) words.push_back(name.substr(begin, end - begin));
        begin = end + 1;
    }
    return words;
}

std::optional<Shape> shape_named(std::string_view word) {
    Shape shape;
    const char *at = word.data(), *end = at + word.size();
    for (auto [letter, to] : {std::pair{'m', &shape.m}, {'n', &shape.n}, {'k', &shape.k}}) {
        if (at == end || *at != letter) return std::nullopt;
        const auto [next, error] = std::from_chars(at + 1, end, *to);
        if (error != std::errc{} || *to <= 0) return std::nullopt;
        at = next;
    }
    return at == end ? std::optional(shape) : std::nullopt;
}

Result<Instruction> instruction_named(std::string_view text) {
    const std::optional<std::string> cute = ptx_name_of_cute(text);
    const std::string name = cute ? *cute : std::string(text);
    const Words words = words_of(name);
    const std::string_view opcode = words.empty() ? "" : words.front();
    if (opcode == "mma") return mma_named(words);
    if (opcode == "wmma") return wmma_named(words);
    if (opcode == "wgmma") return wgmma_named(words);
    if (opcode == "ldmatrix" || opcode == "stmatrix") return matrix_named(words);
    if (opcode == "movmatrix") return Instruction{"movmatrix.sync.aligned.m8n8.trans.b16", movmatrix(), {}};
    if (opcode == "tcgen05") return tcgen05_named(words);
    return fail(fmt::format("no tensor instruction is named '{}'", text),
                "mma, mma.sp, wmma, ldmatrix, stmatrix, movmatrix, wgmma, tcgen05.mma, .ld, .st, .cp; or CuTe's name, "
                "SM80_16x8x16_F32F16F16F32_TN");
}

}  // namespace tilepath::atom
