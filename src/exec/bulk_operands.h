#pragma once
#include "machine/tensor_map.h"
#include "program/op.h"
#include "program/types.h"

namespace tilepath::exec {

/// Sources of a bulk copy (ops.inc).
enum BulkSource {
    destination,
    source,
    bytes_source,
    mbarrier_source,
    mask_source,
    first_coordinate,
    byte_mask_source = first_coordinate
};

/// What a reduction takes an element of a tensor for; none: it takes no such elements.
program::DataType reduced_type(machine::TensorType type, program::AtomicOp op);

}  // namespace tilepath::exec
