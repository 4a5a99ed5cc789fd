// One function for each PTX instruction that the GEMM uses and CUDA C++ has no name for.
#pragma once

#include <cstdint>

namespace tilepath::kernels::ptx {

__device__ inline std::uint32_t shared_address(const void* pointer) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

// Copies source_bytes (0 to 16) bytes and fills the rest of the 16 with zeros.
__device__ inline void cp_async_16(std::uint32_t shared, const void* global, int source_bytes) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(__cvta_generic_to_global(global)),
                 "r"(source_bytes)
                 : "memory");
}
__device__ inline void cp_async_commit_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int pending>
__device__ inline void cp_async_wait_group() {
    asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

template <typename Element>
__device__ inline void st_shared(std::uint32_t shared, Element value) {
    if constexpr (sizeof(Element) == 1) {
        asm volatile("st.shared.b8 [%0], %1;" ::"r"(shared), "r"(std::uint32_t{value}) : "memory");
    } else if constexpr (sizeof(Element) == 2) {
        asm volatile("st.shared.b16 [%0], %1;" ::"r"(shared), "h"(value) : "memory");
    } else {
        asm volatile("st.shared.b32 [%0], %1;" ::"r"(shared), "r"(value) : "memory");
    }
}

// Written out, for nvcc splits a store of a struct of two, and halves meet in banks that whole pairs do not.
__device__ inline void st_shared_v2(std::uint32_t shared, float x, float y) {
    asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(shared), "f"(x), "f"(y) : "memory");
}
__device__ inline void st_shared_v2(std::uint32_t shared, int x, int y) {
    asm volatile("st.shared.v2.s32 [%0], {%1, %2};" ::"r"(shared), "r"(x), "r"(y) : "memory");
}

// Lane l gives the address of row l % 8 of matrix l / 8.
template <bool transposed>
__device__ inline void ldmatrix_x4(std::uint32_t& r0, std::uint32_t& r1, std::uint32_t& r2, std::uint32_t& r3,
                                   std::uint32_t shared) {
    if constexpr (transposed) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3)
                     : "r"(shared)
                     : "memory");
    } else {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3)
                     : "r"(shared)
                     : "memory");
    }
}

}  // namespace tilepath::kernels::ptx
