#pragma once
#include <vector>

#include "isa/form.h"

namespace tilepath::isa {

/// Every family. The build lists the files of families/: `name.cpp` defines `std::vector<Family> name_families()`.
std::vector<Family> all_families();

}  // namespace tilepath::isa
