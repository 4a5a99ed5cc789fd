#include "exec/alu/alu.h"

#include <array>

#include "exec/alu/types.h"

namespace tilepath::exec {
namespace alu {

using program::DataType;

int width_of(DataType type) { return program::bits(type); }

NumberKind kind_of(DataType type) {
    if (!program::is_float(type)) return NumberKind::integer;
    const bool half =
        type == DataType::f16 || type == DataType::f16x2 || type == DataType::bf16 || type == DataType::bf16x2;
    return half ? NumberKind::half : NumberKind::floating;
}

std::span<const Target> targets() {
#if defined(__x86_64__) && !defined(TILEPATH_ONE_VECTOR_UNIT)
    static constexpr std::array<Target, 3> all{
        {{"baseline", baseline::choose}, {"avx2", avx2::choose}, {"avx512", avx512::choose}}};
    const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                          __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("f16c");
    const bool has_avx512 = has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                            __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return std::span(all).first(has_avx512 ? 3 : has_avx2 ? 2 : 1);
#else
    static constexpr std::array<Target, 1> all{{{"baseline", baseline::choose}}};
    return all;
#endif
}

}  // namespace alu

LaneFunction lane_function(const program::MicroOp& op) {
    static const alu::Target best = alu::targets().back();
    return best.choose(op);
}

}  // namespace tilepath::exec
