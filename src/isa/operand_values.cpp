// Operands that are no register of the kernel's: special registers and literals.
#include <fmt/format.h>

#include <bit>

#include "base/assert.h"
#include "isa/lowering.h"
#include "isa/plain.h"
#include "isa/special_registers.h"

namespace tilepath::isa {

namespace {

/// Which cvt read special registers, as ptxas 13.0 has it.
bool converts_special(const Bound& bound, DataType type) {
    if (bound.has("pack") || bound.form().operand("rbits") >= 0) return false;
    const DataType d = bound.type("dtype");
    return d != DataType::bf16 && !(program::bits(type) == 8 && program::is_float(d));
}

}  // namespace

Operand Lowering::special_register(const ptx::Operand& operand, DataType type, bool wider) {
    const std::string_view name = module_.name(operand.name);
    const auto special = special_register_traits(name);
    TILEPATH_ASSERT(special, "a name that resolve took for a special register");
    const std::string_view opcode = module_.opcode(bound_->instruction());
    if (special->vector != (operand.component != ptx::Component::none))
        error(operand.span, special->vector ? fmt::format("'{}' has components: write {}.x", name, name)
                                            : fmt::format("'{}' has no components", name));
    else if (opcode != "mov" && !(opcode == "cvt" && converts_special(*bound_, type)))
        error(operand.span, fmt::format("'{}' does not read special registers", opcode),
              fmt::format("move '{}' into a register first", module_.text(operand.span)));
    else
        available(*this, operand.span, name, special->needs);
    // What PTX ISA 1.x had in 16 bits, and 2.x in 32, may still be read so.
    using program::SpecialRegister;
    const bool was_16 = special->id == SpecialRegister::tid || special->id == SpecialRegister::ntid ||
                        special->id == SpecialRegister::ctaid || special->id == SpecialRegister::nctaid ||
                        special->id == SpecialRegister::gridid;
    const int width = program::bits(special->type), wanted = type == DataType::none ? width : program::bits(type);
    const bool narrows = wider && width > wanted;
    const bool fits = narrows || wanted == width || (wanted == 16 && was_16) ||
                      (wanted == 32 && special->type == DataType::u64 && was_16);
    if (!fits || program::is_float(type))
        error(operand.span, fmt::format("'{}' is a .{}; '{}' expects a .{} here", module_.text(operand.span),
                                        program::traits(special->type).name, opcode, program::traits(type).name));
    const DataType read_as = fits && !narrows && type != DataType::none ? type : special->type;
    Operand into = temporary(read_as);
    MicroOp& op = emit(Op::special, read_as, {into}, {});
    op.variant = static_cast<std::uint8_t>(special->id);
    op.immediate =
        special->vector ? static_cast<int>(operand.component) - static_cast<int>(ptx::Component::x) : special->index;
    return into;
}

namespace {

/// Whether a literal can stand for a value of this type (PTX ISA 6.4, 4.5; where the manual is silent, as ptxas 13.0).
bool literal_fits(ptx::ImmediateKind literal, DataType type) {
    const bool real = literal == ptx::ImmediateKind::f32 || literal == ptx::ImmediateKind::f64;
    switch (program::traits(type).kind) {
        case program::TypeKind::predicate:
        case program::TypeKind::unsigned_:
        case program::TypeKind::signed_: return !real && type != DataType::u16x2 && type != DataType::s16x2;
        case program::TypeKind::floating: return real && (type == DataType::f32 || type == DataType::f64);
        case program::TypeKind::bits:
            return !real || program::bits(type) == (literal == ptx::ImmediateKind::f32 ? 32 : 64);
    }
    return false;
}

}  // namespace

Operand Lowering::immediate_operand(const ptx::Operand& operand, DataType type) {
    using ptx::ImmediateKind;
    std::uint64_t bits = operand.bits;
    if (type == DataType::none) return constant(bits, type);
    if (!literal_fits(operand.immediate, type)) {
        const bool scalar = type == DataType::f32 || type == DataType::f64;
        error(operand.span,
              fmt::format("'{}' is no literal of .{}", module_.text(operand.span), program::traits(type).name),
              !program::is_float(type) ? ""
              : scalar                 ? "write 1.0, 0f3F800000 or 0d3FF0000000000000"
                                       : "move its bits into a register first");
    } else if (type == DataType::f32 && operand.immediate == ImmediateKind::f64) {
        bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
    } else if (type == DataType::f64 && operand.immediate == ImmediateKind::f32) {
        bits = std::bit_cast<std::uint64_t>(double(std::bit_cast<float>(static_cast<std::uint32_t>(bits))));
    }
    return constant(bits, type);
}

}  // namespace tilepath::isa
