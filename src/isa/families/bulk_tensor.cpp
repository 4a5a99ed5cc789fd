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

void copy(Lowering& to, const Bound& in) {
    Bulk bulk;
    bulk.dimensions = static_cast<std::uint8_t>(in.word("dim")[0] - '0');
    bulk.prefetch = in.has("prefetch");
    const bool im2col = in.word("mode").starts_with("im2col");
    bulk.mode = im2col ? Bulk::Mode::im2col : Bulk::Mode::tile;
    bulk.source = space_named(in.word("src"));
    bulk.destination = bulk.prefetch ? Space::shared : space_named(in.word("dst"));
    if (im2col && bulk.dimensions < 3)
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
        to.error(map.span, fmt::format("a tensor map's address takes no offset; found '{}'", to.module().text(map.span)),
                 "add it to the register first");
    BulkOperands operands;
    Operand& map_address = bulk.destination == Space::global ? operands.destination : operands.source;
    map_address = whole_address(to, to.address(map, Space::generic));
    if (parts.size() != 2)
        return to.error(tensor.span, fmt::format("expected a tensor map and its coordinates, found '{}'",
                                                 to.module().text(tensor.span)));
    operands.coordinates = numbers(to, parts[1], bulk.dimensions, DataType::s32, "coordinates");
    if (const ptx::Operand* offsets = in.operand("offsets"))
        operands.offsets = numbers(to, *offsets, std::size_t{bulk.dimensions} - 2, DataType::u16, "im2col offsets");
    if (const ptx::Operand* destination = in.operand("dst"))
        operands.destination = whole_address(to, to.address(*destination, bulk.destination));
    if (const ptx::Operand* source = in.operand("src"))
        operands.source = whole_address(to, to.address(*source, bulk.source));
    emit_bulk(to, in, bulk, operands);
}

constexpr std::string_view dim = "dim: 1d 2d 3d 4d 5d", global_source = "src: global", cta_source = "src: shared::cta";

/// With and without the cache hint, whose policy is the last operand.
void add(Family& family, std::string_view head, std::string_view operands, std::vector<std::string_view> words,
         Needs needs) {
    words.push_back(dim);
    family.forms.push_back({keep(fmt::format("{} {}", head, operands)), words, needs});
    words.push_back("hint: L2::cache_hint");
    family.forms.push_back({keep(fmt::format("{}.hint {}, policy:b64", head, operands)), words, needs});
}

Family loads() {
    Family family{.manual = "9.7.9.25.5.2", .forms = {}, .lower = copy};
    constexpr std::string_view on_mbarrier = "done: mbarrier::complete_tx::bytes";
    for (const bool im2col : {false, true}) {
        const std::string_view mode = im2col ? ".mode" : "{.mode}", words = im2col ? "mode: im2col" : "mode: tile";
        const std::string operands = fmt::format("[dst], [map, at], [mbar]{}", im2col ? ", offsets" : "");
        const std::string head = fmt::format("cp.async.bulk.tensor.dim.dst.src{}.done", mode);
        add(family, head, operands, {"dst: shared::cta", global_source, words, on_mbarrier}, since(8, 6, 90));
        add(family, head, operands, {"dst: shared::cluster", global_source, words, on_mbarrier}, since(8, 0, 90));
        add(family, head + ".to", operands + ", mask:b16",
            {"dst: shared::cluster", global_source, words, on_mbarrier, "to: multicast::cluster"}, since(8, 0, 90));
    }
    return family;
}

Family stores(bool reduces) {
    Family family{.manual = reduces ? "9.7.9.25.5.3" : "9.7.9.25.5.2", .forms = {}, .lower = copy};
    std::vector<std::string_view> words{"dst: global", cta_source, "done: bulk_group", "mode: tile im2col_no_offs"};
    if (reduces) words.push_back("op: add min max inc dec and or xor");
    add(family,
        reduces ? "cp.reduce.async.bulk.tensor.dim.dst.src.op{.mode}.done"
                : "cp.async.bulk.tensor.dim.dst.src{.mode}.done",
        "[map, at], [src]", words, since(8, 0, 90));
    return family;
}

Family prefetches() {
    Family family{.manual = "9.7.9.25.5.4", .forms = {}, .lower = copy};
    add(family, "cp.async.bulk.prefetch.tensor.dim.L2.src{.mode}", "[map, at]", {global_source, "mode: tile"},
        since(8, 0, 90));
    add(family, "cp.async.bulk.prefetch.tensor.dim.L2.src.mode", "[map, at], offsets", {global_source, "mode: im2col"},
        since(8, 0, 90));
    return family;
}

}  // namespace

std::vector<Family> bulk_tensor_families() { return {loads(), stores(false), stores(true), prefetches()}; }

}  // namespace tilepath::isa
