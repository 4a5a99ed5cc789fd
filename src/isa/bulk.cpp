#include "isa/bulk.h"

namespace tilepath::isa {

void emit_bulk(Lowering& to, const Bound& in, program::Bulk bulk, const BulkOperands& operands) {
    std::vector<Operand> sources{operands.destination, operands.source, operands.bytes, Operand::none(),
                                 Operand::none()};
    if (const ptx::Operand* mbarrier = in.operand("mbar"))
        sources[3] = whole_address(to, to.address(*mbarrier, bulk.destination));
    if (const ptx::Operand* mask = in.operand("mask")) sources[4] = to.read(*mask, DataType::b16);
    if (const ptx::Operand* bytes = in.operand("byte_mask")) {
        sources.push_back(to.read(*bytes, DataType::b16));
        bulk.byte_mask = true;
    }
    if (const ptx::Operand* policy = in.operand("policy")) to.read(*policy, DataType::b64);
    sources.insert(sources.end(), operands.coordinates.begin(), operands.coordinates.end());
    sources.insert(sources.end(), operands.offsets.begin(), operands.offsets.end());
    bulk.offsets = static_cast<std::uint8_t>(operands.offsets.size());
    program::Function& function = to.out();
    MicroOp& out = to.emit(Op::bulk_copy, DataType::none, {}, sources);
    out.space = bulk.destination;
    out.detail = static_cast<std::uint32_t>(function.bulks.size());
    function.bulks.push_back(bulk);
}

}  // namespace tilepath::isa
