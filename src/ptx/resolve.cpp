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
        if (!special_register_named(names_.texts()[name])) {
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
