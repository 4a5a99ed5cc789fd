// The ring of shared-memory stages that the Tensor Memory Accelerator fills, as those who fill and who empty it go
// round it: a stage and the parity of its phase. Where things lie in a stage, and the barriers behind the stages, says
// the folder's GemmConfig.
#pragma once

#include <cstdint>

namespace tilepath::kernels {

template <auto config, int stages>
struct StageRing {
    std::uint32_t base;  // shared address of stage 0
    int stage = 0, phase = 0;

    __device__ std::uint32_t a() const { return base + stage * config.stage_bytes(); }
    __device__ std::uint32_t b() const { return a() + config.a_stage_bytes(); }
    __device__ std::uint32_t scale_a() const { return b() + config.b_stage_bytes(); }
    __device__ std::uint32_t scale_b() const { return scale_a() + config.scale_stage_bytes(); }
    __device__ std::uint32_t full() const { return full(stage); }
    __device__ std::uint32_t empty() const { return empty(stage); }
    __device__ std::uint32_t full(int of) const { return base + config.barrier_offset() + of * 8; }
    __device__ std::uint32_t empty(int of) const { return full(of) + stages * 8; }
    __device__ void next() {
        if (++stage == stages) stage = 0, phase ^= 1;
    }
};

}  // namespace tilepath::kernels
