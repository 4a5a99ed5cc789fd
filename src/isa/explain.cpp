// Why an instruction fits no form.
#include "isa/bind.h"
#include "isa/generations.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace tilepath::isa {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            std::size_t above = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
            diagonal = above;
        }
    }
    return row.back();
}

/// What a PTX ISA has and tilepath leaves out on purpose: the opcodes, and why.
struct OutOfScope {
    std::string_view opcodes;  ///< each between spaces
    std::string_view what;
};
constexpr OutOfScope out_of_scope[] = {
    {" tex tld4 txq istypep ",
     "textures are read through units that filter and convert in ways NVIDIA does not document"},
    {" suld sust sured suq ", "surfaces are laid out in memory in ways NVIDIA does not document"},
    {" vadd vsub vabsdiff vmin vmax vshl vshr vmad vset vadd2 vsub2 vavrg2 vabsdiff2 vmin2 vmax2 vset2 vadd4 vsub4 "
     "vavrg4 "
     "vmin4 vmax4 vset4 ",
     "video instructions are emulated on every GPU since Maxwell, so kernels have none; vabsdiff4 is there"},
    {" multimem ", "multimem addresses name the memory of several GPUs at once, and tilepath runs one"},
};

std::string_view why_out_of_scope(std::string_view opcode) {
    for (const OutOfScope& each : out_of_scope)
        if (each.opcodes.find(fmt::format(" {} ", opcode)) != std::string_view::npos) return each.what;
    return {};
}

/// What to do about a form that the module's version or target does not have.
std::string_view note_on(Needs needs, const ptx::Head& head, std::string_view architecture) {
    const Target target = target_named(architecture).value_or(Target{});
    if (const std::string_view why = other_generation(head, needs, target); !why.empty()) return why;
    const bool tensor_memory = needs.suffix == Suffix::tensor_memory ||
                               needs.suffix == Suffix::tensor_memory_specific ||
                               needs.suffix == Suffix::tensor_memory_bytes;
    if (tensor_memory && target.suffix == 0)
        return "write that .target with 'a' or 'f' behind its number: the plain one has no Tensor Memory";
    if (tensor_memory) return "write one of these .targets: what is not all of Blackwell's needs its own";
    if (needs.suffix == Suffix::families && target.sm >= needs.sm && target.suffix == 0)
        return "write that .target with 'a' or 'f' behind its number: the plain one leaves this out";
    if (needs.suffix != Suffix::architecture || (target.sm == needs.sm && target.suffix == 'a'))
        return "raise .version or .target, or use an older form";
    return "write that .target: only it has this, not the one without 'a' and no later one";
}

}  // namespace

std::vector<std::string_view> similar(std::string_view word, std::span<const std::string> candidates,
                                      std::size_t most) {
    std::vector<std::pair<std::size_t, std::string_view>> ranked;
    for (const std::string& candidate : candidates) {
        std::size_t distance = edit_distance(word, candidate);
        if (distance <= 2 && distance < word.size()) ranked.emplace_back(distance, candidate);
    }
    std::sort(ranked.begin(), ranked.end());
    std::vector<std::string_view> best;
    for (std::size_t i = 0; i < std::min(most, ranked.size()); ++i) best.push_back(ranked[i].second);
    return best;
}

void Binder::explain(const ptx::Instruction& instruction, const HeadEntry& found, Diagnostics& diagnostics) const {
    const ptx::Head& head = module_.heads[instruction.head];
    Diagnostic out{Severity::error, {}, module_.place(module_.opcode_span(instruction)), {}};
    const std::vector<const Form*>& forms = forms_of(head.opcode);
    if (forms.empty()) {
        if (const std::string_view why = why_out_of_scope(head.opcode); !why.empty()) {
            out.message = fmt::format("tilepath leaves '{}' out: {}", head.opcode, why);
            diagnostics.push_back(std::move(out));
            return;
        }
        out.message = fmt::format("'{}' is not an instruction that tilepath supports", head.opcode);
        if (auto near = similar(head.opcode, all_opcodes()); !near.empty())
            out.notes.push_back(fmt::format("did you mean {}?", fmt::join(near, ", ")));
        out.notes.push_back("`tilepath isa` lists what is supported");
        diagnostics.push_back(std::move(out));
        return;
    }
    if (!found.matches.empty()) {
        const Form& form = *found.matches.front().form;
        out.message = fmt::format("the operands of '{}' do not fit: expected '{}', found {} operand{}", head.opcode,
                                  form.text, instruction.operands.count, instruction.operands.count == 1 ? "" : "s");
        out.place = module_.place(instruction.span);
    } else if (found.missing) {
        out.message = fmt::format("'{}' in this form needs {}; the module says .version {}.{}, .target {}", head.opcode,
                                  to_string(*found.missing), module_.version_major, module_.version_minor,
                                  module_.architecture());
        out.notes.emplace_back(note_on(*found.missing, head, module_.architecture()));
        diagnostics.push_back(std::move(out));
        return;
    } else {
        // Name the first modifier that no form of this opcode knows; else the combination is at fault.
        const ptx::Modifier* strange = nullptr;
        for (const ptx::Modifier& modifier : head.modifiers) {
            auto knows = [&](const Form* form) {
                return std::any_of(form->modifiers.begin(), form->modifiers.end(),
                                   [&](const ModifierSlot& slot) { return slot.accepts(modifier.text); });
            };
            if (std::none_of(forms.begin(), forms.end(), knows)) {
                strange = &modifier;
                break;
            }
        }
        if (strange) {
            out.message =
                fmt::format("'.{}' is not a modifier of '{}' that tilepath supports", strange->text, head.opcode);
            out.place = module_.place(module_.span(instruction, *strange));
        } else {
            out.message = fmt::format("'{}' does not take these modifiers together, or one is missing", head.opcode);
            Span whole = module_.opcode_span(instruction);
            if (!head.modifiers.empty()) whole = cover(whole, module_.span(instruction, head.modifiers.back()));
            out.place = module_.place(whole);
        }
    }
    for (std::size_t i = 0; i < std::min<std::size_t>(forms.size(), 4); ++i)
        out.notes.push_back("form: " + forms[i]->text);
    if (forms.size() > 4)
        out.notes.push_back(fmt::format("and {} more: `tilepath isa {}`", forms.size() - 4, head.opcode));
    diagnostics.push_back(std::move(out));
}

}  // namespace tilepath::isa
