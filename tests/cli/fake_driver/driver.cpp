// A libcuda.so.1 for tests: memory of this process, and a kernel that is always saxpy, with the parameters that it is
// launched with. FAKE_DRIVER_WRONG=i makes element i one too large.
#include <cstddef>
#include <cstdlib>
#include <cstring>

using Pointer = unsigned long long;

extern "C" {
int cuInit(unsigned) { return 0; }
int cuDeviceGet(int* device, int) { return *device = 0; }
int cuDevicePrimaryCtxRetain(void** context, int) { return *context = nullptr, 0; }
int cuCtxSetCurrent(void*) { return 0; }
int cuGetErrorString(int, const char** text) { return *text = "fake", 0; }
int cuModuleLoadDataEx(void** module, const void* text, unsigned, int*, void**) {
    *module = nullptr;
    return std::strstr(static_cast<const char*>(text), "saxpy") ? 0 : 218;
}
int cuModuleUnload(void*) { return 0; }
int cuModuleGetFunction(void** function, void*, const char*) { return *function = nullptr, 0; }
int cuModuleGetGlobal_v2(Pointer*, std::size_t*, void*, const char*) { return 500; }
int cuMemAlloc_v2(Pointer* out, std::size_t size) { return *out = reinterpret_cast<Pointer>(std::malloc(size)), 0; }
int cuMemFree_v2(Pointer pointer) { return std::free(reinterpret_cast<void*>(pointer)), 0; }
int cuMemcpyHtoD_v2(Pointer to, const void* from, std::size_t size) {
    return std::memcpy(reinterpret_cast<void*>(to), from, size), 0;
}
int cuMemcpyDtoH_v2(void* to, Pointer from, std::size_t size) {
    return std::memcpy(to, reinterpret_cast<void*>(from), size), 0;
}
int cuFuncSetAttribute(void*, int, int) { return 0; }
int cuCtxSynchronize() { return 0; }
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                   void** parameters, void**) {
    const int n = *static_cast<int*>(parameters[0]);
    const float a = *static_cast<float*>(parameters[1]);
    const auto* x = *static_cast<const float**>(parameters[2]);
    auto* y = *static_cast<float**>(parameters[3]);
    for (int i = 0; i < n; ++i) y[i] += a * x[i];  // exact for what the test gives
    if (const char* wrong = std::getenv("FAKE_DRIVER_WRONG")) y[std::atoi(wrong)] += 1;
    return 0;
}
}
