// Lists what is to be recorded: list NAME, the cases of tests/vectors/kernels/NAME.txt without results;
// list tensor_maps, those of tests/vectors/tensor_maps.txt.
#include "list.h"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <map>
#include <set>

#include "isa/build.h"
#include "ptx/read.h"

namespace tilepath::recorded {

std::string head_of(const isa::Form& form, const Words& words) {
    std::string head = form.opcode;
    for (std::string_view word : words)
        if (!word.empty()) head += "." + std::string(word);
    return head;
}

std::string_view word_in(const isa::Form& form, const Words& words, std::string_view slot) {
    const int at = form.modifier(slot);
    return at < 0 ? std::string_view{} : words[static_cast<std::size_t>(at)];
}

std::vector<Words> combinations(const isa::Form& form, std::size_t cap) {
    std::vector<Words> choices;
    std::size_t total = 1;
    for (const isa::ModifierSlot& slot : form.modifiers) {
        Words words;
        if (slot.optional) words.push_back({});
        words.insert(words.end(), slot.words.begin(), slot.words.end());
        total *= words.size();
        choices.push_back(std::move(words));
    }
    std::size_t stride = total <= cap ? 1 : total / cap;
    const auto divides = [&] {
        return std::any_of(choices.begin(), choices.end(),
                           [&](const Words& words) { return words.size() > 1 && stride % words.size() == 0; });
    };
    while (total > cap && divides()) ++stride;
    const auto numbered = [&](std::size_t number) {
        Words words;
        for (const Words& each : choices) words.push_back(each[number % each.size()]), number /= each.size();
        return words;
    };
    std::vector<Words> all;
    for (std::size_t i = 0; i < total && all.size() < cap; i += stride) all.push_back(numbered(i));
    // A word that the stride steps over.
    std::size_t below = 1;
    for (std::size_t slot = 0; slot < choices.size(); below *= choices[slot++].size())
        for (std::size_t word = 0; word < choices[slot].size(); ++word)
            if (std::none_of(all.begin(), all.end(),
                             [&](const Words& each) { return each[slot] == choices[slot][word]; }))
                all.push_back(numbered(word * below));
    return all;
}

bool on_sm_90(const isa::Form& form) { return form.needs.sm <= 90 && form.needs.suffix == isa::Suffix::any; }

bool builds(const Case& each) {
    auto module = ptx::read(Source("case.ptx", module_head(each.target) + entry_text(each, "k")));
    if (!module) return std::cerr << each.name << ": " << to_string(module.error()) << "\n", false;
    return isa::build(*module, "k").has_value();
}

std::string Names::next(int bits) {
    if (bits == 1) return "p" + std::to_string(predicates_++);
    if (bits <= 16) return "h" + std::to_string(halves_++);
    if (bits == 32) return "r" + std::to_string(words_++);
    return bits == 64 ? "q" + std::to_string(doubles_++) : "x" + std::to_string(quads_++);
}

}  // namespace tilepath::recorded

int main(int argc, char** argv) {
    using namespace tilepath::recorded;
    struct List {
        void (*make)(Cases&);
        bool all = false;  ///< whatever tilepath takes
    };
    const std::map<std::string, List> lists{{"scalar", {list_scalar}},
                                            {"approximations", {list_approximations}},
                                            {"matrix", {list_matrix}},
                                            {"matrix_moves", {list_matrix_moves}},
                                            {"warp", {list_warp}},
                                            {"barriers", {list_barriers}},
                                            {"atomics", {list_atomics}},
                                            {"copies", {list_copies}},
                                            {"wgmma", {list_wgmma, true}},
                                            {"tma_loads", {list_tma_loads, true}},
                                            {"tma_im2col", {list_tma_im2col, true}},
                                            {"tma_stores", {list_tma_stores, true}},
                                            {"tensor_map", {list_tensor_map, true}},
                                            {"bulk", {list_bulk, true}},
                                            {"mbarrier", {list_mbarrier, true}},
                                            {"cluster", {list_cluster, true}}};
    const std::string name = argc == 2 ? argv[1] : "";
    if (name == "tensor_maps") {
        for (const TensorMap& map : list_maps()) std::cout << to_string(map) << "\n";
        return 0;
    }
    const auto list = lists.find(name);
    if (list == lists.end()) return std::fprintf(stderr, "list NAME\n"), 2;
    Cases cases;
    list->second.make(cases);
    std::set<std::string> names;
    for (const Case& each : cases)
        if (names.insert(each.name).second && (list->second.all || builds(each))) write_case(std::cout, each);
    return 0;
}
