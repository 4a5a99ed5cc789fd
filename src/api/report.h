#pragma once
#include <tilepath/launch.h>

#include "exec/launch.h"

namespace tilepath {

/// The same report in the API's own types.
LaunchReport public_report(const exec::LaunchReport& report);
CodePlace public_place(const program::CodePlace& place);

}  // namespace tilepath
