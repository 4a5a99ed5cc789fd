// One function for each PTX instruction that the GEMMs of several generations use and CUDA C++ has no name for.
#pragma once

#include <cuda.h>

#include <cstdint>

namespace tilepath::kernels::ptx {

__device__ inline std::uint32_t shared_address(const void* pointer) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}
__device__ inline std::uint32_t cluster_ctarank() {
    std::uint32_t rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}
// True in one lane of the warp.
__device__ inline bool elect_sync() {
    std::uint32_t elected;
    asm volatile(
        "{\n\t.reg .pred p;\n\t"
        "elect.sync _|p, 0xffffffff;\n\t"
        "selp.b32 %0, 1, 0, p;\n\t}"
        : "=r"(elected));
    return elected;
}
// The address of the same place in another CTA of the cluster.
__device__ inline std::uint32_t mapa(std::uint32_t shared, std::uint32_t ctarank) {
    std::uint32_t remote;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(shared), "r"(ctarank));
    return remote;
}
// Every thread of every CTA of the cluster.
__device__ inline void cluster_sync() {
    asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
__device__ inline void named_barrier_sync(int barrier, int threads) {
    asm volatile("barrier.sync.aligned %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
__device__ inline void mbarrier_init(std::uint32_t barrier, int count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}
__device__ inline void fence_mbarrier_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ inline void mbarrier_arrive_expect_tx(std::uint32_t barrier, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
__device__ inline void mbarrier_arrive(std::uint32_t barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
// What the arriving thread did before it is ordered within its CTA alone: with .release.cluster the compiler puts a
// fence of the whole GPU before it. Here a consumer tells that its wgmma have read a stage, and writes nothing.
__device__ inline void mbarrier_arrive_in(std::uint32_t barrier, std::uint32_t ctarank) {
    asm volatile(
        "{\n\t.reg .b32 remote;\n\t"
        "mapa.shared::cluster.u32 remote, %0, %1;\n\t"
        "mbarrier.arrive.shared::cluster.b64 _, [remote];\n\t}" ::"r"(barrier),
        "r"(ctarank)
        : "memory");
}
__device__ inline void mbarrier_wait(std::uint32_t barrier, std::uint32_t parity) {
    asm volatile(
        "{\n\t.reg .pred done;\n\t"
        "again:\n\t"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n\t"
        "@done bra finished;\n\t"
        "bra again;\n\t"
        "finished:\n\t}" ::"r"(barrier),
        "r"(parity)
        : "memory");
}

__device__ inline void prefetch_tensormap(const CUtensorMap* map) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(reinterpret_cast<std::uint64_t>(map)) : "memory");
}
__device__ inline void tma_load(std::uint32_t shared, const CUtensorMap* map, std::uint32_t barrier, int x, int y,
                                int z) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], "
        "[%2];" ::"r"(shared),
        "l"(reinterpret_cast<std::uint64_t>(map)), "r"(barrier), "r"(x), "r"(y), "r"(z)
        : "memory");
}
// Into the same place of every CTA whose bit is set in `ctas`; its bytes count on each one's own barrier.
__device__ inline void tma_load_multicast(std::uint32_t shared, const CUtensorMap* map, std::uint32_t barrier, int x,
                                          int y, int z, std::uint16_t ctas) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
        "[%1, {%3, %4, %5}], [%2], %6;" ::"r"(shared),
        "l"(reinterpret_cast<std::uint64_t>(map)), "r"(barrier), "r"(x), "r"(y), "r"(z), "h"(ctas)
        : "memory");
}
__device__ inline void tma_store(const CUtensorMap* map, std::uint32_t shared, int x, int y, int z) {
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(
                     reinterpret_cast<std::uint64_t>(map)),
                 "r"(shared), "r"(x), "r"(y), "r"(z)
                 : "memory");
}
__device__ inline void bulk_commit_group() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <int pending>
__device__ inline void bulk_wait_group_read() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(pending) : "memory");
}
__device__ inline void bulk_wait_group_all() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
__device__ inline void fence_proxy_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// Lane l gives the address of row l % 8 of matrix l / 8.
__device__ inline void stmatrix_x4(std::uint32_t shared, std::uint32_t r0, std::uint32_t r1, std::uint32_t r2,
                                   std::uint32_t r3) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(shared), "r"(r0), "r"(r1),
                 "r"(r2), "r"(r3)
                 : "memory");
}
__device__ inline void ldmatrix_x4(std::uint32_t (&r)[4], std::uint32_t shared) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared)
                 : "memory");
}
__device__ inline uint4 ld_shared_v4(std::uint32_t shared) {
    uint4 v;
    asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "r"(shared)
                 : "memory");
    return v;
}
__device__ inline void st_shared_v4(std::uint32_t shared, uint4 v) {
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(shared), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
                 : "memory");
}
__device__ inline void st_shared_v2(std::uint32_t shared, float x, float y) {
    asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(shared), "f"(x), "f"(y) : "memory");
}

}  // namespace tilepath::kernels::ptx
