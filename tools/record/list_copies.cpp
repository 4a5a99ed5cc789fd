// cp.async: every size, the rest filled with zeros, sources ignored, waits of every kind.
#include "list.h"

namespace tilepath::recorded {
namespace {

Case begin(const std::string& head, const std::string& variant) {
    Case each;
    each.name = head + variant;
    each.rows = 4;
    each.shared_bytes = 1024;
    each.global_bytes = 1024;
    each.inputs = {{"r1", "below:64"}};
    // Destinations apart, sources anywhere.
    each.body = {
        "mad.lo.u32 r2, tid, 37, 11; and.b32 r2, r2, 63; mad.lo.u32 r3, r2, 16, sm; mad.wide.u32 q1, r1, 16, gm;"};
    return each;
}

void list_copy(Cases& into, const isa::Form& form, const Words& words) {
    const std::string head = head_of(form, words);
    const bool hinted = form.operand("policy") >= 0;
    const int n = form.operand("n");
    for (const int size : {4, 8, 16}) {
        if (word_in(form, words, "cop") == "cg" && size != 16) continue;
        for (const std::string rest : {"", "r4", "p1"}) {
            if (rest.empty() ? n >= 0 && !form.operands[std::size_t(n)].optional : n < 0) continue;
            Case each = begin(head, " #" + std::to_string(size) +
                                        (rest.empty()   ? ""
                                         : rest == "p1" ? " #ignored"
                                                        : " #part"));
            if (rest == "r4") each.inputs.push_back({"r4", "below:" + std::to_string(size + 1)});
            if (rest == "p1") each.inputs.push_back({"p1", "pred"});
            if (hinted) each.body.push_back("createpolicy.fractional.L2::evict_last.b64 q2, 1.0;");
            each.body.push_back(head + " [r3], [q1], " + std::to_string(size) + (rest.empty() ? "" : ", " + rest) +
                                (hinted ? ", q2;" : ";"));
            each.body.push_back("cp.async.wait_all;");
            into.push_back(std::move(each));
        }
    }
}

/// Three groups, of which the first `waited` are waited for before the lane reads its own.
void list_groups(Cases& into) {
    for (const int pending : {0, 1, 2}) {
        Case each = begin("cp.async.commit_group cp.async.wait_group", " #" + std::to_string(pending));
        each.outputs = {"r8"};
        for (int group = 0; group < 3; ++group) {
            each.body.push_back("cp.async.ca.shared.global [r3+" + std::to_string(4 * group) + "], [q1+" +
                                std::to_string(4 * group) + "], 4;");
            each.body.push_back("cp.async.commit_group;");
        }
        each.body.push_back("cp.async.wait_group " + std::to_string(pending) + ";");
        each.body.push_back("ld.shared.b32 r8, [r3+" + std::to_string(4 * (2 - pending)) + "];");
        each.body.push_back("cp.async.wait_all;");
        into.push_back(std::move(each));
    }
    Case each = begin("cp.async.wait_all", "");
    each.outputs = {"r8"};
    each.body.push_back("cp.async.ca.shared.global [r3], [q1], 16;");
    each.body.push_back("cp.async.wait_all;");
    each.body.push_back("ld.shared.b32 r8, [r3+12];");
    into.push_back(std::move(each));
}

/// All lanes' copies through an mbarrier: .noinc takes pending arrivals, without it the arrival is counted on top.
void list_arrive(Cases& into, const isa::Form& form, const Words& words) {
    const std::string head = head_of(form, words);
    const bool noinc = !word_in(form, words, "noinc").empty();
    Case each = begin(head, "");
    each.shared_bytes = 1024 + 16;
    each.outputs = {"r8"};
    each.body.push_back("setp.eq.u32 p2, tid, 0; mov.u32 r9, " + std::string(noinc ? "64" : "32") + ";");
    each.body.push_back("@p2 mbarrier.init.shared.b64 [sm+1024], r9;");
    each.body.push_back("bar.sync 0;");
    each.body.push_back("cp.async.ca.shared.global [r3], [q1], 16;");
    // Without a space the address is generic.
    const bool generic = word_in(form, words, "ss").empty();
    if (generic) each.body.push_back("cvt.u64.u32 q4, sm; cvta.shared.u64 q4, q4;");
    each.body.push_back(head + (generic ? " [q4+1024];" : " [sm+1024];"));
    each.body.push_back("mbarrier.arrive.shared.b64 q3, [sm+1024];");
    each.body.push_back("waits: mbarrier.test_wait.parity.shared.b64 p3, [sm+1024], 0;");
    each.body.push_back("@!p3 bra waits;");
    each.body.push_back("xor.b32 r10, r3, 512; ld.shared.b32 r8, [r10+4];");
    each.body.push_back("bar.sync 0;");
    each.body.push_back("@p2 mbarrier.inval.shared.b64 [sm+1024];");
    each.body.push_back("@p2 st.shared.b64 [sm+1024], 0;");
    into.push_back(std::move(each));
}

}  // namespace

void list_copies(Cases& into) {
    list_groups(into);
    for (const isa::Form& form : isa::all_forms()) {
        if (form.opcode != "cp" || form.modifier("async") < 0 || !on_sm_90(form)) continue;
        if (form.operand("src") >= 0)
            for (const Words& words : combinations(form, 100)) list_copy(into, form, words);
        else if (form.modifier("mbarrier") >= 0)
            for (const Words& words : combinations(form, 100)) list_arrive(into, form, words);
    }
}

}  // namespace tilepath::recorded
