// Memory fences: PTX ISA 9.7.13.4.
#include <fmt/format.h>

#include "isa/plain.h"

namespace tilepath::isa {
namespace {

using program::FenceKind;

FenceKind proxy_named(std::string_view word) {
    if (word == "alias") return FenceKind::proxy_alias;
    if (word == "async.global") return FenceKind::proxy_async_global;
    if (word == "async.shared::cta") return FenceKind::proxy_async_shared_cta;
    if (word == "async.shared::cluster") return FenceKind::proxy_async_shared_cluster;
    return FenceKind::proxy_async;
}

template <FenceKind kind>
void fence(Lowering& to, const Bound&) {
    to.emit(Op::fence, DataType::none, {}, {}).variant = static_cast<std::uint8_t>(kind);
}

void proxy_fence(Lowering& to, const Bound& in) {
    const std::string proxy = fmt::format("{}{}{}", in.word("kind"), in.has("ss") ? "." : "", in.word("ss"));
    to.emit(Op::fence, DataType::none, {}, {}).variant = static_cast<std::uint8_t>(proxy_named(proxy));
}

void tensormap_acquire(Lowering& to, const Bound& in) {
    if (const std::int64_t bytes = to.immediate(in["size"], "the size"); bytes != 128)
        to.error(in["size"].span, fmt::format("the size is the 128 bytes of a tensor map; found {}", bytes));
    const Address at = to.address(in["a"], Space::generic);
    MicroOp& out = to.emit(Op::fence, DataType::b8, {}, {at.base});
    out.space = at.space;
    out.immediate = at.offset;
    out.variant = static_cast<std::uint8_t>(FenceKind::tensormap_acquire);
}

constexpr std::string_view manual = "9.7.13.4", scopes = "scope: cta cluster gpu sys";
constexpr Needs restricted = since(8, 6, 90);

}  // namespace

std::vector<Family> fences_families() {
    return {
        {.manual = manual,
         .forms = {{"membar.level", {"level: cta gl"}, since(1, 4)},
                   {"membar.level", {"level: sys"}, since(2, 0, 20)},
                   {"fence{.sem}.scope", {"sem: sc acq_rel", scopes}, since(6, 0, 70)},
                   // The manual asks for PTX ISA 8.6 and sm_90; ptxas 13.0 takes them from sm_70 on.
                   {"fence.sem.scope", {"sem: acquire release", scopes}, since(6, 0, 70)},
                   {"fence.acquire.sync_restrict::shared::cluster.cluster", {}, restricted},
                   {"fence.release.sync_restrict::shared::cta.cluster", {}, restricted}},
         .lower = fence<FenceKind::thread>},
        {.manual = manual,
         .forms = {{"fence.mbarrier_init.release.cluster", {}, since(8, 0, 90)}},
         .lower = fence<FenceKind::mbarrier_init>},
        {.manual = manual,
         .forms = {{"membar.proxy.kind", {"kind: alias"}, since(7, 5, 60)},
                   {"fence.proxy.kind", {"kind: alias"}, since(7, 5, 70)},
                   {"fence.proxy.kind{.ss}",
                    {"kind: async", "ss: global shared::cta shared::cluster"},
                    since(8, 0, 90)}},
         .lower = proxy_fence},
        {.manual = manual,
         .forms = {{"fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster", {}, restricted}},
         .lower = fence<FenceKind::async_after_generic_acquire>},
        {.manual = manual,
         .forms = {{"fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster", {}, restricted}},
         .lower = fence<FenceKind::async_after_generic_release>},
        {.manual = manual,
         .forms = {{"fence.proxy.tensormap::generic.release.scope", {scopes}, since(8, 3, 90)}},
         .lower = fence<FenceKind::tensormap_release>},
        {.manual = manual,
         .forms = {{"fence.proxy.tensormap::generic.acquire.scope [a], size", {scopes}, since(8, 3, 90)}},
         .lower = tensormap_acquire},
    };
}

}  // namespace tilepath::isa
