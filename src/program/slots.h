#pragma once
#include "program/function.h"

namespace tilepath::program {

/// For every block, the registers that some path from its end may still read.
struct Liveness {
    std::vector<std::vector<std::uint64_t>> live_in, live_out;  ///< bit sets over registers, by block
};
Liveness liveness(const Function& function);

/// The largest number of 32-bit rows that are live at once (64-bit registers count two), a lower bound for slots.rows.
std::uint32_t peak_live_rows(const Function& function);

/// Gives registers of one width that are never live at once the same rows. Fills function.slots.
void assign_slots(Function& function);

}  // namespace tilepath::program
