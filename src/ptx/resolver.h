// The pass behind resolve.h, over resolve.cpp (what is declared and used where) and scopes.cpp (what a name means
// here).
#pragma once
#include <span>
#include <vector>

#include "ptx/errors.h"
#include "ptx/names.h"
#include "ptx/syntax.h"

namespace tilepath::ptx {

/// What each name means at the current place: arrays by name number, and an undo list for the end of each scope.
class Scopes {
  public:
    Scopes(Module& module, const Names& names);

    void open() { marks_.push_back(undo_.size()); }
    void close();
    std::size_t depth() const { return marks_.size(); }

    struct Meaning {
        Id symbol = none;
        std::uint32_t element = 0;
    };
    /// The innermost meaning of a name; `none` if it has none here.
    Meaning find(Id name);
    /// The symbol that declaring `name` (as a family `name0 … name<count-1>`, if parameterised) would clash with in
    /// this scope.
    Id clash(Id name, bool parameterised, std::uint32_t count);
    void declare(Id name, Id symbol, bool parameterised);
    /// A predefined register: outside of every scope, so that any declaration hides it.
    void declare_special(Id name, Id symbol) { plain_[name] = {symbol, 0, 0}; }

    /// How many names a family has whose stem is the name's and whose count is too small for it; 0 if there is none
    /// here.
    std::uint32_t count_of_family(Id name);
    /// The name with a meaning here that is most like this one, or empty.
    std::string_view nearest(Id name) const;

  private:
    struct Binding {
        Id symbol = none;
        std::uint32_t depth = 0;
        std::uint32_t number = 0;  ///< a member's number; of a family: the entry of undo_ with what it hides
    };
    /// A way to read a name as a member of a family: `%r57` as number 57 of `%r<…>`.
    struct Membership {
        Id family;
        std::uint32_t number;
    };
    enum class Table : std::uint8_t { plain, family, member };
    struct Change {
        Id name;
        Table table;
        Binding before;
    };
    std::span<const Membership> memberships(Id name);
    std::vector<Binding>& table(Table which);
    void bind(Table which, Id name, Binding binding);
    bool here(const Binding& binding) const { return binding.symbol != none && binding.depth == depth(); }
    std::uint32_t count(const Binding& family) const;

    Module& module_;
    const Names& names_;
    std::vector<Binding> plain_;   // by name: what was declared under just this name
    std::vector<Binding> family_;  // by stem: the parameterised declaration
    std::vector<Binding> member_;  // by stem: of plain names that look like its members, the one with the least number
    std::vector<bool> is_family_;  // by name: some declaration in the module has it as its stem
    std::vector<Membership> pool_;
    std::vector<Range> memberships_;  // by name, in pool_; `first` is `none` until worked out
    std::vector<Change> undo_;
    std::vector<std::size_t> marks_;
};

class Resolver {
  public:
    Resolver(Module& module, const Names& names, Errors& errors)
        : module_(module), names_(names), errors_(errors), scopes_(module, names) {}
    void run();

  private:
    Id declare(SymbolKind kind, Id name, Span span, Id node, bool parameterised = false, std::uint32_t count = 1);
    void declare_variable(Id variable);
    void declare_module_variable(Id variable);
    void declare_function(Id function);
    void declare_alias(Alias& alias);
    void declare_labels(std::size_t from, std::size_t end);
    void declare_parameters(Range range);
    void resolve_function(Id function);
    void resolve_statement(const Statement& statement);
    void resolve_instruction(const Instruction& instruction);
    void resolve_operands(Range range);
    void resolve_operand(Operand& operand);
    void resolve_initializer(Id node);
    Id find(Id name, Span span, std::uint32_t* element = nullptr);
    bool has_constant_address(const Symbol& symbol) const;
    bool same_signature(const Function& a, const Function& b) const;
    void report_unknown(Id name, Span span);
    std::string explain_unknown(Id name);
    Span declaration_span(const Symbol& symbol) const;
    std::string declared_on(Id symbol) const;

    Module& module_;
    const Names& names_;
    Errors& errors_;
    Scopes scopes_;
    Id function_ = none;  // whose scope is open
};

}  // namespace tilepath::ptx
