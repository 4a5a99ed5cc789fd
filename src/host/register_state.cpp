// Which registers mean something before an operation.
#include "host/stop_text.h"
#include "program/slots.h"
#include "program/uses.h"

namespace tilepath::host {
namespace {

using program::Function;
using program::MicroOp;
using program::RegisterId;

/// A guarded write leaves what lanes without it held.
bool writes_all(const MicroOp& op) { return op.guard.kind == program::Operand::Kind::none; }

void write(const Function& function, const MicroOp& op, std::vector<bool>& written) {
    if (writes_all(op)) program::for_each_def(function, op, [&](RegisterId r) { written[r] = true; });
}

/// By block: what every path from the entry to its begin has written.
std::vector<std::vector<bool>> written_at_begin(const Function& function) {
    const std::size_t count = function.registers.size();
    std::vector<std::vector<bool>> in(function.blocks.size(), std::vector<bool>(count, true));
    if (in.empty()) return in;
    in[0].assign(count, false);
    for (RegisterId r : function.register_parameters) in[0][r] = true;
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t b = 0; b < function.blocks.size(); ++b) {
            std::vector<bool> out = in[b];
            for (std::uint32_t i = function.blocks[b].first; i < function.blocks[b].last; ++i)
                write(function, function.ops[i], out);
            for (program::BlockId next : function.blocks[b].successors)
                for (std::size_t r = 0; r < count; ++r)
                    if (in[next][r] && !out[r]) in[next][r] = false, changed = true;
        }
    }
    return in;
}

}  // namespace

RegisterState register_state(const Function& function, const MicroOp& before) {
    const auto at = static_cast<std::uint32_t>(&before - function.ops.data());
    std::size_t block = 0;
    while (function.blocks[block].last <= at) ++block;
    RegisterState out;
    out.written = written_at_begin(function)[block];
    for (std::uint32_t i = function.blocks[block].first; i < at; ++i) write(function, function.ops[i], out.written);

    const program::Liveness liveness = program::liveness(function);
    out.live.resize(function.registers.size());
    for (std::size_t r = 0; r < out.live.size(); ++r) out.live[r] = liveness.live_out[block][r / 64] >> (r % 64) & 1;
    for (std::uint32_t i = function.blocks[block].last; i-- > at;) {
        const MicroOp& op = function.ops[i];
        if (writes_all(op)) program::for_each_def(function, op, [&](RegisterId r) { out.live[r] = false; });
        program::for_each_use(function, op, [&](RegisterId r) { out.live[r] = true; });
    }
    return out;
}

}  // namespace tilepath::host
