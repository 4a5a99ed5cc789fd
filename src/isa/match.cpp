// How the modifiers of an instruction fit a form.
#include "isa/bind.h"

namespace tilepath::isa {
namespace {

/// Whether a modifier that must come before a later one of its kind comes after it: `cvt.f32.f64` is not cvt.f64.f32.
bool overtakes(const Form& form, std::size_t slot, const std::vector<std::string_view>& words) {
    if (form.modifiers[slot].ordered == Ordered::no) return false;
    for (std::size_t later = slot + 1; later < words.size(); ++later)
        if (!words[later].empty() && form.modifiers[later].ordered == form.modifiers[slot].ordered) return true;
    return false;
}

/// Gives each modifier a slot, in order, trying again where a choice leaves a demanded slot empty.
bool assign(const ptx::Head& head, const Form& form, std::size_t next, std::vector<std::string_view>& words) {
    if (next == head.modifiers.size()) {
        for (std::size_t slot = 0; slot < words.size(); ++slot)
            if (words[slot].empty() && !form.modifiers[slot].optional) return false;
        return true;
    }
    std::string_view word = head.modifiers[next].text;
    for (std::size_t slot = 0; slot < words.size(); ++slot) {
        if (!words[slot].empty() || !form.modifiers[slot].accepts(word)) continue;
        if (overtakes(form, slot, words)) continue;
        words[slot] = word;
        if (assign(head, form, next + 1, words)) return true;
        words[slot] = {};
    }
    return false;
}

std::optional<number::Rounding> rounding_named(std::string_view word, bool& integer) {
    using enum number::Rounding;
    integer = word.size() == 3 && word.back() == 'i';
    std::string_view base = integer ? word.substr(0, 2) : word;
    if (base == "rn") return rn;
    if (base == "rz") return rz;
    if (base == "rm") return rm;
    if (base == "rp") return rp;
    if (base == "rna" && !integer) return rna;
    if (base == "rs" && !integer) return rs;
    return {};
}

std::optional<program::MemoryOrder> order_named(std::string_view word) {
    using enum program::MemoryOrder;
    if (word == "relaxed") return relaxed;
    if (word == "acquire") return acquire;
    if (word == "release") return release;
    if (word == "acq_rel") return acq_rel;
    if (word == "sc") return sc;
    return {};
}

std::optional<program::MemoryScope> scope_named(std::string_view word) {
    using enum program::MemoryScope;
    if (word == "cta") return cta;
    if (word == "cluster") return cluster;
    if (word == "gpu" || word == "gl") return gpu;
    if (word == "sys") return sys;
    return {};
}

void note_word(std::string_view word, HeadMatch& match) {
    program::Flags& flags = match.flags;
    if (word == "ftz")
        flags.ftz = true;
    else if (word == "sat")
        flags.sat = true;
    else if (word == "satfinite")
        flags.satfinite = true;
    else if (word == "relu")
        flags.relu = true;
    else if (word == "approx")
        flags.approx = true;
    else if (word == "full")
        flags.full = true;
    else if (word == "NaN")
        flags.nan = true;
    else if (word == "xorsign")
        flags.xorsign_abs = true;
    else if (word == "abs")
        flags.abs = true;
    else if (word == "noftz")
        flags.noftz = true;
    else if (word == "aligned")
        flags.aligned = true;
    else if (word == "volatile")
        flags.is_volatile = true;
    else if (word == "nc")
        flags.nc = true;
    if (const auto order = order_named(word)) match.order = *order;
    if (const auto scope = scope_named(word)) match.scope = *scope;
    bool integer = false;
    if (auto rounding = rounding_named(word, integer)) {
        match.rounding = *rounding;
        flags.rounded = true;
        flags.integer_rounding = integer;
    }
}

}  // namespace

std::optional<HeadMatch> match_head(const ptx::Head& head, const Form& form) {
    HeadMatch match{&form, std::vector<std::string_view>(form.modifiers.size()), {}, {}, number::Rounding::rn};
    if (head.modifiers.size() > form.modifiers.size() || !assign(head, form, 0, match.words)) return {};
    for (std::string_view word : match.words) {
        match.types.push_back(program::type_named(word).value_or(DataType::none));
        note_word(word, match);
    }
    return match;
}

}  // namespace tilepath::isa
