// ptxas as the judge of operands, for every form: each operand of an instruction that is legal is replaced by what it
// often may not be: a literal, a sink, another register, a vector, a negation. Skipped where ptxas is not installed.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "../ptxas.h"
#include "instances.h"
#include "modules.h"

namespace tilepath::isa {
namespace {

bool tested(const Form& form) {
    // Control flow needs labels and callees around it. What ptxas makes of createpolicy it refuses later, as a mov.
    static const std::set<std::string_view> without{"bra",  "brx",  "call",  "ret",
                                                    "exit", "trap", "brkpt", "createpolicy"};
    // Of what sm_90 brought for memory and matrices not all is compared yet.
    const bool of_memory = std::ranges::any_of(
        form.operands, [](const OperandSlot& slot) { return slot.kind == OperandSlot::Kind::address; });
    if (form.needs.sm >= 90 && form.opcode != "tcgen05" && (of_memory || form.opcode == "wgmma")) return false;
    return !without.contains(form.opcode) && !form.operands.empty();
}

/// Parted at the commas outside braces.
std::vector<std::string> split(std::string_view text) {
    std::vector<std::string> out(1);
    int depth = 0;
    for (char c : text) {
        depth += (c == '{') - (c == '}');
        if (c == ',' && depth == 0)
            out.emplace_back();
        else if (c != ' ' || !out.back().empty())
            out.back() += c;
    }
    return out;
}

std::vector<std::string> other_vectors(const std::string& operand) {
    const auto vector = [](const auto& parts) { return fmt::format("{{{}}}", fmt::join(parts, ", ")); };
    const std::vector<std::string> parts = split(std::string_view(operand).substr(1, operand.size() - 2));
    std::vector<std::string> out{parts[0], vector(std::span(parts).first(parts.size() - 1))};
    for (const char* value : {"_", "5", "1.5", "p0", "h0", "r0", "q0"}) {
        std::vector<std::string> changed = parts;
        changed.back() = value;
        out.push_back(vector(changed));
    }
    for (const char* value : {"_", "5", "1.5", "p0"}) out.push_back(vector(std::vector(parts.size(), value)));
    return out;
}

std::vector<std::string> others(const std::string& operand) {
    if (operand[0] == '[') return {"[r0]", "[q0+8]", "[q0+-8]", "[s+4]", "[g+4]", "[h0]", "[4096]", "q0"};
    if (operand[0] == '{') return other_vectors(operand);
    if (const std::size_t bar = operand.find('|'); bar != std::string::npos) {
        const std::string first = operand.substr(0, bar), second = operand.substr(bar + 1);
        return {first, first + "|_", "_|" + second, "_|_", first + "|!" + second, "5|" + second, first + "|r1"};
    }
    return {"5", "-5", "1.5",  "0f3F800000", "p0",      "!p0",         "h0",          "r0",       "q0",     "x0",
            "g", "s",  "[q0]", "%tid.x",     "WARP_SZ", "-" + operand, "!" + operand, "{r0, r1}", "{_, _}", "{_, r0}"};
}

std::vector<std::string> changed_lines(const std::string& target) {
    std::vector<std::string> whole;
    std::vector<std::size_t> heads;
    for (const Form& form : all_forms())
        for (const Instance& each : tested(form) ? instances_of(form, 2) : std::vector<Instance>()) {
            whole.push_back(text_of(each, form.operands.size()));
            heads.push_back(head_of(each).size());
        }
    const std::set<std::size_t> refused = refused_by_us(target, "9.0", whole);
    std::set<std::string> lines;
    for (std::size_t i = 0; i < whole.size(); ++i) {
        if (refused.contains(i)) continue;
        const std::string_view text = whole[i], head = text.substr(0, heads[i]);
        const std::vector<std::string> operands = split(text.substr(head.size() + 1, text.size() - head.size() - 2));
        for (std::size_t k = 0; k < operands.size(); ++k)
            for (const std::string& other : others(operands[k])) {
                if (head.starts_with("tcgen05.") && other == "[4096]") continue;  // ptxas 13.0 crashes
                std::vector<std::string> changed = operands;
                changed[k] = other;
                lines.insert(fmt::format("{} {};", head, fmt::join(changed, ", ")));
            }
    }
    return {lines.begin(), lines.end()};
}

/// `…, idesc, r3, p0…`: a register where disable-output-lane is a vector, which ptxas takes for enable-input-d.
bool has_scalar_lanes(const std::string& text) {
    const std::size_t enabled = text.find(", p0");
    if (enabled == std::string::npos) return false;
    const std::vector<std::string> before = split(std::string_view(text).substr(0, enabled));
    return before.size() > 2 && before.back()[0] == 'r' && before[before.size() - 2][0] == 'r';
}

/// What ptxas 13.0 takes beyond the manual, and tilepath refuses: what it would compute is not defined.
bool beyond_the_manual(const std::string& text) {
    const auto begins = [&](std::string_view start) { return text.starts_with(start); };
    const auto has = [&](std::string_view part) { return text.find(part) != std::string::npos; };
    const auto has_any = [&](std::initializer_list<std::string_view> parts) { return std::ranges::any_of(parts, has); };
    // Of matrices it judges operands only when it generates code: OperandLegality.OfMatrices has some, one by one.
    if (has(".aligned") && has_any({"matrix.", "mma."})) return true;
    // Addresses in Tensor Memory whose sum ptxas makes of anything, and what stands for registers and predicates.
    const bool sums = begins("tcgen05.") && has_any({"[4096]", "[g+4]", "[s+4]", "[q0+"});
    const bool kinds = begins("tcgen05.") && has_any({"p0}", "{p0", "1.5}", ", r0, 3;", ", 0f3F800000, 3;"});
    const bool vectors =
        (begins("cp.async.bulk.prefetch.tensor.") && has(", 1.5}")) || (begins("clusterlaunchcontrol.") && has("p0}"));
    if (sums || kinds || vectors || (begins("tcgen05.mma.") && has_scalar_lanes(text))) return true;
    const bool memory = begins("ld") || begins("st.") || begins("atom.") || begins("red.");
    return has("[h0]") ||                                                  // addresses of 16 bits
           (memory && has_any({"p0}", ", 5}", ", 1.5}"})) ||               // in vectors
           (has("bf16x2") && has_any({"{r0, r1}", "{_, r0}", "p0"})) ||    // vectors and predicates for pairs
           (begins("cvt.") && has("x2.f32 ") && has_any({"q0", "x0"})) ||  // wider registers
           (begins("cvt.pack.") && has_any({"q0", "x0"})) ||
           (begins("cvt.r") && has("ue8m0x2.bf16x2 ") && has("0f3F800000")) ||
           (begins("cvt.rs.") && has_any({", 5}", "p0}"})) ||
           (has("f32.bf16 ") && has_any({" 5,", "-5,", "WARP_SZ,"})) ||  // integers as bf16
           (begins("mbarrier.arrive") && has("{r0, r1}")) ||
           (begins("clusterlaunchcontrol.") && has("p0}")) ||  // the fourth register, which holds nothing
           (begins("cp.async.bulk.prefetch.tensor.") && has(", 1.5}")) ||
           // Negative counts and tables.
           (begins("mbarrier.init.") && has("-5")) || begins("cp.async.wait_group -") ||
           (begins("cp.async.bulk.wait_group") && has(" -")) || (begins("lop3.") && has_any({"-5", "-0x5a"})) ||
           (begins("fns.") && has("0f")) || begins("mov.v2.b16 {h0, h1}, %tid.x");
}

/// What ptxas 13.0 refuses only because of what it makes of the instruction itself.
bool refused_by_accident(const std::string& text) {
    const auto begins = [&](std::string_view start) { return text.starts_with(start); };
    const auto has = [&](std::string_view part) { return text.find(part) != std::string::npos; };
    return (begins("cvt.") && has(".sat.f64.f32 ") && has("x0")) || (begins("cvt.rna.") && has(" 1.5;")) ||
           // A cache policy, which every other copy takes as a number of any kind.
           (begins("cp.async.bulk.prefetch.tensor.") && has(", 1.5;")) ||
           // Of fp8 on devices that multiply it as f16 and add.
           (begins("mma.") && has(".kind::f8f6f4.") && has(", _}")) ||
           (begins("mma.sync.aligned.m16n8k8.row.col.rz.f64.") && has(", _}"));
}

class OperandForms : public testing::TestWithParam<const char*> {};

TEST_P(OperandForms, TakeWhatPtxasTakes) {
    const auto ptxas = find_ptxas();
    if (!ptxas) GTEST_SKIP() << "no ptxas";
    const std::string target = GetParam();
    const std::vector<std::string> lines = changed_lines(target);
    const ModuleText text{[&](const auto& with) { return module_text(target, "9.0", with); }, first_line};
    const auto theirs = refused_by_ptxas(*ptxas, target, text, lines);
    std::set<std::size_t> ours;
    std::vector<std::string> left = lines;  // what cannot be read is refused before what cannot be bound
    for (auto now = refused_by_us(target, "9.0", left); !now.empty(); now = refused_by_us(target, "9.0", left))
        for (std::size_t i : now) left[i].clear(), ours.insert(i);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (ours.contains(i) && !theirs.contains(i) && !beyond_the_manual(lines[i]))
            ADD_FAILURE() << target << ": only ptxas takes " << lines[i];
        if (!ours.contains(i) && theirs.contains(i) && !refused_by_accident(lines[i]))
            ADD_FAILURE() << target << ": only tilepath takes " << lines[i] << "  ptxas: " << theirs.at(i);
    }
}

INSTANTIATE_TEST_SUITE_P(Targets, OperandForms, testing::Values("sm_89", "sm_90a", "sm_100a"),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace tilepath::isa
