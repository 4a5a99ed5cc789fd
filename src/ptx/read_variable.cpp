// Declarations of variables and parameters (PTX ISA 5.1, 5.4).
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ptx/reader.h"

namespace tilepath::ptx {

/// What stands before the name: shared by all declarators of one statement.
struct Reader::Declared {
    Variable variable;  // space, type, vector, alignment, attributes
    std::uint32_t start = 0;
    bool has_align = false, has_pointee_align = false;
};

namespace {

// More than any device has, and small enough that sizes never overflow.
constexpr std::uint64_t most_elements = std::uint64_t{1} << 40;
constexpr std::uint64_t most_registers = std::uint64_t{1} << 24;
constexpr std::uint64_t most_align = 1u << 30;

constexpr std::string_view declaration_words[] = {
    "align", "attribute", "ptr", "v2",    "v4",  "reg", "const", "global", "local",      "param",  "shared",
    "u8",    "u16",       "u32", "u64",   "s8",  "s16", "s32",   "s64",    "b8",         "b16",    "b32",
    "b64",   "b128",      "f16", "f16x2", "f32", "f64", "pred",  "texref", "samplerref", "surfref"};

}  // namespace

bool Reader::read_alignment(std::uint32_t& align) {
    if (align != 0) return fail(token_.span, "'.align' may stand only once");
    advance();
    const Span span = token_.span;
    std::uint64_t value = 0;
    if (!read_unsigned("an alignment in bytes", most_align, value)) return false;
    if (!std::has_single_bit(value))
        return fail(span, fmt::format("an alignment must be a power of two, not {}", value));
    align = static_cast<std::uint32_t>(value);
    return true;
}

// `.attribute(.managed)`, `.attribute(.unified(1, 2))`, several separated by commas (PTX ISA 5.4.8).
bool Reader::read_attribute(Declared& words) {
    advance();
    if (!expect('(', "after '.attribute'")) return false;
    do {
        const std::string_view name = dot_word();
        if (name == "managed") {
            advance();
            words.variable.managed = true;
        } else if (name == "unified") {
            advance();
            words.variable.unified = true;
            constexpr std::uint64_t any = ~std::uint64_t{0};
            if (!expect('(', "after '.unified'") ||
                !read_unsigned("an identifier's upper half", any, words.variable.unified_id[0]) ||
                !expect(',', "between the halves of the identifier") ||
                !read_unsigned("an identifier's lower half", any, words.variable.unified_id[1]) ||
                !expect(')', "after the identifier"))
                return false;
        } else {
            return fail_expected(".managed or .unified");
        }
    } while (take(','));
    return expect(')', "to close '.attribute'");
}

// A function's attributes are written as a variable's are; only `.unified` fits a function.
bool Reader::read_function_attribute(Function& function) {
    Declared words;
    const std::uint32_t start = begin();
    if (!read_attribute(words)) return false;
    if (words.variable.managed) return fail(since(start), "'.managed' is an attribute of variables, not of functions");
    function.unified = words.variable.unified;
    std::copy(std::begin(words.variable.unified_id), std::end(words.variable.unified_id), function.unified_id);
    return true;
}

// One dot word of a declaration. Their order is fixed only in that a pointer's space and alignment follow `.ptr`.
bool Reader::read_variable_word(Declared& words) {
    Variable& v = words.variable;
    const std::string_view word = dot_word();
    const auto once = [&](bool already, std::string_view what) {
        return already ? fail(token_.span, fmt::format("a second {} in one declaration: {}", what, found())) : true;
    };
    if (word == "align") return read_alignment(v.pointer ? v.pointee_align : v.align);
    if (word == "attribute") return read_attribute(words);
    if (const auto space = space_named(word)) {
        Space& target = v.pointer ? v.pointee_space : v.space;
        if (!once(target != Space::none, "state space")) return false;
        target = *space;
        advance();
        if (*space != Space::const_ || !token_.is('[')) return true;
        advance();
        std::uint64_t bank = 0;
        if (!read_unsigned("a constant bank", 10, bank)) return false;
        v.bank = static_cast<std::uint8_t>(bank);
        return expect(']', "after the bank");
    }
    if (const auto type = type_named(word)) {
        if (!once(v.type != Type::none, "type")) return false;
        v.type = *type;
    } else if (word == "v2" || word == "v4") {
        if (!once(v.vector != 1, "vector width")) return false;
        v.vector = word == "v2" ? 2 : 4;
    } else if (word == "ptr") {
        if (!once(v.pointer, "'.ptr'")) return false;
        v.pointer = true;
    } else {
        Nearest nearest(word);
        for (std::string_view known : declaration_words) nearest.offer(known);
        const std::string note =
            nearest.word().empty() ? std::string{} : did_you_mean(fmt::format(".{}", nearest.word()));
        return fail_expected("a type, a space or a name in the declaration", note);
    }
    advance();
    return true;
}

bool Reader::read_variable_words(Declared& words) {
    while (token_.kind == TokenKind::dot_word)
        if (!read_variable_word(words)) return false;
    if (words.variable.space == Space::none)
        return fail(token_.span, "expected a state space such as .reg or .param before the name");
    if (words.variable.type == Type::none)
        return fail(token_.span, fmt::format("expected a type such as .b32 before the name, found {}", found()));
    return true;
}

bool Reader::read_declarator(const Declared& words, bool parameter, Variable& variable) {
    variable = words.variable;
    if (!expect_name("a name", variable.name, variable.name_span)) return false;
    if (names_.texts()[variable.name] == "_") {
        if (!parameter)
            return fail(variable.name_span, "'_' names nothing; it may stand for a parameter only in a prototype");
        variable.name = none;
    }
    if (token_.is('<') && !read_count(variable)) return false;
    if (token_.is('[') && !read_dimensions(variable)) return false;
    if (token_.is('=')) {
        advance();
        Initializer root;
        if (!read_initializer(root, 0)) return false;
        variable.initializer = static_cast<Id>(module_.initializers.size());
        module_.initializers.push_back(root);
    }
    variable.span = since(words.start);
    return check_variable(variable, parameter);
}

bool Reader::read_count(Variable& variable) {
    advance();
    std::uint64_t count = 0;
    constexpr int tighter_than_comparisons = 8;
    if (!read_unsigned("a number of registers", most_registers, count, tighter_than_comparisons)) return false;
    variable.parameterised = true;
    variable.count = static_cast<std::uint32_t>(count);
    return expect('>', "after the number of names");
}

bool Reader::read_dimensions(Variable& variable) {
    std::vector<std::uint64_t> dimensions;
    std::uint64_t elements = 1;
    const std::uint32_t start = begin();
    while (take('[')) {
        std::uint64_t size = 0;
        if (!token_.is(']')) {
            if (!read_unsigned("a size", most_elements, size)) return false;
            if (size == 0 && !dimensions.empty())
                return fail({last_end_ - 1, last_end_}, "only the first size of an array may be 0");
        } else if (!dimensions.empty()) {
            return fail(token_.span, "only the first size of an array may be left out");
        }
        if (!expect(']', "after the size")) return false;
        dimensions.push_back(size);
        if (size != 0 && (elements *= size) > most_elements)
            return fail(since(start), "this array is larger than any memory");
    }
    variable.dimensions = {static_cast<Id>(module_.dimensions.size()), static_cast<std::uint32_t>(dimensions.size())};
    module_.dimensions.insert(module_.dimensions.end(), dimensions.begin(), dimensions.end());
    return true;
}

// `.reg .pred %p<3>, q;` Every declarator becomes a statement or item of its own.
bool Reader::read_variables(Linkage linkage, std::uint32_t start, bool module_scope) {
    Declared words;
    words.variable.linkage = linkage;
    words.start = start;
    if (!read_variable_words(words)) return false;
    const Space space = words.variable.space;
    if (module_scope && (space == Space::reg || space == Space::local || space == Space::param))
        return fail({start, last_end_},
                    fmt::format("a .{} variable belongs in a function's body, not in the module", word(space)));
    do {
        Variable variable;
        if (!read_declarator(words, false, variable)) return false;
        const std::size_t index = module_.variables.size();
        module_.variables.push_back(variable);
        if (module_scope)
            add_item(ItemKind::variable, index);
        else
            add_statement(StatementKind::variable, index);
    } while (take(','));
    return end_statement("the declaration");
}

bool Reader::read_parameter(std::string_view what) {
    Declared words;
    words.start = begin();
    if (token_.kind != TokenKind::dot_word) return fail_expected(fmt::format("'.param' or '.reg' in {}", what));
    if (!read_variable_words(words)) return false;
    if (words.variable.space != Space::param && words.variable.space != Space::reg)
        return fail({words.start, last_end_},
                    fmt::format("expected '.param' or '.reg' in {}, found '.{}'", what, word(words.variable.space)));
    Variable variable;
    if (!read_declarator(words, true, variable)) return false;
    module_.variables.push_back(variable);
    return true;
}

/// `(.param .u64 a, .param .align 4 .b8 b[12])`
bool Reader::read_parameters(Range& parameters, std::string_view what) {
    parameters.first = static_cast<Id>(module_.variables.size());
    advance();
    if (!token_.is(')')) do {
            if (!read_parameter(what)) return false;
        } while (take(','));
    parameters.count = static_cast<std::uint32_t>(module_.variables.size()) - parameters.first;
    if (token_.is(')')) {
        advance();
        return true;
    }
    return fail_expected(fmt::format("',' or ')' in {}", what));
}

}  // namespace tilepath::ptx
