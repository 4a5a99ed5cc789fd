// ptx/: PTX text to syntax tree, and back. read.h reads, resolve.h binds names to symbols, print.h writes.
//
// The tree is flat: every kind of node has one vector in its Module, and nodes name one another by index (`Id`) or by a
// contiguous `Range` of indices. Names and modifiers are views into the source text, which the Module keeps alive. A
// function's body is one list of statements in source order; nested `{ }` scopes are `open` and `close` statements, and
// names are already resolved, so a consumer walks the list once.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "ptx/debug.h"
#include "ptx/declaration.h"
#include "ptx/instruction.h"

namespace tilepath::ptx {

/// `.alias a, b;`
struct Alias {
    Span span;
    Span name_span, aliasee_span;
    Id name = none, aliasee = none;
    Id symbol = none, aliasee_symbol = none;
};

/// `.target sm_90a, debug`
struct Target {
    Span span;
    std::vector<std::string_view> words;
};

enum class ItemKind : std::uint8_t {
    target,    ///< Module::targets_of_module
    variable,  ///< Module::variables
    function,  ///< Module::functions
    alias,     ///< Module::aliases
    file,      ///< Module::files
    section,   ///< Module::sections
    pragma,    ///< Module::pragmas
    location,  ///< Module::locations: a `.loc` outside of functions
    dwarf,     ///< Module::dwarf_lines: the legacy `@@DWARF …`, kept as text
};

struct Item {
    ItemKind kind;
    Id index;
};

enum class SymbolKind : std::uint8_t {
    reg,        ///< `node` in variables; `number` of its first register within its function
    variable,   ///< `node` in variables: const, global, shared, local, tex
    param,      ///< `node` in variables: a parameter of an entry or function, or a `.param` of a body
    function,   ///< `node` in functions: its definition if there is one, else its first declaration
    alias,      ///< `node` in aliases, where the name has no declaration of its own
    label,      ///< `node` in labels; `number` within its function
    prototype,  ///< `node` in prototypes
    targets,    ///< `node` in targets
    special,    ///< a special register: `%tid`, `%clock64`, …
};

struct Symbol {
    SymbolKind kind;
    Id name = none;
    Id node = none;
    Id function = none;  ///< the function whose scope it lies in; none: the module's
    std::uint32_t number = 0;
};

/// A whole PTX module. It moves but does not copy; once read, nothing in it changes.
struct Module {
    std::shared_ptr<const Source> source;
    unsigned version_major = 0, version_minor = 0;
    unsigned address_size = 32;  ///< 32 unless `.address_size` says otherwise (PTX ISA 11.1.3)
    bool has_address_size = false;
    Span version_span;

    std::vector<Item> items;  ///< in source order, from the first `.target`
    std::vector<std::string_view> names;
    std::vector<Symbol> symbols;
    std::vector<Head> heads;
    std::vector<Function> functions;
    std::vector<Statement> statements;
    std::vector<Instruction> instructions;
    std::vector<Operand> operands;
    std::vector<Variable> variables;
    std::vector<std::uint64_t> dimensions;
    std::vector<Initializer> initializers;
    std::vector<FunctionDirective> function_directives;
    std::vector<Label> labels;
    std::vector<Location> locations;
    std::vector<Pragma> pragmas;
    std::vector<Prototype> prototypes;
    std::vector<Targets> targets;
    std::vector<Target> targets_of_module;
    std::vector<Alias> aliases;
    std::vector<File> files;
    std::vector<Section> sections;
    std::vector<SectionLine> section_lines;
    std::vector<SectionValue> section_values;
    std::vector<Span> dwarf_lines;
    std::vector<std::unique_ptr<const std::string>> made_names;  ///< texts of names that the source does not spell out

    std::string_view name(Id id) const { return id == none ? std::string_view{} : names[id]; }
    std::string_view text(Span span) const { return source->text(span); }
    Place place(Span span) const { return source->place(span); }

    std::span<const Operand> operands_in(Range range) const { return {operands.data() + range.first, range.count}; }
    std::span<const Operand> children(const Operand& operand) const {
        return operand.has_children() ? operands_in(operand.children) : std::span<const Operand>{};
    }
    std::span<const Variable> variables_in(Range range) const { return {variables.data() + range.first, range.count}; }
    std::span<const Statement> body(const Function& function) const {
        return {statements.data() + function.body.first, function.body.count};
    }
    std::span<const std::uint64_t> dimensions_of(const Variable& variable) const {
        return {dimensions.data() + variable.dimensions.first, variable.dimensions.count};
    }
    std::span<const Initializer> children(const Initializer& initializer) const {
        return initializer.kind == InitializerKind::list
                   ? std::span{initializers.data() + initializer.children.first, initializer.children.count}
                   : std::span<const Initializer>{};
    }
    std::span<const FunctionDirective> directives_in(Range range) const {
        return {function_directives.data() + range.first, range.count};
    }

    const Head& head(const Instruction& instruction) const { return heads[instruction.head]; }
    std::string_view opcode(const Instruction& instruction) const { return heads[instruction.head].opcode; }
    std::span<const Modifier> modifiers(const Instruction& instruction) const {
        return heads[instruction.head].modifiers;
    }
    Span span(const Instruction& instruction, const Modifier& modifier) const {
        const std::uint32_t begin = instruction.begin + modifier.offset;
        return {begin, begin + static_cast<std::uint32_t>(modifier.text.size())};
    }
    Span opcode_span(const Instruction& instruction) const {
        return {instruction.begin, instruction.begin + static_cast<std::uint32_t>(opcode(instruction).size())};
    }

    /// The symbol of a resolved identifier or address base; nullptr if it has none.
    const Symbol* symbol(const Operand& operand) const {
        return operand.symbol == none ? nullptr : &symbols[operand.symbol];
    }
    /// The variable behind a reg, variable or param symbol.
    const Variable& variable(const Symbol& symbol) const { return variables[symbol.node]; }

    /// The number within its function of the register that an identifier or address base names; `none` if it is not a
    /// register. A whole `.v4` register gives the number of its `.x`; the elements follow.
    Id register_number(const Operand& operand) const;
    /// The first `.target`'s architecture: `sm_90a`; empty if there is none.
    std::string_view architecture() const;
    /// The function called `name` (its definition if there is one), or `none`.
    Id function_named(std::string_view name) const;
};

/// Bytes of a variable, all elements of all dimensions; 0 for an unsized array without initialiser. With one, `[]`
/// counts its elements.
std::uint64_t size_in_bytes(const Module& module, const Variable& variable);
/// As written, or natural: the element's size, for vectors the whole vector's (PTX ISA 5.4.5).
std::uint32_t alignment(const Variable& variable);

}  // namespace tilepath::ptx
