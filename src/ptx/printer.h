// The printer behind print.h, over print.cpp (the module, functions, instructions) and print_declaration.cpp.
#pragma once
#include <string>
#include <string_view>

#include "ptx/syntax.h"

namespace tilepath::ptx {

class Printer {
  public:
    explicit Printer(const Module& module) : m_(module) {}
    std::string release() { return std::move(out_); }

    void print_module();
    void print_instruction(const Instruction& instruction);

  private:
    void put(std::string_view text) { out_ += text; }
    void put_name(Id name) { out_ += name == none ? std::string_view("_") : m_.names[name]; }
    void put_number(std::uint64_t value) { out_ += std::to_string(value); }
    void put_offset(std::uint64_t offset);
    void put_immediate(ImmediateKind kind, std::uint64_t bits);
    void put_quoted(std::string_view text) { out_.append("\"").append(text).append("\""); }
    void new_line() { out_.append("\n").append(indent_, '\t'); }

    void print_item(const Item& item);
    void print_function(const Function& function);
    void print_directives(Range directives);
    void print_parameters(Range parameters);
    void print_statement(const Statement& statement);
    void print_operand(const Operand& operand);
    void print_children(const Operand& operand, std::string_view before, std::string_view between,
                        std::string_view after);
    void print_prototype(const Prototype& prototype);
    void print_targets(const Targets& targets);

    void print_variable(const Variable& variable);
    void print_attributes(bool managed, bool unified, const std::uint64_t (&id)[2]);
    void print_initializer(const Initializer& node);
    void print_initializer_address(const Initializer& node);

    void print_pragma(const Pragma& pragma);
    void print_location(const Location& location);
    void print_file(const File& file);
    void print_section(const Section& section);

    const Module& m_;
    std::string out_;
    std::size_t indent_ = 0;
};

}  // namespace tilepath::ptx
