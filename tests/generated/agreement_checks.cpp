// The checks on generated programs.
#include <fmt/format.h>

#include "check/finding.h"
#include "check/rules.h"
#include "generated/agreement.h"

namespace tilepath::generated {

/// Matrices over what kernels read and write; their sizes need not fit each other.
check::Product Agreement::made_up_product(std::uint64_t seed) const {
    using Of = check::ProductMatrix::Role;
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
    const auto extent = [&] { return 8 * (1 + below(16)); };
    check::Product product;
    product.m = extent(), product.n = extent(), product.k = extent();
    product.batch = below(4) == 0 ? 2 : 1;
    product.scale_block = below(2) * 16;
    const std::uint32_t unit_bytes = 1u << below(3), per_unit = unit_bytes == 1 && below(2) ? 2 : 1;
    for (const Of role : {Of::a, Of::b, Of::c, Of::d, Of::sfa, Of::sfb}) {
        if (role == Of::c && below(2)) continue;
        const bool scales = role == Of::sfa || role == Of::sfb, of_d = role == Of::d || role == Of::c;
        if (scales && product.scale_block == 0) continue;
        check::ProductMatrix matrix;
        matrix.role = role;
        matrix.name = "X";
        matrix.base = (of_d ? below(2) ? slots_ : results_ : input_) + 16 * below(64);
        matrix.unit_bytes = scales ? 1 : of_d ? 4 : unit_bytes;
        matrix.elements_per_unit = scales || of_d ? 1 : per_unit;
        const std::uint32_t rows = product.batch * (role == Of::b || role == Of::sfb ? product.n : product.m);
        const std::uint32_t columns = of_d ? product.n : product.k;
        const bool column_major = below(2) == 0, wrong = below(8) == 0;
        const std::uint32_t units = columns / matrix.elements_per_unit;
        for (std::uint32_t i = 0; i < rows * units; ++i) {
            const std::uint32_t row = column_major ? i % rows : i / units, unit = column_major ? i / rows : i % units;
            matrix.units.push_back({wrong ? 3 * row : row, matrix.elements_per_unit * unit});
            if (below(64) == 0) matrix.units.back() = {};
        }
        product.matrices.push_back(std::move(matrix));
    }
    return product;
}

std::string Agreement::check_observed(const Kernel& kernel, const program::Program& program, std::uint64_t seed) {
    Way way{"checked", {}, &program};
    way.options.seed = seed;
    Memory bare;
    const std::string told = run(kernel, way, seed, bare);
    std::string listed[2];
    for (std::string& list : listed) {
        check::Checks checks;
        if (seed % 4 != 0) checks.expect(made_up_product(seed));
        way.options.observer = &checks;
        Memory found;
        if (const std::string also = run(kernel, way, seed, found); also != told)
            return fmt::format("without checks:\n{}\nwith checks:\n{}", told, also);
        if (std::string wrong = difference(kernel, bare, found); !wrong.empty())
            return fmt::format("with checks and without: {}", wrong);
        for (const check::Finding& each : checks.findings(program)) {
            ++findings_;
            list += to_string(each);
            if (!kernel.wild && each.severity == check::Severity::finding && each.check != "provenance" &&
                check::rule_of(each.check).wrong_result)
                return "a finding in a program without a race:\n" + to_string(each);
        }
    }
    if (listed[0] != listed[1]) return fmt::format("two reports of one run:\n{}\n{}", listed[0], listed[1]);
    return {};
}

}  // namespace tilepath::generated
