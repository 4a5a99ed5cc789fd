#include "atom/descriptor_findings.h"

#include <fmt/format.h>

#include "layout/analysis.h"

namespace tilepath::atom {

Diagnostic finding(Severity severity, std::string message, std::string note) {
    Diagnostic diagnostic{severity, std::move(message), {}, {}};
    if (!note.empty()) diagnostic.notes.push_back(std::move(note));
    return diagnostic;
}

Result<std::uint64_t> put_bytes(std::string_view name, std::uint32_t bytes, BitField field) {
    if (bytes % 16 != 0 || !field.holds(bytes / 16))
        return fail(fmt::format("{} must be a multiple of 16 below 262144, found {}", name, bytes),
                    "the field holds bytes / 16 in 14 bits");
    return field.put(bytes / 16);
}

void add_operand_findings(Diagnostics& all, const SharedOperand& operand, std::uint32_t start_bytes, int base_offset) {
    const int pattern = layout::traits(operand.swizzle).pattern_bytes;
    const int phase = static_cast<int>(start_bytes % static_cast<std::uint32_t>(pattern)) / 128;
    if (operand.swizzle != layout::SwizzleMode::none && phase != 0 && base_offset == 0)
        all.push_back(
            finding(Severity::warning,
                    fmt::format("the start address lies {} rows into the {}-byte swizzle pattern with base offset 0",
                                phase, pattern),
                    "right while advancing inside an aligned tile; a tile based there needs that base offset"));
    const Result<layout::Layout> layout = operand_layout(operand);
    if (!layout) {
        all.insert(all.end(), layout.error().begin(), layout.error().end());
    } else if (auto alias = layout::find_alias(*layout); alias && *alias) {
        const std::int64_t k = operand.k;
        all.push_back(
            finding(Severity::warning,
                    fmt::format("elements (mn {}, k {}) and (mn {}, k {}) lie at one place", (*alias)->first / k,
                                (*alias)->first % k, (*alias)->second / k, (*alias)->second % k),
                    "the leading or stride offset is too small"));
    }
}

}  // namespace tilepath::atom
