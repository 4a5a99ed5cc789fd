// Bulk copies and copies of tensors.
#include "generated/tiles.h"
#include "machine/tma.h"

namespace tilepath::generated {

void Tiles::bulk_load() {
    const bool many = cluster_ == 2 && choices_.one_in(2);
    const isa::Instance* copy = forms_.choose("cp.async.bulk", choices_, [&](const isa::Instance& each) {
        return word_of(each, "src") == "global" && has_word(each, "multicast::cluster") == many;
    });
    if (copy == nullptr) return;
    const unsigned bytes = 16 * (1 + choices_.below(256)), to = 16 * choices_.below((tile_bytes - bytes) / 16);
    publish();
    begin_barrier(1);
    step("@one mbarrier.arrive.expect_tx.shared.b64 state, [bars], {}", bytes);
    if (many) meet();
    line("mov.u32 t0, {}", number(bytes));
    line("mov.u16 h0, {}", many ? number(3) & 0xFFFF : 0);
    instruction(many ? "@first " : "@one ", *copy,
                {{"dst", fmt::format("[tiles+{}]", number(to))},
                 {"src", fmt::format("[from+{}]", number(16 * choices_.below((input_bytes - bytes) / 16)))},
                 {"size", "t0"},
                 {"mbar", "[bars]"},
                 {"mask", "h0"}});
    wait(0);
    end_barrier();
}

void Tiles::bulk_to_neighbour() {
    const bool reduces = choices_.one_in(2);
    const isa::Instance* copy =
        forms_.choose(reduces ? "cp.reduce.async.bulk" : "cp.async.bulk", choices_, [&](const isa::Instance& each) {
            return word_of(each, "dst") == "shared::cluster" && word_of(each, "src") == "shared::cta";
        });
    if (copy == nullptr) return;
    const unsigned bytes = 16 * (1 + choices_.below(512)), half = tile_bytes / 2;
    publish();
    begin_barrier(1);
    line("@one mbarrier.arrive.expect_tx.shared.b64 state, [bars], {}", number(bytes));
    meet();
    line("mapa.shared::cluster.u32 t1, tiles, other");
    line("mapa.shared::cluster.u32 t2, bars, other");
    line("mov.u32 t0, {}", number(bytes));
    instruction("@one ", *copy,
                {{"dst", fmt::format("[t1+{}]", number(half + 16 * choices_.below((half - bytes) / 16 + 1)))},
                 {"src", fmt::format("[tiles+{}]", number(16 * choices_.below((half - bytes) / 16 + 1)))},
                 {"size", "t0"},
                 {"mbar", "[t2]"}});
    wait(0);
    end_barrier();
}

void Tiles::bulk_store() {
    const isa::Instance* copy =
        forms_.choose(choices_.one_in(2) ? "cp.reduce.async.bulk" : "cp.async.bulk", choices_,
                      [&](const isa::Instance& each) { return word_of(each, "dst") == "global"; });
    if (copy == nullptr) return;
    const unsigned bytes = 16 * (1 + choices_.below(128));
    publish();
    line("mov.u32 t0, {}", number(bytes));
    instruction("@one ", *copy,
                {{"dst", fmt::format("[own+{}]", number(16 * choices_.below((4096 - bytes) / 16 + 1)))},
                 {"src", fmt::format("[tiles+{}]", number(16 * choices_.below((tile_bytes - bytes) / 16)))},
                 {"size", "t0"}});
    step("@one cp.async.bulk.commit_group");
    step("@one cp.async.bulk.wait_group 0");
    meet();
}

namespace {

/// What an instruction's mode walks.
machine::ImageWalk walk_of(std::string_view mode) {
    if (mode == "im2col" || mode == "im2col_no_offs") return machine::ImageWalk::im2col;
    if (mode == "im2col::w") return machine::ImageWalk::im2col_w;
    if (mode == "im2col::w::128") return machine::ImageWalk::im2col_w_128;
    return machine::ImageWalk::tiled;
}

bool fits(const isa::Instance& instance, const machine::TensorMap& map) {
    const std::string_view mode = word_of(instance, "mode");
    const bool rows = mode.ends_with("4") && mode.starts_with("tile");
    return word_of(instance, "dim") == fmt::format("{}d", map.rank) && walk_of(mode) == map.walk &&
           (!rows || (map.rank == 2 && map.box[1] == 1));
}

/// Coordinates that the hardware takes.
machine::BoxPlace place_of(const machine::TensorMap& map, Choices& choices, bool rows, bool stores) {
    const machine::TensorTypeTraits& type = machine::traits(map.type);
    const int unit = type.padded() ? 128 : type.bits == 4 ? 2 : 128 / type.bits;
    machine::BoxPlace place;
    const std::uint32_t count = rows ? 5 : map.rank;
    for (std::uint32_t d = 0; d < count; ++d) {
        const auto within = static_cast<int>(std::min<std::uint64_t>(map.dims[std::min(d, map.rank - 1)], 64)) + 2;
        place.at[d] = static_cast<int>(choices.below(static_cast<std::size_t>(within)));
        if (!stores && choices.one_in(4)) place.at[d] = -place.at[d];
        if (d == 0) place.at[d] = place.at[d] / unit * unit;
    }
    if (rows) place.mode = machine::BoxMode::four_rows;
    if (map.tiled()) return place;
    place.mode = machine::BoxMode::im2col;
    const bool wide = map.walk != machine::ImageWalk::im2col;
    for (std::uint32_t i = 0; i < (wide ? 1 : map.image_dimensions()); ++i) {
        const std::uint32_t d = map.interleave == machine::Interleave::none ? i + 1 : i;
        const int last = static_cast<int>(map.dims[d]) - 1 + map.upper[i];
        place.at[d] = map.lower[i] + static_cast<int>(choices.below(static_cast<std::size_t>(last - map.lower[i] + 1)));
    }
    for (std::uint32_t& offset : place.offsets) offset = choices.below(wide ? 32 : 8);
    return place;
}

}  // namespace

/// A map that the encoding functions take: what is drawn is mended until it breaks no rule.
Kernel::Map Tiles::any_map(bool of_slots, bool reduces) {
    const int sm = forms_.has("tcgen05.alloc") ? 100 : 90;
    machine::TensorMap map;
    for (int tries = 0; tries < 400; ++tries) {
        map = {};
        map.type = reduces ? machine::TensorType::u32 : static_cast<machine::TensorType>(choices_.below(16));
        map.rank = 1 + choices_.below(5);
        if (!of_slots && map.rank >= 3 && choices_.one_in(2))
            map.walk = static_cast<machine::ImageWalk>(1 + choices_.below(sm >= 100 ? 3 : 1));
        map.swizzle = layout::all_swizzle_modes()[choices_.below(layout::all_swizzle_modes().size())].mode;
        map.interleave = static_cast<machine::Interleave>(choices_.one_in(4) ? 1 + choices_.below(2) : 0);
        map.nan_fill = choices_.one_in(4);
        const machine::TensorTypeTraits& type = machine::traits(map.type);
        std::uint64_t bytes = 0;
        for (std::uint32_t d = 0; d < map.rank; ++d) {
            map.dims[d] = 1 + choices_.below(d == 0 ? 64 : 9);
            if (d == 0 && type.padded()) map.dims[0] = 128;
            if (d == 0) bytes = (map.dims[0] * static_cast<std::uint64_t>(type.bits) / 8 + 31) / 32 * 32;
            if (d != 0) map.strides[d - 1] = bytes, bytes *= map.dims[d];
            map.box[d] = 1 + choices_.below(d == 0 ? 64 : 6);
            map.element_strides[d] = choices_.one_in(3) ? 1 + choices_.below(3) : 1;
        }
        const auto unit = type.padded() ? 128u : static_cast<std::uint32_t>(std::max(1, 128 / type.bits));
        map.box[0] = type.padded() ? 128 : (map.box[0] + unit - 1) / unit * unit;
        if (map.rank == 2 && choices_.one_in(2)) map.box[1] = 1;
        for (std::uint32_t i = 0; i < map.image_dimensions(); ++i)
            map.lower[i] = -static_cast<int>(choices_.below(3)), map.upper[i] = -static_cast<int>(choices_.below(3));
        map.channels_per_pixel = unit * (1 + choices_.below(2));
        map.pixels_per_column = 1 + choices_.below(64);
        const std::uint64_t most = of_slots ? 16384 : input_bytes;
        // Those are only loaded.
        if (of_slots &&
            (map.type == machine::TensorType::u4_align16b || map.swizzle == layout::SwizzleMode::b128_atom_32b_flip_8b))
            continue;
        if (!of_slots && map.swizzle == layout::SwizzleMode::b128_atom_64b) continue;
        if (bytes > most || !machine::broken_rules(map, sm).empty()) continue;
        const machine::BoxWalk walk(map, {map.tiled() ? machine::BoxMode::tile : machine::BoxMode::im2col, {}, {}, 0});
        if (walk.shared_bytes() <= tile_bytes / 2) break;
    }
    map.address = reduces ? 16384 : 0;
    return {map, of_slots};
}

void Tiles::tensor_load() {
    const unsigned which = choices_.below(spoils(6) ? maps_.size() : 2);
    const machine::TensorMap& map = maps_[which].map;
    // With cta_group::2 one CTA's barrier counts what both receive; here each waits at its own.
    const bool many = cluster_ == 2 && choices_.one_in(2), pair = group_ == 2 && !many && choices_.one_in(2);
    const isa::Instance* copy = forms_.choose("cp.async.bulk.tensor", choices_, [&](const isa::Instance& each) {
        return each.form->operand("mbar") >= 0 && has_word(each, "multicast::cluster") == many &&
               (pair || !has_word(each, "cta_group::2")) && fits(each, map);
    });
    if (copy == nullptr) return bulk_load();
    const bool rows = word_of(*copy, "mode") == "tile::gather4";
    const machine::BoxPlace place = place_of(map, choices_, rows, false);
    const machine::BoxWalk walk(map, place);  // with the halos that the instruction asks for
    if (walk.shared_bytes() > tile_bytes) return bulk_load();
    publish();
    begin_barrier(1);
    step("@one mbarrier.arrive.expect_tx.shared.b64 state, [bars], {}", number(walk.transaction_bytes()));
    if (many) meet();
    line("mov.u16 h0, {}", number(3) & 0xFFFF);
    std::vector<std::string> at, offsets;
    for (std::uint32_t d = 0; d < (rows ? 5 : map.rank); ++d)
        at.push_back(fmt::format("{}", static_cast<std::int32_t>(number(static_cast<std::uint32_t>(place.at[d])))));
    const bool wide = map.walk > machine::ImageWalk::im2col;
    for (std::uint32_t i = 0; i < (wide ? 2 : std::max(1u, map.image_dimensions())); ++i)
        offsets.push_back(fmt::format("{}", number(place.offsets[i]) & 0xFFFF));
    instruction(many ? "@first " : "@one ", *copy,
                {{"dst", fmt::format("[tiles+{}]",
                                     number(1024 * choices_.below((tile_bytes - walk.shared_bytes()) / 1024 + 1)))},
                 {"map", fmt::format("[map{}, {{{}}}]", which, fmt::join(at, ", "))},
                 {"mbar", "[bars]"},
                 {"mask", "h0"},
                 {"offsets", fmt::format("{{{}}}", fmt::join(offsets, ", "))}});
    wait(0);
    end_barrier();
}

/// One CTA stores; all reduce.
void Tiles::tensor_store(bool reduces) {
    const unsigned which = reduces ? 3 : 2;
    const machine::TensorMap& map = maps_[which].map;
    const isa::Instance* copy = forms_.choose(
        reduces ? "cp.reduce.async.bulk.tensor" : "cp.async.bulk.tensor", choices_, [&](const isa::Instance& each) {
            return each.form->operand("mbar") < 0 && fits(each, map) && (!reduces || word_of(each, "op") == reduction_);
        });
    if (copy == nullptr) return bulk_store();
    const bool rows = word_of(*copy, "mode") == "tile::scatter4";
    machine::BoxPlace place = place_of(map, choices_, rows, true);
    // Rows of their own, for which of two stores to one place lands last nothing says.
    for (std::uint32_t d = 1; rows && d < 5; ++d) place.at[d] = static_cast<int>(2 * d + choices_.below(2));
    std::vector<std::string> at;
    for (std::uint32_t d = 0; d < (rows ? 5 : map.rank); ++d)
        at.push_back(fmt::format("{}", static_cast<std::int32_t>(number(static_cast<std::uint32_t>(place.at[d])))));
    publish();
    line("setp.eq.u32 pt1, cta, 0");
    line("and.pred pt1, {}, one", reduces || spoils(8) ? "one" : "pt1");
    instruction("@pt1 ", *copy,
                {{"src", fmt::format("[tiles+{}]", number(1024 * choices_.below(16)))},
                 {"map", fmt::format("[map{}, {{{}}}]", which, fmt::join(at, ", "))}});
    step("@one cp.async.bulk.commit_group");
    step("@one cp.async.bulk.wait_group{} 0", spoils(4) ? ".read" : "");
    meet();
}

/// A map's copy in shared memory, changed, in the CTA's slot, used from there by what comes.
void Tiles::change_map() {
    const unsigned which = choices_.below(maps_.size());
    for (unsigned i = 0; i < 8; ++i) {
        line("@one ld.param.v4.b32 {{t4, t5, t6, t7}}, [m{}+{}]", which, 16 * i);
        line("@one st.shared.v4.b32 [tiles+{}], {{t4, t5, t6, t7}}", 16 * i);
    }
    for (unsigned changes = 1 + choices_.below(4); changes != 0; --changes) {
        const isa::Instance& replace = forms_.choose("tensormap.replace.tile", choices_);
        const bool shared = has_word(replace, "shared::cta");
        const std::string_view field = word_of(replace, "field");
        const bool numbered =
            field == "elemtype" || field.ends_with("layout") || field.ends_with("mode") || field.ends_with("atomicity");
        line("mov.b64 w0, {}", choices_.one_in(3) ? choices_.bits() : choices_.below(300));
        line("mov.b32 t0, {}", choices_.one_in(4) ? choices_.bits() & 0xFFFFFFFF : choices_.below(70));
        const std::string value = has_word(replace, "b64") ? "w0" : "t0";
        instruction("@one ", replace,
                    {{"a", shared ? "[tiles]" : "[own]"},
                     {"ord", fmt::format("{}", choices_.below(5))},
                     {"value", numbered ? fmt::format("{}", choices_.below(4)) : value}});
    }
    const std::string over = fresh("over");
    line("setp.ne.u32 pt0, warp, 0");
    line("@pt0 bra {}", over);
    step("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [own], [tiles], 128");
    out_ += over + ":\n";
    meet();
    step("fence.proxy.tensormap::generic.acquire.gpu [own], 128");
    line("mov.b64 map{}, own", which);
}

void Tiles::zero_shared() {
    const isa::Instance& zero = forms_.choose("st.bulk", choices_);
    const unsigned bytes = 8 * (1 + choices_.below(512)), at = 16 * choices_.below((tile_bytes - bytes) / 16);
    line("mov.u64 w0, {}", number(bytes));
    line("add.u32 t0, tiles, {}", number(at));
    line("cvt.u64.u32 w1, t0");
    line("cvta.shared.u64 w1, w1");
    instruction("@one ", zero,
                {{"a", has_word(zero, "shared::cta") ? "[t0]" : "[w1]"}, {"size", "w0"}, {"initval", "0"}});
    meet();
}

}  // namespace tilepath::generated
