// The module's own directives and the list of its items (PTX ISA 11.1, 11.2.3, 11.4.7).
#include <fmt/format.h>

#include <algorithm>

#include "ptx/reader.h"

namespace tilepath::ptx {
namespace {

// What can begin an item; also where reading goes on after a broken one.
constexpr std::string_view item_words[] = {"version", "target", "address_size", "visible", "extern", "weak",
                                           "common",  "entry",  "func",         "global",  "const",  "shared",
                                           "tex",     "alias",  "file",         "section", "pragma"};

std::optional<std::string_view> recognise_binary(std::string_view text) {
    if (text.starts_with("\x7f"
                         "ELF"))
        return "this is an ELF file (a compiled cubin or an object file)";
    if (text.starts_with("\x50\xed\x55\xba")) return "this is a fatbin";
    if (text.starts_with("PK")) return "this is a zip archive";
    const std::string_view start = text.substr(0, 4096);
    if (start.find('\0') != std::string_view::npos) return "this is a binary file";
    return std::nullopt;
}

}  // namespace

bool Reader::check_text() {
    const std::string_view whole = source_->text();
    if (whole.size() >= ~std::uint32_t{0}) return fail({0, 1}, "this file is 4 GiB or longer", "split the module");
    if (const auto what = recognise_binary(whole))
        return fail({0, 1}, fmt::format("expected PTX text, but {}", *what),
                    "extract PTX with cuobjdump -ptx, or compile with nvcc -ptx");
    if (whole.starts_with(byte_order_mark)) lexer_.go_to(byte_order_mark.size());
    return true;
}

void Reader::read_module() {
    if (token_.kind == TokenKind::end) {
        fail(token_.span, "expected '.version', found an empty file", "every module begins with .version and .target");
        return;
    }
    if (dot_word() != "version") {
        fail_expected("'.version' first", "every module begins with .version and .target");
        if (!starts_module_item()) return;  // this is not PTX; further errors would say nothing
    } else if (!read_version()) {
        skip_item();
    }
    bool has_target = false;
    while (token_.kind != TokenKind::end) {
        if (!has_target && dot_word() != "target" && module_.version_major != 0)
            fail_expected("'.target' after '.version'", "name the architecture: .target sm_80");
        has_target = true;
        const std::uint32_t start = begin();
        if (!read_item()) {
            if (begin() == start) advance();
            skip_item();
        }
    }
    if (!has_target && module_.version_major != 0)
        fail_expected("'.target' after '.version'", "name the architecture: .target sm_80");
}

bool Reader::read_version() {
    const std::uint32_t start = begin();
    if (module_.version_major != 0) return fail(token_.span, "'.version' may stand only once, at the beginning");
    advance();
    const std::string_view number = text();
    const std::size_t dot = number.find('.');
    const auto digits = [](std::string_view part) {
        return !part.empty() && part.size() < 4 &&
               std::all_of(part.begin(), part.end(), [](char c) { return chars::is(c, chars::digit); });
    };
    if (token_.kind != TokenKind::number || dot == std::string_view::npos || !digits(number.substr(0, dot)) ||
        !digits(number.substr(dot + 1)) || number[0] == '0')
        return fail_expected("a version such as 8.0");
    module_.version_major = static_cast<unsigned>(std::stoul(std::string(number.substr(0, dot))));
    module_.version_minor = static_cast<unsigned>(std::stoul(std::string(number.substr(dot + 1))));
    advance();
    module_.version_span = since(start);
    return true;
}

bool Reader::read_target() {
    Target target;
    const std::uint32_t start = begin();
    advance();
    do {
        if (token_.kind != TokenKind::identifier) return fail_expected("an architecture or option, such as sm_80");
        target.words.push_back(text());
        advance();
    } while (take(','));
    target.span = since(start);
    add_item(ItemKind::target, module_.targets_of_module.size());
    module_.targets_of_module.push_back(std::move(target));
    return true;
}

bool Reader::read_address_size() {
    const Span span = token_.span;
    advance();
    std::uint64_t size = 0;
    const Span number = token_.span;
    if (!read_unsigned("32 or 64", 64, size)) return false;
    if (size != 32 && size != 64) return fail(number, fmt::format("expected 32 or 64, found {}", size));
    if (module_.has_address_size) return fail(span, "'.address_size' may stand only once");
    module_.address_size = static_cast<unsigned>(size);
    module_.has_address_size = true;
    return true;
}

bool Reader::read_item() {
    const std::uint32_t start = begin();
    if (token_.is('@')) return read_dwarf_line();
    const std::string_view word = dot_word();
    if (linkage_named(word)) return read_linked_item(start);
    if (word == "entry") return read_function(FunctionKind::entry, Linkage::none, start);
    if (word == "func") return read_function(FunctionKind::func, Linkage::none, start);
    if (word == "version") return read_version();
    if (word == "target") return read_target();
    if (word == "address_size") return read_address_size();
    if (word == "file") return read_file();
    if (word == "section") return read_section();
    if (word == "alias") return read_alias();
    if (word == "loc") {
        if (!read_location()) return false;
        add_item(ItemKind::location, module_.locations.size() - 1);
        return true;
    }
    if (word == "pragma") {
        Id id = none;
        if (!read_pragma(id)) return false;
        add_item(ItemKind::pragma, id);
        return true;
    }
    if (space_named(word)) return read_variables(Linkage::none, start, true);
    if (token_.is('}'))
        return fail(token_.span, "this '}' closes nothing", "a '{' may be missing, or a '}' too many before it");
    Nearest nearest(word);
    for (std::string_view known : item_words) nearest.offer(known);
    const std::string_view near = nearest.word();
    return fail_expected("a directive such as .entry, .func or .global",
                         near.empty() ? std::string{} : did_you_mean(fmt::format(".{}", near)));
}

bool Reader::read_linked_item(std::uint32_t start) {
    const Linkage linkage = *linkage_named(dot_word());
    advance();
    const std::string_view word = dot_word();
    if (word == "entry") return read_function(FunctionKind::entry, linkage, start);
    if (word == "func") return read_function(FunctionKind::func, linkage, start);
    if (space_named(word)) return read_variables(linkage, start, true);
    return fail_expected(fmt::format(".entry, .func or a state space after '.{}'", ptx::word(linkage)));
}

bool Reader::read_alias() {
    Alias alias;
    const std::uint32_t start = begin();
    advance();
    if (!expect_name("the alias's name", alias.name, alias.name_span) ||
        !expect(',', "between the names of '.alias'") ||
        !expect_name("the name of a function", alias.aliasee, alias.aliasee_span) || !end_statement("'.alias'"))
        return false;
    alias.span = since(start);
    add_item(ItemKind::alias, module_.aliases.size());
    module_.aliases.push_back(alias);
    return true;
}

bool Reader::read_pragma(Id& id) {
    Pragma pragma;
    const std::uint32_t start = begin();
    advance();
    do {
        if (token_.kind != TokenKind::string) return fail_expected("a string in double quotes");
        pragma.strings.push_back(text().substr(1, text().size() - 2));
        advance();
    } while (take(','));
    if (!end_statement("'.pragma'")) return false;
    pragma.span = since(start);
    id = static_cast<Id>(module_.pragmas.size());
    module_.pragmas.push_back(std::move(pragma));
    return true;
}

bool Reader::starts_module_item() const {
    return token_.kind == TokenKind::dot_word && (last_end_ == 0 || on_new_line()) &&
           std::find(std::begin(item_words), std::end(item_words), text().substr(1)) != std::end(item_words);
}

// After an error outside of function bodies: to the end of the item, or to what looks like the next one.
void Reader::skip_item() {
    names_are_missing_ = true;
    for (unsigned depth = 0; token_.kind != TokenKind::end; advance()) {
        if (depth == 0 && starts_module_item()) return;
        if (token_.is('{')) ++depth;
        const bool closes = token_.is('}') && (depth == 0 || --depth == 0);
        if (closes || (depth == 0 && token_.is(';'))) {
            advance();
            return;
        }
    }
}

}  // namespace tilepath::ptx
