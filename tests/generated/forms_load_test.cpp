// The interpreter has a body for whatever isa/ accepts: every form, with its words and operands, loads for each device
// whose targets have it.
#include <gtest/gtest.h>

#include <set>

#include "exec/code.h"
#include "isa/instances.h"
#include "isa/modules.h"

namespace tilepath::generated {
namespace {

/// An instruction, and the form that it was made from.
struct Line {
    const isa::Form* form = nullptr;
    std::string text;
};

/// Control flow, which needs labels and callees around it: module_with() has them. And operands that no form says: the
/// zeros of st.bulk, and the registers of 16 x 16 matrices.
std::string by_hand(const isa::Form& form) {
    static const std::map<std::string_view, std::string> texts{
        {"bra{.uni} t", "bra.uni END;"},
        {"brx.idx{.uni} a, t", "brx.idx r0, targets;"},
        {"call{.uni} (r), f{, (a)}{, t}", "call (r0), word, (r1);"},
        {"call{.uni} f{, (a)}{, t}", "call nothing;"},
        {"call{.uni} f, t", "call q0, prototype;"},
        {"st.bulk{.weak}{.shared::cta} [a], size, initval", "st.bulk.weak.shared::cta [q0], q1, 0;"},
        {"ldmatrix.sync.aligned.m16n16.num.trans{.ss}.b8 d, [a]",
         "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {r0, r1}, [r2];"},
        {"ldmatrix.sync.aligned.m16n16.num.trans{.ss}.b8x16.src_fmt d, [a]",
         "ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8x16.b6x16_p32 {r0, r1, r2, r3}, [r4];"}};
    const auto found = texts.find(form.text);
    return found == texts.end() ? std::string() : found->second;
}

std::vector<Line> all_lines() {
    std::vector<Line> lines;
    for (const isa::Form& form : isa::all_forms()) {
        if (std::string text = by_hand(form); !text.empty()) {
            lines.push_back({&form, std::move(text)});
            continue;
        }
        for (const isa::Instance& each : isa::instances_of(form, 256))
            for (std::size_t operands = form.least_operands; operands <= form.operands.size(); ++operands)
                lines.push_back({&form, isa::text_of(each, operands)});
    }
    return lines;
}

const std::string* line_of(const Diagnostic& fault, const std::vector<std::string>& lines) {
    const std::size_t line = fault.place ? fault.place->line : 0;
    return line >= isa::first_line && line - isa::first_line < lines.size() ? &lines[line - isa::first_line] : nullptr;
}

std::string module_with(const std::string& target, const std::string& version, const std::vector<std::string>& lines) {
    std::string text = isa::module_text(target, version, lines);
    text.insert(text.find(".visible .entry"),
                ".func nothing() { ret; } .func (.reg .b32 d) word(.reg .b32 a) { mov.b32 d, a; ret; } ");
    text.insert(text.find(".shared"), "prototype: .callprototype _ (); targets: .branchtargets END; ");
    text.insert(text.rfind("ret;"), "END: ");
    return text;
}

/// The module of those lines that are accepted; the others become empty.
Result<program::Program> build_accepted(const std::string& target, const std::string& version,
                                        std::vector<std::string>& lines) {
    Diagnostics faults;
    for (int turn = 0; turn < 4; ++turn) {  // it is refused in stages
        const auto module = ptx::read(Source("forms.ptx", module_with(target, version, lines)));
        auto program = module ? isa::build(*module, "k") : std::unexpected(module.error());
        if (program) return program;
        faults = program.error();
        for (const Diagnostic& fault : faults)
            if (const std::string* line = line_of(fault, lines)) lines[std::size_t(line - lines.data())].clear();
    }
    return std::unexpected(std::move(faults));
}

/// Loads what is accepted for a target, and tells what the interpreter says of lines that it cannot run.
void load_all(const char* target, const char* version, const std::vector<Line>& all,
              std::set<const isa::Form*>& loaded) {
    std::vector<std::string> lines;
    for (const Line& line : all) lines.push_back(line.text);
    const auto program = build_accepted(target, version, lines);
    ASSERT_TRUE(program) << to_string(program.error());
    for (std::size_t i = 0; i < lines.size(); ++i)
        if (!lines[i].empty()) loaded.insert(all[i].form);
    exec::ModuleImage image;
    image.variables.resize(program->variables.size(), 0x1000);
    const auto device = machine::device_named(target < std::string("sm_80") ? "sm_80" : target);
    const auto ready = exec::load(*program, *device, image);
    if (ready) return;
    for (const Diagnostic& fault : ready.error()) {
        const std::string* line = line_of(fault, lines);
        ADD_FAILURE() << target << ": " << (line ? *line : "") << " " << fault.message;
    }
}

TEST(Forms, ThatAreLegalLoad) {
    const std::vector<Line> lines = all_lines();
    std::set<const isa::Form*> loaded;
    for (const char* target :
         {"sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100a", "sm_103a", "sm_110a", "sm_120a"})
        load_all(target, "9.0", lines, loaded);
    load_all("sm_75", "6.3", lines, loaded);    // vote and shfl without .sync
    load_all("sm_120a", "9.1", lines, loaded);  // mxf4nvf4 with scale_vec::4X of ue8m0
    for (const isa::Form& form : isa::all_forms())
        EXPECT_TRUE(loaded.contains(&form)) << "no legal instruction was made of " << isa::line_of(form);
}

}  // namespace
}  // namespace tilepath::generated
