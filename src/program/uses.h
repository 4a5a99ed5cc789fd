#pragma once
#include "program/function.h"

namespace tilepath::program {

/// Calls visit(RegisterId) for every register that `op` reads: guard, sources, a call's .reg arguments.
template <class Visit>
void for_each_use(const Function& function, const MicroOp& op, Visit visit) {
    auto see = [&](Operand operand) {
        if (operand.kind == Operand::Kind::reg) visit(operand.index);
    };
    see(op.guard);
    for (Operand operand : function.sources(op)) see(operand);
    if (op.op == Op::call)
        for (const Call::Argument& argument : function.calls[op.detail].arguments) see(argument.reg);
    if (op.op == Op::ret)
        for (RegisterId result : function.register_results) visit(result);
}

/// Calls visit(RegisterId) for every register that `op` writes in its active lanes.
template <class Visit>
void for_each_def(const Function& function, const MicroOp& op, Visit visit) {
    auto see = [&](Operand operand) {
        if (operand.kind == Operand::Kind::reg) visit(operand.index);
    };
    for (Operand operand : function.destinations(op)) see(operand);
    if (op.op == Op::call)
        for (const Call::Argument& result : function.calls[op.detail].results) see(result.reg);
}

}  // namespace tilepath::program
