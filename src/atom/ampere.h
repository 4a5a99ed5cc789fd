#pragma once
// The register-to-register instructions of Ampere and their relatives on later GPUs.
#include "atom/ldmatrix.h"
#include "atom/mma.h"
