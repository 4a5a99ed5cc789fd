#include "isa/program_builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "isa/build.h"
#include "isa/cta_groups.h"
#include "isa/lowering.h"
#include "isa/target.h"
#include "program/async_registers.h"
#include "program/slots.h"

namespace tilepath::isa {
namespace {

using program::DataType;
using program::FrameVariable;

std::uint32_t align_up(std::uint32_t value, std::uint32_t alignment) {
    return (value + alignment - 1) / alignment * alignment;
}

}  // namespace

ProgramBuilder::ProgramBuilder(const ptx::Module& module, program::Program& program, Diagnostics& diagnostics)
    : module_(module), program_(program), diagnostics_(diagnostics), binder_(module) {
    program_.source = module.source;
    program_.target = module.architecture();
}

std::uint32_t ProgramBuilder::reserve(const ptx::Variable& variable, std::uint32_t& end) {
    // Shared and local memory and parameters are far smaller: 228 KiB, 512 KiB and 32,764 bytes.
    constexpr std::uint64_t most = 1 << 20;
    const std::uint64_t alignment = ptx::alignment(variable), begin = (end + alignment - 1) / alignment * alignment;
    const std::uint64_t bytes = ptx::size_in_bytes(module_, variable);
    if (bytes > most || begin + bytes > most) {
        diagnostics_.push_back({Severity::error,
                                fmt::format("'{}' makes the .{} variables larger than {} bytes, which no device has",
                                            module_.name(variable.name), ptx::word(variable.space), most),
                                module_.place(variable.span),
                                {}});
        return end;
    }
    end = static_cast<std::uint32_t>(begin + bytes);
    return static_cast<std::uint32_t>(begin);
}

FrameVariable ProgramBuilder::place(const ptx::Variable& variable, std::uint32_t& end) {
    FrameVariable out;
    out.name = module_.name(variable.name);
    out.alignment = ptx::alignment(variable);
    out.offset = reserve(variable, end);
    out.bytes = end - out.offset;
    out.element = program::type_named(ptx::word(variable.type)).value_or(DataType::b8);
    out.symbol = variable.symbol;
    return out;
}

/// A target that the module's version does not know yet.
void ProgramBuilder::check_target() {
    const auto target = target_named(module_.architecture());
    const auto needs = target ? version_of(*target) : std::nullopt;
    if (!needs ||
        meets(*needs, static_cast<int>(module_.version_major), static_cast<int>(module_.version_minor), *target))
        return;
    diagnostics_.push_back(
        {Severity::error,
         fmt::format("the target {} came with PTX ISA {}.{}; the module says .version {}.{}", to_string(*target),
                     needs->major, needs->minor, module_.version_major, module_.version_minor),
         module_.place(module_.version_span),
         {fmt::format("write .version {}.{} or later", needs->major, needs->minor)}});
}

void ProgramBuilder::run(ptx::Id entry) {
    check_target();
    read_bounds(module_.functions[entry]);
    function_index(entry);  // the first, before the functions that initialisers name
    add_variables();
    for (std::uint32_t i = 0; i < functions_.size(); ++i) lower(i);
    place_dynamic_shared();
    if (!has_error(diagnostics_)) check_cta_groups(module_, program_, diagnostics_);
    if (has_error(diagnostics_)) return;
    for (program::Function& function : program_.functions) {
        program::complete_async_registers(function);
        program::assign_slots(function);
    }
}

std::int32_t ProgramBuilder::function_index(ptx::Id id) {
    auto [at, fresh] = function_index_.try_emplace(id, -1);
    if (fresh && module_.functions[id].has_body) {
        at->second = static_cast<std::int32_t>(functions_.size());
        functions_.push_back(id);
    }
    return at->second;
}

std::uint32_t ProgramBuilder::variable_index(ptx::Id variable) {
    auto found = variable_index_.find(variable);
    TILEPATH_ASSERT(found != variable_index_.end(), "a .global or .const variable that the module does not list");
    return found->second;
}

bool ProgramBuilder::is_dynamic_shared(const ptx::Variable& variable) const {
    return variable.linkage == ptx::Linkage::extern_ && ptx::size_in_bytes(module_, variable) == 0;
}

std::uint32_t ProgramBuilder::shared_offset(ptx::Id id) {
    const ptx::Variable& variable = module_.variables[id];
    auto [at, fresh] = shared_offset_.try_emplace(id, 0);
    if (fresh) {
        std::uint32_t end = program::reserved_shared_bytes + program_.shared_bytes;
        at->second = reserve(variable, end);
        program_.shared_bytes = end - program::reserved_shared_bytes;
        program_.shared_alignment = std::max(program_.shared_alignment, ptx::alignment(variable));
        program_.shared_variables.push_back({std::string(module_.name(variable.name)), at->second,
                                             static_cast<std::uint32_t>(ptx::size_in_bytes(module_, variable))});
    }
    return at->second;
}

void ProgramBuilder::note_dynamic_shared(std::uint32_t function, std::uint32_t constant,
                                         const ptx::Variable& variable) {
    dynamic_uses_.push_back({function, constant});
    dynamic_name_ = module_.name(variable.name);
    dynamic_alignment_ = std::max(dynamic_alignment_, ptx::alignment(variable));
}

void ProgramBuilder::place_dynamic_shared() {
    program_.dynamic_shared_offset =
        align_up(program::reserved_shared_bytes + program_.shared_bytes, std::max(16u, dynamic_alignment_));
    if (!dynamic_uses_.empty()) program_.shared_variables.push_back({dynamic_name_, program_.dynamic_shared_offset, 0});
    for (DynamicUse use : dynamic_uses_)
        program_.functions[use.function].constants[use.constant].bits += program_.dynamic_shared_offset;
}

std::int32_t ProgramBuilder::location(ptx::Id id) {
    if (id == ptx::none) return -1;
    auto [at, fresh] = location_.try_emplace(id, -1);
    if (!fresh) return at->second;
    const ptx::Location& from = module_.locations[id];
    program::SourceLocation to;
    for (const ptx::File& file : module_.files)
        if (file.index == from.file) to.file = file.name;
    to.line = from.line;
    to.column = from.column;
    // `inlined_at` points backwards, so this ends.
    to.inlined_at = from.inlined_at == ptx::none || from.inlined_at >= id ? -1 : location(from.inlined_at);
    program_.locations.push_back(std::move(to));
    return location_[id] = static_cast<std::int32_t>(program_.locations.size() - 1);
}

void ProgramBuilder::lay_out_parameters(const ptx::Function& function, program::Function& out) {
    const bool entry = function.kind == ptx::FunctionKind::entry;
    std::uint32_t parameter_bytes = 0;
    std::uint32_t& end = entry ? parameter_bytes : out.frame_bytes;
    auto add = [&](ptx::Range range, std::vector<FrameVariable>& places, std::vector<program::RegisterId>& registers) {
        for (const ptx::Variable& variable : module_.variables_in(range)) {
            if (variable.space == ptx::Space::reg)
                registers.push_back(module_.symbols[variable.symbol].number);
            else
                places.push_back(place(variable, end));
        }
    };
    add(function.parameters, out.parameters, out.register_parameters);
    add(function.returns, out.results, out.register_results);
    for (const ptx::Statement& statement : module_.body(function)) {
        if (statement.kind != ptx::StatementKind::variable) continue;
        const ptx::Variable& variable = module_.variables[statement.index];
        if (variable.space == ptx::Space::param || variable.space == ptx::Space::local)
            out.locals.push_back(place(variable, out.frame_bytes));
    }
    // Calls put the callee's frame behind this one, aligned as any variable may ask.
    out.frame_bytes = align_up(out.frame_bytes, 16);
}

void ProgramBuilder::lower(std::uint32_t index) {
    current_ = index;
    const ptx::Function& function = module_.functions[functions_[index]];
    program::Function out;
    out.name = module_.name(function.name);
    out.entry = function.kind == ptx::FunctionKind::entry;
    Lowering lowering(*this, module_, function, out);
    for (ptx::Range range : {function.parameters, function.returns})
        for (const ptx::Variable& variable : module_.variables_in(range))
            if (variable.space == ptx::Space::reg)
                out.registers[module_.symbols[variable.symbol].number] = {
                    program::type_named(ptx::word(variable.type)).value_or(DataType::b32),
                    std::string(module_.name(variable.name))};
    lay_out_parameters(function, out);
    const std::size_t errors = diagnostics_.size();
    for (const ptx::Statement& statement : module_.body(function)) {
        if (statement.kind == ptx::StatementKind::label) {
            lowering.label(module_.symbols[module_.labels[statement.index].symbol].number);
        } else if (statement.kind == ptx::StatementKind::instruction) {
            const ptx::Instruction& instruction = module_.instructions[statement.index];
            if (const HeadMatch* match = binder_.bind(instruction, diagnostics_))
                lowering.instruction(Bound(*match, module_, instruction));
        }
    }
    if (diagnostics_.size() == errors) lowering.finish();
    program_.functions.push_back(std::move(out));
}

void ProgramBuilder::read_bounds(const ptx::Function& entry) {
    program::LaunchBounds& bounds = program_.bounds;
    auto copy = [](const ptx::FunctionDirective& from, std::uint32_t(&to)[3]) {
        for (int i = 0; i < 3; ++i) to[i] = i < from.count ? from.values[i] : 1;
    };
    for (const ptx::FunctionDirective& directive : module_.directives_in(entry.directives)) {
        if (directive.kind == ptx::DirectiveKind::maxntid) copy(directive, bounds.max_threads);
        if (directive.kind == ptx::DirectiveKind::reqntid) copy(directive, bounds.required_threads);
        if (directive.kind == ptx::DirectiveKind::reqnctapercluster) copy(directive, bounds.required_cluster);
        if (directive.kind == ptx::DirectiveKind::maxclusterrank) bounds.max_cluster_ctas = directive.values[0];
        if (directive.kind == ptx::DirectiveKind::maxnreg) bounds.max_registers = directive.values[0];
        if (directive.kind == ptx::DirectiveKind::minnctapersm) bounds.min_ctas = directive.values[0];
        if (directive.kind == ptx::DirectiveKind::explicitcluster) bounds.explicit_cluster = true;
        if (directive.kind == ptx::DirectiveKind::blocksareclusters) bounds.blocks_are_clusters = true;
    }
}

Result<program::Program> build(const ptx::Module& module, std::string_view name) {
    std::vector<ptx::Id> entries;
    std::string listed;
    for (ptx::Id id = 0; id < module.functions.size(); ++id) {
        const ptx::Function& function = module.functions[id];
        if (function.kind != ptx::FunctionKind::entry || !function.has_body) continue;
        if (!name.empty() && module.name(function.name) != name) {
            listed += fmt::format("{}{}", listed.empty() ? "" : ", ", module.name(function.name));
            continue;
        }
        entries.push_back(id);
        if (name.empty()) listed += fmt::format("{}{}", listed.empty() ? "" : ", ", module.name(function.name));
    }
    if (entries.empty() && !name.empty())
        return fail(fmt::format("the module {} has no entry '{}'", module.source->name(), name),
                    listed.empty() ? "it has no .entry at all" : "its entries: " + listed);
    if (entries.empty()) return fail(fmt::format("the module {} has no .entry with a body", module.source->name()));
    if (entries.size() > 1)
        return fail(
            fmt::format("the module {} has {} entries; say which one to run", module.source->name(), entries.size()),
            "its entries: " + listed);
    program::Program program;
    Diagnostics diagnostics;
    ProgramBuilder(module, program, diagnostics).run(entries.front());
    if (has_error(diagnostics)) return std::unexpected(std::move(diagnostics));
    return program;
}

Diagnostics check_instructions(const ptx::Module& module) {
    Diagnostics diagnostics;
    Binder binder(module);
    for (const ptx::Instruction& instruction : module.instructions) binder.bind(instruction, diagnostics);
    return diagnostics;
}

}  // namespace tilepath::isa
