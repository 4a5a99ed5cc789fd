#include <fmt/format.h>

#include <charconv>

#include "number/recipe.h"

namespace tilepath::number {

std::string_view name(Generation generation) {
    switch (generation) {
        case Generation::turing: return "sm_75";
        case Generation::ampere: return "sm_80";
        case Generation::ada: return "sm_89";
        case Generation::hopper: return "sm_90";
        case Generation::blackwell: return "sm_100";
        case Generation::blackwell_rtx: return "sm_120";
    }
    return "";
}

std::string_view name(Instruction instruction) {
    switch (instruction) {
        case Instruction::mma_sync: return "mma.sync";
        case Instruction::wgmma: return "wgmma";
        case Instruction::tcgen05_mma: return "tcgen05.mma";
        case Instruction::wmma: return "wmma";
    }
    return "";
}

std::string_view name(Evidence evidence) {
    switch (evidence) {
        case Evidence::manual: return "manual";
        case Evidence::model: return "model";
        case Evidence::hardware: return "hardware";
    }
    return "";
}

Result<Generation> generation_of(std::string_view arch) {
    constexpr std::string_view prefix = "sm_";
    int number = 0;
    bool well_formed = arch.starts_with(prefix);
    if (well_formed) {
        const std::string_view digits = arch.substr(prefix.size());
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
        const std::string_view rest(end, std::size_t(digits.data() + digits.size() - end));
        well_formed = error == std::errc{} && (rest.empty() || rest == "a" || rest == "f");
    }
    if (well_formed) {
        switch (number) {
            case 75: return Generation::turing;
            case 80:
            case 86:
            case 87:
            case 88: return Generation::ampere;
            case 89: return Generation::ada;
            case 90: return Generation::hopper;
            case 100:
            case 101:
            case 103:
            case 110: return Generation::blackwell;
            case 120:
            case 121: return Generation::blackwell_rtx;
            default: break;
        }
    }
    return fail(fmt::format("unknown device '{}'", arch),
                "known are sm_75, sm_80, sm_86, sm_87, sm_88, sm_89, sm_90, sm_100, sm_101, sm_103, sm_110, sm_120 and "
                "sm_121, each with or without the suffix a or f");
}

Result<Instruction> instruction_named(std::string_view wanted) {
    for (const Instruction i : {Instruction::mma_sync, Instruction::wgmma, Instruction::tcgen05_mma, Instruction::wmma})
        if (name(i) == wanted) return i;
    return fail(fmt::format("unknown instruction '{}'", wanted), "known are mma.sync, wgmma, tcgen05.mma and wmma");
}

}  // namespace tilepath::number
