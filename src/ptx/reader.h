// The recursive-descent reader behind read.h: one class over the files read_….cpp, each for one part of the grammar.
// Every read_… function returns false after it has reported an error; its caller then skips to where reading can go on.
#pragma once
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "ptx/errors.h"
#include "ptx/lexer.h"
#include "ptx/literal.h"
#include "ptx/names.h"
#include "ptx/syntax.h"

namespace tilepath::ptx {

/// Expressions and operands within one another: far beyond what anyone writes, and harmless to the stack.
constexpr unsigned deepest_nesting = 64;

class Reader {
  public:
    explicit Reader(std::shared_ptr<const Source> source);
    Result<Module> read();

  private:
    // Tokens.
    void advance() {
        last_end_ = token_.span.end;
        lexer_.next(token_);
    }
    void reread_from(std::uint32_t offset) {
        lexer_.go_to(offset);
        lexer_.next(token_);
    }
    std::string_view text() const { return lexer_.text(token_.span); }
    /// The text of a dot word without its dot; empty for other tokens.
    std::string_view dot_word() const {
        return token_.kind == TokenKind::dot_word ? text().substr(1) : std::string_view{};
    }
    bool take(char c) {
        if (!token_.is(c)) return false;
        advance();
        return true;
    }
    bool expect(char c, std::string_view where);
    bool expect_name(std::string_view what, Id& name, Span& span);
    bool on_new_line() const;
    bool end_statement(std::string_view what);
    std::string found() const;
    bool fail(Span span, std::string message, std::string note = {});
    bool fail_expected(std::string_view what, std::string note = {});
    std::uint32_t begin() const { return token_.span.begin; }
    Span since(std::uint32_t start) const { return {start, last_end_ > start ? last_end_ : start}; }
    Id intern_token() { return names_.intern(text()); }

    // Constants.
    bool read_constant(Constant& value, int least_precedence = 0);
    bool read_conditional(Constant& value);
    bool read_binary(Constant& value, int least_precedence);
    bool read_unary(Constant& value);
    bool read_primary(Constant& value);
    bool read_parenthesised(Constant& value);
    bool keep(Span span, const OrMessage<Constant>& result, Constant& value);
    bool read_unsigned(std::string_view what, std::uint64_t most, std::uint64_t& value, int least_precedence = 0);
    bool read_offset(std::uint64_t& offset);

    // Operands.
    bool read_operand(Operand& operand);
    bool read_punctuated_operand(Operand& operand);
    bool read_named(Operand& operand);
    bool read_pair(Operand& operand);
    bool read_immediate(Operand& operand);
    bool read_prefixed(Operand& operand);
    bool read_index(Operand& operand);
    bool read_address(Operand& operand);
    bool read_address_tail(Operand& operand, std::size_t from);
    bool read_operands_until(char close, std::string_view what, Operand& operand, OperandKind kind);
    bool at_identifier_operand() const;
    Range commit_operands(std::size_t from);

    // Variables.
    struct Declared;  // the words before a declarator
    bool read_variable_words(Declared& words);
    bool read_variable_word(Declared& words);
    bool read_attribute(Declared& words);
    bool read_alignment(std::uint32_t& align);
    bool read_declarator(const Declared& words, bool parameter, Variable& variable);
    bool read_dimensions(Variable& variable);
    bool read_count(Variable& variable);
    bool check_variable(const Variable& variable, bool parameter);
    bool read_variables(Linkage linkage, std::uint32_t start, bool module_scope);
    bool read_parameters(Range& parameters, std::string_view what);
    bool read_parameter(std::string_view what);
    bool read_initializer(Initializer& node, unsigned depth);
    bool read_initializer_list(Initializer& node, unsigned depth);
    bool read_values(Initializer& node);
    bool read_lists(Initializer& node, unsigned depth);
    bool read_initializer_value(Initializer& node);
    bool read_initializer_address(Initializer& node);
    bool read_masked(Initializer& node, std::uint64_t mask);
    bool check_initializer(const Variable& variable, const Initializer& node, unsigned level);
    bool check_initial_value(const Variable& variable, const Initializer& node);

    // Functions.
    bool read_function(FunctionKind kind, Linkage linkage, std::uint32_t start);
    bool read_function_header(Function& function);
    bool read_function_attribute(Function& function);
    bool read_function_directives(Range& directives);
    bool read_function_directive(DirectiveKind kind);
    bool check_function(const Function& function);
    void read_body(Function& function);
    bool read_statement();
    bool read_directive_statement();
    bool at_label();
    bool read_label();
    bool read_labelled_directive(Id name, Span name_span);
    bool read_prototype(Id name, Span name_span);
    bool read_targets(Id name, Span name_span, bool calls);
    bool read_target_range(Operand& prefix);
    bool read_instruction(std::uint32_t start, Id guard);
    bool read_guarded();
    Id read_head();
    Head take_apart(Span span);
    bool open_scope();
    void close_scope();
    void skip_statement();
    bool starts_module_item() const;
    bool starts_function() const;
    bool starts_next_statement() const;
    void add_statement(StatementKind kind, std::size_t index) {
        module_.statements.push_back({kind, static_cast<Id>(index)});
    }

    // Debugging information.
    bool read_location();
    bool read_inlining(Location& location);
    bool read_location_numbers(std::uint32_t& file, std::uint32_t& line, std::uint32_t& column);
    bool read_file();
    bool read_section();
    bool read_section_line();
    bool read_section_value(Type type);
    bool read_dwarf_line();
    bool read_section_name(Id& name);

    // The module.
    bool check_text();
    void read_module();
    bool read_version();
    bool read_target();
    bool read_address_size();
    bool read_item();
    bool read_linked_item(std::uint32_t start);
    bool read_alias();
    bool read_pragma(Id& id);
    void skip_item();
    void add_item(ItemKind kind, std::size_t index) { module_.items.push_back({kind, static_cast<Id>(index)}); }

    std::shared_ptr<const Source> source_;
    Lexer lexer_;
    Errors errors_;
    Token token_;
    std::uint32_t last_end_ = 0;  // the end of the token before token_
    Module module_;
    Names names_;
    Names head_texts_;              // number i is heads[i]
    std::vector<Operand> pending_;  // operands of unfinished lists, innermost last
    std::vector<Initializer> pending_initializers_;
    std::vector<Id> open_scopes_;                      // `open` statements not yet closed
    unsigned depth_ = 0;                               // of nested operands and expressions
    unsigned open_braces_ = 0;                         // of vectors, within the statement being read
    bool in_call_ = false;                             // '(' begins a list, not an expression
    bool names_are_missing_ = false;                   // a declaration failed: unresolved names would only repeat that
    Id location_ = none;                               // the `.loc` in force
    std::unordered_map<std::uint64_t, Id> locations_;  // of this function, by file, line and column
    std::uint64_t made_targets_ = 0;
};

}  // namespace tilepath::ptx
