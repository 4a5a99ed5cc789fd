// The variables half of ProgramBuilder: .global and .const variables with what they hold at first.
#include <fmt/format.h>

#include <bit>

#include "base/assert.h"
#include "isa/program_builder.h"

namespace tilepath::isa {

using program::DataType;

void ProgramBuilder::add_variables() {
    // Those of the module first, then those that a function's body declares: an outer name wins.
    for (const ptx::Item& item : module_.items)
        if (item.kind == ptx::ItemKind::variable) add_variable(item.index);
    for (ptx::Id id = 0; id < module_.variables.size(); ++id) add_variable(id);
    // Initialisers name variables that may come later, and functions.
    for (auto [id, index] : variable_index_) initialise(module_.variables[id], program_.variables[index]);
}

void ProgramBuilder::add_variable(ptx::Id id) {
    const ptx::Variable& from = module_.variables[id];
    if (from.space != ptx::Space::global && from.space != ptx::Space::const_) return;
    if (!variable_index_.try_emplace(id, static_cast<std::uint32_t>(program_.variables.size())).second) return;
    program::Variable to;
    to.name = module_.name(from.name);
    to.space = from.space == ptx::Space::global ? program::Space::global : program::Space::constant;
    to.bytes = ptx::size_in_bytes(module_, from);
    to.alignment = ptx::alignment(from);
    to.element = program::type_named(ptx::word(from.type)).value_or(DataType::b8);
    to.external = from.linkage == ptx::Linkage::extern_;
    program_.variables.push_back(std::move(to));
}

void ProgramBuilder::initialise(const ptx::Variable& from, program::Variable& to) {
    // The address map gives one program 2^40 bytes; what a module spells out is far less.
    constexpr std::uint64_t most = std::uint64_t{1} << 40, most_initial = std::uint64_t{1} << 28;
    const bool initialised = from.initializer != ptx::none;
    if (to.bytes > (initialised ? most_initial : most)) {
        diagnostics_.push_back(
            {Severity::error,
             fmt::format("'{}': expected at most {} bytes{}, found {}", to.name, initialised ? most_initial : most,
                         initialised ? " of a variable with an initialiser" : "", to.bytes),
             module_.place(from.span),
             {}});
        return;
    }
    if (!initialised) return;
    to.initial.assign(to.bytes, 0);
    std::uint64_t at = 0;
    fill(module_.initializers[from.initializer], from, to, at);
}

void ProgramBuilder::fill(const ptx::Initializer& initializer, const ptx::Variable& from, program::Variable& to,
                          std::uint64_t& at) {
    const unsigned width = ptx::size_in_bytes(from.type);
    switch (initializer.kind) {
        case ptx::InitializerKind::list: {
            // A nested list that is too short leaves the rest of its row zero: the next one begins at the next row.
            const std::uint64_t begin = at;
            std::uint64_t row = 0;
            std::span<const ptx::Initializer> children = module_.children(initializer);
            const bool nested = !children.empty() && children.front().kind == ptx::InitializerKind::list;
            if (nested && !module_.dimensions_of(from).empty())
                row = to.bytes / std::max<std::uint64_t>(1, children.size());
            if (nested && module_.dimensions_of(from).front() != 0)
                row = to.bytes / module_.dimensions_of(from).front();
            for (std::size_t i = 0; i < children.size(); ++i) {
                if (nested) at = begin + i * row;
                fill(children[i], from, to, at);
            }
            return;
        }
        case ptx::InitializerKind::value: {
            std::uint64_t bits = initializer.bits;
            if (from.type == ptx::Type::f32 && initializer.immediate == ptx::ImmediateKind::f64)
                bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
            for (unsigned i = 0; i < width && at + i < to.initial.size(); ++i)
                to.initial[at + i] = static_cast<std::uint8_t>(i < 8 ? bits >> (8 * i) : 0);
            break;
        }
        case ptx::InitializerKind::address: {
            const ptx::Symbol& symbol = module_.symbols[initializer.symbol];
            program::Variable::Relocation relocation;
            relocation.offset = at;
            relocation.width = static_cast<std::uint8_t>(width);
            relocation.addend = initializer.offset();
            if (symbol.kind == ptx::SymbolKind::function) {
                relocation.target = program::Variable::Relocation::Target::function;
                std::int32_t index = function_index(symbol.node);
                if (index < 0) return;
                relocation.symbol = static_cast<std::uint32_t>(index);
            } else {
                auto found = variable_index_.find(symbol.node);
                if (found == variable_index_.end()) return;
                relocation.symbol = found->second;
            }
            to.relocations.push_back(relocation);
            break;
        }
        case ptx::InitializerKind::field: break;  // of samplers, which no form reads
    }
    at += width;
}

}  // namespace tilepath::isa
