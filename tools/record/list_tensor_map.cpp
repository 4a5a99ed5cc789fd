// tensormap.replace: each field, seen through a load that follows. And maps that the driver takes or refuses.
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

std::vector<TensorMap> list_maps() {
    std::vector<TensorMap> all;
    const auto add = [&](const std::string& text) { all.push_back(read_tensor_map(text)); };
    // One argument after the other, others held.
    const std::string fine =
        "type=f16 dims=64,32 strides=128 box=32,8 steps=1,1 interleave=none swizzle=none fill=zero";
    add(fine);
    const auto with = [&](const std::string& more) { add(fine + " " + more); };  // the last word of a key stands
    for (int type = 0; type <= 16; ++type) with("type=" + std::to_string(type));
    for (int type = 13; type <= 15; ++type)
        for (int swizzle = 0; swizzle <= 6; ++swizzle)
            for (const char* box : {"128,8", "32,8", "256,8"})
                with("type=" + std::to_string(type) + " swizzle=" + std::to_string(swizzle) +
                     " dims=128,32 box=" + box);
    for (int type : {13, 14, 15})
        for (const char* more : {"dims=127,32", "dims=126,32", "dims=256,32 strides=192", "dims=256,32 strides=144",
                                 "at=16", "at=32", "fill=nan"})
            with("type=" + std::to_string(type) + " dims=128,32 box=128,8 strides=96 " + more),
                with("type=" + std::to_string(type) + " dims=128,32 box=128,8 " + more);
    for (int type = 0; type <= 12; ++type) with("fill=nan type=" + std::to_string(type));
    with("fill=2");
    for (int at : {1, 2, 4, 8, 16, 32, 48}) with("at=" + std::to_string(at));
    for (const char* dims : {"0,32", "64,0", "1,1", "4294967296,32", "4294967297,1", "4294967295,4294967296"})
        with("dims=" + std::string(dims));
    for (const char* stride :
         {"0", "8", "16", "120", "128", "136", "144", "112", "64", "1099511627760", "1099511627776", "1099511627792"})
        with("strides=" + std::string(stride));
    for (const char* box : {"0,8", "8,8", "4,8", "12,8", "1,1", "256,8", "264,8", "257,8", "32,0", "32,256", "32,257",
                            "64,8", "128,8", "256,256"})
        with("box=" + std::string(box));
    for (const char* steps : {"0,1", "2,1", "8,1", "9,1", "1,0", "1,2", "1,8", "1,9", "3,3"})
        with("steps=" + std::string(steps));
    for (int swizzle = 0; swizzle <= 7; ++swizzle)
        for (const char* box : {"8,8", "16,8", "24,8", "32,8", "40,8", "64,8", "72,8", "128,8"})
            with("swizzle=" + std::to_string(swizzle) + " box=" + box);
    with("interleave=1"), with("interleave=3"), with("swizzle=9");
    // Ranks.
    const std::string dims[] = {"", "64", "64,32", "64,32,4", "64,32,4,3", "64,32,4,3,2", "64,32,4,3,2,2"};
    const std::string strides[] = {
        "", "", "128", "128,4096", "128,4096,16384", "128,4096,16384,49152", "128,4096,16384,49152,98304"};
    const std::string ones[] = {"", "32", "32,8", "32,8,1", "32,8,1,1", "32,8,1,1,1", "32,8,1,1,1,1"};
    const std::string steps[] = {"", "1", "1,1", "1,1,1", "1,1,1,1", "1,1,1,1,1", "1,1,1,1,1,1"};
    for (std::size_t rank = 1; rank <= 5; ++rank)
        for (int interleave = 0; interleave <= 2; ++interleave)
            for (int swizzle = 0; swizzle <= 6; ++swizzle)
                for (int type : {0, 6, 7}) {
                    TensorMap map =
                        read_tensor_map("dims=" + dims[rank] + " box=" + ones[rank] + " steps=" + steps[rank]);
                    if (rank > 1) map.strides = read_tensor_map("strides=" + strides[rank]).strides;
                    map.type = type, map.interleave = interleave, map.swizzle = swizzle;
                    if (swizzle == 1) map.box[0] = 8;
                    all.push_back(map);
                }
    const std::string deep =
        "type=f16 dims=64,32,4 strides=128,4096 box=32,8,2 steps=1,1,1 interleave=none swizzle=none fill=zero";
    for (const char* more : {"strides=128,4096",
                             "strides=4096,128",
                             "strides=128,128",
                             "strides=128,192",
                             "strides=128,112",
                             "strides=16,16",
                             "strides=128,0",
                             "interleave=1 box=3,2,1",
                             "interleave=1 box=3,2,2",
                             "interleave=2 swizzle=1 at=16",
                             "interleave=2 swizzle=1 at=32",
                             "interleave=2 swizzle=1 strides=144,4096",
                             "interleave=2 swizzle=1 strides=160,4160",
                             "interleave=1 box=256,8,2",
                             "interleave=1 box=257,8,2",
                             "interleave=1 steps=2,1,1",
                             "interleave=1 steps=8,1,1",
                             "interleave=1 steps=9,1,1",
                             "interleave=1 steps=0,1,1",
                             "interleave=1 type=f64",
                             "interleave=2 swizzle=1 type=u8",
                             "interleave=1 swizzle=3 box=256,8,1",
                             "box=256,256,256",
                             "box=8,256,256",
                             "steps=1,3,8",
                             "dims=64,32,4294967296"})
        add(deep + " " + more);
    // im2col.
    const std::string image =
        "type=f16 dims=32,9,4 strides=64,640 lower=-1 upper=1 channels=16 pixels=8 steps=1,1,1 interleave=none "
        "swizzle=none fill=zero";
    for (const char* more : {"",
                             "channels=256",
                             "channels=257",
                             "channels=8",
                             "channels=4",
                             "channels=12",
                             "pixels=1",
                             "pixels=1024",
                             "pixels=1025",
                             "pixels=0",
                             "lower=-32768",
                             "lower=-32769",
                             "lower=32767",
                             "lower=32768",
                             "upper=32767",
                             "upper=32768",
                             "upper=-32768",
                             "lower=5 upper=-5",
                             "lower=4 upper=-4",
                             "lower=0 upper=-9",
                             "lower=0 upper=-8",
                             "lower=9",
                             "lower=10",
                             "swizzle=1",
                             "swizzle=1 channels=32",
                             "swizzle=2",
                             "swizzle=2 channels=64",
                             "swizzle=3 channels=64",
                             "swizzle=3 channels=128",
                             "swizzle=4",
                             "swizzle=5",
                             "swizzle=6",
                             "steps=1,8,1",
                             "steps=1,9,1",
                             "steps=1,1,2",
                             "steps=2,1,1",
                             "steps=9,1,1",
                             "steps=1,0,1",
                             "interleave=1",
                             "interleave=2 swizzle=1",
                             "interleave=2",
                             "interleave=1 channels=8",
                             "interleave=2 swizzle=1 channels=16",
                             "fill=nan",
                             "type=u8 fill=nan",
                             "type=u8",
                             "type=f64",
                             "type=tf32",
                             "type=13 channels=128",
                             "type=14 channels=128",
                             "type=15 channels=128",
                             "dims=32,9 strides=64 lower=0 upper=0 steps=1,1",
                             "at=8",
                             "strides=72,640",
                             "strides=64,632",
                             "dims=0,9,4",
                             "dims=32,0,4",
                             "dims=32,9,0"})
        add(image + " " + more);
    const std::string deeper =
        "type=f16 dims=32,9,7,4 strides=64,640,6400 lower=-1,-1 upper=1,1 channels=16 pixels=8 steps=1,1,1,1 "
        "interleave=none swizzle=none fill=zero";
    for (const char* more : {"", "lower=-128,-128", "lower=-129,0", "lower=0,-129", "upper=127,127", "upper=128,0",
                             "upper=0,128", "interleave=1", "interleave=2 swizzle=1", "steps=1,8,8,1"})
        add(deeper + " " + more);
    const std::string deepest =
        "type=f16 dims=32,9,7,5,4 strides=64,640,6400,64000 lower=-1,-1,-1 upper=1,1,1 channels=16 pixels=8 "
        "steps=1,1,1,1,1 interleave=none swizzle=none fill=zero";
    for (const char* more :
         {"", "lower=-16,-16,-16", "lower=-17,0,0", "lower=0,0,-17", "upper=15,15,15", "upper=16,0,0", "upper=0,0,16",
          "interleave=1", "interleave=2 swizzle=1", "steps=1,8,8,8,1"})
        add(deepest + " " + more);
    // How large a box may be.
    for (const int third : {32, 48, 56, 57, 58, 60, 63, 64, 65, 96, 127, 128, 129, 192, 255})
        add(deep + " box=8,256," + std::to_string(third));
    for (const char* box : {"256,256,1", "256,256,2", "128,256,3", "128,256,4", "256,255,2"})
        add(deep + " box=" + box), add(deep + " type=u8 box=" + box), add(deep + " type=f64 box=" + box);
    for (const char* box : {"16,256,57", "16,256,64", "32,256,32"}) add(deep + " interleave=1 box=" + std::string(box));
    for (const char* size : {"channels=64 pixels=1024", "channels=96 pixels=1024", "channels=112 pixels=1024",
                             "channels=120 pixels=1024", "channels=128 pixels=1024", "channels=256 pixels=1024"})
        add(image + " " + size), add(image + " type=u8 " + size);
    return all;
}

}  // namespace tilepath::recorded
