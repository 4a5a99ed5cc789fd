// Which instruction sets the engine's kernels are compiled for. Included before any header of Highway.
//
// Each engine_*.cpp with kernels includes itself once per target through hwy/foreach_target.h. Inside
// HWY_BEFORE_NAMESPACE … HWY_AFTER_NAMESPACE everything lies in a namespace of the target's own (N_AVX2, …) and is
// compiled for that target; the one copy outside that the linker keeps of an inline function or a template could be
// another target's, so kernels call nothing from outside but Highway, and the border to the rest is plain structs and
// function pointers. The target is chosen once, when an engine is made.
//
// Not compiled: SSSE3 (no CPU that matters lacks SSE4), AVX3_DL (adds nothing to what the kernels use), and vectors
// whose length the compiler does not know (SVE, RVV), which cannot be kept in arrays.
#pragma once
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
