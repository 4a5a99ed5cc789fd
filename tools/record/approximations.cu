// Compares the approximations of number/approximation.h with this GPU's over operands of f32: approximations STRIDE.
// With a stride of 1 it is all 2^32 of them, 14 times.
#include <cuda_runtime.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "number/approximation.h"

namespace {

using namespace tilepath::number;

constexpr std::uint32_t batch = 1u << 26;

#define TILEPATH_KERNEL(name, opcode)                                                              \
    __global__ void name(std::uint64_t first, std::uint64_t stride, std::uint32_t* results) {      \
        const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;                             \
        float result;                                                                              \
        asm volatile(opcode " %0, %1;" : "=f"(result) : "f"(__uint_as_float(first + i * stride))); \
        results[i] = __float_as_uint(result);                                                      \
    }
TILEPATH_KERNEL(rcp, "rcp.approx.f32")
TILEPATH_KERNEL(rcp_ftz, "rcp.approx.ftz.f32")
TILEPATH_KERNEL(rsqrt, "rsqrt.approx.f32")
TILEPATH_KERNEL(rsqrt_ftz, "rsqrt.approx.ftz.f32")
TILEPATH_KERNEL(sqrt, "sqrt.approx.f32")
TILEPATH_KERNEL(sqrt_ftz, "sqrt.approx.ftz.f32")
TILEPATH_KERNEL(ex2, "ex2.approx.f32")
TILEPATH_KERNEL(ex2_ftz, "ex2.approx.ftz.f32")
TILEPATH_KERNEL(lg2, "lg2.approx.f32")
TILEPATH_KERNEL(lg2_ftz, "lg2.approx.ftz.f32")
TILEPATH_KERNEL(sin, "sin.approx.f32")
TILEPATH_KERNEL(sin_ftz, "sin.approx.ftz.f32")
TILEPATH_KERNEL(cos, "cos.approx.f32")
TILEPATH_KERNEL(cos_ftz, "cos.approx.ftz.f32")
#undef TILEPATH_KERNEL

struct Function {
    const char* name;
    void (*plain)(std::uint64_t, std::uint64_t, std::uint32_t*);
    void (*ftz)(std::uint64_t, std::uint64_t, std::uint32_t*);
    std::uint32_t (*model)(std::uint32_t, bool);
};
constexpr Function functions[] = {
    {"rcp", rcp, rcp_ftz, approximate_reciprocal}, {"rsqrt", rsqrt, rsqrt_ftz, approximate_reciprocal_root},
    {"sqrt", sqrt, sqrt_ftz, approximate_root},    {"ex2", ex2, ex2_ftz, approximate_exponential},
    {"lg2", lg2, lg2_ftz, approximate_logarithm},  {"sin", sin, sin_ftz, approximate_sine},
    {"cos", cos, cos_ftz, approximate_cosine}};

void must(cudaError_t error) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
    std::exit(1);
}

std::uint64_t check(const Function& function, bool ftz, std::uint64_t stride, std::uint32_t* device) {
    std::vector<std::uint32_t> results(batch);
    std::atomic<std::uint64_t> compared{0}, different{0};
    for (std::uint64_t first = 0; first >> 32 == 0; first += stride * batch) {
        (ftz ? function.ftz : function.plain)<<<batch / 256, 256>>>(first, stride, device);
        must(cudaMemcpy(results.data(), device, batch * sizeof(std::uint32_t), cudaMemcpyDeviceToHost));
        const unsigned count = std::thread::hardware_concurrency();
        std::vector<std::thread> threads;
        for (unsigned thread = 0; thread < count; ++thread)
            threads.emplace_back([&, thread] {
                std::uint64_t here = 0;
                for (std::uint64_t i = thread; i < batch && (first + i * stride) >> 32 == 0; i += count) {
                    const auto x = static_cast<std::uint32_t>(first + i * stride);
                    const std::uint32_t ours = function.model(x, ftz);
                    ++here;
                    if (ours != results[i] && different++ < 5)
                        std::printf("%s %08x: %08x, number/ %08x\n", function.name, x, results[i], ours);
                }
                compared += here;
            });
        for (std::thread& each : threads) each.join();
    }
    std::printf("%s.approx%s.f32: %llu compared, %llu different\n", function.name, ftz ? ".ftz" : "",
                static_cast<unsigned long long>(compared), static_cast<unsigned long long>(different));
    std::fflush(stdout);
    return different;
}

}  // namespace

int main(int argc, char** argv) {
    const std::uint64_t stride = argc == 2 ? std::strtoull(argv[1], nullptr, 10) : 0;
    if (stride == 0) return std::fprintf(stderr, "approximations STRIDE\n"), 2;
    std::uint32_t* device = nullptr;
    must(cudaMalloc(&device, batch * sizeof(std::uint32_t)));
    std::uint64_t different = 0;
    for (const Function& each : functions)
        for (const bool ftz : {false, true}) different += check(each, ftz, stride, device);
    return different == 0 ? 0 : 1;
}
