#include "exec/fold.h"

#include <cstring>
#include <numeric>

#include "program/uses.h"

namespace tilepath::exec {
namespace {

using program::Function;
using program::MicroOp;
using program::Op;
using program::Operand;
using program::RegisterId;
using program::SpecialRegister;

class Folder {
  public:
    Folder(const Function& function, const LaunchConstants& constants)
        : function_(function),
          constants_(constants),
          out_(no_folding(function)),
          definitions_(function.registers.size()),
          uses_(function.registers.size()) {}

    Folding run() {
        for (const MicroOp& op : function_.ops) {
            program::for_each_def(function_, op, [&](RegisterId r) { ++definitions_[r]; });
            program::for_each_use(function_, op, [&](RegisterId r) { ++uses_[r]; });
        }
        for (RegisterId r : function_.register_parameters) ++definitions_[r];
        for (std::size_t i = 0; i < function_.ops.size(); ++i) {
            const std::optional<RegisterId> to = only_definition(function_.ops[i]);
            if (!to) continue;
            const std::optional<std::uint64_t> value = known_result(function_.ops[i]);
            if (!value) continue;
            out_.value[*to] = value;
            out_.dropped[i] = true;
        }
        for (const program::Block& block : function_.blocks)
            for (std::uint32_t i = block.first; i + 1 < block.last; ++i) join_special(i);
        return std::move(out_);
    }

  private:
    int width(Operand operand) const {
        if (operand.kind == Operand::Kind::constant) return function_.constants[operand.index].width;
        return program::bits(function_.registers[operand.index].type);
    }

    /// The register that this operation alone writes, in all lanes, and as wide as its type.
    std::optional<RegisterId> only_definition(const MicroOp& op) const {
        if (op.destinations != 1 || op.guard.kind != Operand::Kind::none || op.op == Op::call) return {};
        const Operand to = function_.destinations(op)[0];
        const int bits = program::bits(op.type);
        if (to.kind != Operand::Kind::reg || definitions_[to.index] != 1 || width(to) != bits) return {};
        if (bits != 16 && bits != 32 && bits != 64) return {};
        return to.index;
    }

    std::optional<std::uint64_t> known_result(const MicroOp& op) const {
        if (op.op == Op::ld) return parameter(op);
        if (op.op == Op::mov || is_identity(op)) return known_value(function_.sources(op)[0], program::bits(op.type));
        if (op.op != Op::special || op.immediate > 2) return {};
        const auto component = [&](const machine::Dim3& value) {
            return op.immediate == 0 ? value.x : op.immediate == 1 ? value.y : value.z;
        };
        const auto which = static_cast<SpecialRegister>(op.variant);
        if (which == SpecialRegister::ntid) return component(constants_.shape.block);
        if (which == SpecialRegister::nctaid) return component(constants_.shape.grid);
        return {};
    }

    std::optional<std::uint64_t> known_value(Operand source, int bits) const {
        if (source.kind != Operand::Kind::reg || width(source) != bits) return {};
        return out_.value[source.index];
    }

    /// ld.param at an address in the instruction. One that faults is executed.
    std::optional<std::uint64_t> parameter(const MicroOp& op) const {
        const Operand address = function_.sources(op)[0];
        if (op.space != program::Space::param || op.vector != 1 || address.kind != Operand::Kind::constant) return {};
        const program::Constant& constant = function_.constants[address.index];
        if (constant.kind != program::Constant::Kind::value) return {};
        const std::uint64_t at = constant.bits + static_cast<std::uint64_t>(op.immediate);
        const auto bytes = static_cast<std::size_t>(program::bytes(op.type));
        const std::size_t size = constants_.parameters.size();
        if (at % bytes != 0 || at > size || size - at < bytes) return {};
        std::uint64_t value = 0;
        std::memcpy(&value, constants_.parameters.data() + at, bytes);
        return value;
    }

    /// A special register is read into a temporary that the next operation copies: it is read into the copy.
    void join_special(std::uint32_t i) {
        const MicroOp &special = function_.ops[i], &copy = function_.ops[i + 1];
        if (special.op != Op::special || out_.dropped[i] || copy.op != Op::mov || out_.dropped[i + 1]) return;
        const std::optional<RegisterId> temporary = only_definition(special);
        if (!temporary || uses_[*temporary] != 1 || copy.guard.kind != Operand::Kind::none) return;
        const Operand source = function_.sources(copy)[0], to = function_.destinations(copy)[0];
        if (source != Operand::reg(*temporary) || to.kind != Operand::Kind::reg || width(to) != width(source)) return;
        out_.same[*temporary] = to.index;
        out_.dropped[i + 1] = true;
    }

    const Function& function_;
    const LaunchConstants& constants_;
    Folding out_;
    std::vector<int> definitions_, uses_;
};

}  // namespace

Folding no_folding(const Function& function) {
    Folding none;
    none.value.resize(function.registers.size());
    none.same.resize(function.registers.size());
    std::iota(none.same.begin(), none.same.end(), RegisterId{0});
    none.dropped.resize(function.ops.size());
    return none;
}

Folding fold(const Function& function, const LaunchConstants& constants) { return Folder(function, constants).run(); }

bool is_identity(const MicroOp& op) {
    const bool converts = op.op == Op::cvta || op.op == Op::cvta_to;
    return converts && (op.space == program::Space::global || op.space == program::Space::constant);
}

}  // namespace tilepath::exec
