#pragma once
// Blackwell's products in Tensor Memory: D, A, scale factors and metadata there, operands in shared memory, the
// descriptors that name them, and what moves between Tensor Memory, registers and shared memory.
#include "atom/instruction_descriptor.h"
#include "atom/scale_factors.h"
#include "atom/tcgen05_descriptor.h"
#include "atom/tcgen05_mma.h"
#include "atom/tmem_copy.h"
#include "atom/tmem_shift.h"
#include "atom/tmem_transfer.h"
#include "atom/zero_column_mask.h"
