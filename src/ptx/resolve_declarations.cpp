// What each declaration means for the names of its scope.
#include <fmt/format.h>

#include <algorithm>

#include "ptx/resolver.h"

namespace tilepath::ptx {

Span Resolver::declaration_span(const Symbol& symbol) const {
    switch (symbol.kind) {
        case SymbolKind::reg:
        case SymbolKind::variable:
        case SymbolKind::param: return module_.variables[symbol.node].name_span;
        case SymbolKind::function: return module_.functions[symbol.node].name_span;
        case SymbolKind::alias: return module_.aliases[symbol.node].name_span;
        case SymbolKind::label: return module_.labels[symbol.node].span;
        case SymbolKind::prototype: return module_.prototypes[symbol.node].name_span;
        case SymbolKind::targets: return module_.targets[symbol.node].name_span;
        case SymbolKind::special: break;
    }
    return {};
}

std::string Resolver::declared_on(Id symbol) const {
    return fmt::format("line {}", module_.source->line(declaration_span(module_.symbols[symbol]).begin));
}

Id Resolver::declare(SymbolKind kind, Id name, Span span, Id node, bool parameterised, std::uint32_t count) {
    if (const Id clash = scopes_.clash(name, parameterised, count); clash != none)
        errors_.add(span, fmt::format("{} is declared twice in this scope", quoted(names_.texts()[name])),
                    fmt::format("it was declared on {}", declared_on(clash)));
    const Id id = static_cast<Id>(module_.symbols.size());
    module_.symbols.push_back({kind, name, node, function_, 0});
    scopes_.declare(name, id, parameterised);
    return id;
}

void Resolver::declare_variable(Id index) {
    Variable& variable = module_.variables[index];
    if (variable.name == none) return;
    const SymbolKind kind = variable.space == Space::reg     ? SymbolKind::reg
                            : variable.space == Space::param ? SymbolKind::param
                                                             : SymbolKind::variable;
    variable.symbol = declare(kind, variable.name, variable.name_span, index, variable.parameterised, variable.count);
    if (kind == SymbolKind::reg) {
        constexpr std::uint64_t most = 1u << 24;
        std::uint32_t& next = module_.functions[function_].register_count;
        const std::uint64_t after = next + std::uint64_t{variable.count} * variable.vector;
        if (after > most)
            return errors_.add(variable.name_span, fmt::format("this function has more than {} registers", most));
        module_.symbols[variable.symbol].number = next;
        next = static_cast<std::uint32_t>(after);
    }
    if (variable.initializer != none) resolve_initializer(variable.initializer);
}

// An external or common variable may be declared again, and be defined once (PTX ISA 11.6).
void Resolver::declare_module_variable(Id index) {
    Variable& variable = module_.variables[index];
    const Id before = scopes_.clash(variable.name, variable.parameterised, variable.count);
    if (before != none && module_.symbols[before].kind == SymbolKind::variable) {
        Variable& other = module_.variables[module_.symbols[before].node];
        if (other.linkage == Linkage::extern_ || variable.linkage == Linkage::extern_) {
            variable.symbol = before;
            if (variable.linkage != Linkage::extern_) module_.symbols[before].node = index;
            if (variable.initializer != none) resolve_initializer(variable.initializer);
            return;
        }
    }
    declare_variable(index);
}

bool Resolver::same_signature(const Function& a, const Function& b) const {
    const auto same = [&](const Variable& x, const Variable& y) {
        return x.space == y.space && x.vector == y.vector && size_in_bytes(x.type) == size_in_bytes(y.type) &&
               size_in_bytes(module_, x) == size_in_bytes(module_, y);
    };
    const auto same_all = [&](Range x, Range y) {
        const auto xs = module_.variables_in(x), ys = module_.variables_in(y);
        return std::equal(xs.begin(), xs.end(), ys.begin(), ys.end(), same);
    };
    return a.kind == b.kind && same_all(a.returns, b.returns) && same_all(a.parameters, b.parameters);
}

void Resolver::declare_function(Id index) {
    Function& function = module_.functions[index];
    const Id before = scopes_.clash(function.name, false, 1);
    if (before == none ||
        (module_.symbols[before].kind != SymbolKind::function && module_.symbols[before].kind != SymbolKind::alias)) {
        function.symbol = declare(SymbolKind::function, function.name, function.name_span, index);
        return;
    }
    Symbol& symbol = module_.symbols[before];
    function.symbol = before;
    if (symbol.kind == SymbolKind::function && !same_signature(function, module_.functions[symbol.node]))
        errors_.add(function.name_span,
                    fmt::format("{} is declared here with other parameters", quoted(names_.texts()[function.name])),
                    fmt::format("compare line {}", module_.source->line(declaration_span(symbol).begin)));
    if (symbol.kind == SymbolKind::alias || !function.has_body) return;
    if (module_.functions[symbol.node].has_body)
        errors_.add(function.name_span, fmt::format("{} has a body already", quoted(names_.texts()[function.name])),
                    fmt::format("it was defined on {}", declared_on(before)));
    symbol.node = index;
}

void Resolver::declare_alias(Alias& alias) {
    alias.aliasee_symbol = find(alias.aliasee, alias.aliasee_span);
    if (alias.aliasee_symbol != none && module_.symbols[alias.aliasee_symbol].kind != SymbolKind::function)
        errors_.add(alias.aliasee_span, fmt::format("{} is not a function", quoted(names_.texts()[alias.aliasee])));
    const Id before = scopes_.clash(alias.name, false, 1);
    const bool has_declaration = before != none && module_.symbols[before].kind == SymbolKind::function &&
                                 !module_.functions[module_.symbols[before].node].has_body;
    alias.symbol = has_declaration ? before
                                   : declare(SymbolKind::alias, alias.name, alias.name_span,
                                             static_cast<Id>(&alias - module_.aliases.data()));
}

void Resolver::declare_parameters(Range range) {
    for (Id i = range.first; i < range.first + range.count; ++i) declare_variable(i);
}

// Labels mean the same everywhere in their scope, also before they stand. Inner scopes are passed over.
void Resolver::declare_labels(std::size_t from, std::size_t end) {
    for (std::size_t i = from; i < end; ++i) {
        const Statement& statement = module_.statements[i];
        switch (statement.kind) {
            case StatementKind::open: i = statement.index; break;
            case StatementKind::close: return;
            case StatementKind::label: {
                Label& label = module_.labels[statement.index];
                label.symbol = declare(SymbolKind::label, label.name, label.span, statement.index);
                module_.symbols[label.symbol].number = module_.functions[function_].label_count++;
                break;
            }
            case StatementKind::prototype:
            case StatementKind::targets:
            case StatementKind::instruction:
            case StatementKind::variable:
            case StatementKind::location:
            case StatementKind::pragma: break;
        }
    }
}

}  // namespace tilepath::ptx
