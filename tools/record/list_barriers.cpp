// Barriers of a CTA: reductions over its threads, and values that pass from warp to warp.
#include "list.h"

namespace tilepath::recorded {
namespace {

/// Three warps; with a count of threads only the first two take part.
Case begin(const std::string& head, bool counted) {
    Case each;
    each.name = head + (counted ? " #64" : "");
    each.rows = 8;
    each.threads = 96;
    each.inputs = {{"r0", "b32"}, {"p0", "pred"}};
    if (counted) each.body = {"setp.lt.u32 p15, tid, 64;", "@!p15 bra done;"};
    return each;
}

void finish(Cases& into, Case each, bool counted) {
    if (counted) each.body.push_back("done:");
    into.push_back(std::move(each));
}

void list_reduction(Cases& into, const std::string& head, bool popc, bool counted) {
    for (const std::string kind : {"pred", "row:0,1", "choose:1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,0"}) {
        Case each = begin(head, counted);
        each.name += " #" + kind;
        each.inputs.push_back({"p1", kind});
        each.outputs = {popc ? "r0" : "p0"};
        each.body.push_back(head + " " + each.outputs[0] + ", 3, " + (counted ? "64, " : "") + "p1;");
        finish(into, std::move(each), counted);
    }
}

/// Each thread reads what the thread of another warp wrote before the barrier.
void list_sync(Cases& into, const std::string& head, bool counted) {
    Case each = begin(head, counted);
    each.shared_bytes = 384;
    each.inputs.push_back({"r1", "b32"});
    each.outputs = {"r0"};
    each.body.push_back("mad.lo.u32 r3, tid, 4, sm; add.u32 r2, tid, 32; rem.u32 r2, r2, " +
                        std::string(counted ? "64" : "96") + "; mad.lo.u32 r4, r2, 4, sm;");
    each.body.push_back("st.shared.b32 [r3], r1;");
    each.body.push_back(head + (counted ? " 5, 64;" : " 5;"));
    each.body.push_back("ld.shared.b32 r0, [r4];");
    finish(into, std::move(each), counted);
}

/// Warps 0 and 1 arrive; warp 2 waits for what they wrote.
void list_arrive(Cases& into, const std::string& head) {
    Case each = begin(head, false);
    each.shared_bytes = 256;
    each.inputs.push_back({"r1", "b32"});
    each.outputs = {"r0"};
    each.body = {"mad.lo.u32 r3, tid, 4, sm; setp.lt.u32 p15, tid, 64;",
                 "@!p15 bra waits;",
                 "st.shared.b32 [r3], r1;",
                 head + " 2, 96;",
                 "bra.uni done;",
                 "waits:",
                 "barrier.sync.aligned 2, 96;",
                 "sub.u32 r4, r3, 128; ld.shared.b32 r0, [r4]; ld.shared.b32 r5, [r4+-128]; xor.b32 r0, r0, r5;",
                 "done:"};
    into.push_back(std::move(each));
}

}  // namespace

void list_barriers(Cases& into) {
    for (const isa::Form& form : isa::all_forms()) {
        if (!on_sm_90(form) || (form.opcode != "bar" && form.opcode != "barrier") || form.modifier("warp") >= 0)
            continue;
        for (const Words& words : combinations(form, 100)) {
            const std::string head = head_of(form, words);
            const bool counted = form.operand("b") >= 0;
            if (form.modifier("red") >= 0) {
                list_reduction(into, head, form.modifier("popc") >= 0, counted);
            } else if (form.modifier("arrive") >= 0) {
                list_arrive(into, head);
            } else {
                list_sync(into, head, false);
                list_sync(into, head, true);
            }
        }
    }
}

}  // namespace tilepath::recorded
