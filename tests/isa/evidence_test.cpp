// What the listing says of evidence is true: a form of hardware(sm_90) has recorded values in tests/vectors for every
// word that it takes.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "isa/bind.h"

namespace tilepath::isa {
namespace {

const std::string vectors = TILEPATH_TEST_DIR "/vectors/";

std::vector<std::string> recorded_heads() {
    std::ifstream file(vectors + "scalar/h200.txt");
    std::vector<std::string> heads;
    for (std::string line; std::getline(file, line);)
        if (line[0] != ' ') heads.push_back(line);
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

/// Arithmetic on a pair is that on its elements, which is what was recorded.
std::string element(std::string_view opcode, std::string_view word) {
    return std::string(opcode != "cvt" && word.ends_with("16x2") ? word.substr(0, word.size() - 2) : word);
}

TEST(Evidence, ScalarFormsWithHardwareAreRecorded) {
    const std::vector<std::string> heads = recorded_heads();
    ASSERT_EQ(heads.size(), 773u);
    std::size_t claimed = 0;
    for (const Form& form : all_forms()) {
        if (evidence_of(form).kind != Evidence::Kind::hardware || form.opcode == "mma" || form.opcode == "wmma")
            continue;
        ++claimed;
        std::vector<std::set<std::string_view>> seen(form.modifiers.size());
        for (const std::string& text : heads)
            if (auto match = match_head(head_of(text), form))
                for (std::size_t slot = 0; slot < seen.size(); ++slot) seen[slot].insert(match->words[slot]);
        for (std::size_t slot = 0; slot < seen.size(); ++slot)
            for (std::string_view word : form.modifiers[slot].words)
                EXPECT_TRUE(seen[slot].contains(element(form.opcode, word))) << form.text << ": ." << word;
    }
    EXPECT_GT(claimed, 60u);
}

TEST(Evidence, MatrixFormsWithHardwareAreRecorded) {
    std::string names;
    for (const auto& file : std::filesystem::directory_iterator(vectors + "dot"))
        names += file.path().filename().string() + "\n";
    std::ifstream fragments(vectors + "wmma_fragments.txt");
    const std::string recorded_fragments{std::istreambuf_iterator<char>(fragments), {}};
    std::size_t claimed = 0;
    for (const Form& form : all_forms()) {
        if (evidence_of(form).kind != Evidence::Kind::hardware || (form.opcode != "mma" && form.opcode != "wmma"))
            continue;
        ++claimed;
        const int slot = form.modifier(form.opcode == "mma" ? "atype" : "type");
        ASSERT_GE(slot, 0) << form.text;
        for (std::string_view type : form.modifiers[static_cast<std::size_t>(slot)].words) {
            if (form.opcode == "mma") {
                EXPECT_NE(names.find("h200_mma_" + std::string(type) + "_"), std::string::npos) << form.text << type;
            } else {
                EXPECT_NE(recorded_fragments.find(type), std::string::npos) << form.text << type;
            }
        }
    }
    EXPECT_GT(claimed, 10u);
}

TEST(Evidence, WhatTheRecordedDeviceLacksHasTheManual) {
    for (const Form& form : all_forms()) {
        if (form.needs.sm <= 90) continue;
        EXPECT_EQ(to_string(evidence_of(form)), "manual") << form.text;
    }
}

}  // namespace
}  // namespace tilepath::isa
