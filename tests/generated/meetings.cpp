// Statements in which the threads of a CTA or a grid meet: barriers, copies, counters.
#include "generated/generator.h"

namespace tilepath::generated {

void Generator::exchange() {
    if (choices_.one_in(4)) {
        constexpr std::string_view reductions[] = {"bar.red.popc.u32 {}, 0, {}", "bar.red.and.pred {}, 0, {}",
                                                   "bar.red.or.pred {}, 0, {}"};
        const unsigned which = choices_.below(3);
        return line(fmt::runtime(reductions[which]), which == 0 ? any('r') : any('p'), any('p'));
    }
    line("{}", barrier());
    line("add.u32 t0, tid, {}", 1 + choices_.below(threads_));
    line("rem.u32 t0, t0, {}", threads_);
    line("mov.u32 t1, sh");
    line("mad.lo.u32 t0, t0, {}, t1", shared_slot_bytes);
    line("ld.shared.b64 {}, [t0+{}]", any('q'), 8 * choices_.below(8));
    line("{}", barrier());
}

std::string Generator::barrier() {
    const unsigned number = choices_.below(16);
    if (threads_ % 32 == 0 && choices_.one_in(3)) return fmt::format("barrier.sync {}, {}", number, threads_);
    return fmt::format("{} {}", choices_.one_in(2) ? "bar.sync" : "barrier.sync.aligned", number);
}

void Generator::cluster_barrier() {
    const std::string_view aligned = !ragged_ && choices_.one_in(2) ? ".aligned" : "";
    line("barrier.cluster.arrive{}{}", choices_.one_in(2) ? ".release" : "", aligned);
    line("barrier.cluster.wait{}{}", choices_.one_in(2) ? ".acquire" : "", aligned);
}

void Generator::cluster_exchange() {
    const unsigned neighbour = 1 + choices_.below(cluster_ - 1), at = 8 * choices_.below(8);
    line("mov.u32 t2, %cluster_ctarank");
    line("add.u32 t2, t2, {}", neighbour);
    line("rem.u32 t2, t2, {}", cluster_);
    line("mapa.shared::cluster.u32 t0, own_shared, t2");
    if (choices_.one_in(2)) {
        cluster_barrier();
        line("ld.shared::cluster.b64 {}, [t0+{}]", any('q'), at);
        return cluster_barrier();
    }
    const std::string again = fresh("wait");
    line("setp.eq.u32 pt0, tid, 0");
    line("@pt0 mbarrier.init.shared.b64 [mb], 1");
    line("@pt0 mbarrier.arrive.expect_tx.shared.b64 state, [mb], {}", 8 * threads_);
    cluster_barrier();
    line("mov.u32 t1, mb");
    line("mapa.shared::cluster.u32 t1, t1, t2");
    line("st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [t0+{}], {}, [t1]", at, any('q'));
    label(again);
    line("mbarrier.try_wait.parity.shared.b64 pt1, [mb], 0");
    line("@!pt1 bra {}", again);
    cluster_barrier();
    line("@pt0 mbarrier.inval.shared.b64 [mb]");
    line("bar.sync 0");
}

void Generator::shared_barrier() {
    const bool copies = choices_.one_in(2);
    const std::string again = fresh("wait");
    line("setp.eq.u32 pt0, tid, 0");
    line("@pt0 mbarrier.init.shared.b64 [mb], {}", threads_);
    line("bar.sync 0");
    if (copies) {
        copy();
        line("cp.async.mbarrier.arrive.noinc.shared.b64 [mb]");
    } else {
        line("mbarrier.arrive.shared.b64 state, [mb]");
    }
    label(again);
    constexpr std::string_view waits[] = {"test_wait", "try_wait"};
    const std::string_view wait = waits[all_.target() < "sm_90" ? 0 : choices_.below(2)];
    if (copies)
        line("mbarrier.{}.parity.shared.b64 pt1, [mb], 0", wait);
    else
        line("mbarrier.{}.shared.b64 pt1, [mb], state", wait);
    line("@!pt1 bra {}", again);
    line("bar.sync 0");
    line("@pt0 mbarrier.inval.shared.b64 [mb]");
    line("bar.sync 0");
}

void Generator::copy() {
    const unsigned bytes = 4u << choices_.below(3), to = bytes * choices_.below(shared_slot_bytes / bytes);
    const unsigned from = bytes * choices_.below(192 / bytes);
    const bool whole = bytes == 16 && choices_.one_in(2);
    line("{}cp.async.{}.shared.global [own_shared+{}], [window+{}], {}{}", guard(), whole ? "cg" : "ca", to, from,
         bytes, choices_.one_in(3) ? fmt::format(", {}", choices_.below(bytes + 1)) : "");
}

void Generator::asynchronous_copy(Scope scope) {
    copy();
    if (choices_.one_in(2)) line("cp.async.commit_group");
    statements(choices_.below(3), {.together = scope.together, .memory = false, .depth = scope.depth + 1});
    if (choices_.one_in(2)) {
        line("cp.async.commit_group");
        line("cp.async.wait_group 0");
    } else {
        line("cp.async.wait_all");
    }
}

void Generator::count() {
    const unsigned index = choices_.below(std::size(counters));
    const Counter& counter = counters[index];
    const bool wide = counter.type.ends_with("64"), shared = choices_.one_in(2);
    const std::string place = fmt::format("[{}+{}]", shared ? "shared_counters" : "counter", 8 * index);
    // What an atomic gives back depends on the order: `_`.
    const std::string head = choices_.one_in(2) ? fmt::format("red.{}", shared ? "shared" : "global")
                                                : fmt::format("atom.{}", shared ? "shared" : "global");
    line("{}{}.{}.{} {}{}, {}", guard(), head, counter.operation, counter.type, head.starts_with("atom") ? "_, " : "",
         place, any(wide ? 'q' : 'r'));
}

}  // namespace tilepath::generated
