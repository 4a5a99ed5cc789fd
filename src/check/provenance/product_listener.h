#pragma once
#include "check/provenance/operand_check.h"
#include "check/provenance/tensor_maps.h"
#include "machine/events.h"

namespace tilepath::check {

/// Told of each matrix instruction whose operands have been looked at, before it changes anything.
class ProductListener {
  public:
    virtual ~ProductListener() = default;
    /// mma and wgmma; of a wgmma A is the warp's part.
    virtual void multiplied(const machine::Multiply& event, const OperandCells& a, const OperandCells& b,
                            const CheckedProduct& checked) = 0;
    virtual void multiplied(const machine::TensorOperation& event, const TensorMaps::Multiply& map,
                            const OperandCells& a, const OperandCells& b, const CheckedProduct& checked) = 0;
};

}  // namespace tilepath::check
