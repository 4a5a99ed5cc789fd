// Atomic operations: each lane at an address of its own, with the old value; and all lanes at one address where their
// order cannot matter, with what memory holds at the end.
#include <algorithm>

#include "../../tests/exec/recorded_inputs.h"
#include "list.h"

namespace tilepath::recorded {
namespace {

struct Parts {
    const isa::Form& form;
    const Words& words;
    std::string head = head_of(form, words);
    std::string op{word_in(form, words, "op")}, type{word_in(form, words, "type")};
    int vector = 1;
    bool shared = word_in(form, words, "space").starts_with("shared");
    bool is_atom = form.opcode == "atom", hinted = form.operand("policy") >= 0, cas = form.operand("c") >= 0;

    bool floating() const { return type[0] == 'f' || type.starts_with("bf"); }
    int bits() const {
        const std::size_t by = type.find('x');
        return by == std::string::npos ? bits_of_type(type) : 32;
    }
};

/// Whether the lanes of one address may go in any order. Minima of floats may too, unless zeros or NaN meet.
bool commutes(const Parts& of) { return of.op != "exch" && of.op != "cas"; }

std::string collision_kind(const Parts& of) {
    if (of.op == "inc" || of.op == "dec") return "row:0,5,1f,21,ffffffff";
    if (!of.floating()) return of.type;
    return of.type + (of.op == "add" ? "/small" : "/ordered");
}

std::string source(Case& each, Names& names, const Parts& of, const std::string& kind) {
    std::string list;
    for (int i = 0; i < of.vector; ++i) {
        each.inputs.push_back({names.next(of.bits()), kind});
        list += (i == 0 ? "" : ", ") + each.inputs.back().name;
    }
    return of.vector > 1 ? "{" + list + "}" : list;
}

std::string destination(Case& each, Names& names, const Parts& of) {
    std::string list;
    for (int i = 0; i < of.vector; ++i) {
        each.outputs.push_back(names.next(of.bits()));
        list += (i == 0 ? "" : ", ") + each.outputs.back();
    }
    return of.vector > 1 ? "{" + list + "}" : list;
}

void add_case(Cases& into, const Parts& of, bool collide) {
    Case each;
    each.name = of.head + (collide ? " #one" : "");
    each.rows = collide ? 8 : of.floating() ? 64 : 16;
    const std::string kind = collide ? collision_kind(of) : of.type;
    const int bytes = std::max(of.bits() / 8, 2) * of.vector;
    const auto all = static_cast<std::uint32_t>(std::max(16, collide ? bytes : 32 * bytes));
    (of.shared ? each.shared_bytes : each.global_bytes) = all;
    each.memory_kind = collide && of.floating() ? kind : of.type;
    Names names;
    std::string operands = of.is_atom ? destination(each, names, of) + ", " : "";
    if (collide) each.outputs.clear();
    operands += of.shared ? "[r60]" : "[q60]";
    if (of.cas) {
        // A third of the comparisons with what the lane finds: memory and b are small.
        each.memory_kind = of.type == "b16" ? "b16" : "b32";
        operands += ", " + source(each, names, of, of.type);
        each.inputs.push_back({"p0", "pred"});
    }
    operands += ", " + source(each, names, of, kind);
    if (of.hinted) {
        each.body.push_back("createpolicy.fractional.L2::evict_last.b64 q61, 1.0;");
        operands += ", q61";
    }
    const std::string pitch = std::to_string(collide ? 0 : bytes);
    each.body.push_back(of.shared ? "mad.lo.u32 r60, tid, " + pitch + ", sm;"
                                  : "mad.wide.u32 q60, tid, " + pitch + ", gm;");
    if (of.cas) {
        const std::string b = each.inputs.front().name;
        const std::string at = of.shared ? "[r60]" : "[q60]", space = of.shared ? ".shared" : ".global";
        each.body.push_back("@p0 ld" + space + ".b" + std::to_string(of.bits()) + " " + b + ", " + at + ";");
    }
    each.body.push_back(of.head + " " + operands + ";");
    into.push_back(std::move(each));
}

/// Every operation, type, vector and space, with orders and scopes in turn.
std::vector<Words> variants(const isa::Form& form) {
    std::vector<Words> all;
    std::size_t turn = 0;
    const auto slot = [&](std::string_view name) { return static_cast<std::size_t>(std::max(0, form.modifier(name))); };
    for (const Words& words : combinations(form, 100'000))
        if (words[slot("sem")].empty() && words[slot("scope")].empty()) all.push_back(words);
    while (all.size() < 5) all.push_back(all.front());
    for (Words& words : all) {
        const auto turned = [&](std::string_view name, std::size_t by) {
            const auto& choices = form.modifiers[slot(name)].words;
            const std::size_t at = by % (choices.size() + 1);
            words[slot(name)] = at == 0 ? std::string_view{} : choices[at - 1];
        };
        turned("sem", turn), turned("scope", turn + turn / 5);
        ++turn;
    }
    return all;
}

}  // namespace

void list_atomics(Cases& into) {
    for (const isa::Form& form : isa::all_forms()) {
        if (!on_sm_90(form) || (form.opcode != "atom" && form.opcode != "red")) continue;
        for (const Words& words : variants(form)) {
            Parts of{form, words};
            // Words that stand for themselves.
            for (std::string_view word : words) {
                static const std::vector<std::string_view> operations{"exch", "cas", "add", "inc", "dec",
                                                                      "min",  "max", "and", "or",  "xor"};
                if (std::find(operations.begin(), operations.end(), word) != operations.end()) of.op = word;
                if (word.size() == 2 && word[0] == 'v') of.vector = word[1] - '0';
            }
            if (of.type.empty()) of.type = words.back();
            add_case(into, of, false);
            if (commutes(of)) add_case(into, of, true);
        }
    }
}

}  // namespace tilepath::recorded
