#pragma once
#include "host/launch_file.h"
#include "host/toml_table.h"

namespace tilepath::host {

/// Reads `[tensormap.NAME]`; what breaks a rule of the encoding functions is reported at the table. Alignment of the
/// address is judged as far as the offset says it: buffers begin at multiples of 512.
TensorMapTable read_tensor_map(const std::string& name, TomlTable& table);

}  // namespace tilepath::host
