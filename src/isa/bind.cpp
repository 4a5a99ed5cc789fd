#include "isa/bind.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "base/assert.h"

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

void note_word(std::string_view word, HeadMatch& match) {
    program::Flags& flags = match.flags;
    if (word == "ftz") flags.ftz = true;
    else if (word == "sat") flags.sat = true;
    else if (word == "satfinite") flags.satfinite = true;
    else if (word == "relu") flags.relu = true;
    else if (word == "approx") flags.approx = true;
    else if (word == "full") flags.full = true;
    else if (word == "NaN") flags.nan = true;
    else if (word == "xorsign") flags.xorsign_abs = true;
    else if (word == "abs") flags.abs = true;
    else if (word == "noftz") flags.noftz = true;
    else if (word == "aligned") flags.aligned = true;
    else if (word == "volatile") flags.is_volatile = true;
    else if (word == "nc") flags.nc = true;
    bool integer = false;
    if (auto rounding = rounding_named(word, integer)) {
        match.rounding = *rounding;
        flags.rounded = true;
        flags.integer_rounding = integer;
    }
}

bool fits(const ptx::Operand& operand, const OperandSlot& slot) {
    using K = ptx::OperandKind;
    switch (slot.kind) {
        case OperandSlot::Kind::address: return operand.kind == K::address || operand.kind == K::tensor_address;
        case OperandSlot::Kind::pair: return operand.kind == K::pair;
        case OperandSlot::Kind::list: return operand.kind == K::list;
        case OperandSlot::Kind::value_or_pair:
            return operand.kind == K::pair || operand.kind == K::identifier || operand.kind == K::sink;
        case OperandSlot::Kind::value:
            return operand.kind == K::identifier || operand.kind == K::immediate || operand.kind == K::vector ||
                   operand.kind == K::sink || operand.kind == K::indexed;
    }
    return false;
}

bool operands_fit(const Form& form, std::span<const ptx::Operand> operands) {
    if (operands.size() < form.least_operands || operands.size() > form.operands.size()) return false;
    for (std::size_t i = 0; i < operands.size(); ++i)
        if (!fits(operands[i], form.operands[i])) return false;
    return true;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            std::size_t above = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
            diagonal = above;
        }
    }
    return row.back();
}

}  // namespace

DataType HeadMatch::operand_type(std::size_t operand) const {
    const OperandSlot& slot = form->operands[operand];
    return slot.type_from >= 0 ? types[static_cast<std::size_t>(slot.type_from)] : slot.type;
}

std::string_view Bound::word(std::string_view modifier) const {
    int slot = match_.form->modifier(modifier);
    return slot < 0 ? std::string_view{} : match_.words[static_cast<std::size_t>(slot)];
}

DataType Bound::type(std::string_view modifier) const {
    int slot = match_.form->modifier(modifier);
    return slot < 0 ? DataType::none : match_.types[static_cast<std::size_t>(slot)];
}

const ptx::Operand* Bound::operand(std::string_view name) const {
    int index = match_.form->operand(name);
    if (index < 0 || static_cast<std::size_t>(index) >= operands_.size()) return nullptr;
    return &operands_[static_cast<std::size_t>(index)];
}

const ptx::Operand& Bound::operator[](std::string_view name) const {
    const ptx::Operand* found = operand(name);
    TILEPATH_ASSERT(found, "a lowering asks for an operand that its form does not have");
    return *found;
}

DataType Bound::operand_type(std::string_view name) const {
    int index = match_.form->operand(name);
    TILEPATH_ASSERT(index >= 0, "a lowering asks for an operand that its form does not have");
    return match_.operand_type(static_cast<std::size_t>(index));
}

std::optional<HeadMatch> match_head(const ptx::Head& head, const Form& form) {
    HeadMatch match{&form, std::vector<std::string_view>(form.modifiers.size()), {}, {}, number::Rounding::rn};
    if (head.modifiers.size() > form.modifiers.size() || !assign(head, form, 0, match.words)) return {};
    for (std::string_view word : match.words) {
        match.types.push_back(program::type_named(word).value_or(DataType::none));
        note_word(word, match);
    }
    return match;
}

Binder::Binder(const ptx::Module& module)
    : module_(module), target_(target_named(module.architecture()).value_or(Target{})), entries_(module.heads.size()) {}

