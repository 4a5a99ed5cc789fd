// The products of registers and shared memory by name: mma, mma.sp, wmma, wgmma.
#include <algorithm>
#include <functional>

#include "atom/block_scale.h"
#include "atom/instruction_words.h"

namespace tilepath::atom {
namespace {

using number::Format;

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

/// Atoms with their whole names: some thousands, made once.
template <class Atom>
using Named = std::vector<std::pair<std::string, Atom>>;
template <class Atom, class Name>
Named<Atom> with_names(std::vector<Atom> atoms, Name name) {
    Named<Atom> all;
    all.reserve(atoms.size());
    for (Atom& atom : atoms) {
        std::string text = name(atom);
        all.emplace_back(std::move(text), std::move(atom));
    }
    return all;
}

/// The candidates whose names hold the words, those with f32 results and f16 elements first.
template <class Atom>
Result<Instruction> pick(
    const Words& words, const Named<Atom>& all,
    const std::function<bool(const Atom&)>& counts = [](const Atom&) { return true; }) {
    std::vector<const std::pair<std::string, Atom>*> found;
    for (const auto& each : all)
        if (counts(each.second) && is_part(words, each.first)) found.push_back(&each);
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

MmaKind mma_kind(const Words& words) {
    const std::string kind = kind_of(words);
    return mma_kind_named(kind.empty() ? kind : "kind::" + kind).value_or(MmaKind::none);
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

/// Words of scaling on a kind that has none, or of a size that the kind does not have.
Result<void> check_scaling(const Words& words, MmaKind kind) {
    const auto size = one_of(words, {"scale_vec::1X", "scale_vec::2X", "scale_vec::4X"});
    if (!size) return std::unexpected(size.error());
    const bool scaled = is_block_scaled(kind);
    if (!scaled && (has(words, "block_scale") || !size->empty()))
        return fail("only block-scaled kinds have .block_scale and .scale_vec", "kinds: mxf8f6f4 mxf4 mxf4nvf4");
    if (size->empty()) return {};
    const ScaleVector vector = *scale_vector_named(size->substr(11));
    const auto made = mma_scales(kind, vector, vector == ScaleVector::x4 ? Format::ue4m3 : Format::ue8m0, {}, {});
    if (!made) return std::unexpected(made.error());
    return {};
}

Result<Instruction> sparse_mma_named(const Words& words, const Words& rest) {
    static const auto all = with_names(all_mma_sp(), [](const SparseMmaAtom& atom) {
        return fmt::format("mma.sp{}.sync.aligned.{}", atom.ordered_metadata_only ? "::ordered_metadata" : "",
                           atom.name);
    });
    if (auto made = pick(rest, all)) {
        if (auto ok = check_scaling(words, std::get<SparseMmaAtom>(made->atom).kind); !ok)
            return std::unexpected(ok.error());
        return made;
    }
    return why("mma.sp", words, "for example mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
               [&](Shape shape, MmaTypes types) { return mma_sp(shape, types, mma_kind(words)); });
}

}  // namespace

Result<Instruction> mma_named(const Words& words) {
    static const auto all =
        with_names(all_mma_sync(), [](const MmaAtom& atom) { return "mma.sync.aligned." + atom.name; });
    // Words of scaling are in no name; `sp` comes before `sync` in PTX's, after it in some of the manual's examples.
    Words rest = words;
    const bool sparse =
        std::erase_if(rest, [](std::string_view word) { return word == "sp" || word == "sp::ordered_metadata"; }) > 0;
    std::erase_if(rest, [](std::string_view word) { return word == "block_scale" || word.starts_with("scale_vec::"); });
    if (sparse) return sparse_mma_named(words, rest);
    if (auto made = pick(rest, all)) {
        if (auto ok = check_scaling(words, std::get<MmaAtom>(made->atom).kind); !ok) return std::unexpected(ok.error());
        return made;
    }
    return why("mma.sync", words, "for example mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
               [&](Shape shape, MmaTypes types) {
                   return mma_sync(shape, types, has(words, "col") && !has(words, "row") ? Major::column : Major::row,
                                   Major::column, mma_kind(words));
               });
}

Result<Instruction> wmma_named(const Words& words) {
    static const auto all =
        with_names(all_wmma(), [](const WmmaAtom& atom) { return "wmma.mma.sync.aligned." + atom.name; });
    if (auto made = pick(words, all)) return made;
    return why("wmma", words, "for example wmma.m16n16k16.f32.f16.f16.f32", wmma);
}

Result<Instruction> wgmma_named(const Words& words) {
    static const auto all = with_names(all_wgmma(), [](const WgmmaAtom& atom) {
        return fmt::format("wgmma.mma_async{}.sync.aligned.{}", atom.sparse ? ".sp" : "", atom.name);
    });
    const bool sparse = has(words, "sp");
    if (auto made = pick<WgmmaAtom>(words, all, [&](const WgmmaAtom& atom) { return atom.sparse == sparse; }))
        return made;
    return why("wgmma", words, "for example wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16",
               [&](Shape shape, MmaTypes types) { return wgmma(shape, types, sparse); });
}

}  // namespace tilepath::atom
