// Operands of instructions (PTX ISA 6.4).
#include <fmt/format.h>

#include "ptx/reader.h"

namespace tilepath::ptx {

Range Reader::commit_operands(std::size_t from) {
    const Range range{static_cast<Id>(module_.operands.size()), static_cast<std::uint32_t>(pending_.size() - from)};
    module_.operands.insert(module_.operands.end(), pending_.begin() + static_cast<std::ptrdiff_t>(from),
                            pending_.end());
    pending_.resize(from);
    return range;
}

bool Reader::at_identifier_operand() const { return token_.kind == TokenKind::identifier && text() != "WARP_SZ"; }

bool Reader::read_operand(Operand& operand) {
    if (at_identifier_operand()) return read_named(operand);
    if (token_.kind == TokenKind::number) return read_immediate(operand);
    if (depth_ >= deepest_nesting) return fail(token_.span, "these operands are nested too deeply");
    ++depth_;
    const bool good = read_punctuated_operand(operand);
    --depth_;
    return good;
}

bool Reader::read_punctuated_operand(Operand& operand) {
    if (token_.is('[')) return read_address(operand);
    if (token_.is('{')) {
        ++open_braces_;
        if (!read_operands_until('}', "a vector", operand, OperandKind::vector)) return false;
        --open_braces_;
        if (operand.children.count == 0) return fail(operand.span, "a vector needs at least one element");
        return true;
    }
    if (token_.is('(') && in_call_) return read_operands_until(')', "the list", operand, OperandKind::list);
    if (token_.is('!') || token_.is('-')) return read_prefixed(operand);
    if (token_.is('(') || token_.is('~') || token_.is('+') || token_.kind == TokenKind::identifier)
        return read_immediate(operand);
    return fail_expected("an operand");
}

bool Reader::read_immediate(Operand& operand) {
    const std::uint32_t start = begin();
    Constant value;
    if (!read_constant(value)) return false;
    operand.kind = OperandKind::immediate;
    operand.immediate = value.kind;
    operand.bits = value.bits;
    operand.span = since(start);
    return true;
}

// `!p` and `-a` of registers; before constants these are operators.
bool Reader::read_prefixed(Operand& operand) {
    const std::uint32_t start = begin();
    const bool is_not = token_.is('!');
    advance();
    if (!at_identifier_operand()) {
        reread_from(start);
        return read_immediate(operand);
    }
    if (!read_named(operand)) return false;
    if (operand.kind != OperandKind::identifier)
        return fail(operand.span, fmt::format("expected a register after '{}'", is_not ? '!' : '-'));
    operand.not_ = is_not;
    operand.minus = !is_not;
    operand.span.begin = start;
    return true;
}

bool Reader::read_named(Operand& operand) {
    operand.span = token_.span;
    if (text() == "_") {
        operand.kind = OperandKind::sink;
    } else {
        operand.kind = OperandKind::identifier;
        operand.name = intern_token();
    }
    advance();
    if (token_.is(',') || token_.is(';')) return true;
    if (operand.kind == OperandKind::identifier) {
        if (token_.kind == TokenKind::dot_word) {
            const auto component = component_named(dot_word());
            if (!component) return fail_expected("a part of a register (.x .y .z .w, .b0 … .b3, .h0, .h1)");
            operand.component = *component;
            advance();
        } else if (token_.is('+') || token_.is('-')) {
            if (!read_offset(operand.bits)) return false;
        } else if (token_.is('[')) {
            return read_index(operand);
        }
        operand.span.end = last_end_;
    }
    return token_.is('|') ? read_pair(operand) : true;
}

bool Reader::read_pair(Operand& operand) {
    const std::size_t from = pending_.size();
    pending_.push_back(operand);
    advance();
    Operand second;
    if (!at_identifier_operand()) return fail_expected("a register or '_' after '|'");
    second.span = token_.span;
    if (text() != "_") {
        second.kind = OperandKind::identifier;
        second.name = intern_token();
    }
    advance();
    pending_.push_back(second);
    const Span span = since(operand.span.begin);
    operand = {};
    operand.kind = OperandKind::pair;
    operand.span = span;
    operand.children = commit_operands(from);
    return true;
}

// `a[1]`, `a[r+4]` (PTX ISA 6.4.2).
bool Reader::read_index(Operand& operand) {
    const std::size_t from = pending_.size();
    pending_.push_back(operand);
    advance();
    Operand index;
    const std::uint32_t start = begin();
    if (at_identifier_operand()) {
        index.kind = OperandKind::identifier;
        index.name = intern_token();
        advance();
        if ((token_.is('+') || token_.is('-')) && !read_offset(index.bits)) return false;
        index.span = since(start);
    } else if (!read_immediate(index)) {
        return false;
    }
    if (!expect(']', "after the index")) return false;
    pending_.push_back(index);
    const Span span = since(operand.span.begin);
    operand = {};
    operand.kind = OperandKind::indexed;
    operand.span = span;
    operand.children = commit_operands(from);
    return true;
}

bool Reader::read_operands_until(char close, std::string_view what, Operand& operand, OperandKind kind) {
    const std::uint32_t start = begin();
    const std::size_t from = pending_.size();
    advance();
    if (!token_.is(close)) do {
            Operand element;
            if (!read_operand(element)) return false;
            pending_.push_back(element);
        } while (take(','));
    if (!token_.is(close)) return fail_expected(fmt::format("',' or '{}' in {}", close, what));
    advance();
    operand.kind = kind;
    operand.children = commit_operands(from);
    operand.span = since(start);
    return true;
}

// `[a]`, `[a+4]`, `[16]`, and with more behind a comma `[map, {c0, c1}]`.
bool Reader::read_address(Operand& operand) {
    const std::uint32_t start = begin();
    advance();
    operand.kind = OperandKind::address;
    const std::uint32_t base = begin();
    if (at_identifier_operand()) {
        operand.name = intern_token();
        advance();
        if ((token_.is('+') || token_.is('-')) && !read_offset(operand.bits)) return false;
    } else {
        Constant value;
        if (!read_constant(value)) return false;
        if (!value.is_integer()) return fail(since(base), "an address must be an integer");
        operand.bits = value.bits;
        operand.immediate = value.kind;
    }
    operand.span = since(base);
    if (token_.is(',') && !read_address_tail(operand, pending_.size())) return false;
    if (!token_.is(']')) return fail_expected("'+', ',' or ']' in an address");
    advance();
    if (dot_word() == "unified") {
        operand.unified = true;
        advance();
    }
    operand.span = since(start);
    return true;
}

bool Reader::read_address_tail(Operand& operand, std::size_t from) {
    operand.kind = operand.name == none ? OperandKind::immediate : OperandKind::identifier;
    pending_.push_back(operand);
    while (take(',')) {
        Operand next;
        if (!read_operand(next)) return false;
        pending_.push_back(next);
    }
    operand = {};
    operand.kind = OperandKind::tensor_address;
    operand.children = commit_operands(from);
    return true;
}

}  // namespace tilepath::ptx
