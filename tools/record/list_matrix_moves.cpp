// Matrices between memory and registers (ldmatrix, stmatrix, wmma.load, wmma.store), and transposed among registers.
#include "atom/wmma.h"
#include "isa/matrix_rules.h"
#include "list.h"

namespace tilepath::recorded {
namespace {

std::string list_of(Case& each, int count, bool outputs) {
    std::string list;
    for (int i = 0; i < count; ++i) {
        const std::string name = "r" + std::to_string(i);
        list += (i == 0 ? "" : ", ") + name;
        if (outputs)
            each.outputs.push_back(name);
        else
            each.inputs.push_back({name, "b32"});
    }
    return "{" + list + "}";
}

/// The fragment that a wmma.load or wmma.store moves, of any atom that has it.
const atom::Fragment* wide_fragment(const isa::Form& form, const Words& words, char matrix) {
    static const std::vector<atom::WmmaAtom> all = atom::all_wmma();
    const atom::Shape shape = isa::shape_named(word_in(form, words, "shape"));
    const auto type = number::format_named(word_in(form, words, "type"));
    for (const atom::WmmaAtom& each : all) {
        const atom::Fragment& fragment = matrix == 'a' ? each.a : matrix == 'b' ? each.b : each.c;
        if (each.shape == shape && fragment.format == type && each.minimum_sm <= 90) return &fragment;
    }
    return nullptr;
}

/// Rows close to one another, and apart.
void list_wide(Cases& into, const isa::Form& form, const Words& words) {
    const bool store = form.modifier("store") >= 0;
    const char matrix = form.modifier("a") >= 0 ? 'a' : form.modifier("b") >= 0 ? 'b' : 'c';
    const atom::Fragment* fragment = wide_fragment(form, words, matrix);
    if (fragment == nullptr) return;
    for (const bool apart : {false, true}) {
        Case each;
        each.name = head_of(form, words) + (apart ? " #apart" : "");
        each.rows = 2;
        const bool by_rows = word_in(form, words, "layout") == "row";
        const int lines = by_rows ? fragment->rows : fragment->columns,
                  length = (by_rows ? fragment->columns : fragment->rows) + (apart ? 128 / fragment->element_bits : 0);
        const auto bytes = static_cast<std::uint32_t>(lines * length * fragment->element_bits / 8);
        const bool shared = word_in(form, words, "ss").starts_with("shared");
        (shared ? each.shared_bytes : each.global_bytes) = (bytes + 15) / 16 * 16;
        std::string list;
        for (int i = 0; i < fragment->registers; ++i) {
            const bool wide = fragment->register_bits == 64;
            const std::string name = (wide ? "q" : "r") + std::to_string(i);
            list += (i == 0 ? "" : ", ") + name;
            if (store)
                each.inputs.push_back({name, wide ? "b64" : "b32"});
            else
                each.outputs.push_back(name);
        }
        const std::string at = shared ? "[sm]" : "[gm]", stride = apart ? ", " + std::to_string(length) : "";
        each.body = {head_of(form, words) + (store ? " " + at + ", {" + list + "}" : " {" + list + "}, " + at) +
                     stride + ";"};
        into.push_back(std::move(each));
    }
}

}  // namespace

void list_matrix_moves(Cases& into) {
    for (const isa::Form& form : isa::all_forms())
        if (on_sm_90(form) && form.opcode == "wmma" && form.modifier("mma") < 0)
            for (const Words& words : combinations(form, 10'000)) list_wide(into, form, words);
    for (const isa::Form& form : isa::all_forms()) {
        const bool load = form.opcode == "ldmatrix", store = form.opcode == "stmatrix";
        if (!on_sm_90(form) || (!load && !store && form.opcode != "movmatrix")) continue;
        for (const Words& words : combinations(form, 1000)) {
            Case each;
            each.name = head_of(form, words);
            each.rows = 4;
            if (form.opcode == "movmatrix") {
                each.inputs = {{"r1", "b32"}};
                each.outputs = {"r0"};
                each.body = {each.name + " r0, r1;"};
                into.push_back(std::move(each));
                continue;
            }
            each.shared_bytes = 1024;
            const std::string_view number = word_in(form, words, "num");
            const std::string list = list_of(each, number[1] - '0', load);
            // A load's rows lie anywhere, a store's apart.
            if (load) {
                each.inputs.push_back({"r9", "below:64"});
                each.body = {"mad.lo.u32 r8, r9, 16, sm;", each.name + " " + list + ", [r8];"};
            } else {
                each.body = {"mad.lo.u32 r9, tid, 37, 11; and.b32 r9, r9, 63; mad.lo.u32 r8, r9, 16, sm;",
                             each.name + " [r8], " + list + ";"};
            }
            // Without a space the address is generic.
            if (word_in(form, words, "ss").empty()) {
                std::string& line = each.body.back();
                line.replace(line.find("[r8]"), 4, "[q0]");
                each.body.insert(each.body.begin() + 1, "cvt.u64.u32 q0, r8; cvta.shared.u64 q0, q0;");
            }
            into.push_back(std::move(each));
        }
    }
}

}  // namespace tilepath::recorded
