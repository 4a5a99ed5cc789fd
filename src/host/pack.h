#pragma once
#include <string>
#include <vector>

#include "base/result.h"
#include "host/launch_file.h"

namespace tilepath::host {

/// `.u32 kernel_param_5` or `.b8 kernel_param_0[64]`.
std::string describe(const program::FrameVariable& parameter);

/// Writes one argument into launch.parameters at its parameter's place; addresses of buffers, and tensor
/// maps, which contain them, are noted for later.
Result<void> pack_argument(const Argument& argument, const program::FrameVariable& parameter, const Job& job,
                           Launch& launch);

}  // namespace tilepath::host
