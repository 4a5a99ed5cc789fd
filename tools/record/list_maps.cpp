// Tensor maps that the driver takes or refuses.
#include "list_async.h"

namespace tilepath::recorded {

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
