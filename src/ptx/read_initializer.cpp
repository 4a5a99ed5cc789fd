// Initial values of variables (PTX ISA 5.4.4), and the fields of samplers (PTX ISA 5.3).
#include <fmt/format.h>

#include <bit>

#include "ptx/reader.h"

namespace tilepath::ptx {

bool Reader::read_initializer(Initializer& node, unsigned depth) {
    const std::uint32_t start = begin();
    const bool good = token_.is('{') ? read_initializer_list(node, depth) : read_initializer_value(node);
    node.span = since(start);
    return good;
}

bool Reader::read_initializer_list(Initializer& node, unsigned depth) {
    if (depth >= deepest_nesting) return fail(token_.span, "this initial value is nested too deeply");
    advance();
    node.kind = InitializerKind::list;
    const bool good = token_.is('{') ? read_lists(node, depth) : read_values(node);
    if (!good) return false;
    if (!token_.is('}')) return fail_expected("',' or '}' in the initial value");
    advance();
    return true;
}

// The innermost lists can be long; their values are stored as they are read.
bool Reader::read_values(Initializer& node) {
    auto& all = module_.initializers;
    node.children = {static_cast<Id>(all.size()), 0};
    if (token_.is('}')) return true;
    do {
        Initializer& value = all.emplace_back();
        const std::uint32_t start = begin();
        if (token_.is('{'))
            return fail(token_.span, "a list after values: an initial value nests as its dimensions do");
        if (!read_initializer_value(value)) return false;
        value.span = since(start);
        ++node.children.count;
    } while (take(','));
    return true;
}

// Lists of lists: each stores its own children before its siblings are complete, so these wait to be stored together.
bool Reader::read_lists(Initializer& node, unsigned depth) {
    const std::size_t from = pending_initializers_.size();
    do {
        Initializer child;
        if (!read_initializer(child, depth + 1)) return false;
        pending_initializers_.push_back(child);
    } while (take(','));
    auto& all = module_.initializers;
    node.children = {static_cast<Id>(all.size()), static_cast<std::uint32_t>(pending_initializers_.size() - from)};
    all.insert(all.end(), pending_initializers_.begin() + static_cast<std::ptrdiff_t>(from),
               pending_initializers_.end());
    pending_initializers_.resize(from);
    return true;
}

bool Reader::read_initializer_value(Initializer& node) {
    if (at_identifier_operand()) return read_initializer_address(node);
    const std::uint32_t start = begin();
    Constant value;
    if (!read_constant(value)) return false;
    if (token_.is('(')) {
        // `0xFF00(symbol)`: one byte of an address.
        const bool one_byte = value.is_integer() && std::popcount(value.bits) == 8 &&
                              std::countr_zero(value.bits) % 8 == 0 &&
                              value.bits >> std::countr_zero(value.bits) == 0xff;
        if (!one_byte) return fail(since(start), "a mask must select one byte: 0xFF, 0xFF00, …, 0xFF00000000000000");
        return read_masked(node, value.bits);
    }
    node.kind = InitializerKind::value;
    node.immediate = value.kind;
    node.bits = value.bits;
    return true;
}

// `name`, `name+4`, `generic(name)+4`, `addr_mode_0 = wrap`.
bool Reader::read_initializer_address(Initializer& node) {
    node.kind = InitializerKind::address;
    node.name = intern_token();
    const bool is_generic = text() == "generic";
    advance();
    if (is_generic && take('(')) {
        node.generic = true;
        Span span;
        if (!expect_name("the name of a variable", node.name, span) || !expect(')', "to close 'generic('"))
            return false;
    } else if (take('=')) {
        node.kind = InitializerKind::field;
        if (token_.kind == TokenKind::identifier) {
            node.value_name = intern_token();
            advance();
            return true;
        }
        std::uint64_t value = 0;
        if (!read_unsigned("a field's value", ~std::uint32_t{0}, value)) return false;
        node.bits = value;
        return true;
    }
    return token_.is('+') || token_.is('-') ? read_offset(node.bits) : true;
}

bool Reader::read_masked(Initializer& node, std::uint64_t mask) {
    advance();
    const int shift = std::countr_zero(mask);
    const std::uint32_t start = begin();
    if (at_identifier_operand()) {
        if (!read_initializer_address(node)) return false;
        if (node.kind != InitializerKind::address) return fail(since(start), "expected an address under the mask");
        node.mask_byte = static_cast<std::uint8_t>(shift / 8);
    } else {
        Constant value;
        if (!read_constant(value)) return false;
        if (!value.is_integer()) return fail(since(start), "expected an integer or an address under the mask");
        node.kind = InitializerKind::value;
        node.immediate = ImmediateKind::s64;
        node.bits = value.bits >> shift & 0xff;
    }
    return expect(')', "after what the mask selects from");
}

}  // namespace tilepath::ptx
