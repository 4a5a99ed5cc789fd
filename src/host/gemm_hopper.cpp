// The launch of a GEMM of kernels/hopper.
#include "host/gemm_jobs.h"

namespace tilepath::host {

Result<GemmJob> hopper_gemm_job(const GemmKernel&, const GemmCase&, GemmJob) { return fail("not yet"); }

}  // namespace tilepath::host
