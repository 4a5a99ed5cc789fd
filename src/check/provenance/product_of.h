#pragma once
#include <optional>
#include <span>

#include "check/provenance/product.h"
#include "host/gemm.h"
#include "host/job.h"

namespace tilepath::check {

/// The product of one of kernels/'s GEMMs. `addresses`: of the job's buffers.
Product product_of(const host::GemmJob& gemm, std::span<const machine::Address> addresses);

/// The product that a launch file's `[gemm]` describes; nothing without one, or if its sizes contradict each other or
/// exceed what origins can number.
std::optional<Product> product_of(const host::Job& job, std::span<const machine::Address> addresses);

}  // namespace tilepath::check
