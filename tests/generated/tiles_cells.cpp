// Tensor Memory: its allocation, what threads store and load, copies into it, and how an operation's end is told.
#include <algorithm>

#include "generated/tiles.h"

namespace tilepath::generated {

std::string Tiles::cells(std::string_view name, std::uint32_t lane, std::uint32_t column) {
    line("add.u32 {}, tm, {}", name, number(lane << 16 | column) & 0xFFFFFFFF);
    return fmt::format("[{}]", name);
}

void Tiles::allocate() {
    const std::string over = fresh("allocated");
    line("setp.ne.u32 pt0, warp, 0");
    line("@pt0 bra {}", over);
    step("tcgen05.alloc.{}.sync.aligned.shared::cta.b32 [allocated], {}", group(), columns_);
    if (choices_.one_in(2)) line("tcgen05.relinquish_alloc_permit.{}.sync.aligned", group());
    out_ += over + ":\n";
    meet();
    line("ld.shared.b32 tm, [allocated]");
    line("and.b32 t0, warp, 3");
    line("shl.b32 t0, t0, 21");
    line("add.u32 lanes, tm, t0");
}

void Tiles::free() {
    const std::string over = fresh("freed");
    meet();
    line("setp.ne.u32 pt0, warp, 0");
    line("@pt0 bra {}", over);
    step("tcgen05.dealloc.{}.sync.aligned.b32 tm, {}", group(), columns_);
    out_ += over + ":\n";
}

void Tiles::fill_cells() {
    const std::string again = fresh("columns"), end = fresh("over");
    line("@!lowest bra {}", end);
    line("mov.u32 t0, {}", columns_ / 16);
    line("mov.u32 t1, lanes");
    out_ += again + ":\n";
    line("tcgen05.st.sync.aligned.32x32b.x16.b32 [t1], {}", values(16));
    line("add.u32 t1, t1, 16");
    line("sub.u32 t0, t0, 1");
    line("setp.ne.u32 pt0, t0, 0");
    line("@pt0 bra {}", again);
    step("tcgen05.wait::st.sync.aligned");
    out_ += end + ":\n";
    meet_at_cells();
}

void Tiles::meet_at_cells() {
    step("tcgen05.fence::before_thread_sync");
    meet();
    step("tcgen05.fence::after_thread_sync");
}

/// By the lowest warpgroup, whose warps have all lanes.
void Tiles::transfer(bool store) {
    const bool reduces = !store && forms_.has("tcgen05.ld.red.sync") && choices_.one_in(3);
    const isa::Instance& instance = forms_.choose(store     ? "tcgen05.st.sync"
                                                  : reduces ? "tcgen05.ld.red.sync"
                                                            : "tcgen05.ld.sync",
                                                  choices_);
    const isa::Form& form = *instance.form;
    std::string text;
    {
        const auto operands = operands_of(instance, form.least_operands, choices_);
        text = operands[static_cast<std::size_t>(form.operand("r"))];
    }
    const auto registers = static_cast<std::uint32_t>(std::ranges::count(text, ',')) + 1;
    const std::string_view shape = word_of(instance, "shape");
    const bool packed = has_word(instance, "pack::16b") || has_word(instance, "unpack::16b");
    const std::uint32_t columns = registers * (shape == "32x32b" || shape == "16x32bx2" ? 1 : 2) * (packed ? 2 : 1);
    const std::uint32_t split = shape == "16x32bx2" ? columns + choices_.below(8) : 0;
    if (columns + split > columns_) return;
    const std::uint32_t lane = shape != "32x32b" && choices_.one_in(2) ? 16 : 0;
    const std::string over = fresh("over");
    line("add.u32 t0, lanes, {}", number(lane << 16 | choices_.below(columns_ - columns - split + 1)));
    line("@!{} bra {}", spoils(8) ? "p0" : "lowest", over);
    instruction("", instance,
                {{"r", values(registers)},
                 {"taddr", "[t0]"},
                 {"redval", "r0"},
                 {"immHalfSplitoff", fmt::format("{}", number(split))}});
    step("tcgen05.wait::{}.sync.aligned", store ? "st" : "ld");
    if (!store) digest(registers);
    out_ += over + ":\n";
    meet_at_cells();
}

void Tiles::copy_cells() {
    const isa::Instance* copy = forms_.choose(
        "tcgen05.cp", choices_, [&](const isa::Instance& each) { return word_of(each, "group") == group(); });
    if (copy == nullptr) return;
    constexpr std::uint64_t swizzles[] = {0, 2, 4, 6};
    publish();
    meet_at_cells();
    line("shr.u32 t1, tiles, 4");
    line("cvt.u64.u32 da, t1");
    line("add.u64 da, da, {}", (std::uint64_t{64} * choices_.below(8) | std::uint64_t{choices_.below(32)} << 16 |
                                std::uint64_t{choices_.below(32)} << 32 | 1ull << 46 | choices_.among(swizzles) << 61) ^
                                   (spoils(8) ? 1ull << choices_.below(64) : 0));
    const std::string at = cells("t0", 0, 4 * choices_.below((columns_ - 8) / 4 + 1));
    begin_barrier(1);
    instruction("@issue ", *copy, {{"taddr", at}, {"s_desc", "da"}});
    commit();
}

void Tiles::shift_cells() {
    const isa::Instance* shift = forms_.choose(
        "tcgen05.shift", choices_, [&](const isa::Instance& each) { return word_of(each, "group") == group(); });
    if (shift == nullptr) return;
    meet_at_cells();
    const std::string at = cells("t0", 32 * choices_.below(4), 8 * choices_.below(columns_ / 8));
    begin_barrier(1);
    instruction("@issue ", *shift, {{"taddr", at}});
    commit();
}

/// Ends a step whose operations `issue` has issued; every CTA's barrier 0 hears of it.
void Tiles::commit() {
    const bool many = group_ == 2;
    line("mov.u16 h0, {}", number(3) & 0xFFFF);
    step("@issue tcgen05.commit.{}.mbarrier::arrive::one.shared::cluster{}.b64 [bars]{}", group(),
         many ? ".multicast::cluster" : "", many ? ", h0" : "");
    wait(0);
    step("tcgen05.fence::after_thread_sync");
    end_barrier();
}

}  // namespace tilepath::generated
