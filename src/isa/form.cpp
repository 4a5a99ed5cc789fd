#include "isa/form.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/assert.h"

namespace tilepath::isa {
namespace {

std::vector<std::string_view> split(std::string_view text) {
    std::vector<std::string_view> words;
    while (true) {
        std::size_t begin = text.find_first_not_of(' ');
        if (begin == std::string_view::npos) return words;
        std::size_t end = std::min(text.find(' ', begin), text.size());
        words.push_back(text.substr(begin, end - begin));
        text.remove_prefix(end);
    }
}

Ordered order_of(const std::vector<std::string_view>& words) {
    auto all = [&](auto&& is) { return std::all_of(words.begin(), words.end(), is); };
    if (all([](std::string_view word) { return program::type_named(word).has_value(); })) return Ordered::types;
    if (all([](std::string_view word) { return word == "row" || word == "col"; })) return Ordered::layouts;
    if (all([](std::string_view word) { return word.starts_with("L2::evict_"); })) return Ordered::priorities;
    if (all([](std::string_view word) { return word == "global" || word.starts_with("shared"); }))
        return Ordered::spaces;
    return Ordered::no;
}

/// Walks a syntax line; every complaint is about our own tables.
class Reader {
  public:
    Reader(const FormText& text, const Family& family) : rest_(text.syntax), source_(text) {
        form_.family = &family;
        form_.needs = text.needs;
    }

    Form read() {
        form_.opcode = word();
        form_.text = form_.opcode;
        while (peek('.') || peek("{.")) read_modifier();
        bool optional = false;
        for (bool first = true;; first = false) {
            skip_blanks();
            if (rest_.empty()) break;
            if (peek('}')) {
                take('}'), form_.text += '}', optional = false;
                continue;
            }
            if (peek('{')) {
                take('{');
                form_.text += '{';
                optional = true;
            }
            if (!first) take(','), form_.text += ',';
            form_.text += ' ';
            skip_blanks();
            read_operand(optional);
        }
        return std::move(form_);
    }

  private:
    bool peek(char c) const { return !rest_.empty() && rest_.front() == c; }
    bool peek(std::string_view text) const { return rest_.starts_with(text); }
    void skip_blanks() {
        while (peek(' ')) rest_.remove_prefix(1);
    }
    void take(char c) {
        if (!peek(c)) wrong(fmt::format("expected '{}'", c));
        rest_.remove_prefix(1);
    }
    [[noreturn]] void wrong(const std::string& what) const {
        std::string message = fmt::format("form '{}': {} before '{}'", source_.syntax, what, rest_);
        assertion_failed("a readable form", message.c_str(), __FILE__, __LINE__);
    }
    std::string_view word() {
        // "::" belongs to a word (L2::128B), one ':' introduces an operand's type.
        std::size_t n = 0;
        auto in_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
        while (n < rest_.size() && (in_word(rest_[n]) || rest_.substr(n, 2) == "::")) n += in_word(rest_[n]) ? 1 : 2;
        if (n == 0) wrong("expected a word");
        std::string_view taken = rest_.substr(0, n);
        rest_.remove_prefix(n);
        return taken;
    }

    void read_modifier() {
        ModifierSlot slot;
        slot.optional = peek('{');
        if (slot.optional) take('{');
        take('.');
        slot.name = word();
        if (slot.optional) take('}');
        for (std::string_view line : source_.words) {
            std::size_t colon = line.find(": ");
            if (colon != std::string_view::npos && line.substr(0, colon) == slot.name)
                slot.words = split(line.substr(colon + 2));
        }
        if (slot.words.empty()) {
            // A word that stands for itself: its text lives as long as the family's table.
            std::size_t at = source_.syntax.size() - rest_.size() - slot.name.size() - (slot.optional ? 1 : 0);
            slot.words.push_back(source_.syntax.substr(at, slot.name.size()));
        }
        std::string_view shown = slot.words.size() == 1 ? slot.words.front() : std::string_view(slot.name);
        form_.text += fmt::format("{}.{}{}", slot.optional ? "{" : "", shown, slot.optional ? "}" : "");
        slot.ordered = order_of(slot.words);
        form_.modifiers.push_back(std::move(slot));
    }

    void read_operand(bool optional) {
        OperandSlot slot;
        slot.optional = optional;
        if (peek('[')) {
            take('['), slot.name = word();
            slot.kind = OperandSlot::Kind::address;
            form_.text += "[" + slot.name;
            if (peek(',')) {
                take(','), skip_blanks(), slot.second_name = word();
                slot.kind = OperandSlot::Kind::tensor;
                form_.text += ", " + slot.second_name;
            }
            take(']');
            form_.text += "]";
        } else if (peek('(')) {
            take('('), slot.name = word(), take(')');
            slot.kind = OperandSlot::Kind::list;
            form_.text += "(" + slot.name + ")";
        } else {
            slot.name = word();
            form_.text += slot.name;
            read_type(slot);
            if (peek("{|")) {
                take('{'), take('|'), slot.second_name = word(), take('}');
                slot.kind = OperandSlot::Kind::value_or_pair;
                form_.text += "{|" + slot.second_name + "}";
            } else if (peek('|')) {
                take('|'), slot.second_name = word();
                slot.kind = OperandSlot::Kind::pair;
                form_.text += "|" + slot.second_name;
            }
        }
        if (!optional) form_.least_operands = form_.operands.size() + 1;
        form_.operands.push_back(std::move(slot));
    }

    void read_type(OperandSlot& slot) {
        std::string name;
        if (peek(':')) {
            take(':');
            name = word();
        } else if (slot.name == "p" || slot.name == "q") {
            name = "pred";
        } else {
            name = form_.modifier(slot.name + "type") >= 0 ? slot.name + "type" : "type";
        }
        slot.type_from = form_.modifier(name);
        if (slot.type_from >= 0) return;
        if (name == "vector") {
            slot.kind = OperandSlot::Kind::vector;
            slot.type = DataType::b32;
            return;
        }
        if (auto type = program::type_named(name))
            slot.type = *type;
        else if (name != "type" && name != "none")
            wrong(fmt::format("'{}' is neither a type nor a modifier", name));
    }

    std::string_view rest_;
    const FormText& source_;
    Form form_;
};

}  // namespace

bool ModifierSlot::accepts(std::string_view word) const {
    return std::find(words.begin(), words.end(), word) != words.end();
}

int Form::modifier(std::string_view name) const {
    for (std::size_t i = 0; i < modifiers.size(); ++i)
        if (modifiers[i].name == name) return static_cast<int>(i);
    return -1;
}

int Form::operand(std::string_view name) const {
    for (std::size_t i = 0; i < operands.size(); ++i)
        if (operands[i].name == name) return static_cast<int>(i);
    return -1;
}

Form compile(const FormText& text, const Family& family) { return Reader(text, family).read(); }

}  // namespace tilepath::isa
