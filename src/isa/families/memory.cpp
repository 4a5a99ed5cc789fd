// ld, ldu, st: PTX ISA 9.7.9.8 to 9.7.9.12. Memory order and cache hints change no result of a kernel without a race: they
// are read and kept out of the micro-operation.
#include <fmt/format.h>

#include "isa/lowering.h"
#include "isa/spaces.h"

namespace tilepath::isa {
namespace {

unsigned vector_length(std::string_view word) {
    return word == "v2" ? 2 : word == "v4" ? 4 : word == "v8" ? 8 : 1;
}

void check_parts(Lowering& to, const ptx::Operand& operand, std::size_t found, unsigned expected) {
    if (found != expected)
        to.error(operand.span, fmt::format("expected a vector of {} registers, found {}", expected, found));
}

void lower_ld(Lowering& to, const Bound& in) {
    const unsigned length = vector_length(in.word("vec"));
    const Address from = to.address(in["a"], space_named(in.word("ss")));
    const std::vector<Operand> into = to.write_vector_wider(in["d"], in.type());
    check_parts(to, in["d"], into.size(), length);
    MicroOp& op = to.emit(Op::ld, in.type(), into, std::vector{from.base});
    op.space = from.space;
    op.immediate = from.offset;
    op.vector = static_cast<std::uint8_t>(length);
}

void lower_st(Lowering& to, const Bound& in) {
    const unsigned length = vector_length(in.word("vec"));
    const Address at = to.address(in["a"], space_named(in.word("ss")));
    std::vector<Operand> sources{at.base};
    for (Operand value : to.read_vector_wider(in["b"], in.type())) sources.push_back(value);
    check_parts(to, in["b"], sources.size() - 1, length);
    MicroOp& op = to.emit(Op::st, in.type(), std::vector<Operand>{}, sources);
    op.space = at.space;
    op.immediate = at.offset;
    op.vector = static_cast<std::uint8_t>(length);
}

constexpr std::string_view types = "type: b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64";
constexpr std::string_view load_spaces =
    "ss: const global local param param::entry param::func shared shared::cta shared::cluster";
constexpr std::string_view store_spaces = "ss: global local param param::func shared shared::cta shared::cluster";
constexpr std::string_view scopes = "scope: cta cluster gpu sys";
constexpr std::string_view evict1 = "evict1: L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last L1::no_allocate";
constexpr std::string_view evict2 = "evict2: L2::evict_normal L2::evict_first L2::evict_last";
constexpr std::string_view prefetch = "prefetch: L2::64B L2::128B L2::256B";

}  // namespace

std::vector<Family> memory_families() {
    return {
        {.manual = "9.7.9.8, 9.7.9.9",
         .forms =
             {{"ld{.weak}{.ss}{.cop}{.vec}.type d, [a]", {types, load_spaces, "cop: ca cg cs lu cv", "vec: v2 v4"}, since(1, 0)},
              {"ld{.weak}{.ss}{.evict1}{.evict2}{.L2::cache_hint}{.prefetch}{.vec}.type d, [a]{, c:b64}",
               {types, load_spaces, evict1, evict2, prefetch, "vec: v2 v4"}, since(7, 4, 70)},
              {"ld.volatile{.ss}{.prefetch}{.vec}.type d, [a]", {types, load_spaces, prefetch, "vec: v2 v4"}, since(1, 1)},
              {"ld.order.scope{.ss}{.evict1}{.evict2}{.L2::cache_hint}{.prefetch}{.vec}.type d, [a]{, c:b64}",
               {types, load_spaces, "order: relaxed acquire", scopes, evict1, evict2, prefetch, "vec: v2 v4"}, since(6, 0, 70)},
              {"ld.mmio.relaxed.sys{.ss}.type d, [a]", {types, "ss: global"}, since(8, 2, 70)},
              {"ld.global{.cop}.nc{.prefetch}{.vec}.type d, [a]", {types, "cop: ca cg cs", prefetch, "vec: v2 v4"}, since(3, 1, 32)},
              {"ld.global.nc{.evict1}{.evict2}{.L2::cache_hint}{.prefetch}{.vec}.type d, [a]{, c:b64}",
               {types, evict1, evict2, prefetch, "vec: v2 v4"}, since(7, 4, 70)},
              {"ld{.weak}{.ss}{.cop}.type d, [a]", {"type: b128", load_spaces, "cop: ca cg cs lu cv"}, since(8, 3, 70)},
              {"ld.order.scope{.ss}.type d, [a]", {"type: b128", load_spaces, "order: relaxed acquire", scopes}, since(8, 3, 70)},
              {"ld{.weak}.global{.nc}{.evict1}{.evict2}{.L2::cache_hint}{.prefetch}.vec.type d, [a]{, c:b64}",
               {"type: b32 u32 s32 f32", "vec: v8", evict1, evict2, prefetch}, since(8, 8, 100)},
              {"ld{.weak}.global{.nc}{.evict1}{.evict2}{.L2::cache_hint}{.prefetch}.vec.type d, [a]{, c:b64}",
               {"type: b64 u64 s64 f64", "vec: v4", evict1, evict2, prefetch}, since(8, 8, 100)}},
         .lower = lower_ld},
        {.manual = "9.7.9.10",
         .forms = {{"ldu{.ss}{.vec}.type d, [a]", {types, "ss: global", "vec: v2 v4"}, since(2, 0)}},
         .lower = lower_ld},
        {.manual = "9.7.9.11",
         .forms =
             {{"st{.weak}{.ss}{.cop}{.vec}.type [a], b", {types, store_spaces, "cop: wb cg cs wt", "vec: v2 v4"}, since(1, 0)},
              {"st{.weak}{.ss}{.evict1}{.evict2}{.L2::cache_hint}{.vec}.type [a], b{, c:b64}",
               {types, store_spaces, evict1, evict2, "vec: v2 v4"}, since(7, 4, 70)},
              {"st.volatile{.ss}{.vec}.type [a], b", {types, store_spaces, "vec: v2 v4"}, since(1, 1)},
              {"st.order.scope{.ss}{.evict1}{.evict2}{.L2::cache_hint}{.vec}.type [a], b{, c:b64}",
               {types, store_spaces, "order: relaxed release", scopes, evict1, evict2, "vec: v2 v4"}, since(6, 0, 70)},
              {"st.mmio.relaxed.sys{.ss}.type [a], b", {types, "ss: global"}, since(8, 2, 70)},
              {"st{.weak}{.ss}{.cop}.type [a], b", {"type: b128", store_spaces, "cop: wb cg cs wt"}, since(8, 3, 70)},
              {"st.order.scope{.ss}.type [a], b", {"type: b128", store_spaces, "order: relaxed release", scopes}, since(8, 3, 70)},
              {"st{.weak}.global{.evict1}{.evict2}{.L2::cache_hint}.vec.type [a], b{, c:b64}",
               {"type: b32 u32 s32 f32", "vec: v8", evict1, evict2}, since(8, 8, 100)},
              {"st{.weak}.global{.evict1}{.evict2}{.L2::cache_hint}.vec.type [a], b{, c:b64}",
               {"type: b64 u64 s64 f64", "vec: v4", evict1, evict2}, since(8, 8, 100)}},
         .lower = lower_st},
    };
}

}  // namespace tilepath::isa
