// Directives that have a label: lists of targets and prototypes of indirect branches and calls (PTX ISA 11.3).
#include <fmt/format.h>

#include <memory>
#include <string>

#include "ptx/reader.h"

namespace tilepath::ptx {

namespace {

// All names that `N<count>` shorthands of one module stand for.
constexpr std::uint64_t most_made_targets = 1u << 20;

}  // namespace

bool Reader::read_labelled_directive(Id name, Span name_span) {
    if (dot_word() == "callprototype") return read_prototype(name, name_span);
    return read_targets(name, name_span, dot_word() == "calltargets");
}

bool Reader::read_targets(Id name, Span name_span, bool calls) {
    Targets targets;
    targets.name_span = name_span;
    targets.name = name;
    targets.calls = calls;
    const std::size_t from = pending_.size();
    advance();
    do {
        Operand target;
        target.kind = OperandKind::identifier;
        if (!expect_name(calls ? "the name of a function" : "a label", target.name, target.span)) return false;
        if (!token_.is('<'))
            pending_.push_back(target);
        else if (!read_target_range(target))
            return false;
    } while (take(','));
    targets.targets = commit_operands(from);
    if (!end_statement(calls ? "'.calltargets'" : "'.branchtargets'")) return false;
    targets.span = since(name_span.begin);
    add_statement(StatementKind::targets, module_.targets.size());
    module_.targets.push_back(targets);
    return true;
}

// `N<5>` stands for N0 … N4.
bool Reader::read_target_range(Operand& prefix) {
    advance();
    std::uint64_t count = 0;
    constexpr int tighter_than_comparisons = 8;
    if (!read_unsigned("a number of targets", most_made_targets, count, tighter_than_comparisons) ||
        !expect('>', "after the number of targets"))
        return false;
    if ((made_targets_ += count) > most_made_targets)
        return fail(since(prefix.span.begin), "this module lists more targets than it could have");
    const std::string stem(names_.texts()[prefix.name]);
    prefix.span = since(prefix.span.begin);
    for (std::uint64_t i = 0; i < count; ++i) {
        std::string made = stem + std::to_string(i);
        Id id = names_.find(made);
        if (id == none) {
            module_.made_names.push_back(std::make_unique<const std::string>(std::move(made)));
            id = names_.intern(*module_.made_names.back());
        }
        prefix.name = id;
        pending_.push_back(prefix);
    }
    return true;
}

// `L: .callprototype (.param .b32 _) _ (.param .b64 _);`
bool Reader::read_prototype(Id name, Span name_span) {
    Prototype prototype;
    prototype.name = name;
    prototype.name_span = name_span;
    advance();
    if (token_.is('(') && !read_parameters(prototype.returns, "the list of return values")) return false;
    if (token_.kind != TokenKind::identifier || text() != "_")
        return fail_expected("'_' in place of a function's name");
    advance();
    if (token_.is('(')) {
        prototype.has_parameter_list = true;
        if (!read_parameters(prototype.parameters, "the list of parameters")) return false;
    }
    if (!read_function_directives(prototype.directives) || !end_statement("'.callprototype'")) return false;
    prototype.span = since(name_span.begin);
    add_statement(StatementKind::prototype, module_.prototypes.size());
    module_.prototypes.push_back(prototype);
    return true;
}

}  // namespace tilepath::ptx
