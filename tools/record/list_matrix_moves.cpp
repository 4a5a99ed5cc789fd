// Matrices between shared memory and registers, and transposed among registers.
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

}  // namespace

void list_matrix_moves(Cases& into) {
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
