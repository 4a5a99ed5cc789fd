#include "isa/bind.h"

#include "base/assert.h"

namespace tilepath::isa {
namespace {

bool fits(const ptx::Operand& operand, const OperandSlot& slot) {
    using K = ptx::OperandKind;
    switch (slot.kind) {
        case OperandSlot::Kind::address: return operand.kind == K::address || operand.kind == K::indexed;
        case OperandSlot::Kind::tensor: return operand.kind == K::tensor_address;
        case OperandSlot::Kind::pair: return operand.kind == K::pair;
        case OperandSlot::Kind::list: return operand.kind == K::list;
        case OperandSlot::Kind::value_or_pair:
            return operand.kind == K::pair || operand.kind == K::identifier || operand.kind == K::sink;
        case OperandSlot::Kind::vector: return operand.kind == K::vector;
        case OperandSlot::Kind::value:
            return operand.kind == K::identifier || operand.kind == K::immediate || operand.kind == K::sink ||
                   operand.kind == K::indexed || (operand.kind == K::vector && slot.type != DataType::pred);
    }
    return false;
}

bool operands_fit(const Form& form, std::span<const ptx::Operand> operands) {
    if (operands.size() < form.least_operands || operands.size() > form.operands.size()) return false;
    for (std::size_t i = 0; i < operands.size(); ++i)
        if (!fits(operands[i], form.operands[i])) return false;
    return true;
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
        else if (!entry.missing || entry.missing->suffix != Suffix::architecture || entry.missing->sm != target_.sm)
            entry.missing = needs;  // of several the last, or the one of this very architecture
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

}  // namespace tilepath::isa
