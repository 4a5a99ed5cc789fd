#include "ptx/syntax.h"

#include <algorithm>

namespace tilepath::ptx {

Id Module::register_number(const Operand& operand) const {
    const Symbol* what = symbol(operand);
    if (!what || what->kind != SymbolKind::reg) return none;
    const std::uint32_t width = variables[what->node].vector;
    const bool part = operand.component >= Component::x && operand.component <= Component::w;
    const std::uint32_t lane =
        part ? static_cast<std::uint32_t>(operand.component) - static_cast<std::uint32_t>(Component::x) : 0;
    return what->number + operand.element * width + lane;
}

std::string_view Module::architecture() const {
    return targets_of_module.empty() ? std::string_view{} : targets_of_module.front().words.front();
}

Id Module::function_named(std::string_view wanted) const {
    Id found = none;
    for (Id i = 0; i < functions.size(); ++i)
        if (name(functions[i].name) == wanted && (found == none || functions[i].has_body)) found = i;
    return found;
}

std::uint64_t size_in_bytes(const Module& module, const Variable& variable) {
    // Sizes that 64 bits do not hold are the largest that they do: larger than any memory.
    auto times = [](std::uint64_t a, std::uint64_t b) { return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b; };
    std::uint64_t elements = variable.count;
    const auto dimensions = module.dimensions_of(variable);
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
        std::uint64_t size = dimensions[i];
        if (i == 0 && size == 0 && variable.initializer != none) {
            const Initializer& root = module.initializers[variable.initializer];
            size = root.kind == InitializerKind::list ? root.children.count : 1;
        }
        elements = times(elements, size);
    }
    return times(elements, std::uint64_t{variable.vector} * size_in_bytes(variable.type));
}

std::uint32_t alignment(const Variable& variable) {
    return variable.align != 0 ? variable.align : std::max(1u, size_in_bytes(variable.type) * variable.vector);
}

}  // namespace tilepath::ptx
