// bench/gpu_gemm: see there. Our PTX is compiled by the driver; cuBLASLt runs the first algorithm that its heuristic
// names, with 64 MiB of workspace. The two take turns; each has its median over the rounds.
#include <cublasLt.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "../../kernels/hopper/gemm_config.h"
#include "../../tools/record/driver.h"

using namespace tilepath::kernels;
using namespace tilepath::kernels::hopper;

namespace {

using driver::must;

void must(cublasStatus_t status, const char* what) {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    std::fprintf(stderr, "%s: cuBLAS status %d\n", what, int(status));
    std::exit(1);
}

struct TypeRow {
    CUtensorMapDataType tma;
    cudaDataType blas;
    cublasComputeType_t compute;
};
TypeRow row_of(GemmType type) {
    switch (type) {
        case GemmType::f16: return {CU_TENSOR_MAP_DATA_TYPE_FLOAT16, CUDA_R_16F, CUBLAS_COMPUTE_32F};
        case GemmType::bf16: return {CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, CUDA_R_16BF, CUBLAS_COMPUTE_32F};
        case GemmType::e4m3: return {CU_TENSOR_MAP_DATA_TYPE_UINT8, CUDA_R_8F_E4M3, CUBLAS_COMPUTE_32F};
        case GemmType::e5m2: return {CU_TENSOR_MAP_DATA_TYPE_UINT8, CUDA_R_8F_E5M2, CUBLAS_COMPUTE_32F};
        case GemmType::tf32:
        case GemmType::f32: return {CU_TENSOR_MAP_DATA_TYPE_FLOAT32, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32};
        case GemmType::e2m3:
        case GemmType::e3m2:
        case GemmType::e2m1:
        case GemmType::s8:
        case GemmType::s32: break;
    }
    std::abort();
}

CUdeviceptr filled(GemmType type, std::size_t count, InputOperand operand) {
    std::vector<std::uint8_t> bytes(count * element_bytes(type));
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t bits = input_element(type, input_bits(1, operand, i));
        std::copy_n(reinterpret_cast<const std::uint8_t*>(&bits), element_bytes(type), &bytes[i * element_bytes(type)]);
    }
    CUdeviceptr address;
    must(cuMemAlloc(&address, bytes.size()), "cuMemAlloc");
    must(cuMemcpyHtoD(address, bytes.data(), bytes.size()), "cuMemcpyHtoD");
    return address;
}

CUtensorMap square_map(GemmType type, CUdeviceptr address, int size, int box_outer) {
    const cuuint64_t row = cuuint64_t(size) * element_bytes(type);
    const cuuint64_t dims[] = {cuuint64_t(size), cuuint64_t(size), 1}, strides[] = {row, row * size};
    const cuuint32_t box[] = {cuuint32_t(128 / element_bytes(type)), cuuint32_t(box_outer), 1}, steps[] = {1, 1, 1};
    CUtensorMap map;
    must(cuTensorMapEncodeTiled(&map, row_of(type).tma, 3, reinterpret_cast<void*>(address), dims, strides, box, steps,
                                CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
         "cuTensorMapEncodeTiled");
    return map;
}

// Column-major, as cuBLAS sees it: D' (N x M) = B' A', each operand stored as ours is.
class Blas {
  public:
    Blas(cublasLtHandle_t handle, const GemmEntry& e, int size) : handle_(handle) {
        const TypeRow in = row_of(e.input), out = row_of(e.output);
        must(cublasLtMatmulDescCreate(&operation_, in.compute, CUDA_R_32F), "cublasLtMatmulDescCreate");
        const cublasOperation_t b = e.b == 'n' ? CUBLAS_OP_T : CUBLAS_OP_N, a = e.a == 't' ? CUBLAS_OP_N : CUBLAS_OP_T;
        must(cublasLtMatmulDescSetAttribute(operation_, CUBLASLT_MATMUL_DESC_TRANSA, &b, sizeof b), "transa");
        must(cublasLtMatmulDescSetAttribute(operation_, CUBLASLT_MATMUL_DESC_TRANSB, &a, sizeof a), "transb");
        must(cublasLtMatrixLayoutCreate(&input_, in.blas, size, size, size), "layout");
        must(cublasLtMatrixLayoutCreate(&output_, out.blas, size, size, size), "layout");
        cublasLtMatmulPreference_t preference;
        must(cublasLtMatmulPreferenceCreate(&preference), "preference");
        must(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                  &workspace_bytes, sizeof workspace_bytes),
             "workspace");
        int found = 0;
        must(cublasLtMatmulAlgoGetHeuristic(handle, operation_, input_, input_, output_, output_, preference, 1,
                                            &chosen_, &found),
             "cublasLtMatmulAlgoGetHeuristic");
        must(cuMemAlloc(&workspace_, workspace_bytes), "workspace");
    }
    ~Blas() { cuMemFree(workspace_); }
    Blas(const Blas&) = delete;
    void run(CUdeviceptr a, CUdeviceptr b, CUdeviceptr d) {
        const float one = 1, zero = 0;
        const auto pointer = [](CUdeviceptr x) { return reinterpret_cast<void*>(x); };
        must(cublasLtMatmul(handle_, operation_, &one, pointer(b), input_, pointer(a), input_, &zero, pointer(d),
                            output_, pointer(d), output_, &chosen_.algo, pointer(workspace_), workspace_bytes, nullptr),
             "cublasLtMatmul");
    }

  private:
    static constexpr std::size_t workspace_bytes = 64 << 20;
    cublasLtHandle_t handle_;
    cublasLtMatmulDesc_t operation_ = nullptr;
    cublasLtMatrixLayout_t input_ = nullptr, output_ = nullptr;
    cublasLtMatmulHeuristicResult_t chosen_{};
    CUdeviceptr workspace_ = 0;
};

