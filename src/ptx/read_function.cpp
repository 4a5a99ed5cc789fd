// Headers of entries and functions, call prototypes (PTX ISA 11.2, 11.3.3, 11.4, 11.7, 11.8).
#include <fmt/format.h>

#include "ptx/reader.h"

namespace tilepath::ptx {

bool Reader::read_function(FunctionKind kind, Linkage linkage, std::uint32_t start) {
    Function function;
    function.kind = kind;
    function.linkage = linkage;
    advance();
    const bool good_header = read_function_header(function);
    if (!good_header) {
        // The body's own errors can still be found.
        names_are_missing_ = true;
        while (token_.kind != TokenKind::end && !token_.is('{') && !token_.is(';') && !token_.is('}') &&
               !starts_module_item())
            advance();
    }
    if (token_.is('{')) {
        function.has_body = true;
        read_body(function);
    } else if (!take(';')) {
        if (!good_header) return true;
        if (token_.kind == TokenKind::dot_word) {
            Nearest nearest(dot_word());
            for (int i = 0; i <= static_cast<int>(DirectiveKind::pragma); ++i)
                nearest.offer(word(static_cast<DirectiveKind>(i)));
            const std::string_view near = nearest.word();
            return fail_expected("'{', ';' or a tuning directive after the header",
                                 near.empty() ? std::string{} : did_you_mean(fmt::format(".{}", near)));
        }
        return fail_expected("'{' or ';' after the header of a function");
    }
    function.span = since(start);
    add_item(ItemKind::function, module_.functions.size());
    module_.functions.push_back(function);
    return true;
}

bool Reader::read_function_header(Function& function) {
    const bool is_entry = function.kind == FunctionKind::entry;
    if (dot_word() == "attribute" && !read_function_attribute(function)) return false;
    if (token_.is('(')) {
        if (is_entry) return fail(token_.span, "an entry returns nothing: expected its name, found '('");
        if (!read_parameters(function.returns, "the list of return values")) return false;
    }
    if (!expect_name("the function's name", function.name, function.name_span)) return false;
    if (token_.is('(')) {
        function.has_parameter_list = true;
        if (!read_parameters(function.parameters, "the list of parameters")) return false;
    }
    return read_function_directives(function.directives) && check_function(function);
}

bool Reader::read_function_directives(Range& directives) {
    directives.first = static_cast<Id>(module_.function_directives.size());
    while (const auto kind = directive_named(dot_word()))
        if (!read_function_directive(*kind)) return false;
    directives.count = static_cast<std::uint32_t>(module_.function_directives.size()) - directives.first;
    return true;
}

bool Reader::read_function_directive(DirectiveKind kind) {
    FunctionDirective directive{};
    directive.kind = kind;
    const std::uint32_t start = begin();
    if (kind == DirectiveKind::pragma) {
        if (!read_pragma(directive.pragma)) return false;
    } else {
        advance();
        const auto [least, most] = arity(kind);
        while (directive.count < most) {
            if (directive.count > 0 && !take(',')) break;
            std::uint64_t value = 0;
            if (!read_unsigned(fmt::format("a number for '.{}'", word(kind)), ~std::uint32_t{0}, value)) return false;
            directive.values[directive.count++] = static_cast<std::uint32_t>(value);
        }
        if (most > 0 && token_.is(','))
            return fail(token_.span, fmt::format("'.{}' takes at most {} numbers", word(kind), most));
    }
    directive.span = since(start);
    module_.function_directives.push_back(directive);
    return true;
}

}  // namespace tilepath::ptx
