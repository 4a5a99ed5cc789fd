// Calls: whom, with which arguments.
#include "isa/lowering.h"

#include <fmt/format.h>

#include <algorithm>

#include "isa/program_builder.h"

namespace tilepath::isa {

using program::Call;

namespace {

Call::Builtin builtin_named(std::string_view name) {
    if (name == "vprintf") return Call::Builtin::vprintf;
    if (name == "malloc") return Call::Builtin::malloc;
    if (name == "free") return Call::Builtin::free;
    if (name == "__assertfail") return Call::Builtin::assertfail;
    return Call::Builtin::none;
}

/// Functions of the device runtime that kernels of CUDA dynamic parallelism declare.
bool launches_kernels(std::string_view name) {
    return name.starts_with("cudaLaunchDevice") || name.starts_with("cudaGetParameterBuffer") ||
           name.starts_with("__cudaCDP2");
}

}  // namespace

bool Lowering::describe_call_arguments(const ptx::Operand& list, std::vector<Call::Argument>& out, ptx::Range formal) {
    std::span<const ptx::Operand> actual = module_.children(list);
    std::span<const ptx::Variable> declared = module_.variables_in(formal);
    if (actual.size() != declared.size()) {
        error(list.span, fmt::format("expected {} argument{}, found {}", declared.size(),
                                     declared.size() == 1 ? "" : "s", actual.size()));
        return false;
    }
    for (std::size_t i = 0; i < actual.size(); ++i) {
        const ptx::Symbol* symbol =
            actual[i].kind == ptx::OperandKind::identifier ? module_.symbol(actual[i]) : nullptr;
        Call::Argument argument;
        argument.bytes = static_cast<std::uint32_t>(ptx::size_in_bytes(module_, declared[i]));
        argument.type = program::type_named(ptx::word(declared[i].type)).value_or(DataType::b32);
        if (symbol && symbol->kind == ptx::SymbolKind::param) {
            auto place = std::find_if(out_.locals.begin(), out_.locals.end(),
                                      [&](const program::FrameVariable& v) { return v.symbol == actual[i].symbol; });
            if (place == out_.locals.end()) {
                // A function may pass its own parameters on.
                place = std::find_if(out_.parameters.begin(), out_.parameters.end(),
                                     [&](const program::FrameVariable& v) { return v.symbol == actual[i].symbol; });
                if (place == out_.parameters.end() || in_entry()) {
                    error(actual[i].span,
                          "an argument must be a .param variable of this body, a register or a constant");
                    return false;
                }
            }
            if (place->bytes != argument.bytes) {
                error(actual[i].span, fmt::format("'{}' has {} bytes; the parameter has {}", place->name, place->bytes,
                                                  argument.bytes));
                return false;
            }
            argument.frame_offset = place->offset;
        } else {
            argument.reg = read(actual[i], argument.type);
        }
        out.push_back(argument);
    }
    return true;
}

void Lowering::call(const Bound& bound) {
    const ptx::Operand& target = bound["f"];
    const ptx::Symbol* symbol = target.kind == ptx::OperandKind::identifier ? module_.symbol(target) : nullptr;
    Call call;
    ptx::Range returns{}, parameters{};
    std::vector<Operand> sources;
    if (symbol && (symbol->kind == ptx::SymbolKind::function || symbol->kind == ptx::SymbolKind::alias)) {
        ptx::Id id = symbol->kind == ptx::SymbolKind::alias
                         ? module_.symbols[module_.aliases[symbol->node].aliasee_symbol].node
                         : symbol->node;
        const ptx::Function& callee = module_.functions[id];
        returns = callee.returns, parameters = callee.parameters;
        call.callee = builder_.function_index(id);
        if (call.callee < 0) call.builtin = builtin_named(module_.name(callee.name));
        if (call.callee < 0 && launches_kernels(module_.name(callee.name))) {
            error(
                target.span,
                fmt::format("'{}' starts a kernel from a kernel, which tilepath leaves out", module_.name(callee.name)),
                "launch the kernels from the host, one after the other");
            return;
        }
        if (call.callee < 0 && call.builtin == Call::Builtin::none) {
            error(target.span, fmt::format("the function '{}' has no body in this module", module_.name(callee.name)),
                  "link the module first, or remove the call; vprintf, malloc, free and __assertfail are built in");
            return;
        }
    } else if (symbol && symbol->kind == ptx::SymbolKind::reg) {
        const ptx::Operand* list = bound.operand("t");
        const ptx::Symbol* prototype = list ? module_.symbol(*list) : nullptr;
        if (!prototype ||
            (prototype->kind != ptx::SymbolKind::prototype && prototype->kind != ptx::SymbolKind::targets)) {
            error(bound.instruction().span, "an indirect call names its .callprototype or .calltargets last");
            return;
        }
        if (prototype->kind == ptx::SymbolKind::prototype) {
            returns = module_.prototypes[prototype->node].returns,
            parameters = module_.prototypes[prototype->node].parameters;
        } else {
            for (const ptx::Operand& candidate : module_.operands_in(module_.targets[prototype->node].targets))
                if (const ptx::Symbol* function = module_.symbol(candidate);
                    function && function->kind == ptx::SymbolKind::function) {
                    returns = module_.functions[function->node].returns;
                    parameters = module_.functions[function->node].parameters;
                    call.candidates.push_back(
                        static_cast<std::uint32_t>(std::max(0, builder_.function_index(function->node))));
                }
        }
        sources.push_back(read(target, DataType::u64));
    } else {
        error(target.span, fmt::format("expected a function or a register, found {}", describe(target)));
        return;
    }
    const ptx::Operand *results = bound.operand("r"), *arguments = bound.operand("a");
    if (results && !describe_call_arguments(*results, call.results, returns)) return;
    if (arguments && !describe_call_arguments(*arguments, call.arguments, parameters)) return;
    if (!arguments && parameters.count)
        error(bound.instruction().span, fmt::format("expected {} arguments, found none", parameters.count));
    MicroOp& op = emit(Op::call, DataType::none, {}, sources);
    op.detail = static_cast<std::uint32_t>(out_.calls.size());
    out_.calls.push_back(std::move(call));
}

}  // namespace tilepath::isa
