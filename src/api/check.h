#pragma once
#include <tilepath/check.h>

#include <functional>

#include "base/result.h"
#include "check/finding.h"
#include "check/provenance/product.h"

namespace tilepath {

Finding public_finding(const check::Finding& finding);

/// Where so many bytes lie that a device pointer points to, or why they do not lie in one allocation.
using Bytes = std::function<Result<std::uint8_t*>(DevicePointer, std::uint64_t)>;

/// The product that a Gemm declares; an error where its matrices contradict each other.
Result<check::Product> product_of(const Gemm& gemm, const Bytes& bytes);

}  // namespace tilepath
