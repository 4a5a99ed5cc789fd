// Barriers, arrivals from another CTA, registers.
#include "generated/tiles.h"

namespace tilepath::generated {

void Tiles::meet() {
    if (spoils(20)) return;
    if (cluster_ == 1) return line("bar.sync 0");
    line("barrier.cluster.arrive{}.aligned", choices_.one_in(2) ? ".release" : "");
    line("barrier.cluster.wait{}.aligned", choices_.one_in(2) ? ".acquire" : "");
}

void Tiles::begin_barrier(std::uint32_t count, unsigned index) {
    step("@one mbarrier.init.shared.b64 [bars+{}], {}", 8 * index, number(count));
    step("{}", choices_.one_in(2) ? "fence.proxy.async" : "fence.mbarrier_init.release.cluster");
    meet();
}

void Tiles::wait(unsigned parity, unsigned index) {
    const std::string again = fresh("wait");
    out_ += again + ":\n";
    const bool tries = choices_.one_in(2);
    line("mbarrier.{}.parity{}.shared::cta.b64 done, [bars+{}], {}", tries ? "try_wait" : "test_wait",
         choices_.one_in(2) ? ".acquire.cluster" : "", 8 * index, parity);
    step("@!done bra {}", again);
}

void Tiles::end_barrier(unsigned index) {
    meet();
    step("@one mbarrier.inval.shared.b64 [bars+{}]", 8 * index);
    meet();
}

void Tiles::publish() {
    step("fence.proxy.async{}", choices_.one_in(4) ? ".shared::cta" : "");
    meet();
}

void Tiles::digest(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) line("mad.lo.u32 sum, sum, 31, v{}", i);
}

void Tiles::barrier_phases() {
    begin_barrier(threads_);
    const unsigned phases = 1 + choices_.below(3);
    constexpr std::string_view keys[] = {"mbarrier.arrive", "mbarrier.arrive.expect_tx"};
    for (unsigned phase = 0; phase < phases; ++phase) {
        const bool counts = choices_.one_in(2);
        const isa::Instance* arrive = forms_.choose(keys[counts], choices_, [](const isa::Instance& each) {
            return (has_word(each, "shared") || has_word(each, "shared::cta")) && !has_word(each, "relaxed");
        });
        if (arrive == nullptr) return;
        const std::string bytes = fmt::format("{}", number(16));
        instruction("", *arrive, {{"d", "state"}, {"a", "[bars]"}, {"count", "1"}, {"bytes", bytes}}, any_count);
        if (counts) line("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bars], {}", bytes);
        wait(phase & 1);
    }
    end_barrier();
}

void Tiles::remote_arrivals() {
    begin_barrier(threads_);
    const isa::Instance* arrive = forms_.choose("mbarrier.arrive", choices_, [](const isa::Instance& each) {
        return has_word(each, "shared::cluster") && !has_word(each, "relaxed");
    });
    if (arrive == nullptr) return;
    line("mapa.shared::cluster.u32 t0, bars, {}", spoils(8) ? "r0" : "other");
    instruction("", *arrive, {{"d", "_"}, {"a", "[t0]"}, {"count", "1"}}, any_count);
    wait(0);
    end_barrier();
}

void Tiles::remote_stores() {
    const isa::Instance* store = forms_.choose(
        choices_.one_in(2) ? "st.async" : "red.async", choices_,
        [](const isa::Instance& each) { return has_word(each, "shared::cluster") && !has_word(each, "v8"); });
    if (store == nullptr) return;
    begin_barrier(1);
    const unsigned bytes = access_bytes(*store);
    line("@one mbarrier.arrive.expect_tx.shared.b64 state, [bars], {}", number(bytes));
    meet();
    line("mapa.shared::cluster.u32 t0, tiles, other");
    line("mapa.shared::cluster.u32 t1, bars, other");
    instruction("@one ", *store,
                {{"a", fmt::format("[t0+{}]", number(16 * choices_.below(tile_bytes / 16)))}, {"mbar", "[t1]"}});
    wait(0);
    end_barrier();
}

void Tiles::change_registers() {
    const unsigned fewer = 24 + 8 * choices_.below(13);
    step("setmaxnreg.dec.sync.aligned.u32 {}", fewer);
    if (choices_.one_in(2)) meet();
    step("setmaxnreg.inc.sync.aligned.u32 {}", spoils(6) ? 24 + 8 * choices_.below(29) : registers_);
    meet();
}

}  // namespace tilepath::generated
