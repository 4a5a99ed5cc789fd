#include "atom/targets.h"

#include <charconv>

namespace tilepath::atom {
namespace {

struct Target {
    std::string_view name;
    int sm;
    bool datacentre_blackwell;  ///< has Tensor Memory: sm_100, sm_103, sm_110, specific or by family
    char suffix;                ///< a, f, or a space
};

std::vector<Target> table() {
    std::vector<Target> all;
    for (const std::string_view name : all_targets()) {
        int sm = 0;
        std::from_chars(name.data() + 3, name.data() + name.size(), sm);
        const char last = name.back(), suffix = last == 'a' || last == 'f' ? last : ' ';
        all.push_back({name, sm, sm >= 100 && sm < 120 && suffix != ' ', suffix});
    }
    return all;
}

/// What each kind of instruction asks of a target.
struct Has {
    const Target& target;

    bool at_least(int sm) const { return target.sm >= sm; }
    bool specific() const { return target.suffix != ' '; }
    bool operator()(const MmaAtom& a) const {
        if (a.kind == MmaKind::none) return at_least(a.minimum_sm);
        // Six- and four-bit operands, and scales, are sm_120's; fp8 in kind::f8f6f4 assembles for sm_100a too.
        return specific() && at_least(a.minimum_sm);
    }
    bool operator()(const SparseMmaAtom& a) const {
        if (a.kind == MmaKind::mxf4 || a.kind == MmaKind::mxf4nvf4) return at_least(120) && target.suffix == 'a';
        // As dense: fp8 with f32 results in kind::f8f6f4 assembles for sm_100a too.
        return at_least(a.minimum_sm) && (specific() || (a.kind == MmaKind::none && a.minimum_sm < 120));
    }
    bool operator()(const WmmaAtom& a) const { return at_least(a.minimum_sm); }
    bool operator()(const WgmmaAtom&) const { return target.name == "sm_90a"; }
    bool operator()(const MatrixMove& a) const {
        return at_least(a.transfer.minimum_sm) && (a.transfer.minimum_sm < 100 || specific());
    }
    bool operator()(const MatrixTranspose&) const { return at_least(75); }
    bool operator()(const Tcgen05Mma& a) const {
        if (a.shape.k == 96)
            return target.name == "sm_103a";  // PTX ISA 9.7.16.2.1.1; no word of the instruction says k
        // ptxas 13.0 leaves out of the family targets: sparse four-bit kinds, and .scale_vec (not .block16, .block32).
        const bool four_bits = a.kind == Tcgen05Kind::mxf4 || a.kind == Tcgen05Kind::mxf4nvf4;
        if (((a.sparse && four_bits) || a.names_scale_vec) && target.suffix != 'a') return false;
        if (a.kind == Tcgen05Kind::i8) return target.name == "sm_100a" || target.name == "sm_110a";
        return target.datacentre_blackwell;
    }
    bool operator()(const TmemTransfer& a) const {
        return target.datacentre_blackwell && (!a.reduction || at_least(103));
    }
    bool operator()(const TmemCopy&) const { return target.datacentre_blackwell; }
    bool operator()(const TmemShift&) const { return target.datacentre_blackwell && target.suffix == 'a'; }
};

}  // namespace

std::span<const std::string_view> all_targets() {
    static constexpr std::string_view names[] = {"sm_75",   "sm_80",   "sm_89",   "sm_90",   "sm_90a",
                                                 "sm_100",  "sm_100a", "sm_100f", "sm_103a", "sm_103f",
                                                 "sm_110a", "sm_110f", "sm_120",  "sm_120a", "sm_120f"};
    return names;
}

std::vector<std::string_view> targets_of(const Instruction& instruction) {
    static const std::vector<Target> all = table();
    std::vector<std::string_view> legal;
    for (const Target& target : all)
        if (std::visit(Has{target}, instruction.atom)) legal.push_back(target.name);
    return legal;
}

}  // namespace tilepath::atom
