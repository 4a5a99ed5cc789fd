#include "ptx/resolver.h"
#include "ptx/special_registers.h"

namespace tilepath::ptx {

Scopes::Scopes(Module& module, const Names& names)
    : module_(module),
      names_(names),
      plain_(names.size()),
      family_(names.size()),
      member_(names.size()),
      is_family_(names.size()),
      memberships_(names.size(), Range{none, 0}) {
    for (const Variable& variable : module.variables)
        if (variable.parameterised && variable.name != none) is_family_[variable.name] = true;
}

std::vector<Scopes::Binding>& Scopes::table(Table which) {
    switch (which) {
        case Table::plain: return plain_;
        case Table::family: return family_;
        case Table::member: break;
    }
    return member_;
}

void Scopes::close() {
    for (const std::size_t mark = marks_.back(); undo_.size() > mark; undo_.pop_back())
        table(undo_.back().table)[undo_.back().name] = undo_.back().before;
    marks_.pop_back();
}

void Scopes::bind(Table which, Id name, Binding binding) {
    Binding& place = table(which)[name];
    undo_.push_back({name, which, place});
    binding.depth = static_cast<std::uint32_t>(depth());
    place = binding;
}

std::uint32_t Scopes::count(const Binding& family) const {
    return module_.variables[module_.symbols[family.symbol].node].count;
}

// Every split of a name into a family's stem and a number: `%r10` may belong to `%r<…>` and to `%r1<…>`. Like ptxas, we
// take `%r07` for
// `%r7`.
std::span<const Scopes::Membership> Scopes::memberships(Id name) {
    Range& range = memberships_[name];
    if (range.first != none) return {pool_.data() + range.first, range.count};
    range = {static_cast<Id>(pool_.size()), 0};
    const std::string_view text = names_.texts()[name];
    std::uint64_t number = 0, power = 1;
    for (std::size_t at = text.size(); at-- > 1 && text[at] >= '0' && text[at] <= '9' && text.size() - at < 10;) {
        number += power * static_cast<unsigned>(text[at] - '0');
        power *= 10;
        const Id stem = names_.find(text.substr(0, at));
        if (stem == none || !is_family_[stem]) continue;
        pool_.push_back({stem, static_cast<std::uint32_t>(number)});
        ++range.count;
    }
    return {pool_.data() + range.first, range.count};
}

Scopes::Meaning Scopes::find(Id name) {
    Binding best = plain_[name];
    std::uint32_t element = 0;
    for (const Membership& membership : memberships(name)) {
        const Binding* family = &family_[membership.family];
        // A smaller family of an inner scope hides only the names that it has.
        while (family->symbol != none && membership.number >= count(*family)) family = &undo_[family->number].before;
        if (family->symbol == none || (best.symbol != none && best.depth >= family->depth)) continue;
        best = *family;
        element = membership.number;
    }
    return {best.symbol, element};
}

Id Scopes::clash(Id name, bool parameterised, std::uint32_t count_of_new) {
    if (parameterised) {
        if (here(family_[name])) return family_[name].symbol;
        const Binding& member = member_[name];
        return here(member) && member.number < count_of_new ? member.symbol : none;
    }
    if (here(plain_[name])) return plain_[name].symbol;
    for (const Membership& membership : memberships(name)) {
        const Binding& family = family_[membership.family];
        if (here(family) && membership.number < count(family)) return family.symbol;
    }
    return none;
}

void Scopes::declare(Id name, Id symbol, bool parameterised) {
    bind(parameterised ? Table::family : Table::plain, name, {symbol, 0, static_cast<std::uint32_t>(undo_.size())});
    if (parameterised) return;
    for (const Membership& membership : memberships(name)) {
        const Binding& least = member_[membership.family];
        if (!here(least) || least.number > membership.number)
            bind(Table::member, membership.family, {symbol, 0, membership.number});
    }
}

std::uint32_t Scopes::count_of_family(Id name) {
    for (const Membership& membership : memberships(name))
        if (const Binding& family = family_[membership.family]; family.symbol != none) return count(family);
    return 0;
}

std::string_view Scopes::nearest(Id name) const {
    Nearest nearest(names_.texts()[name]);
    for (Id other = 0; other < plain_.size(); ++other)
        if (plain_[other].symbol != none) nearest.offer(names_.texts()[other]);
    for (std::string_view special : special_registers()) nearest.offer(special);
    return nearest.word();
}

}  // namespace tilepath::ptx
