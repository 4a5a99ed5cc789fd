#pragma once
// The register-to-register instructions of Ampere and their relatives on later GPUs.

#include "atom/block_scale.h"
#include "atom/ldmatrix.h"
#include "atom/mma.h"
#include "atom/mma_sp.h"
#include "atom/wmma.h"
