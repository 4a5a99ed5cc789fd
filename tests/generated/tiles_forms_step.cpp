// An instruction of any form amid a wild program, with operands that may be right.
#include "generated/tiles.h"

namespace tilepath::generated {

void Tiles::any_form() {
    const isa::Instance* instance = &forms_.any(choices_);
    // A kernel keeps to one of them.
    for (int tries = 0;
         tries < 50 && word_of(*instance, "group").starts_with("cta_group") && word_of(*instance, "group") != group();
         ++tries)
        instance = &forms_.any(choices_);
    const isa::Form& form = *instance->form;
    if (word_of(*instance, "group").starts_with("cta_group") && word_of(*instance, "group") != group()) return;
    const std::vector<std::string> texts = operands_of(*instance, form.operands.size(), choices_);
    Slots slots;
    for (std::size_t i = 0; i < texts.size(); ++i)
        if (std::string text = anywhere(*instance, form.operands[i], texts[i]); !text.empty())
            slots[form.operands[i].name] = std::move(text);
    constexpr std::string_view guards[] = {"", "@one ", "@issue ", "@lowest ", "@p1 ", "@!p2 "};
    instruction(choices_.among(guards), *instance, slots, choices_.one_in(2) ? 0 : any_count);
    if (choices_.one_in(2)) meet();
}

std::string Tiles::anywhere(const isa::Instance& instance, const isa::OperandSlot& slot, const std::string& text) {
    const auto offset = [&](std::uint32_t unit, std::uint32_t most) {
        return number(unit * choices_.below(most / unit));
    };
    if (slot.kind == isa::OperandSlot::Kind::tensor) {
        const std::size_t comma = text.find(',');
        return fmt::format("[map{}{}", choices_.below(maps_.size()), text.substr(comma));
    }
    if (slot.kind == isa::OperandSlot::Kind::vector || text.find("r60") != std::string::npos)
        return values(static_cast<std::size_t>(std::count(text.begin(), text.end(), ',')) + 1);
    if (slot.kind != isa::OperandSlot::Kind::address) {
        if (slot.name == "a_desc" || slot.name == "b_desc" || slot.name == "s_desc") {
            line("shr.u32 t7, tiles, 4");
            line("cvt.u64.u32 da, t7");
            line("add.u64 da, da, {}", choices_.below(512) | std::uint64_t{choices_.below(64)} << 16 |
                                           std::uint64_t{choices_.below(64)} << 32 | 1ull << 46 |
                                           std::uint64_t{choices_.below(8)} << 61);
            return "da";
        }
        if (slot.name != "idesc") return {};
        line("mov.b32 t6, {}", choices_.bits() & 0x1FFFFFFF & ~(choices_.one_in(2) ? 0x800047u : 0u));
        return "t6";
    }
    if (instance.form->opcode == "tcgen05" && text.find("[r") == 0)
        return cells(fmt::format("t{}", choices_.below(5)), choices_.one_in(4) ? choices_.below(128) : 0,
                     choices_.below(std::max(1u, columns_)));
    const bool named = text == "[s]" || text == "[g]" || text == "[l]" || text == "[a]";
    if (!named && choices_.one_in(12)) return {};  // as it is: any register's value
    if (slot.name == "mbar" || instance.form->opcode == "mbarrier") return fmt::format("[bars+{}]", offset(8, 16));
    if (text == "[s]") return fmt::format("[tiles+{}]", offset(16, tile_bytes));
    return fmt::format("[{}+{}]", choices_.one_in(2) ? "own" : "from", offset(16, 4096));
}

}  // namespace tilepath::generated
