// The operands of an mma with block scales: PTX ISA 9.7.14.3.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "atom/block_scale.h"
#include "base/assert.h"
#include "isa/matrix_rules.h"

namespace tilepath::isa {

using program::Mma;

namespace {

bool is_declared_register(Lowering& to, const ptx::Operand& operand) {
    const ptx::Module& module = to.module();
    if (operand.kind == ptx::OperandKind::vector) {
        const auto parts = module.children(operand);
        return parts.size() == 1 && is_declared_register(to, parts[0]);
    }
    const ptx::Symbol* symbol = operand.kind == ptx::OperandKind::identifier ? module.symbol(operand) : nullptr;
    return symbol && symbol->kind == ptx::SymbolKind::reg;
}

/// The register that holds scales, and {byte-id, thread-id}: literals or 16-bit registers.
struct ScaleOperands {
    Operand data, byte_id, thread_id;
    atom::ScaleSelector known;  ///< what literals say; 0 for a register
};

ScaleOperands read_scales(Lowering& to, const ptx::Operand& data, const ptx::Operand& selector) {
    ScaleOperands out;
    const std::vector<Operand> parts = to.read_vector(data, DataType::b32);
    if (parts.size() == 1) out.data = parts[0];
    if (parts.size() != 1 || !is_declared_register(to, data))
        to.error(data.span, fmt::format("scales are a 32-bit register; found '{}'", to.module().text(data.span)));
    const auto fields = to.module().children(selector);
    if (selector.kind != ptx::OperandKind::vector || fields.size() != 2) {
        to.error(selector.span,
                 fmt::format("expected {{byte-id, thread-id}}, found '{}'", to.module().text(selector.span)));
        return out;
    }
    for (auto [field, operand, known] : {std::tuple{&fields[0], &out.byte_id, &out.known.byte_id},
                                         {&fields[1], &out.thread_id, &out.known.thread_id}}) {
        if (field->kind == ptx::OperandKind::immediate)
            *known = static_cast<int>(std::clamp<std::int64_t>(to.immediate(*field, "a selector of scales"), -1, 255));
        else if (!is_declared_register(to, *field))
            to.error(field->span, fmt::format("a selector of scales is a literal or a 16-bit register; found '{}'",
                                              to.module().text(field->span)));
        *operand = to.read(*field, DataType::u16);
    }
    return out;
}

atom::ScaleVector scale_vector(const Mma& mma) {
    const auto vector = atom::scale_vector_named(fmt::format("{}X", mma.scale_factors));
    TILEPATH_ASSERT(vector, "a number of scale factors without a name");
    return *vector;
}

}  // namespace

void append_scales(Lowering& to, const Bound& in, const Mma& mma, std::vector<Operand>& sources) {
    const ScaleOperands a = read_scales(to, in["scale_a"], in["selector_a"]),
                        b = read_scales(to, in["scale_b"], in["selector_b"]);
    const auto scales = atom::mma_scales(mma.kind, scale_vector(mma), number_format(mma.scale), a.known, b.known);
    if (!scales) refuse(to, scales.error());
    sources.insert(sources.end(), {a.data, a.byte_id, a.thread_id, b.data, b.byte_id, b.thread_id});
}

}  // namespace tilepath::isa
