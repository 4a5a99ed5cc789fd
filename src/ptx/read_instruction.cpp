// Instructions: guard, opcode and modifiers, operands (PTX ISA 4.3.2).
#include "ptx/reader.h"

namespace tilepath::ptx {

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
        if (on_new_line() && (space_named(dot_word()) || dot_word() == "loc" || dot_word() == "pragma")) break;
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

}  // namespace tilepath::ptx
