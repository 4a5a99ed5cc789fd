// Lanes of a warp with one another: by all lanes, and by the lanes of a mask while the others keep what they had.
#include "list.h"

namespace tilepath::recorded {
namespace {

/// Lanes that take part, and a segment mask of shfl in which all of their sources take part too.
struct Group {
    std::string name, mask, segments;
};
const std::vector<Group>& groups() {
    static const std::vector<Group> all{{"", "0xffffffff", ""},
                                        {" #low", "0x0000ffff", "1000"},
                                        {" #high", "0xffff0000", "1000"},
                                        {" #fours", "0x0f0f0f0f", "1c00"},
                                        {" #scattered", "0x92345679", "1f00"},
                                        {" #one", "0x00100000", "1f00"}};
    return all;
}

/// p15: this lane is in the mask. Every lane's r0 and p0 begin as inputs.
Case begin(const std::string& head, const Group& group) {
    Case each;
    each.name = head + group.name;
    each.rows = 16;
    each.inputs = {{"r0", "b32"}, {"p0", "pred"}};
    if (!group.name.empty())
        each.body = {"mov.b32 r63, " + group.mask +
                     "; shr.u32 r63, r63, tid; and.b32 r63, r63, 1; setp.ne.u32 p15, r63, 0;"};
    return each;
}
std::string guard(const Group& group) { return group.name.empty() ? "" : "@p15 "; }

void list_shuffle(Cases& into, const std::string& head, const Group& group) {
    for (const bool pair : {false, true}) {
        for (const std::string lanes : {"below:32", "u32", "row:0,1,2,3,4,7,8,f,10,1f,20"}) {
            for (const std::string clamps : {"below:8192", "row:0,1f,101f,1807,1c03,1e01,181f,1f,1f00,80f"}) {
                if (!group.name.empty() && clamps == "below:8192") continue;
                Case each = begin(head, group);
                each.name += (pair ? " #pair" : "") + std::string(" #") + lanes + " #" + clamps;
                each.rows = 4;
                each.inputs.push_back({"r1", "b32"});
                each.inputs.push_back({"r2", lanes});
                // up clamps from below, the others from above.
                const bool up = head.find(".up") != std::string::npos;
                std::string kind = clamps;
                if (!group.name.empty()) {
                    const unsigned long segments = std::stoul(group.segments, nullptr, 16);
                    const unsigned long size = 31 - (segments >> 8);
                    char text[16];
                    std::snprintf(text, sizeof text, "const:%lx", segments | (up ? 0 : size));
                    kind = text;
                }
                each.inputs.push_back({"r3", kind});
                each.outputs = {"r0"};
                if (pair) each.outputs.push_back("p0");
                each.body.push_back(guard(group) + head + (pair ? " r0|p0" : " r0") + ", r1, r2, r3, " + group.mask +
                                    ";");
                into.push_back(std::move(each));
            }
        }
    }
}

/// Votes and matches on values that agree often, and in some rows everywhere.
void list_one(Cases& into, const isa::Form& form, const std::string& head, const Group& group) {
    const bool vote = form.opcode == "vote", ballot = head.find("ballot") != std::string::npos;
    const bool wide = head.ends_with("64");
    const std::vector<std::string> kinds =
        vote ? std::vector<std::string>{"pred", "row:0,1", "choose:1,1,1,1,1,1,1,1,1,1,1,1,0"}
             : std::vector<std::string>{"below:4", "row:0,1,ffffffff", "b32"};
    for (const std::string& kind : kinds) {
        for (const bool pair : {false, true}) {
            if (pair && head.find("match.all") == std::string::npos) continue;
            Case each = begin(head, group);
            each.name += " #" + kind + (pair ? " #pair" : "");
            const std::string source = vote ? "p1" : wide ? "q1" : "r1";
            each.inputs.push_back({source, wide && kind == "b32" ? "b64" : kind});
            each.outputs = {vote && !ballot ? "p0" : "r0"};
            if (pair) each.outputs.push_back("p0");
            each.body.push_back(guard(group) + head + " " + each.outputs[0] + (pair ? "|p0" : "") + ", " + source +
                                ", " + group.mask + ";");
            into.push_back(std::move(each));
        }
    }
}

void list_redux(Cases& into, const std::string& head, const std::string& type, const Group& group) {
    Case each = begin(head, group);
    each.inputs.push_back({"r1", type});
    each.outputs = {"r0"};
    each.body.push_back(guard(group) + head + " r0, r1, " + group.mask + ";");
    into.push_back(std::move(each));
}

/// Neighbours' values through shared memory.
void list_warp_barrier(Cases& into, const std::string& head, const Group& group) {
    Case each = begin(head, group);
    each.shared_bytes = 128;
    each.inputs.push_back({"r1", "b32"});
    each.outputs = {"r0"};
    each.body.push_back("xor.b32 r2, tid, 1; mad.lo.u32 r3, tid, 4, sm; mad.lo.u32 r4, r2, 4, sm;");
    each.body.push_back(guard(group) + "st.shared.b32 [r3], r1;");
    each.body.push_back(guard(group) + head + " " + group.mask + ";");
    each.body.push_back(guard(group) + "ld.shared.b32 r0, [r4];");
    into.push_back(std::move(each));
}

void list_active(Cases& into, const std::string& head, const Group& group) {
    Case each = begin(head, group);
    each.outputs = {"r0"};
    // A branch, not a guard: which lanes are active is what it tells.
    if (!group.name.empty()) each.body.push_back("@!p15 bra done;");
    each.body.push_back(head + " r0;");
    if (!group.name.empty()) each.body.push_back("done:");
    into.push_back(std::move(each));
}

void list_elect(Cases& into, const std::string& head, const Group& group) {
    Case each = begin(head, group);
    each.outputs = {"r0", "p0"};
    each.body.push_back(guard(group) + head + " r0|p0, " + group.mask + ";");
    into.push_back(std::move(each));
}

}  // namespace

void list_warp(Cases& into) {
    for (const isa::Form& form : isa::all_forms()) {
        if (!on_sm_90(form)) continue;
        for (const Words& words : combinations(form, 100)) {
            const std::string head = head_of(form, words);
            for (const Group& group : groups()) {
                if (form.opcode == "shfl") list_shuffle(into, head, group);
                if (form.opcode == "vote" || form.opcode == "match") list_one(into, form, head, group);
                if (form.opcode == "redux") list_redux(into, head, std::string(word_in(form, words, "type")), group);
                if (head == "bar.warp.sync") list_warp_barrier(into, head, group);
                if (form.opcode == "activemask") list_active(into, head, group);
                if (form.opcode == "elect") list_elect(into, head, group);
            }
        }
    }
}

}  // namespace tilepath::recorded
