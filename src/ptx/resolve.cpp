#include "ptx/resolve.h"

#include <fmt/format.h>

#include <algorithm>

#include "ptx/resolver.h"
#include "ptx/special_registers.h"

namespace tilepath::ptx {

void resolve(Module& module, const Names& names, Errors& errors) { Resolver(module, names, errors).run(); }

void Resolver::run() {
    scopes_.open();
    for (const Item& item : module_.items) switch (item.kind) {
            case ItemKind::variable: declare_module_variable(item.index); break;
            case ItemKind::function:
                declare_function(item.index);
                resolve_function(item.index);
                break;
            case ItemKind::alias: declare_alias(module_.aliases[item.index]); break;
            case ItemKind::target:
            case ItemKind::file:
            case ItemKind::section:
            case ItemKind::pragma:
            case ItemKind::location:
            case ItemKind::dwarf: break;
        }
    scopes_.close();
}

// --- Declarations

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

// --- Uses

void Resolver::resolve_function(Id index) {
    function_ = index;
    scopes_.open();
    declare_parameters(module_.functions[index].returns);
    declare_parameters(module_.functions[index].parameters);
    const Range body = module_.functions[index].body;
    const std::size_t end = body.first + body.count;
    if (module_.functions[index].has_body) declare_labels(body.first, end);
    for (std::size_t i = body.first; i < end; ++i) {
        const Statement statement = module_.statements[i];
        if (statement.kind == StatementKind::open) {
            scopes_.open();
            declare_labels(i + 1, end);
        } else if (statement.kind == StatementKind::close) {
            scopes_.close();
        } else {
            resolve_statement(statement);
        }
    }
    scopes_.close();
    function_ = none;
}

void Resolver::resolve_statement(const Statement& statement) {
    switch (statement.kind) {
        case StatementKind::instruction: return resolve_instruction(module_.instructions[statement.index]);
        case StatementKind::variable: return declare_variable(statement.index);
        case StatementKind::prototype: {
            Prototype& prototype = module_.prototypes[statement.index];
            prototype.symbol = declare(SymbolKind::prototype, prototype.name, prototype.name_span, statement.index);
            return;
        }
        case StatementKind::targets: {
            Targets& targets = module_.targets[statement.index];
            targets.symbol = declare(SymbolKind::targets, targets.name, targets.name_span, statement.index);
            return resolve_operands(targets.targets);
        }
        case StatementKind::label:
        case StatementKind::open:
        case StatementKind::close:
        case StatementKind::location:
        case StatementKind::pragma: return;
    }
}

void Resolver::resolve_instruction(const Instruction& instruction) {
    if (instruction.guard != none) resolve_operand(module_.operands[instruction.guard]);
    resolve_operands(instruction.operands);
}

void Resolver::resolve_operands(Range range) {
    for (Id i = range.first; i < range.first + range.count; ++i) resolve_operand(module_.operands[i]);
}

void Resolver::resolve_operand(Operand& operand) {
    if (operand.has_children()) return resolve_operands(operand.children);
    if (operand.name != none) operand.symbol = find(operand.name, operand.span, &operand.element);
}

void Resolver::resolve_initializer(Id index) {
    Initializer& node = module_.initializers[index];
    if (node.kind == InitializerKind::list)
        for (Id i = node.children.first; i < node.children.first + node.children.count; ++i) resolve_initializer(i);
    else if (node.kind == InitializerKind::address) {
        node.symbol = find(node.name, node.span);
        if (node.symbol != none && !has_constant_address(module_.symbols[node.symbol]))
            errors_.add(node.span,
                        fmt::format("{} has no address that is known before the kernel runs",
                                    quoted(names_.texts()[node.name])),
                        "an initial value may name variables in .global and .const, and functions");
    }
}

bool Resolver::has_constant_address(const Symbol& symbol) const {
    if (symbol.kind == SymbolKind::function || symbol.kind == SymbolKind::alias) return true;
    if (symbol.kind != SymbolKind::variable) return false;
    const Space space = module_.variables[symbol.node].space;
    return space == Space::global || space == Space::const_;
}

Id Resolver::find(Id name, Span span, std::uint32_t* element) {
    const Scopes::Meaning meaning = scopes_.find(name);
    if (meaning.symbol == none) {
        if (!is_special_register(names_.texts()[name])) {
            report_unknown(name, span);
            return none;
        }
        const Id id = static_cast<Id>(module_.symbols.size());
        module_.symbols.push_back({SymbolKind::special, name, none, none, 0});
        scopes_.declare_special(name, id);
        return id;
    }
    if (element) *element = meaning.element;
    return meaning.symbol;
}

void Resolver::report_unknown(Id name, Span span) {
    const std::string_view text = names_.texts()[name];
    if (errors_.full()) return errors_.add(span, {});
    errors_.add(span, fmt::format("unknown name {}", quoted(text)), explain_unknown(name));
}

std::string Resolver::explain_unknown(Id name) {
    if (const std::uint32_t count = scopes_.count_of_family(name))
        return fmt::format("its family has {} names, the last of them number {}", count, count - 1);
    const auto later = [&](Id other, Span span, std::string_view what) {
        return other == name
                   ? fmt::format("{} of this name is declared on line {}, {}", what, module_.source->line(span.begin),
                                 what == "a label" ? "inside of a { } of its own" : "after its use or in another scope")
                   : std::string{};
    };
    if (function_ != none) {
        const Range body = module_.functions[function_].body;
        for (Id i = body.first; i < body.first + body.count; ++i) {
            const Statement& statement = module_.statements[i];
            std::string note;
            if (statement.kind == StatementKind::label)
                note = later(module_.labels[statement.index].name, module_.labels[statement.index].span, "a label");
            if (statement.kind == StatementKind::variable)
                note = later(module_.variables[statement.index].name, module_.variables[statement.index].name_span,
                             "a variable");
            if (!note.empty()) return note;
        }
    }
    for (const Function& function : module_.functions)
        if (std::string note = later(function.name, function.name_span, "a function"); !note.empty()) return note;
    return did_you_mean(scopes_.nearest(name));
}

}  // namespace tilepath::ptx
