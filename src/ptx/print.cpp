#include "ptx/print.h"

#include <fmt/format.h>

#include "ptx/printer.h"

namespace tilepath::ptx {

std::string print(const Module& module) {
    Printer printer(module);
    printer.print_module();
    return printer.release();
}

std::string print(const Module& module, const Instruction& instruction) {
    Printer printer(module);
    printer.print_instruction(instruction);
    return printer.release();
}

void Printer::put_offset(std::uint64_t offset) {
    const auto value = static_cast<std::int64_t>(offset);
    if (value > 0)
        out_ += fmt::format("+{}", value);
    else if (value == INT64_MIN)
        put("+0x8000000000000000");
    else if (value < 0)
        out_ += fmt::format("+-{}", -value);
}

// Every spelling reads back as the same kind and bits (PTX ISA 4.5.1: what does not fit in .s64, or has a U, is .u64).
void Printer::put_immediate(ImmediateKind kind, std::uint64_t bits) {
    const auto value = static_cast<std::int64_t>(bits);
    switch (kind) {
        case ImmediateKind::s64:
            if (value == INT64_MIN)
                put("(.s64)0x8000000000000000");
            else
                out_ += fmt::format("{}", value);
            return;
        case ImmediateKind::u64: out_ += fmt::format("{}U", bits); return;
        case ImmediateKind::f32: out_ += fmt::format("0f{:08X}", bits); return;
        case ImmediateKind::f64: out_ += fmt::format("0d{:016X}", bits); return;
    }
}

void Printer::print_module() {
    out_ += fmt::format(".version {}.{}\n", m_.version_major, m_.version_minor);
    bool first_target = true;
    for (const Item& item : m_.items) {
        print_item(item);
        put("\n");
        if (item.kind == ItemKind::target && first_target && m_.has_address_size)
            out_ += fmt::format(".address_size {}\n", m_.address_size);
        if (item.kind == ItemKind::target) first_target = false;
    }
}

void Printer::print_item(const Item& item) {
    switch (item.kind) {
        case ItemKind::target: {
            put(".target ");
            const auto& words = m_.targets_of_module[item.index].words;
            for (std::size_t i = 0; i < words.size(); ++i) put(i ? ", " : ""), put(words[i]);
            return;
        }
        case ItemKind::variable: return print_variable(m_.variables[item.index]), put(";");
        case ItemKind::function: return print_function(m_.functions[item.index]);
        case ItemKind::alias: {
            const Alias& alias = m_.aliases[item.index];
            put(".alias "), put_name(alias.name), put(", "), put_name(alias.aliasee), put(";");
            return;
        }
        case ItemKind::file: return print_file(m_.files[item.index]);
        case ItemKind::section: return print_section(m_.sections[item.index]);
        case ItemKind::pragma: return print_pragma(m_.pragmas[item.index]);
        case ItemKind::location: return print_location(m_.locations[item.index]);
        case ItemKind::dwarf: return put(m_.text(m_.dwarf_lines[item.index]));
    }
}

void Printer::print_parameters(Range parameters) {
    put("(");
    bool first = true;
    for (const Variable& variable : m_.variables_in(parameters)) {
        put(first ? "" : ", ");
        first = false;
        print_variable(variable);
    }
    put(")");
}

void Printer::print_directives(Range directives) {
    for (const FunctionDirective& directive : m_.directives_in(directives)) {
        put("\n");
        if (directive.kind == DirectiveKind::pragma) {
            print_pragma(m_.pragmas[directive.pragma]);
            continue;
        }
        put("."), put(word(directive.kind));
        for (unsigned i = 0; i < directive.count; ++i) put(i ? ", " : " "), put_number(directive.values[i]);
    }
}

void Printer::print_function(const Function& function) {
    if (function.linkage != Linkage::none) put("."), put(word(function.linkage)), put(" ");
    put(function.kind == FunctionKind::entry ? ".entry " : ".func ");
    print_attributes(false, function.unified, function.unified_id);
    if (function.returns.count != 0) print_parameters(function.returns), put(" ");
    put_name(function.name);
    if (function.has_parameter_list) print_parameters(function.parameters);
    print_directives(function.directives);
    if (!function.has_body) return put(";");
    put("\n{");
    indent_ = 1;
    for (const Statement& statement : m_.body(function)) print_statement(statement);
    indent_ = 0;
    put("\n}");
}

void Printer::print_statement(const Statement& statement) {
    if (statement.kind == StatementKind::close && indent_ > 1) --indent_;
    new_line();
    switch (statement.kind) {
        case StatementKind::instruction: return print_instruction(m_.instructions[statement.index]), put(";");
        case StatementKind::label: return put_name(m_.labels[statement.index].name), put(":");
        case StatementKind::variable: return print_variable(m_.variables[statement.index]), put(";");
        case StatementKind::open:
            put("{");
            ++indent_;
            return;
        case StatementKind::close: return put("}");
        case StatementKind::location: return print_location(m_.locations[statement.index]);
        case StatementKind::pragma: return print_pragma(m_.pragmas[statement.index]);
        case StatementKind::prototype: return print_prototype(m_.prototypes[statement.index]);
        case StatementKind::targets: return print_targets(m_.targets[statement.index]);
    }
}

void Printer::print_prototype(const Prototype& prototype) {
    put_name(prototype.name), put(": .callprototype ");
    if (prototype.returns.count != 0) print_parameters(prototype.returns), put(" ");
    put("_");
    if (prototype.has_parameter_list) put(" "), print_parameters(prototype.parameters);
    print_directives(prototype.directives);
    put(";");
}

void Printer::print_targets(const Targets& targets) {
    put_name(targets.name), put(targets.calls ? ": .calltargets " : ": .branchtargets ");
    bool first = true;
    for (const Operand& target : m_.operands_in(targets.targets))
        put(first ? "" : ", "), put_name(target.name), first = false;
    put(";");
}

void Printer::print_instruction(const Instruction& instruction) {
    if (instruction.guard != none) {
        const Operand& guard = m_.operands[instruction.guard];
        put(guard.not_ ? "@!" : "@"), put_name(guard.name), put(" ");
    }
    const Head& head = m_.head(instruction);
    put(head.opcode);
    for (const Modifier& modifier : head.modifiers) put("."), put(modifier.text);
    bool first = true;
    for (const Operand& operand : m_.operands_in(instruction.operands)) {
        put(first ? " " : ", ");
        first = false;
        print_operand(operand);
    }
}

void Printer::print_children(const Operand& operand, std::string_view before, std::string_view between,
                             std::string_view after) {
    put(before);
    bool first = true;
    for (const Operand& child : m_.children(operand)) {
        if (!first) put(between);
        first = false;
        print_operand(child);
    }
    put(after);
}

void Printer::print_operand(const Operand& operand) {
    switch (operand.kind) {
        case OperandKind::identifier:
            put(operand.not_ ? "!" : operand.minus ? "-" : "");
            put_name(operand.name);
            if (operand.component != Component::none) put("."), put(word(operand.component));
            return put_offset(operand.bits);
        case OperandKind::sink: return put("_");
        case OperandKind::immediate: return put_immediate(operand.immediate, operand.bits);
        case OperandKind::address:
            put("[");
            if (operand.name == none)
                put_number(operand.bits);
            else
                put_name(operand.name), put_offset(operand.bits);
            return put(operand.unified ? "].unified" : "]");
        case OperandKind::tensor_address:
            return print_children(operand, "[", ", ", operand.unified ? "].unified" : "]");
        case OperandKind::indexed: {
            const auto children = m_.children(operand);
            return print_operand(children[0]), put("["), print_operand(children[1]), put("]");
        }
        case OperandKind::vector: return print_children(operand, "{", ", ", "}");
        case OperandKind::list: return print_children(operand, "(", ", ", ")");
        case OperandKind::pair: return print_children(operand, "", "|", "");
    }
}

}  // namespace tilepath::ptx
