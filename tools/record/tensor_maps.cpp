// Records which tensor maps the driver takes: each line of FILE, a map's arguments, with the CUresult before it.
//
//     tensor_maps FILE
//
// Needs cuda.h and libcuda. Addresses are `at` bytes into an allocation.
#include <cctype>
#include <fstream>
#include <iostream>

#include "driver.h"
#include "tensor_map.h"

int main(int argc, char** argv) {
    using namespace tilepath::recorded;
    if (argc != 2) return std::fprintf(stderr, "tensor_maps FILE\n"), 2;
    driver::use_first_device();
    CUdeviceptr address;
    driver::must(cuMemAlloc(&address, 1 << 20), "cuMemAlloc");
    std::ifstream file(argv[1]);
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line[0] == '#') continue;
        if (std::isdigit(static_cast<unsigned char>(line[0])) != 0) line.erase(0, line.find(' ') + 1);  // the result
        const TensorMap map = read_tensor_map(line);
        CUtensorMap into;
        std::cout << encode(into, map, address + map.at) << " " << to_string(map) << "\n";
    }
}
