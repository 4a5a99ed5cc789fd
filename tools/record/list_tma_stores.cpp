// cp.async.bulk.tensor and cp.reduce.async.bulk.tensor from shared to global memory, tiles.
#include "list_async.h"

namespace tilepath::recorded {
namespace {

void list_one(Cases& into, const std::string& head, const MapChoice& choice, Draw& draw, int number,
              const std::string& kind, std::uint32_t rows = 16, Coordinates which = Coordinates::forward) {
    TensorMap map = tile_map(choice, draw);
    Extent extent = extent_of(map);
    while (extent.shared_bytes > 8192 || extent.global_bytes > 16384)
        map = tile_map(choice, draw), extent = extent_of(map);
    const bool hint = draw.one_in(6);
    const std::uint32_t at = 128 * static_cast<std::uint32_t>(draw.one_in(2) ? 0 : draw.between(1, 8));
    const std::string full = head + (hint ? ".L2::cache_hint" : "");
    AsyncCase each(full + variant_of(map) +
                       (which == Coordinates::odd        ? " #odd"
                        : which == Coordinates::negative ? " #negative"
                                                         : "") +
                       " #" + std::to_string(number),
                   rows, at + extent.shared_bytes, extent.global_bytes);
    each->tensor_maps = {map};
    each->memory_kind = kind;
    each.line("bar.sync 0; add.u32 r40, sm, " + std::to_string(at) + ";");
    each.alone();
    if (hint) each.line("createpolicy.fractional.L2::evict_first.b64 q2, 1.0;");
    each.line(full + " " + coordinates(*each, map, which) + ", [r40]" + (hint ? ", q2;" : ";"));
    each.commit_and_wait();
    each.done();
    into.push_back(*each);
}

std::string store_head(int rank, bool tile) {
    return "cp.async.bulk.tensor." + std::to_string(rank) + "d.global.shared::cta" + (tile ? ".tile" : "") +
           ".bulk_group";
}

std::string reduce_head(int rank, const std::string& op, bool tile) {
    return "cp.reduce.async.bulk.tensor." + std::to_string(rank) + "d.global.shared::cta." + op +
           (tile ? ".tile" : "") + ".bulk_group";
}

struct Reduction {
    const char* op;
    std::vector<int> types;
};
// Those that the manual names for cp.reduce.async.bulk; floats as tensor types too.
const std::vector<Reduction> reductions{
    {"add", {2, 3, 4, 6, 7, 9, 10}},
    {"min", {2, 3, 4, 5, 6, 9}},
    {"max", {2, 3, 4, 5, 6, 9}},
    {"inc", {2}},
    {"dec", {2}},
    {"and", {2, 3, 4, 5}},
    {"or", {2, 4}},
    {"xor", {2, 4}},
};
// Which the manual does not name: they are faults, or not.
const std::vector<Reduction> doubtful{
    {"add", {0, 1, 5, 8, 11, 12}}, {"min", {7, 8}}, {"inc", {3, 4}}, {"and", {0, 1, 6}}};

std::string kind_of(int type) {
    static const char* kinds[] = {"u8",  "u16", "u32",  "s32", "u64", "s64", "f16",
                                  "f32", "f64", "bf16", "f32", "f32", "f32"};
    return kinds[type];
}

}  // namespace

void list_tma_stores(Cases& into) {
    Draw draw(3);
    int number = 0;
    for (int rank = 1; rank <= 5; ++rank) {
        for (int type = 0; type <= 12; ++type)
            list_one(into, store_head(rank, !draw.one_in(4)), {type, rank, draw.between(0, 3), 0, 0, false}, draw,
                     number++, kind_of(type));
        for (int swizzle = 0; swizzle <= 3; ++swizzle)
            for (int i = 0; i < 2; ++i)
                list_one(into, store_head(rank, true), {1, rank, swizzle, 0, 0, false}, draw, number++, "b32");
        for (int i = 0; i < 3; ++i)
            list_one(into, store_head(rank, true), {6, rank, i, 0, 0, true}, draw, number++, "b32", 4);
        for (const Reduction& each : reductions)
            for (const int type : each.types)
                if (rank == 2 || draw.one_in(4))
                    list_one(into, reduce_head(rank, each.op, !draw.one_in(4)),
                             {type, rank, draw.between(0, 3), 0, 0, false}, draw, number++, kind_of(type));
        if (rank < 3) continue;
        for (int i = 0; i < 8; ++i)
            list_one(into, store_head(rank, true), {i == 7 ? 0 : i + 2, rank, i % 4, 1, 0, i > 5}, draw, number++,
                     "b32", 4);
        for (int i = 0; i < 4; ++i)
            list_one(into, store_head(rank, true), {i + 4, rank, i % 2, 2, 0, false}, draw, number++, "b32", 4);
        list_one(into, reduce_head(rank, "add", true), {2, rank, 1, 1, 0, false}, draw, number++, "u32", 4);
    }
    for (const Reduction& each : doubtful)
        for (const int type : each.types)
            list_one(into, reduce_head(2, each.op, true), {type, 2, 0, 0, 0, false}, draw, number++, kind_of(type), 2);
    for (const int type : {0, 1, 7})
        list_one(into, store_head(2, true), {type, 2, 0, 0, 0, false}, draw, number++, "b32", 1, Coordinates::odd);
    for (int rank = 1; rank <= 4; ++rank)
        list_one(into, store_head(rank, true), {6, rank, 0, 0, 0, false}, draw, number++, "b32", 1,
                 Coordinates::negative);
    list_one(into, reduce_head(2, "add", true), {2, 2, 0, 0, 0, false}, draw, number++, "b32", 1,
             Coordinates::negative);
}

}  // namespace tilepath::recorded
