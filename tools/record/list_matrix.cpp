// Whole-warp multiplications: registers in, registers out, so that fragments and arithmetic are recorded at once.
#include <algorithm>

#include "atom/mma_sp.h"
#include "atom/wmma.h"
#include "isa/matrix_rules.h"
#include "list.h"

namespace tilepath::recorded {
namespace {

using number::Format;

Format format_of(const isa::Form& form, const Words& words, std::string_view slot) {
    const std::string_view word = word_in(form, words, slot);
    return number::format_named(word.empty() ? "f16" : word).value_or(Format::f16);
}

atom::MmaTypes types_of(const isa::Form& form, const Words& words) {
    return {format_of(form, words, "dtype"), format_of(form, words, "atype"), format_of(form, words, "btype"),
            format_of(form, words, "ctype")};
}

std::string kind_of(const atom::Fragment& fragment) {
    const std::string name(number::traits(*fragment.format).name);
    const int each = fragment.register_bits / fragment.element_bits;
    if (fragment.element_bits == 1) return "b32";
    return name + (each > 1 ? "x" + std::to_string(each) : "") + "/dot";
}

std::string registers(Names& names, const atom::Fragment& fragment, std::vector<std::string>& into) {
    std::string list;
    for (int i = 0; i < fragment.registers; ++i) {
        into.push_back(names.next(fragment.register_bits));
        list += (i == 0 ? "" : ", ") + into.back();
    }
    return "{" + list + "}";
}

template <class Atom>
Case multiplication(const std::string& head, const Atom& atom) {
    Case each;
    each.name = head;
    each.rows = 16;
    Names names;
    std::string text = head + " " + registers(names, atom.d, each.outputs);
    for (const atom::Fragment* source : {&atom.a, &atom.b, &atom.c}) {
        std::vector<std::string> sources;
        text += ", " + registers(names, *source, sources);
        for (const std::string& name : sources) each.inputs.push_back({name, kind_of(*source)});
    }
    each.body = {text};
    return each;
}

void list_dense(Cases& into, const isa::Form& form, const Words& words) {
    const auto major = [&](std::string_view slot) {
        return word_in(form, words, slot) == "col" ? atom::Major::column : atom::Major::row;
    };
    auto atom = atom::mma_sync(isa::shape_named(word_in(form, words, "shape")), types_of(form, words), major("alayout"),
                               major("blayout"));
    if (!atom || atom->minimum_sm > 90) return;
    into.push_back(multiplication(head_of(form, words), *atom));
    into.back().body.back() += ";";
}

void list_sparse(Cases& into, const isa::Form& form, const Words& words) {
    auto atom = atom::mma_sp(isa::shape_named(word_in(form, words, "shape")), types_of(form, words));
    if (!atom || atom->minimum_sm > 90) return;
    for (int selector = 0; selector < atom->selectors; ++selector) {
        Case each = multiplication(head_of(form, words), *atom);
        each.name += " #" + std::to_string(selector);
        each.inputs.push_back({"r63", atom->sparsity == atom::Sparsity::one_of_two ? "one12" : "pairs24"});
        each.body.back() += ", r63, " + std::to_string(selector) + ";";
        into.push_back(std::move(each));
    }
}

/// A and B, which come first among the inputs, from shared memory instead.
void load_operands(Case& each, const isa::Form& form, const Words& words, const atom::WmmaAtom& atom) {
    const std::string shape(word_in(form, words, "shape")), type(number::traits(atom.types.a).name);
    std::vector<std::string> loads;
    std::uint32_t at = 0;
    for (const atom::Fragment* source : {&atom.a, &atom.b}) {
        const std::string matrix = source == &atom.a ? "a" : "b";
        std::string list;
        for (int i = 0; i < source->registers; ++i) {
            list += (i == 0 ? "" : ", ") + each.inputs.front().name;
            each.inputs.erase(each.inputs.begin());
        }
        loads.push_back("wmma.load." + matrix + ".sync.aligned." +
                        std::string(word_in(form, words, matrix + "layout")) + "." + shape + ".shared." + type + " {" +
                        list + "}, [sm+" + std::to_string(at) + "];");
        at += static_cast<std::uint32_t>(source->elements() * source->element_bits / 8);
    }
    each.body.insert(each.body.begin(), loads.begin(), loads.end());
    each.shared_bytes = at;
    each.memory_kind = type + "/dot";
}

void list_wide(Cases& into, const isa::Form& form, const Words& words) {
    auto atom = atom::wmma(isa::shape_named(word_in(form, words, "shape")), types_of(form, words));
    if (!atom || atom->minimum_sm > 90) return;
    Case each = multiplication(head_of(form, words), *atom);
    each.body.back() += ";";
    // Places that repeat an element must hold the same value, so a load fills them.
    if (atom->a.copies() > 1 || atom->b.copies() > 1) load_operands(each, form, words, *atom);
    into.push_back(std::move(each));
}

}  // namespace

void list_matrix(Cases& into) {
    for (const isa::Form& form : isa::all_forms()) {
        if (!on_sm_90(form) || (form.opcode != "mma" && form.opcode != "wmma")) continue;
        if (form.opcode == "wmma" && form.modifier("mma") < 0) continue;
        for (const Words& words : combinations(form, 100'000))
            form.opcode == "wmma"      ? list_wide(into, form, words)
            : form.modifier("sp") >= 0 ? list_sparse(into, form, words)
                                       : list_dense(into, form, words);
    }
}

}  // namespace tilepath::recorded