const Binder::HeadEntry& Binder::entry(ptx::Id id) {
    HeadEntry& entry = entries_[id];
    if (entry.known) return entry;
    entry.known = true;
    const ptx::Head& head = module_.heads[id];
    for (const Form* form : forms_of(head.opcode)) {
        auto match = match_head(head, *form);
        if (!match) continue;
        Needs needs = form->needs;
        for (std::string_view word : match->words) needs = later(needs, needs_of_word(word));
        if (meets(needs, static_cast<int>(module_.version_major), static_cast<int>(module_.version_minor), target_))
            entry.matches.push_back(std::move(*match));
        else
            entry.missing = needs;
    }
    return entry;
}

const HeadMatch* Binder::bind(const ptx::Instruction& instruction, Diagnostics& diagnostics) {
    const HeadEntry& found = entry(instruction.head);
    std::span<const ptx::Operand> operands = module_.operands_in(instruction.operands);
    for (const HeadMatch& match : found.matches)
        if (operands_fit(*match.form, operands)) return &match;
    explain(instruction, found, diagnostics);
    return nullptr;
}

std::vector<std::string_view> similar(std::string_view word, std::span<const std::string> candidates, std::size_t most) {
    std::vector<std::pair<std::size_t, std::string_view>> ranked;
    for (const std::string& candidate : candidates) {
        std::size_t distance = edit_distance(word, candidate);
        if (distance <= 2 && distance < word.size()) ranked.emplace_back(distance, candidate);
    }
    std::sort(ranked.begin(), ranked.end());
    std::vector<std::string_view> best;
    for (std::size_t i = 0; i < std::min(most, ranked.size()); ++i) best.push_back(ranked[i].second);
    return best;
}

void Binder::explain(const ptx::Instruction& instruction, const HeadEntry& found, Diagnostics& diagnostics) const {
    const ptx::Head& head = module_.heads[instruction.head];
    Diagnostic out{Severity::error, {}, module_.place(module_.opcode_span(instruction)), {}};
    const std::vector<const Form*>& forms = forms_of(head.opcode);
    if (forms.empty()) {
        out.message = fmt::format("'{}' is not an instruction that tilepath supports", head.opcode);
        if (auto near = similar(head.opcode, all_opcodes()); !near.empty())
            out.notes.push_back(fmt::format("did you mean {}?", fmt::join(near, ", ")));
        out.notes.push_back("`tilepath isa` lists what is supported");
        diagnostics.push_back(std::move(out));
        return;
    }
    if (!found.matches.empty()) {
        const Form& form = *found.matches.front().form;
        out.message = fmt::format("the operands of '{}' do not fit: expected '{}', found {} operand{}", head.opcode, form.text,
                                  instruction.operands.count, instruction.operands.count == 1 ? "" : "s");
        out.place = module_.place(instruction.span);
    } else if (found.missing) {
        out.message = fmt::format("'{}' in this form needs {}; the module says .version {}.{}, .target {}", head.opcode,
                                  to_string(*found.missing), module_.version_major, module_.version_minor,
                                  module_.architecture());
        out.notes.push_back("raise .version or .target, or use an older form");
        diagnostics.push_back(std::move(out));
        return;
    } else {
        // Name the first modifier that no form of this opcode knows; else the combination is at fault.
        const ptx::Modifier* strange = nullptr;
        for (const ptx::Modifier& modifier : head.modifiers) {
            auto knows = [&](const Form* form) {
                return std::any_of(form->modifiers.begin(), form->modifiers.end(),
                                   [&](const ModifierSlot& slot) { return slot.accepts(modifier.text); });
            };
            if (std::none_of(forms.begin(), forms.end(), knows)) {
                strange = &modifier;
                break;
            }
        }
        if (strange) {
            out.message = fmt::format("'.{}' is not a modifier of '{}' that tilepath supports", strange->text, head.opcode);
            out.place = module_.place(module_.span(instruction, *strange));
        } else {
            out.message = fmt::format("'{}' does not take these modifiers together, or one is missing", head.opcode);
            Span whole = module_.opcode_span(instruction);
            if (!head.modifiers.empty()) whole = cover(whole, module_.span(instruction, head.modifiers.back()));
            out.place = module_.place(whole);
        }
    }
    for (std::size_t i = 0; i < std::min<std::size_t>(forms.size(), 4); ++i) out.notes.push_back("form: " + forms[i]->text);
    if (forms.size() > 4) out.notes.push_back(fmt::format("and {} more: `tilepath isa {}`", forms.size() - 4, head.opcode));
    diagnostics.push_back(std::move(out));
}

}  // namespace tilepath::isa
