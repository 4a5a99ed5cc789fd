// st.bulk: PTX ISA 9.7.9.13. That the address is in a register and the size in one of 64 bits is ptxas 13.0's word; the
// manual has 32-bit sizes too.
#include "isa/plain.h"
#include "isa/spaces.h"

namespace tilepath::isa {
namespace {

constexpr std::int64_t most_bytes = 16777216;

void store_zeros(Lowering& to, const Bound& in) {
    const ptx::Operand& size = in["size"];
    const Address at = to.address(in["a"], in.has("ss") ? Space::shared : Space::generic);
    if (at.base.kind != Operand::Kind::reg)
        to.error(in["a"].span, "st.bulk takes an address in a register", "move the variable's address into one first");
    if (size.kind == ptx::OperandKind::immediate) {
        const std::int64_t bytes = to.immediate(size, "the size");
        if (bytes < 0 || bytes > most_bytes || bytes % 8 != 0)
            to.error(size.span, fmt::format("the size is a multiple of 8 up to {}; found {}", most_bytes, bytes));
    }
    if (const std::int64_t value = to.immediate(in["initval"], "the initial value"); value != 0)
        to.error(in["initval"].span, fmt::format("st.bulk writes zeros only; found {}", value));
    MicroOp& op = to.emit(Op::st_bulk, DataType::b8, {}, {at.base, to.read(size, DataType::u64)});
    op.space = at.space;
    op.immediate = at.offset;
}

}  // namespace

std::vector<Family> bulk_store_families() {
    return {{.manual = "9.7.9.13",
             .forms = {{"st.bulk{.weak}{.ss} [a], size:u64, initval:none", {"ss: shared::cta"}, since(8, 6, 100)}},
             .lower = store_zeros}};
}

}  // namespace tilepath::isa
