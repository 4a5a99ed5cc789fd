// What the listing says of evidence is true: src/isa/recorded_forms.inc names exactly the forms for which tests/vectors
// has an H200's results, with every word that a legal instruction of the form can take.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "atom/mma_sp.h"
#include "atom/wmma.h"
#include "isa/bind.h"
#include "isa/matrix_rules.h"

namespace tilepath::isa {
namespace {

const std::string vectors = TILEPATH_TEST_DIR "/vectors/";

/// Instruction heads of tests/vectors/scalar (opcodes at the beginning of a line) and of tests/vectors/kernels (the
/// words of a case's name before its variant).
std::set<std::string> recorded_heads() {
    std::set<std::string> heads;
    std::ifstream scalar(vectors + "scalar/h200.txt");
    for (std::string line; std::getline(scalar, line);)
        if (line[0] != ' ') heads.insert(line);
    for (const auto& each : std::filesystem::directory_iterator(vectors + "kernels")) {
        std::ifstream file(each.path());
        std::vector<std::string> of_case;
        for (std::string line; std::getline(file, line);) {
            std::istringstream words(line);
            std::string word;
            words >> word;
            if (word == "hash") heads.insert(of_case.begin(), of_case.end());  // a fault is no result
            if (word != "case") continue;
            of_case.clear();
            while (words >> word && word[0] != '#') of_case.push_back(word);
        }
    }
    return heads;
}

ptx::Head head_of(std::string_view text) {
    ptx::Head head;
    for (bool first = true;; first = false) {
        const std::size_t end = std::min(text.find('.'), text.size());
        if (first)
            head.opcode = text.substr(0, end);
        else
            head.modifiers.push_back({text.substr(0, end), 0});
        if (end == text.size()) return head;
        text.remove_prefix(end + 1);
    }
}

/// wmma without types is that of f16.
bool holds(const Form& form, std::string_view slot, number::Format format) {
    const int at = form.modifier(slot);
    if (at < 0 && form.opcode == "wmma" && slot == "atype") return format == number::Format::f16;
    return at < 0 || form.modifiers[static_cast<std::size_t>(at)].accepts(number::traits(format).name);
}

/// Whether an sm_90 has a matrix atom among the form's instructions whose `slot` is `word`.
template <class Atom>
bool has_atom(const Form& form, const std::vector<Atom>& atoms, std::string_view slot, std::string_view word) {
    return std::any_of(atoms.begin(), atoms.end(), [&](const Atom& atom) {
        const auto& types = atom.types;
        const std::map<std::string_view, std::string_view> words{{"shape", {}},
                                                                 {"dtype", number::traits(types.d).name},
                                                                 {"atype", number::traits(types.a).name},
                                                                 {"btype", number::traits(types.b).name},
                                                                 {"ctype", number::traits(types.c).name}};
        const bool fits = holds(form, "dtype", types.d) && holds(form, "atype", types.a) &&
                          holds(form, "btype", types.b) && holds(form, "ctype", types.c);
        return fits && atom.minimum_sm <= 90 &&
               (slot == "shape" ? atom.shape == shape_named(word) : words.at(slot) == word);
    });
}

/// Elements of less than a byte lie by rows in A and by columns in B.
bool has_layout(const Form& form, std::string_view slot, std::string_view word) {
    const int type = std::max(form.modifier("type"), form.modifier("atype"));
    const bool narrow =
        type >= 0 &&
        number::traits(*number::format_named(form.modifiers[static_cast<std::size_t>(type)].words[0])).bits < 8;
    const bool of_a = slot == "alayout" || form.modifier("a") >= 0, of_b = slot == "blayout" || form.modifier("b") >= 0;
    return !narrow || !(of_a || of_b) || word == (of_a ? "row" : "col");
}

/// Only of matrix instructions do the forms list words that no instruction has: atom/ knows.
bool possible(const Form& form, const ModifierSlot& slot, std::string_view word) {
    static const std::set<std::string_view> judged{"shape", "dtype", "atype", "btype", "ctype"};
    if (form.opcode == "wmma" && slot.name.ends_with("layout")) return has_layout(form, slot.name, word);
    if ((form.opcode != "mma" && form.opcode != "wmma") || !judged.contains(slot.name)) return true;
    if (const int type = form.modifier("type"); type >= 0) {  // wmma.load and wmma.store
        const auto atoms = atom::all_wmma();
        return std::any_of(atoms.begin(), atoms.end(), [&](const atom::WmmaAtom& atom) {
            const number::Format format = form.modifier("a") >= 0   ? atom.types.a
                                          : form.modifier("b") >= 0 ? atom.types.b
                                                                    : atom.types.c;
            return atom.shape == shape_named(word) && holds(form, "type", format);
        });
    }
    if (form.opcode == "wmma") return has_atom(form, atom::all_wmma(), slot.name, word);
    return form.modifier("sp") >= 0 ? has_atom(form, atom::all_mma_sp(), slot.name, word)
                                    : has_atom(form, atom::all_mma_sync(), slot.name, word);
}

/// A word of the form that no recording has; empty if there is none.
std::string missing_word(const Form& form, const std::map<std::string, std::vector<ptx::Head>>& heads) {
    const auto found = heads.find(form.opcode);
    if (found == heads.end()) return "all";
    std::vector<std::set<std::string_view>> seen(form.modifiers.size());
    bool any = false;
    for (const ptx::Head& head : found->second)
        if (auto match = match_head(head, form)) {
            any = true;
            for (std::size_t slot = 0; slot < seen.size(); ++slot) seen[slot].insert(match->words[slot]);
        }
    if (!any) return "all";
    for (std::size_t slot = 0; slot < seen.size(); ++slot)
        for (std::string_view word : form.modifiers[slot].words)
            if (!seen[slot].contains(word) && possible(form, form.modifiers[slot], word)) return std::string(word);
    return {};
}

TEST(Evidence, HardwareIsWhatIsRecorded) {
    const std::set<std::string> texts = recorded_heads();
    std::map<std::string, std::vector<ptx::Head>> heads;
    for (const std::string& text : texts) heads[std::string(head_of(text).opcode)].push_back(head_of(text));
    std::string list;
    std::size_t claimed = 0;
    for (const Form& form : all_forms()) {
        const std::string missing = recorded_device_has(form) ? missing_word(form, heads) : "its device";
        const bool claims = evidence_of(form).kind == Evidence::Kind::hardware;
        claimed += claims ? 1 : 0;
        EXPECT_EQ(claims, missing.empty()) << line_of(form) << ": missing " << missing;
        if (missing.empty()) list += "\"" + line_of(form) + "\",\n";
    }
    EXPECT_GT(claimed, 300u);
    if (!HasFailure()) return;
    const std::string written = testing::TempDir() + "recorded_forms.inc";
    std::ofstream(written) << list;
    ADD_FAILURE() << "what is recorded stands in " << written << "; it belongs into src/isa/recorded_forms.inc";
}

TEST(Evidence, WhatTheRecordedDeviceLacksIsNotOfHardware) {
    for (const Form& form : all_forms()) {
        if (form.needs.sm <= 90) continue;
        EXPECT_EQ(evidence_of(form).kind, form.family->evidence) << form.text;
        EXPECT_NE(evidence_of(form).kind, Evidence::Kind::hardware) << form.text;
    }
}

}  // namespace
}  // namespace tilepath::isa
