// What programs that use the CUDA driver alone share: checked calls, the first device's context, PTX files, FNV-1a.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace driver {

inline void must(CUresult result, const std::string& what) {
    if (result == CUDA_SUCCESS) return;
    const char* text = "unknown error";
    cuGetErrorString(result, &text);
    std::fprintf(stderr, "%s: %s\n", what.c_str(), text);
    std::exit(1);
}

/// Makes the first device's primary context current.
inline CUdevice use_first_device() {
    CUdevice device;
    CUcontext context;
    must(cuInit(0), "cuInit"), must(cuDeviceGet(&device, 0), "cuDeviceGet");
    must(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    must(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    return device;
}

/// The entry of a PTX file, which the driver compiles once, with the dynamic shared memory that it may be given.
inline CUfunction entry_of(const std::string& path, std::string_view entry, int dynamic_shared_bytes) {
    static std::map<std::string, CUmodule> modules;
    if (!modules.contains(path)) {
        std::ifstream file(path);
        const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
        must(cuModuleLoadData(&modules[path], text.c_str()), path);
    }
    CUfunction function;
    const std::string name(entry);
    must(cuModuleGetFunction(&function, modules[path], name.c_str()), name);
    must(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, dynamic_shared_bytes), name);
    return function;
}

inline std::uint64_t fnv1a(const std::vector<std::uint8_t>& bytes) {
    std::uint64_t hash = 0xCBF29CE484222325u;
    for (const std::uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001B3u;
    return hash;
}

}  // namespace driver
