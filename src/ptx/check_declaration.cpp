// What a declaration cannot be, beyond its grammar (PTX ISA 5.1, 5.4, 11.2). The verdicts are those of ptxas.
#include <fmt/format.h>

#include "ptx/reader.h"

namespace tilepath::ptx {

bool Reader::check_variable(const Variable& v, bool parameter) {
    const bool is_array = v.dimensions.count != 0;
    const bool opaque = v.type == Type::texref || v.type == Type::samplerref || v.type == Type::surfref;
    const auto wrong = [&](std::string message, std::string note = {}) {
        return fail(v.name_span, std::move(message), std::move(note));
    };
    if (v.type == Type::pred && v.space != Space::reg) return wrong("a predicate can live only in .reg");
    if (opaque && v.space != Space::global && v.space != Space::param)
        return wrong(fmt::format("a .{} lives in .global or, as a kernel's parameter, in .param", word(v.type)));
    if (v.space == Space::sreg) return wrong("special registers are predefined and cannot be declared");
    if (v.vector > 1 && (v.type == Type::pred || opaque || v.vector * size_in_bytes(v.type) > 16))
        return wrong(fmt::format("a .v{} .{} is not a vector type", v.vector, word(v.type)),
                     "vectors have numbers for elements and at most 128 bits");
    if (v.space == Space::reg && is_array)
        return wrong("a register cannot be an array",
                     fmt::format("for several registers write {}<N>", names_.texts()[v.name == none ? 0 : v.name]));
    if (v.pointer && (!parameter || v.space != Space::param)) return wrong("'.ptr' belongs to a kernel's parameters");
    if (v.parameterised && (is_array || v.initializer != none))
        return wrong("a family of names cannot be an array or have an initial value");
    if (v.initializer != none && v.space != Space::const_ && v.space != Space::global)
        return wrong(fmt::format("an initial value is possible only in .const and .global, not in .{}", word(v.space)));
    if (v.initializer != none && v.linkage == Linkage::extern_)
        return wrong("an external variable has its initial value elsewhere");
    if (v.initializer != none && !check_initializer(v, module_.initializers[v.initializer], 0)) return false;
    const bool unsized = is_array && module_.dimensions[v.dimensions.first] == 0;
    const bool has_elements = v.initializer != none && module_.initializers[v.initializer].children.count != 0;
    if (unsized && !has_elements && v.linkage != Linkage::extern_ && !parameter)
        return wrong("the size of this array is unknown", "give its size, or an initial value, or declare it .extern");
    return true;
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

bool Reader::check_function(const Function& function) {
    const bool is_entry = function.kind == FunctionKind::entry;
    for (const Variable& parameter : module_.variables_in(function.parameters)) {
        if (is_entry && parameter.space != Space::param)
            return fail(parameter.span, "a parameter of an entry must be in .param");
        if (!is_entry && parameter.pointer) return fail(parameter.span, "'.ptr' belongs to the parameters of entries");
    }
    for (const FunctionDirective& directive : module_.directives_in(function.directives)) {
        const bool of_functions = directive.kind == DirectiveKind::noreturn ||
                                  directive.kind == DirectiveKind::abi_preserve ||
                                  directive.kind == DirectiveKind::abi_preserve_control;
        if (is_entry && of_functions)
            return fail(directive.span,
                        fmt::format("'.{}' belongs to functions, not to entries", word(directive.kind)));
    }
    return true;
}

}  // namespace tilepath::ptx
