// tensormap.replace: each field, seen through a load that follows.
#include "list_async.h"

namespace tilepath::recorded {
namespace {

struct Replacement {
    const char* field;
    int ordinal;  ///< -1: none
    const char* type;
    const char* value;      ///< a register's, if it does not begin with a digit
    std::uint32_t counted;  ///< bytes of the load then
};

/// f16, 64 × 16 in rows of 160 bytes, boxes of 16 × 8, 32B swizzle.
TensorMap map_before() {
    TensorMap map;
    map.type = 6, map.dims = {64, 16}, map.strides = {160}, map.box = {16, 8}, map.steps = {1, 1}, map.swizzle = 1;
    return map;
}

void list_one(Cases& into, const std::vector<Replacement>& replacements, const std::string& space, int number) {
    const bool shared = space == "shared::cta";
    std::string names;
    std::uint32_t bytes = 256;
    for (const Replacement& each : replacements) {
        names += "tensormap.replace.tile." + std::string(each.field) + "." + space + ".b1024." + each.type + " ";
        if (each.counted != 0) bytes = each.counted;
    }
    AsyncCase each(names +
                       (shared ? "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync."
                                 "aligned "
                               : "fence.proxy.tensormap::generic.release.gpu ") +
                       "fence.proxy.tensormap::generic.acquire.gpu #" + std::to_string(number),
                   8, 4096 + 128, 4096 + 128);
    each->target = "sm_90a";
    each->tensor_maps = {map_before()};
    const std::string place = coordinates(*each, map_before(), Coordinates::any);
    each.init();
    // The map's copy: in shared memory at 4096, from there to global memory at 4096; or at once there.
    each.line("setp.lt.u32 p3, tid, 16; mul.wide.u32 q10, tid, 8; add.u64 q11, q10, tm0; add.u64 q12, gm, 4096;");
    each.line("add.u32 r41, sm, 4096; mad.lo.u32 r42, tid, 8, r41; add.u64 q13, q12, q10; add.u64 q14, gm, 512;");
    each.line("@p3 ld.b64 q15, [q11];");
    const std::string target = shared ? "[r41]" : "[q12]";
    each.line(shared ? "@p3 st.shared.b64 [r42], q15; bar.sync 0;" : "@p3 st.global.b64 [q13], q15; bar.sync 0;");
    for (const Replacement& one : replacements)
        each.line("@p0 tensormap.replace.tile." + std::string(one.field) + "." + space + ".b1024." + one.type + " " +
                  target + ", " + (one.ordinal >= 0 ? std::to_string(one.ordinal) + ", " : "") + one.value + ";");
    each.line("bar.sync 0;");
    each.line(shared ? "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [q12], "
                       "[r41], 128;"
                     : "fence.proxy.tensormap::generic.release.gpu;");
    each.line("fence.proxy.tensormap::generic.acquire.gpu [q12], 128; bar.sync 0;");
    each.alone();
    each.expect(bytes);
    each.line("cp.async.bulk.tensor." + std::string(place.find("r2") == std::string::npos ? "2" : "3") +
              "d.shared::cta.global.tile.mbarrier::complete_tx::bytes [sm], [q12, {r0, r1}], " + each.barrier() + ";");
    each.wait();
    each.done();
    // The map's bits are the device's own.
    each.line("mov.u64 q15, 0; @p3 st.global.b64 [q13], q15;");
    if (shared) each.line("@p3 st.shared.b64 [r42], q15;");
    into.push_back(*each);
}

}  // namespace

void list_tensor_map(Cases& into) {
    int number = 0;
    for (const std::string space : {"shared::cta", "global"}) {
        const std::vector<std::vector<Replacement>> all{
            {{"global_address", -1, "b64", "q14", 0}},
            {{"box_dim", 0, "b32", "8", 128}},
            {{"box_dim", 1, "b32", "5", 160}},
            {{"global_dim", 0, "b32", "37", 0}},
            {{"global_dim", 1, "b32", "9", 0}},
            {{"global_stride", 0, "b64", "192", 0}},
            {{"element_stride", 1, "b32", "2", 128}},
            {{"elemtype", -1, "b32", "1", 0}},
            {{"elemtype", -1, "b32", "3", 512}, {"swizzle_mode", -1, "b32", "0", 0}},
            {{"elemtype", -1, "b32", "10", 0}, {"fill_mode", -1, "b32", "1", 0}},
            {{"elemtype", -1, "b32", "7", 512}, {"swizzle_mode", -1, "b32", "2", 0}, {"global_dim", 0, "b32", "32", 0}},
            {{"elemtype", -1, "b32", "11", 512},
             {"swizzle_mode", -1, "b32", "3", 0},
             {"global_dim", 0, "b32", "32", 0}},
            {{"swizzle_mode", -1, "b32", "0", 0}},
            {{"swizzle_mode", -1, "b32", "2", 0}},
            {{"swizzle_mode", -1, "b32", "3", 0}},
            {{"fill_mode", -1, "b32", "1", 0}},
            {{"interleave_layout", -1, "b32", "0", 0}},
            {{"rank", -1, "b32", "1", 0}},
            {{"global_address", -1, "b64", "q14", 0},
             {"global_dim", 0, "b32", "24", 0},
             {"global_dim", 1, "b32", "7", 0},
             {"global_stride", 0, "b64", "48", 0},
             {"box_dim", 0, "b32", "8", 96},
             {"box_dim", 1, "b32", "6", 0},
             {"fill_mode", -1, "b32", "1", 0}},
        };
        for (const auto& each : all) list_one(into, each, space, number++);
    }
}

}  // namespace tilepath::recorded
