// Records what a GPU makes of the GEMMs of kernels/hopper, through the CUDA driver alone: the driver compiles the very
// PTX that is in the tree. One line for each entry and case, as tests/vectors/gemm_hopper_h200.txt has them.
// Run from the root of the repository. Needs cuda.h and libcuda only.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "../../kernels/hopper/gemm_config.h"
#include "driver.h"

using namespace tilepath::kernels;
using namespace tilepath::kernels::hopper;

namespace {

using driver::must;

struct Case {
    int m, n, k, batch;
    float alpha, beta;
};

// Ragged in every direction, K below, at and above a stage and the whole ring of stages, tiles that one cluster takes
// one after the other, batches.
constexpr Case cases[] = {
    {1, 1, 1, 1, 1, 0},       {8, 8, 16, 1, 1, 1},         {128, 256, 64, 1, 1, 0},  {256, 128, 128, 1, 1, 1},
    {129, 257, 65, 1, 1, 0},  {100, 72, 40, 1, -1, 0.5f},  {300, 520, 40, 1, 1, 1},  {64, 64, 300, 1, 1, 0},
    {5, 300, 96, 1, 1, 0},    {300, 5, 65, 1, 1, 0},       {31, 33, 257, 1, 1, 3},   {96, 200, 144, 1, 1, 0},
    {130, 66, 100, 1, 2, 0},  {255, 40, 512, 1, 1, 0},     {16, 8, 700, 1, 1, 1},    {257, 17, 33, 3, 1, 0},
    {40, 24, 64, 5, 1, 0.5f}, {200, 136, 48, 1, 0.75f, 0}, {127, 128, 129, 1, 1, 0}, {64, 160, 15, 1, 1, -2},
    {140, 102, 200, 1, 1, 0}, {33, 64, 224, 1, 0, 1},      {600, 300, 20, 1, 1, 0},  {520, 16, 48, 2, 1, 1},
};
constexpr int clusters = 2;

class Buffer {
  public:
    Buffer(GemmType type, std::size_t count, std::uint64_t seed, InputOperand operand)
        : Buffer(std::vector<std::uint8_t>(count * element_bytes(type))) {
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint32_t bits = input_element(type, input_bits(seed, operand, i));
            std::memcpy(&bytes_[i * element_bytes(type)], &bits, element_bytes(type));
        }
        must(cuMemcpyHtoD(address, bytes_.data(), bytes_.size()), "cuMemcpyHtoD");
    }
    explicit Buffer(std::vector<std::uint8_t> bytes) : bytes_(std::move(bytes)) {
        must(cuMemAlloc(&address, bytes_.size()), "cuMemAlloc");
        must(cuMemcpyHtoD(address, bytes_.data(), bytes_.size()), "cuMemcpyHtoD");
    }
    Buffer(const Buffer&) = delete;
    ~Buffer() { cuMemFree(address); }
    const std::vector<std::uint8_t>& read() {
        must(cuMemcpyDtoH(bytes_.data(), address, bytes_.size()), "cuMemcpyDtoH");
        return bytes_;
    }
    CUdeviceptr address = 0;

  private:
    std::vector<std::uint8_t> bytes_;
};

CUtensorMapDataType tma_type(GemmType type) {
    switch (type) {
        case GemmType::f16: return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
        case GemmType::bf16: return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
        case GemmType::tf32:
        case GemmType::f32: return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
        case GemmType::e4m3:
        case GemmType::e5m2:
        case GemmType::s8: return CU_TENSOR_MAP_DATA_TYPE_UINT8;
        case GemmType::s32: return CU_TENSOR_MAP_DATA_TYPE_INT32;
        case GemmType::e2m3:
        case GemmType::e3m2: return CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B;
        case GemmType::e2m1: return CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B;
    }
    return CU_TENSOR_MAP_DATA_TYPE_UINT8;
}

// `inner` elements in a row, `outer` rows, `batch` matrices.
CUtensorMap tensor_map(GemmType type, CUdeviceptr address, int inner, int outer, int batch, int box_outer) {
    const cuuint64_t row = cuuint64_t(leading_dimension(inner, type)) * element_bytes(type);
    const cuuint64_t dims[] = {cuuint64_t(inner), cuuint64_t(outer), cuuint64_t(batch)}, strides[] = {row, row * outer};
    const cuuint32_t box[] = {cuuint32_t(128 / element_bytes(type)), cuuint32_t(box_outer), 1}, steps[] = {1, 1, 1};
    CUtensorMap map;
    must(cuTensorMapEncodeTiled(&map, tma_type(type), 3, reinterpret_cast<void*>(address), dims, strides, box, steps,
                                CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
         "cuTensorMapEncodeTiled");
    return map;
}

void record(const GemmEntry& e, CUfunction function, const Case& one, std::uint64_t seed) {
    const bool a_k_major = e.a == 't', b_k_major = e.b == 'n';
    const int a_inner = a_k_major ? one.k : one.m, a_outer = a_k_major ? one.m : one.k;
    const int b_inner = b_k_major ? one.k : one.n, b_outer = b_k_major ? one.n : one.k;
    const auto elements = [&](int inner, int outer, GemmType type) {
        return std::size_t(leading_dimension(inner, type)) * outer * one.batch;
    };
    Buffer a(e.input, elements(a_inner, a_outer, e.input), seed, InputOperand::a);
    Buffer b(e.input, elements(b_inner, b_outer, e.input), seed, InputOperand::b);
    Buffer c(e.output, elements(one.n, one.m, e.output), seed, InputOperand::c);
    Buffer bias(GemmType::f32, one.n, seed, InputOperand::bias);
    Buffer d(std::vector<std::uint8_t>(elements(one.n, one.m, e.output) * element_bytes(e.output), 0xA5));
    CUtensorMap map_a = tensor_map(e.input, a.address, a_inner, a_outer, one.batch, a_k_major ? 128 : 64);
    CUtensorMap map_b = tensor_map(e.input, b.address, b_inner, b_outer, one.batch, b_k_major ? 128 : 64);
    CUtensorMap map_d = tensor_map(e.output, d.address, one.n, one.m, one.batch, 64);
    const int ldc = leading_dimension(one.n, e.output);
    GemmParameters p{c.address, bias.address, std::int64_t{ldc} * one.m, one.m, one.n, one.k, one.batch, ldc,
                     one.alpha, one.beta};
    void* arguments[] = {&map_a, &map_b, &map_d, &p};
    const GemmConfig config = gemm_config(e.input);
    must(cuLaunchKernel(function, config.cluster_m * clusters, 1, 1, config.threads(), 1, 1,
                        config.dynamic_shared_bytes(), nullptr, arguments, nullptr),
         std::string(e.name));
    must(cuCtxSynchronize(), std::string(e.name));
    std::printf("%s %d %d %d %d %08x %08x %d %016llx\n", e.name.data(), one.m, one.n, one.k, one.batch,
                std::bit_cast<unsigned>(one.alpha), std::bit_cast<unsigned>(one.beta), int(seed),
                static_cast<unsigned long long>(driver::fnv1a(d.read())));
}

}  // namespace

int main() {
    driver::use_first_device();
    for (const GemmEntry& entry : gemm_entries) {
        CUfunction function = driver::entry_of("kernels/hopper/" + std::string(entry.module) + ".ptx", entry.name,
                                               gemm_config(entry.input).dynamic_shared_bytes());
        std::uint64_t seed = 0;
        for (const Case& one : cases) record(entry, function, one, ++seed);
    }
}