template <typename Run>
float milliseconds(Run run) {
    static CUevent begin = [] {
        CUevent e;
        must(cuEventCreate(&e, 0), "event");
        return e;
    }();
    static CUevent end = [] {
        CUevent e;
        must(cuEventCreate(&e, 0), "event");
        return e;
    }();
    must(cuEventRecord(begin, nullptr), "record"), run(), must(cuEventRecord(end, nullptr), "record");
    must(cuEventSynchronize(end), "launch");
    float ms;
    must(cuEventElapsedTime(&ms, begin, end), "elapsed");
    return ms;
}

float median(std::vector<float> values) {
    std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
    return values[values.size() / 2];
}

void measure(cublasLtHandle_t handle, const GemmEntry& e, int size, int multiprocessors,
             std::vector<std::string>& ratios) {
    const GemmConfig config = gemm_config(e.input);
    CUfunction function =
        driver::entry_of("kernels/hopper/" + std::string(e.module) + ".ptx", e.name, config.dynamic_shared_bytes());
    const std::size_t count = std::size_t(size) * size;
    const CUdeviceptr a = filled(e.input, count, InputOperand::a), b = filled(e.input, count, InputOperand::b),
                      d = filled(e.output, count, InputOperand::c),
                      bias = filled(GemmType::f32, size, InputOperand::bias);
    CUtensorMap map_a = square_map(e.input, a, size, e.a == 't' ? 128 : 64),
                map_b = square_map(e.input, b, size, e.b == 'n' ? 128 : 64), map_d = square_map(e.output, d, size, 64);
    GemmParameters p{0, bias, 0, size, size, size, 1, size, 1, 0};
    void* arguments[] = {&map_a, &map_b, &map_d, &p};
    Blas blas(handle, e, size);
    const auto ours = [&] {
        must(cuLaunchKernel(function, multiprocessors / config.cluster_m * config.cluster_m, 1, 1, config.threads(), 1,
                            1, config.dynamic_shared_bytes(), nullptr, arguments, nullptr),
             e.name.data());
    };
    std::vector<float> our_times, blas_times;
    for (int round = 0; round < 24; ++round) {
        const float us = milliseconds(ours), them = milliseconds([&] { blas.run(a, b, d); });
        if (round >= 3) our_times.push_back(us), blas_times.push_back(them);
    }
    const double work = 2.0 * size * size * size * 1e-9, us = median(our_times), them = median(blas_times);
    std::printf("%-28s %5d  %8.3f ms %7.1f TFLOP/s   cuBLASLt %8.3f ms %7.1f TFLOP/s   %.3f\n", e.name.data(), size, us,
                work / us, them, work / them, them / us);
    char line[128];
    std::snprintf(line, sizeof line, "ratio %s_%d_over_cublaslt %.3f", e.name.data(), size, them / us);
    ratios.push_back(line);
    for (const CUdeviceptr buffer : {a, b, d, bias}) cuMemFree(buffer);
}

}  // namespace

int main() {
    const CUdevice device = driver::use_first_device();
    int multiprocessors = 0;
    must(cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device), "attribute");
    cublasLtHandle_t handle;
    must(cublasLtCreate(&handle), "cublasLtCreate");
    std::vector<std::string> ratios;
    for (const GemmEntry& e : gemm_entries) {
        // cuBLASLt has no linear layer with this GELU, and refuses 8-bit e5m2 by e5m2.
        if (e.linear || e.input == GemmType::e5m2) continue;
        for (const int size : {8192, 4096}) {
            if (size == 4096 || e.name == "hopper_bf16_tn_bf16" || e.name == "hopper_f16_tn_f16")
                measure(handle, e, size, multiprocessors, ratios);
        }
    }
    for (const std::string& line : ratios) std::puts(line.c_str());
}
