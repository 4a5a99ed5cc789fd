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
    const std::size_t from = pending_initializers_.size();
    if (!token_.is('}')) do {
            Initializer child;
            if (!read_initializer(child, depth + 1)) return false;
            pending_initializers_.push_back(child);
        } while (take(','));
    if (!token_.is('}')) return fail_expected("',' or '}' in the initial value");
    advance();
    auto& all = module_.initializers;
    node.kind = InitializerKind::list;
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

// A list per dimension and per vector, none longer than it; short lists are filled up with zeros.
bool Reader::check_initializer(const Variable& variable, const Initializer& node, unsigned level) {
    const std::uint32_t dimensions = variable.dimensions.count;
    const bool opaque =
        variable.type == Type::texref || variable.type == Type::samplerref || variable.type == Type::surfref;
    const bool vector_level = level == dimensions && variable.vector > 1;
    const bool wants_list = level < dimensions || vector_level || (opaque && level == dimensions);
    if (wants_list != (node.kind == InitializerKind::list))
        return fail(node.span, wants_list ? "expected a list in braces for this array or vector"
                                          : "expected one value, found a list");
    if (!wants_list) return check_initial_value(variable, node);
    const std::uint64_t room = vector_level         ? variable.vector
                               : level < dimensions ? module_.dimensions[variable.dimensions.first + level]
                                                    : node.children.count;
    if (room != 0 && node.children.count > room)
        return fail(node.span, fmt::format("{} initial values for {} elements", node.children.count, room));
    for (Id i = node.children.first; i < node.children.first + node.children.count; ++i)
        if (!check_initializer(variable, module_.initializers[i], level + 1)) return false;
    return true;
}

bool Reader::check_initial_value(const Variable& variable, const Initializer& node) {
    const Type type = variable.type;
    const bool opaque = type == Type::texref || type == Type::samplerref || type == Type::surfref;
    if (opaque != (node.kind == InitializerKind::field))
        return fail(node.span, opaque ? "expected name = value" : fmt::format("a .{} has no fields", word(type)));
    if (opaque) return true;
    if (type == Type::f16 || type == Type::f16x2)
        return fail(node.span, fmt::format("a .{} cannot have an initial value; declare it .b{}", word(type),
                                           8 * size_in_bytes(type)));
    const bool floating = type == Type::f32 || type == Type::f64;
    if (node.kind == InitializerKind::address) {
        const unsigned bytes = size_in_bytes(type);
        const bool fits = node.mask_byte == Initializer::no_mask ? bytes == 4 || bytes == 8 : bytes == 1;
        return fits && !floating ? true
                                 : fail(node.span, fmt::format("a .{} cannot hold this address", word(type)),
                                        "addresses fit .u64 and .u32; a byte of one, as 0xFF00(name), fits .u8");
    }
    const bool is_floating = node.immediate == ImmediateKind::f32 || node.immediate == ImmediateKind::f64;
    if (floating == is_floating) return true;
    return fail(node.span, fmt::format("expected {} for a .{}",
                                       floating ? "a floating-point value such as 1.0" : "an integer", word(type)));
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
