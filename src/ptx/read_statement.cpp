// Function bodies: scopes, labels, instructions, and the directives among them (PTX ISA 4.3, 11.3).
#include <fmt/format.h>

#include "ptx/reader.h"

namespace tilepath::ptx {
namespace {

// Deeper than any compiler's output; resolve() keeps one record per open scope.
constexpr std::size_t deepest_scope = 1000;

constexpr std::string_view statement_words[] = {"reg", "local", "shared", "param", "global", "const", "loc", "pragma"};

}  // namespace

void Reader::read_body(Function& function) {
    const Span opening = token_.span;
    advance();
    location_ = none;
    locations_.clear();
    function.body.first = static_cast<Id>(module_.statements.size());
    for (;;) {
        if (token_.is('}')) {
            if (open_scopes_.empty()) {
                advance();
                break;
            }
            close_scope();
        } else if (token_.kind == TokenKind::end || starts_function()) {
            fail_expected(fmt::format("'}}' to close the body of {} that begins on line {}",
                                      quoted(function.name == none ? "a function" : names_.texts()[function.name]),
                                      source_->line(opening.begin)),
                          token_.kind == TokenKind::end ? "the text may have been cut off"
                                                        : "a '}' may be missing before this line");
            while (!open_scopes_.empty()) close_scope();
            break;
        } else if (!read_statement()) {
            skip_statement();
        }
    }
    location_ = none;
    function.body.count = static_cast<std::uint32_t>(module_.statements.size()) - function.body.first;
}

bool Reader::open_scope() {
    if (open_scopes_.size() >= deepest_scope) {
        fail(token_.span, fmt::format("more than {} scopes are nested here", deepest_scope));
        names_are_missing_ = true;
    }
    open_scopes_.push_back(static_cast<Id>(module_.statements.size()));
    add_statement(StatementKind::open, 0);
    advance();
    return true;
}

void Reader::close_scope() {
    const Id opener = open_scopes_.back();
    open_scopes_.pop_back();
    module_.statements[opener].index = static_cast<Id>(module_.statements.size());
    add_statement(StatementKind::close, opener);
    if (token_.is('}')) advance();
}

bool Reader::starts_function() const {
    const std::string_view word = dot_word();
    return word == "entry" || word == "func" || word == "visible" || word == "weak" || word == "version" ||
           word == "target" || word == "address_size" || word == "alias" || word == "section";
}

bool Reader::at_label() {
    std::uint32_t after = token_.span.end;
    while (chars::is(lexer_.peek(after), chars::space)) ++after;
    if (lexer_.peek(after) != '/') return lexer_.peek(after) == ':';
    const Token name = token_;  // a comment follows
    lexer_.next(token_);
    const bool is_label = token_.is(':');
    reread_from(name.span.begin);
    return is_label;
}

bool Reader::read_statement() {
    open_braces_ = 0;
    in_call_ = false;
    if (token_.kind == TokenKind::identifier) return at_label() ? read_label() : read_instruction(begin(), none);
    if (token_.kind == TokenKind::dot_word) {
        if (read_directive_statement()) return true;
        names_are_missing_ = true;
        return false;
    }
    if (token_.is('@')) return read_guarded();
    if (token_.is('{')) return open_scope();
    return fail_expected("an instruction, a label or a directive");
}

bool Reader::read_directive_statement() {
    const std::string_view word = dot_word();
    if (word == "loc") {
        if (!read_location()) {  // it ends with its line, not with a semicolon
            while (token_.kind != TokenKind::end && !on_new_line()) advance();
            return true;
        }
        add_statement(StatementKind::location, module_.locations.size() - 1);
        return true;
    }
    if (word == "pragma") {
        Id id = none;
        if (!read_pragma(id)) return false;
        add_statement(StatementKind::pragma, id);
        return true;
    }
    if (space_named(word)) return read_variables(Linkage::none, begin(), false);
    if (word == "branchtargets" || word == "calltargets" || word == "callprototype")
        return fail(token_.span, fmt::format("'.{}' needs a label before it", word),
                    fmt::format("write: name: .{} …;", word));
    Nearest nearest(word);
    for (std::string_view known : statement_words) nearest.offer(known);
    const std::string_view near = nearest.word();
    return fail_expected("an instruction, a label or a directive such as .reg",
                         near.empty() ? std::string{} : did_you_mean(fmt::format(".{}", near)));
}

bool Reader::read_label() {
    const Span span = token_.span;
    if (text() == "_" || text() == "WARP_SZ") return fail(span, fmt::format("{} cannot be a label", found()));
    const Id name = intern_token();
    advance();
    advance();
    const std::string_view word = dot_word();
    if (word == "branchtargets" || word == "calltargets" || word == "callprototype") {
        if (read_labelled_directive(name, span)) return true;
        names_are_missing_ = true;
        return false;
    }
    add_statement(StatementKind::label, module_.labels.size());
    module_.labels.push_back({span, name, none});
    return true;
}

// After an error: past the statement's semicolon, or before the brace that closes its scope.
void Reader::skip_statement() {
    pending_.clear();
    pending_initializers_.clear();
    depth_ = 0;
    for (unsigned depth = open_braces_; token_.kind != TokenKind::end; advance()) {
        if (token_.is(';')) {
            advance();
            return;
        }
        if (depth == 0 && on_new_line() && starts_function()) return;
        if (token_.is('{')) ++depth;
        if (token_.is('}') && depth-- == 0) return;
    }
}

}  // namespace tilepath::ptx
