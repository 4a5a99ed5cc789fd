#pragma once
#include <set>
#include <string>
#include <vector>

#include "host/stop.h"

namespace tilepath::host {

/// Where the warp stands, and each thing that was asked for; several lines.
std::string describe_stop(const Job& job, const exec::StoppedWarp& warp, const std::vector<ShowItem>& items);

/// `%f1-%f4, %p1, %r1-%r5`.
std::string list_of_registers(const std::set<std::string>& names);

/// What is known of each register right before an operation.
struct RegisterState {
    std::vector<bool> live;     ///< some path reads it before it writes it
    std::vector<bool> written;  ///< every path has written it
};
RegisterState register_state(const program::Function& function, const program::MicroOp& before);

}  // namespace tilepath::host
