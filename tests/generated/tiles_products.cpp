// Products of warpgroups, and of Tensor Memory.
#include <algorithm>

#include "atom/instruction_descriptor.h"
#include "atom/tcgen05_descriptor.h"
#include "generated/tiles.h"

namespace tilepath::generated {
namespace {

/// The part of a descriptor that does not depend on where the tiles lie: small offsets, so that all stays in them.
std::uint64_t offsets(Choices& choices) {
    return std::uint64_t{64} * choices.below(8) | std::uint64_t{choices.below(32)} << 16 |
           std::uint64_t{choices.below(32)} << 32;
}

}  // namespace

void Tiles::warpgroup_product() {
    const bool sparse = choices_.one_in(3);
    const isa::Instance& instance =
        forms_.choose(sparse ? "wgmma.mma_async.sp.sync" : "wgmma.mma_async.sync", choices_);
    const isa::Form& form = *instance.form;
    const std::string d = operands_of(instance, 1, choices_)[0];
    const auto registers = static_cast<std::size_t>(std::ranges::count(d, ',')) + 1;
    const bool a_in_registers = choices_.one_in(2), transposes = form.operand("trans") >= 0;
    line("shr.u32 t0, tiles, 4");
    line("cvt.u64.u32 db, t0");
    for (const std::string_view which : {"da", "db"})
        line("add.u64 {}, db, {}", which,
             number(offsets(choices_)) | std::uint64_t{number(choices_.below(4)) & 3} << 62);
    line("and.b32 t1, r0, 0x11111111");
    line("mad.lo.u32 t1, t1, 10, 0x44444444");
    Slots slots{{"d", values(registers)},
                {"a", a_in_registers ? "{r0, r1, r2, r3}" : "da"},
                {"b", "db"},
                {"metadata", spoils(6) ? "r1" : "t1"}};
    if (transposes)
        slots["trans"] = fmt::format("{}", choices_.below(2)), slots["trans_b"] = fmt::format("{}", choices_.below(2));
    publish();
    step("wgmma.fence.sync.aligned");
    for (unsigned times = 1 + choices_.below(3); times != 0; --times) {
        const std::size_t count = form.operands.size() - (transposes && a_in_registers ? 1 : 0);
        instruction("", instance, slots, count);
    }
    step("wgmma.commit_group.sync.aligned");
    step("wgmma.wait_group.sync.aligned 0");
    digest(registers);
    meet();
}

namespace {

/// With ::use or ::lastuse, which want a collector that an earlier product has filled.
bool reads_collector(const isa::Instance& instance) {
    return std::ranges::any_of(
        instance.words, [](std::string_view word) { return word.starts_with("collector") && word.ends_with("use"); });
}

}  // namespace

void Tiles::product() {
    constexpr std::string_view keys[] = {"tcgen05.mma", "tcgen05.mma.sp", "tcgen05.mma.ws", "tcgen05.mma.ws.sp"};
    for (int tries = 0; tries < 20; ++tries) {
        const isa::Instance* instance = forms_.choose(choices_.among(keys), choices_, [&](const isa::Instance& each) {
            return word_of(each, "group") == group() && (wild_ || !reads_collector(each));
        });
        if (instance != nullptr && product_of(*instance)) return;
    }
    copy_cells();
}

/// D in the lower half of the columns, whatever else it needs in the upper one. False if no such instruction was drawn.
bool Tiles::product_of(const isa::Instance& instance) {
    using number::Format;
    const auto kind = atom::tcgen05_kind_named(word_of(instance, "kind").substr(6));
    if (!kind) return false;
    const atom::Tcgen05KindTraits& traits = atom::traits(*kind);
    const bool sparse = has_word(instance, "sp"), ws = has_word(instance, "ws");
    const Format a = choices_.among(traits.inputs), b = choices_.one_in(2) ? a : choices_.among(traits.inputs);
    const Format d = choices_.among(traits.accumulators);
    const atom::Shape shape{32 << choices_.below(4), 8 * (1 + static_cast<int>(choices_.below(32))),
                            traits.k * (sparse ? 2 : 1)};
    const auto mma = atom::tcgen05_mma(*kind, shape, {d, a, b, d}, static_cast<int>(group_), ws, sparse);
    const auto half = static_cast<int>(columns_) / 2;
    if (!mma || mma->d_columns > half) return false;
    if (has_word(instance, "ashift") && mma->rows_per_cta() != 128) return false;
    const auto major = [&] {
        return traits.transposes && choices_.one_in(3) ? atom::OperandMajor::mn : atom::OperandMajor::k;
    };
    const bool a_in_cells = instance.form->operand("a_tmem") >= 0;
    const atom::OperandMajor of_a = a_in_cells ? atom::OperandMajor::k : major(), of_b = major();
    atom::InstructionDescriptor descriptor = atom::instruction_descriptor(*mma, of_a, of_b);
    const std::string_view size = word_of(instance, "size");
    if (*kind == atom::Tcgen05Kind::mxf4nvf4)
        descriptor.ue8m0 = !(size == "block16" || size == "scale_vec::4X") || choices_.one_in(2);
    if (traits.negates) descriptor.negate_a = choices_.one_in(2), descriptor.negate_b = choices_.one_in(2);
    const auto bits = atom::encode(descriptor);
    if (!bits) return false;
    constexpr std::uint64_t swizzles[] = {0, 2, 4, 6, 1};
    std::uint64_t shared[2];
    for (int i = 0; i < 2; ++i) {
        const auto swizzle = layout::all_swizzle_modes()[choices_.below(layout::all_swizzle_modes().size())];
        if (!swizzle.tcgen05) return false;
        if (i == 0 ? !a_in_cells && !mma->shared_a(of_a, swizzle.mode) : !mma->shared_b(of_b, swizzle.mode))
            return false;
        shared[i] = offsets(choices_) | 1ull << 46 | static_cast<std::uint64_t>(*swizzle.tcgen05) << 61;
        if (spoils(10)) shared[i] ^= 1ull << (46 + choices_.below(18));
        if (spoils(20)) shared[i] = (shared[i] & ~(7ull << 61)) | choices_.among(swizzles) << 61;
    }
    if (sparse) {
        // Nibbles that select two of four, or one of two.
        line("and.b32 t0, r0, 0x11111111");
        line("mad.lo.u32 t0, t0, 10, 0x44444444");
        const std::string over = fresh("over");
        line("@!lowest bra {}", over);
        step("tcgen05.st.sync.aligned.32x32b.x1.b32 [lanes+{}], {{t0}}", columns_ - 4);
        step("tcgen05.st.sync.aligned.32x32b.x1.b32 [lanes+{}], {{t0}}", columns_ - 3);
        step("tcgen05.wait::st.sync.aligned");
        out_ += over + ":\n";
    }
    publish();
    meet_at_cells();
    line("shr.u32 t7, tiles, 4");
    line("cvt.u64.u32 db, t7");
    line("add.u64 da, db, {}", shared[0]);
    line("add.u64 db, db, {}", shared[1]);
    line("mov.b32 t6, {}", number(*bits));
    line("mov.b64 w0, {}", wild_ && choices_.one_in(2) ? choices_.bits() : 0);
    const auto spare = static_cast<std::size_t>(half - mma->d_columns) + 1;
    Slots slots{{"d_tmem", cells("t0", 0, choices_.below(spare / 4 + 1) * 4 % static_cast<std::uint32_t>(spare))},
                {"a_tmem", cells("t1", 0, static_cast<std::uint32_t>(half))},
                {"sp_meta_tmem", cells("t2", 0, columns_ - 4)},
                {"scale_a_tmem", cells("t3", 0, static_cast<std::uint32_t>(half))},
                {"scale_b_tmem", cells("t4", 0, static_cast<std::uint32_t>(half) + 8)},
                {"a_desc", "da"},
                {"b_desc", "db"},
                {"idesc", "t6"},
                {"zero_column_mask", "w0"}};
    begin_barrier(1);
    const bool repeats = choices_.one_in(3);
    instruction("@issue ", instance, slots, any_count);
    if (repeats) instruction("@issue ", instance, slots, any_count);
    commit();
    return true;
}

}  // namespace tilepath::generated
