// Function bodies: scopes, labels, instructions, and the directives among them (PTX ISA 4.3, 11.3).
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "ptx/reader.h"

namespace tilepath::ptx {
namespace {

// Deeper than any compiler's output; resolve() keeps one record per open scope.
constexpr std::size_t deepest_scope = 1000;
// All names that `N<count>` shorthands of one module stand for.
constexpr std::uint64_t most_made_targets = 1u << 20;

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

bool Reader::read_statement() {
    open_braces_ = 0;
    in_call_ = false;
    if (token_.kind == TokenKind::identifier) {
        std::uint32_t after = token_.span.end;
        while (chars::is(lexer_.peek(after), chars::space)) ++after;
        return lexer_.peek(after) == ':' ? read_label() : read_instruction(begin(), none);
    }
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
    if (!token_.is(':')) return fail_expected("':' after the label");  // a comment stands between
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

bool Reader::read_guarded() {
    const std::uint32_t start = begin();
    advance();
    Operand guard;
    guard.kind = OperandKind::identifier;
    guard.not_ = take('!');
    if (!expect_name("a predicate register after '@'", guard.name, guard.span)) return false;
    if (token_.kind != TokenKind::identifier) return fail_expected("an instruction after its guard");
    const Id id = static_cast<Id>(module_.operands.size());
    module_.operands.push_back(guard);
    return read_instruction(start, id);
}

bool Reader::read_instruction(std::uint32_t start, Id guard) {
    Instruction instruction;
    instruction.guard = guard;
    instruction.begin = begin();
    instruction.location = location_;
    instruction.head = read_head();
    in_call_ = module_.heads[instruction.head].opcode == "call";
    if (!token_.is(';') && !starts_next_statement()) {
        const std::size_t from = pending_.size();
        do {
            Operand operand;
            if (!read_operand(operand)) return false;
            pending_.push_back(operand);
        } while (take(','));
        instruction.operands = commit_operands(from);
    }
    if (!token_.is(';')) {
        if (!end_statement(quoted(lexer_.text({instruction.begin, lexer_.head_end(instruction.begin)})))) return false;
    } else {
        advance();
    }
    instruction.span = since(start);
    add_statement(StatementKind::instruction, module_.instructions.size());
    module_.instructions.push_back(instruction);
    return true;
}

// Where the first operand would stand there is, on a line of its own, `LABEL:` or `mov.u32`: a semicolon was forgotten.
bool Reader::starts_next_statement() const {
    if (token_.kind != TokenKind::identifier || !on_new_line()) return false;
    const std::uint32_t end = token_.span.end, head_end = lexer_.head_end(begin());
    return lexer_.peek(end) == ':' || (head_end > end && !component_named(lexer_.text({end + 1, head_end})));
}

// Opcode and modifiers. Almost always they are written without spaces, and known by their text.
Id Reader::read_head() {
    Span span{begin(), lexer_.head_end(begin())};
    lexer_.go_to(span.end);
    last_end_ = span.end;
    lexer_.next(token_);
    while (token_.kind == TokenKind::dot_word || (token_.is('[') && lexer_.text(span).ends_with(".const"))) {
        // `ret` without its semicolon, then a declaration.
        if (on_new_line() &&
            std::find(std::begin(statement_words), std::end(statement_words), dot_word()) != std::end(statement_words))
            break;
        if (token_.is('[')) {  // the legacy bank of `ld.const[2].b32`
            std::uint32_t at = token_.span.end;
            while (chars::is(lexer_.peek(at), chars::digit)) ++at;
            if (at == token_.span.end || lexer_.peek(at) != ']') break;
            token_.span.end = at + 1;
            lexer_.go_to(at + 1);
        }
        span.end = token_.span.end;
        advance();
    }
    const Id id = head_texts_.intern(lexer_.text(span));
    if (id == module_.heads.size()) module_.heads.push_back(take_apart(span));
    return id;
}

Head Reader::take_apart(Span span) {
    Head head;
    Lexer lexer(source_->text());
    lexer.go_to(span.begin);
    Token token;
    lexer.next(token);
    head.opcode = lexer.text(token.span);
    for (lexer.next(token); token.kind != TokenKind::end && token.span.end <= span.end; lexer.next(token)) {
        if (token.kind == TokenKind::dot_word) {
            head.modifiers.push_back({lexer.text(token.span).substr(1), token.span.begin + 1 - span.begin});
        } else if (!head.modifiers.empty()) {  // `[2]` of `.const[2]`
            Modifier& last = head.modifiers.back();
            last.text = {last.text.data(),
                         static_cast<std::size_t>(source_->text().data() + token.span.end - last.text.data())};
        }
    }
    return head;
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
