// Boxes of tensors between global and shared memory, as a tensor map describes them (TMA): PTX ISA 9.7.9.25.5.
#include <fmt/format.h>

#include "isa/bulk.h"

namespace tilepath::isa {
namespace {

using program::Bulk;

/// `{c0, c1}` behind the map, one for each dimension.
std::vector<Operand> numbers(Lowering& to, const ptx::Operand& list, std::size_t expected, DataType type,
                             std::string_view what) {
    std::vector<Operand> out = to.read_vector(list, type);
    if (out.size() != expected || list.kind != ptx::OperandKind::vector)
        to.error(list.span,
                 fmt::format("expected {} {} in braces, found '{}'", expected, what, to.module().text(list.span)));
    return out;
}

Bulk::Mode mode_named(std::string_view word) {
    if (word == "im2col" || word == "im2col_no_offs") return Bulk::Mode::im2col;
    if (word == "im2col::w") return Bulk::Mode::im2col_w;
    if (word == "im2col::w::128") return Bulk::Mode::im2col_w_128;
    if (word == "tile::gather4" || word == "tile::scatter4") return Bulk::Mode::four_rows;
    return Bulk::Mode::tile;
}

void copy(Lowering& to, const Bound& in) {
    Bulk bulk;
    bulk.dimensions = static_cast<std::uint8_t>(in.word("dim")[0] - '0');
    bulk.prefetch = in.has("prefetch");
    bulk.mode = mode_named(in.word("mode"));
    bulk.pair_mbarrier = in.word("pair") == "cta_group::2";
    const bool image = bulk.mode != Bulk::Mode::tile && bulk.mode != Bulk::Mode::four_rows;
    bulk.source = space_named(in.word("src"));
    bulk.destination = bulk.prefetch ? Space::shared : space_named(in.word("dst"));
    if (image && bulk.dimensions < 3)
        to.error(in.instruction().span,
                 fmt::format("im2col takes tensors of 3 to 5 dimensions; found .{}", in.word("dim")));
    if (in.has("op")) {
        bulk.reduces = true;
        bulk.reduction = atomic_named(in.word("op"));
    }
    const ptx::Operand& tensor = in["map"];
    const auto parts = to.module().children(tensor);
    ptx::Operand map = parts[0];
    map.kind = ptx::OperandKind::address;
    if (map.name != ptx::none && map.offset() != 0)  // as ptxas 13.0
        to.error(map.span,
                 fmt::format("a tensor map's address takes no offset; found '{}'", to.module().text(map.span)),
                 "add it to the register first");
    BulkOperands operands;
    Operand& map_address = bulk.destination == Space::global ? operands.destination : operands.source;
    map_address = whole_address(to, to.address(map, Space::generic));
    if (parts.size() != 2)
        return to.error(tensor.span, fmt::format("expected a tensor map and its coordinates, found '{}'",
                                                 to.module().text(tensor.span)));
    if (bulk.mode == Bulk::Mode::four_rows)
        operands.coordinates = numbers(to, parts[1], 5, DataType::s32, "numbers, a column and four rows,");
    else
        operands.coordinates = numbers(to, parts[1], bulk.dimensions, DataType::s32, "coordinates");
    if (const ptx::Operand* offsets = in.operand("offsets"))
        operands.offsets =
            bulk.mode == Bulk::Mode::im2col
                ? numbers(to, *offsets, std::size_t{bulk.dimensions} - 2, DataType::u16, "im2col offsets")
                : numbers(to, *offsets, 2, DataType::u16, "numbers, wHalo and wOffset,");
    if (const ptx::Operand* destination = in.operand("dst"))
        operands.destination = whole_address(to, to.address(*destination, bulk.destination));
    if (const ptx::Operand* source = in.operand("src"))
        operands.source = whole_address(to, to.address(*source, bulk.source));
    emit_bulk(to, in, bulk, operands);
}

constexpr std::string_view every_dim = "dim: 1d 2d 3d 4d 5d", flat = "dim: 2d";
constexpr std::string_view global_source = "src: global", cta_source = "src: shared::cta";
constexpr std::string_view to_cta = "dst: shared::cta", to_cluster = "dst: shared::cluster";

/// Adds the form with and without a cache hint.
void add(Family& family, std::string_view head, std::string_view operands, std::vector<std::string_view> words,
         Needs needs) {
    family.forms.push_back({keep(fmt::format("{} {}", head, operands)), words, needs});
    words.push_back("hint: L2::cache_hint");
    family.forms.push_back({keep(fmt::format("{}.hint {}, policy:b64", head, operands)), words, needs});
}

constexpr Needs hopper = since(8, 0, 90), blackwell = since(8, 6, 100), pairs = since(8, 6, 100, Suffix::tensor_memory);

/// How loads walk their tensors, and who has that into the own CTA and into the cluster (ptxas 13.0).
struct LoadMode {
    std::string_view slot, words, dims, operands;
    Needs cta, cluster;
};
constexpr LoadMode load_modes[] = {
    {"{.mode}", "mode: tile", every_dim, "[dst], [map, at], [mbar]", since(8, 6, 90), hopper},
    {".mode", "mode: im2col", every_dim, "[dst], [map, at], [mbar], offsets", since(8, 6, 90), hopper},
    {".mode", "mode: tile::gather4", flat, "[dst], [map, at], [mbar]", blackwell, pairs},
    {".mode", "mode: im2col::w", every_dim, "[dst], [map, at], [mbar], offsets", blackwell, pairs},
    {".mode", "mode: im2col::w::128", every_dim, "[dst], [map, at], [mbar], offsets", pairs, pairs},
};

Family loads() {
    Family family{.manual = "9.7.9.25.5.2", .forms = {}, .lower = copy};
    constexpr std::string_view on_mbarrier = "done: mbarrier::complete_tx::bytes", multicast = "to: multicast::cluster",
                               of_pair = "pair: cta_group::1 cta_group::2";
    for (const LoadMode& mode : load_modes) {
        const std::string head = fmt::format("cp.async.bulk.tensor.dim.dst.src{}.done", mode.slot);
        const std::string operands{mode.operands}, masked = operands + ", mask:b16";
        for (const bool pair : {false, true}) {
            const std::string tail = pair ? ".pair" : "";
            const auto with = [&](std::string_view destination, bool many) {
                std::vector<std::string_view> words{mode.dims, destination, global_source, mode.words, on_mbarrier};
                if (many) words.push_back(multicast);
                if (pair) words.push_back(of_pair);
                return words;
            };
            add(family, head + tail, operands, with(to_cta, false), pair ? pairs : mode.cta);
            add(family, head + tail, operands, with(to_cluster, false), pair ? pairs : mode.cluster);
            add(family, head + ".to" + tail, masked, with(to_cluster, true), pair ? pairs : mode.cluster);
        }
    }
    return family;
}

Family stores(bool reduces) {
    Family family{.manual = reduces ? "9.7.9.25.5.3" : "9.7.9.25.5.2", .forms = {}, .lower = copy};
    const auto mode = [&](std::string_view slot, std::string_view dims, std::string_view modes, Needs needs) {
        std::vector<std::string_view> words{dims, "dst: global", cta_source, "done: bulk_group", modes};
        if (reduces) words.push_back("op: add min max inc dec and or xor");
        const std::string_view head =
            reduces ? "cp.reduce.async.bulk.tensor.dim.dst.src.op" : "cp.async.bulk.tensor.dim.dst.src";
        add(family, fmt::format("{}{}.done", head, slot), "[map, at], [src]", words, needs);
    };
    mode("{.mode}", every_dim, "mode: tile im2col_no_offs", hopper);
    mode(".mode", flat, "mode: tile::scatter4", pairs);
    return family;
}

Family prefetches() {
    Family family{.manual = "9.7.9.25.5.4", .forms = {}, .lower = copy};
    const auto mode = [&](std::string_view slot, std::string_view dims, std::string_view modes,
                          std::string_view operands, Needs needs) {
        add(family, fmt::format("cp.async.bulk.prefetch.tensor.dim.L2.src{}", slot), operands,
            {dims, global_source, modes}, needs);
    };
    mode("{.mode}", every_dim, "mode: tile", "[map, at]", hopper);
    mode(".mode", every_dim, "mode: im2col", "[map, at], offsets", hopper);
    mode(".mode", flat, "mode: tile::gather4", "[map, at]", pairs);
    mode(".mode", every_dim, "mode: im2col::w im2col::w::128", "[map, at], offsets", pairs);
    return family;
}

}  // namespace

std::vector<Family> bulk_tensor_families() { return {loads(), stores(false), stores(true), prefetches()}; }

}  // namespace tilepath::isa
