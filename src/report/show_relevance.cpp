// Which of show's options say something of an operand.
#include <fmt/format.h>

#include <algorithm>

#include "report/show_operands.h"

namespace tilepath::report {
namespace {

using Options = std::vector<std::string_view>;

struct Need {
    std::string_view option, needs;
};
constexpr Need needs[] = {
    {"--from", "it needs an operand A, B, C or D"},
    {"--major", "it needs an operand in shared memory: A (--from shared) or B of wgmma, A or B of tcgen05.mma"},
    {"--swizzle", "it needs an operand in shared memory, or --conflicts"},
    {"--start", "it needs an operand in shared memory, or --conflicts"},
    {"--selector", "it needs the operand meta of a sparse product"},
    {"--id", "it needs the operand sfa or sfb of a block-scaled product"},
    {"--thread-id", "it needs the operand sfa or sfb of a block-scaled mma.sync"},
    {"--vec", "it needs the operand sfa or sfb of a block-scaled product"},
};

/// The options that an operand has.
struct Relevant {
    std::string_view operand;
    const OperandPlacement& placement;

    bool scale() const { return operand == "sfa" || operand == "sfb"; }
    Options shared(bool in_shared) const {
        return in_shared ? Options{"--from", "--major", "--swizzle", "--start"} : Options{"--from"};
    }
    Options operator()(const atom::MmaAtom&) const {
        return scale() ? Options{"--id", "--thread-id", "--vec"} : Options{"--from"};
    }
    Options operator()(const atom::SparseMmaAtom&) const {
        return operand == "meta" ? Options{"--selector"} : Options{"--from"};
    }
    Options operator()(const atom::WmmaAtom&) const { return {"--from"}; }
    Options operator()(const atom::WgmmaAtom&) const {
        if (operand == "meta") return {"--selector"};
        return shared(operand == "B" || (operand == "A" && placement.from && *placement.from != "registers"));
    }
    Options operator()(const atom::MatrixMove&) const { return {}; }
    Options operator()(const atom::MatrixTranspose&) const { return {}; }
    Options operator()(const atom::Tcgen05Mma&) const {
        if (scale()) return {"--id", "--vec"};
        if (operand == "meta") return {"--selector"};
        return shared(operand == "B" || (operand == "A" && (!placement.from || *placement.from != "tmem")));
    }
    Options operator()(const atom::TmemTransfer&) const { return {}; }
    Options operator()(const atom::TmemCopy&) const { return {}; }
    Options operator()(const atom::TmemShift&) const { return {}; }
};

Result<void> check(const OperandPlacement& placement, const Options& relevant, std::string_view of) {
    for (const Need& row : needs)
        if (std::ranges::find(placement.given, row.option) != placement.given.end() &&
            std::ranges::find(relevant, row.option) == relevant.end())
            return fail(fmt::format("{} says nothing of {}", row.option, of), std::string(row.needs));
    return {};
}

}  // namespace

Result<void> check_relevance(const atom::Instruction& instruction, std::string_view operand,
                             const OperandPlacement& placement) {
    return check(placement, std::visit(Relevant{operand, placement}, instruction.atom),
                 fmt::format("operand {} of {}", operand, instruction.name));
}

Result<void> check_no_placement(const OperandPlacement& placement) {
    return check(placement, {}, "a whole instruction");
}

}  // namespace tilepath::report
