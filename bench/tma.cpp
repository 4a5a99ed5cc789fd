// Boxes of tensors into shared memory, as TMA loads them, beside memcpy of as many bytes: on one core, in one run.
//
// Boxes of 64 × 64 16-bit numbers, the operand tile of a GEMM, inside a matrix that fits the second cache; with every
// swizzle. A row is walked, swizzled and copied. Each figure is the median of repetitions that alternate between the
// two.
#include <fmt/format.h>

#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "machine/tma.h"

namespace {

using namespace tilepath;
using machine::TensorMap;

constexpr std::uint32_t columns = 512, rows = 256, box = 64, boxes = columns / box * (rows / box);
constexpr std::uint32_t box_bytes = box * box * 2;
constexpr int repetitions = 41;

double thread_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + std::ptrdiff_t(values.size() / 2), values.end());
    return values[values.size() / 2];
}

void load_all(const TensorMap& map, std::uint8_t* shared) {
    std::uint8_t* const images[] = {shared};
    for (std::uint32_t i = 0; i < boxes; ++i) {
        machine::BoxPlace place;
        place.at = {std::int32_t(i % (columns / box) * box), std::int32_t(i / (columns / box) * box)};
        place.shared = 1024 + i % 4 * box_bytes;
        machine::BoxWalk walk(map, place);
        machine::BoxRow row;
        while (walk.next(row))
            machine::load_row(map, walk, row, reinterpret_cast<const std::uint8_t*>(row.global + row.begin), images);
    }
}

void copy_all(const std::uint8_t* from, std::uint8_t* shared) {
    for (std::uint32_t i = 0; i < boxes; ++i)
        std::memcpy(shared + 1024 + i % 4 * box_bytes, from + std::size_t{i} * box_bytes, box_bytes);
}

}  // namespace

int main() {
    std::vector<std::uint8_t> matrix(columns * rows * 2, 1), shared(1024 + 4 * box_bytes);
    fmt::print("swizzle                  ns per row of 128 bytes  GB/s   memcpy GB/s\n");
    std::vector<std::pair<std::string, double>> ratios;
    for (const layout::SwizzleTraits& swizzle : layout::all_swizzle_modes()) {
        if (swizzle.span_bytes < 128 && swizzle.mode != layout::SwizzleMode::none) continue;
        TensorMap map;
        map.type = machine::TensorType::f16;
        map.rank = 2;
        map.address = reinterpret_cast<std::uintptr_t>(matrix.data());
        map.dims = {columns, rows, 1, 1, 1};
        map.strides = {columns * 2};
        map.box = {box, box, 1, 1, 1};
        map.swizzle = swizzle.mode;
        std::vector<double> loads, copies;
        for (int i = 0; i < repetitions; ++i) {
            double start = thread_seconds();
            load_all(map, shared.data());
            loads.push_back(thread_seconds() - start);
            start = thread_seconds();
            copy_all(matrix.data(), shared.data());
            copies.push_back(thread_seconds() - start);
        }
        const double bytes = double(boxes) * box_bytes, load = median(loads), copy = median(copies);
        fmt::print("{:24} {:23.1f}  {:5.1f}  {:.1f}\n", swizzle.name, 1e9 * load / (boxes * box), 1e-9 * bytes / load,
                   1e-9 * bytes / copy);
        ratios.emplace_back(swizzle.name, copy / load);
    }
    for (const auto& [name, ratio] : ratios) fmt::print("ratio tma_{} {:.3f}\n", name, ratio);
}
