// cp.async.bulk.tensor from global to shared memory, tiles: ranks, types, swizzles, interleaving, fills, steps, edges,
// multicast.
#include "list_async.h"

namespace tilepath::recorded {
namespace {

const std::vector<int> types{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
bool is_float(int type) { return type >= 6 && type <= 12; }

std::string head_of(std::size_t rank, bool to_cta, bool tile, const std::string& more = "") {
    return "cp.async.bulk.tensor." + std::to_string(rank) + "d.shared::" + (to_cta ? "cta" : "cluster") + ".global" +
           (tile ? ".tile" : "") + ".mbarrier::complete_tx::bytes" + more;
}

void list_load(Cases& into, const MapChoice& choice, Draw& draw, int number, Coordinates which = Coordinates::any) {
    TensorMap map = tile_map(choice, draw);
    Extent extent = extent_of(map);
    while (extent.shared_bytes > 8192 || extent.global_bytes > 16384)
        map = tile_map(choice, draw), extent = extent_of(map);
    const bool to_cta = draw.one_in(3), tile = !draw.one_in(4), hint = draw.one_in(6);
    // Not always at the beginning of the swizzle's pattern.
    const std::uint32_t at = 128 * static_cast<std::uint32_t>(draw.one_in(2) ? 0 : draw.between(1, 8));
    const std::string head = head_of(map.rank(), to_cta, tile, hint ? ".L2::cache_hint" : "");
    const bool odd = which == Coordinates::odd;
    AsyncCase each(head + variant_of(map) + (odd ? " #odd" : "") + " #" + std::to_string(number), odd ? 1 : 16,
                   at + extent.shared_bytes, extent.global_bytes);
    each->tensor_maps = {map};
    each.init();
    each.line("bar.sync 0; add.u32 r40, sm, " + std::to_string(at) + ";");
    each.alone();
    if (hint) each.line("createpolicy.fractional.L2::evict_first.b64 q2, 1.0;");
    each.expect(extent.counted_bytes);
    each.line(head + " [r40], " + coordinates(*each, map, which) + ", " + each.barrier() + (hint ? ", q2;" : ";"));
    each.wait();
    each.done();
    into.push_back(*each);
}

/// Each CTA of a cluster sends its tile to those of a mask, all at the same places, its own among them or not.
void list_multicast(Cases& into, std::uint32_t ctas, std::uint32_t mask, Draw& draw) {
    const TensorMap map = tile_map({6, 2, 3, 0, 0, false}, draw);
    const Extent extent = extent_of(map);
    const std::string head = head_of(2, false, true, ".multicast::cluster");
    const std::uint32_t slot = up_to(extent.shared_bytes, 1024);
    AsyncCase each(head + " #" + std::to_string(ctas) + " #" + std::to_string(mask), 2 * ctas, slot * ctas,
                   extent.global_bytes);
    each->tensor_maps = {map};
    each->cluster = {ctas, 1, 1};
    each.init();
    each.line("mov.u32 r42, %cluster_ctarank; mad.lo.u32 r40, r42, " + std::to_string(slot) + ", sm;");
    // CTA r sends to `mask` rotated by r; as many reach each.
    const std::string low = std::to_string((1u << ctas) - 1);
    each.line("mov.u32 r43, " + std::to_string(mask) + "; shl.b32 r43, r43, r42; shr.u32 r44, r43, " +
              std::to_string(ctas) + "; or.b32 r43, r43, r44; and.b32 r43, r43, " + low + "; cvt.u16.u32 h0, r43;");
    std::uint32_t senders = 0;
    for (std::uint32_t bits = mask; bits != 0; bits &= bits - 1) ++senders;
    each.line("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;");
    each.alone();
    each.expect(extent.counted_bytes * senders);
    each.line(head + " [r40], " + coordinates(*each, map, Coordinates::any) + ", " + each.barrier() + ", h0;");
    each.wait();
    each.done();
    each.line("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;");
    into.push_back(*each);
}

/// Two tiles on one barrier, and a prefetch before them.
void list_pair(Cases& into, int rank, Draw& draw) {
    const TensorMap map = tile_map({9, rank, 2, 0, 0, false}, draw);
    const Extent extent = extent_of(map);
    const std::uint32_t slot = up_to(extent.shared_bytes, 128);
    const std::string prefetch = "cp.async.bulk.prefetch.tensor." + std::to_string(rank) + "d.L2.global.tile";
    AsyncCase each(prefetch + " " + head_of(map.rank(), true, true) + " #pair", 8, 2 * slot, extent.global_bytes);
    each->tensor_maps = {map};
    each.init();
    each.line("bar.sync 0; add.u32 r41, sm, " + std::to_string(slot) + ";");
    each.alone();
    const std::string place = coordinates(*each, map, Coordinates::any);
    each.line("prefetch.tensormap [tm0];");
    each.line(prefetch + " " + place + ";");
    each.expect(2 * extent.counted_bytes);
    each.line(head_of(map.rank(), true, true) + " [sm], " + place + ", " + each.barrier() + ";");
    each.line("add.s32 r0, r0, 8;");
    each.line(head_of(map.rank(), true, true) + " [r41], " + place + ", " + each.barrier() + ";");
    each.wait();
    each.done();
    into.push_back(*each);
}

}  // namespace

void list_tma_loads(Cases& into) {
    Draw draw(2);
    int number = 0;
    const auto list = [&](MapChoice choice) { list_load(into, choice, draw, number++); };
    for (int rank = 1; rank <= 5; ++rank) {
        for (const int type : types) {
            list({type, rank, draw.between(0, 3), 0, 0, false});
            if (is_float(type)) list({type, rank, draw.between(0, 3), 0, 1, false});
        }
        for (int swizzle = 0; swizzle <= 3; ++swizzle)
            for (int i = 0; i < 4; ++i) list({draw.of(types), rank, swizzle, 0, 0, i == 2});
        for (int i = 0; i < 5; ++i) list({draw.of(types), rank, draw.between(0, 3), 0, 0, true});
        if (rank < 3) continue;
        for (int swizzle = 0; swizzle <= 3; ++swizzle)
            for (int i = 0; i < 2; ++i) list({draw.of(types), rank, swizzle, 1, 0, i == 1});
        for (int i = 0; i < 4; ++i) list({draw.of(types), rank, 1, 2, 0, i > 1});
        list({6, rank, 1, 2, 1, false});
    }
    for (const int type : {0, 1, 6, 7, 8})
        for (int rank = 1; rank <= 2; ++rank)
            list_load(into, {type, rank, 0, 0, 0, false}, draw, number++, Coordinates::odd);
    for (const std::uint32_t ctas : {2u, 4u, 8u})
        for (const std::uint32_t mask : {1u, 2u, 3u, 5u, 6u, 11u, 15u, 0xA7u, 0xFFu})
            if (mask < 1u << ctas) list_multicast(into, ctas, mask, draw);
    for (int rank = 1; rank <= 5; ++rank) list_pair(into, rank, draw);
    Draw slices(6);
    for (int rank = 3; rank <= 5; ++rank)
        for (const int swizzle : {0, 2, 3})
            for (const int type : {0, 6, 8}) list_load(into, {type, rank, swizzle, 2, 0, false}, slices, number++);
}

}  // namespace tilepath::recorded
