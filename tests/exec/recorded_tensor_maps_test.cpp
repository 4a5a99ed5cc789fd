// Which tensor maps are taken and which refused: as the driver of an H200 did (tests/vectors/tensor_maps.txt).
#include <gtest/gtest.h>

#include <fstream>

#include "recorded_maps.h"

namespace tilepath::exec {
namespace {

/// Numbers that the driver's enumerations do not have are not a TensorMap's to say.
bool has_names(const recorded::TensorMap& map) {
    return map.type < int(recorded::tensor_map_types.size()) &&
           map.swizzle < int(recorded::tensor_map_swizzles.size()) &&
           map.interleave < int(recorded::tensor_map_interleaves.size()) &&
           map.fill < int(recorded::tensor_map_fills.size());
}

TEST(RecordedTensorMaps, AreTakenOrRefusedAsByTheDriver) {
    std::ifstream file(TILEPATH_TEST_DIR "/vectors/tensor_maps.txt");
    std::size_t taken = 0, refused = 0;
    for (std::string line; std::getline(file, line);) {
        if (line[0] == '#') continue;
        const recorded::TensorMap map = recorded::read_tensor_map(line.substr(2));
        if (!has_names(map)) continue;
        const Diagnostics broken = machine::broken_rules(tensor_map(map, 1 << 20), 90);
        EXPECT_EQ(broken.empty(), line[0] == '0') << line << "\n" << to_string(broken);
        ++(line[0] == '0' ? taken : refused);
    }
    EXPECT_GT(taken, 200u);
    EXPECT_GT(refused, 400u);
}

}  // namespace
}  // namespace tilepath::exec
