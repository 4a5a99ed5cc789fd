#pragma once
// Hopper's warpgroup products: fragments of A and D, operands in shared memory, and the descriptors that name them.
#include "atom/matrix_descriptor.h"
#include "atom/shared_operand.h"
#include "atom/wgmma.h"
