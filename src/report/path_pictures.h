#pragma once
#include <string>

#include "check/paths/tile_path.h"
#include "check/provenance/provenance.h"

namespace tilepath::report {

/// How many colours the pictures of a path have.
inline constexpr int path_shades = 8;

/// The box of elements as it lies in global memory.
std::string global_picture(const check::OperandPath& path);
/// Shared memory: as written, or what belongs where it is read.
std::string shared_picture(const check::OperandPath& path, bool read);
/// The operand as the instruction takes it.
std::string taken_picture(const check::OperandPath& path);
/// Who holds the first elements of D: the picture of `tilepath show`; empty where it knows none.
std::string accumulator_picture(const check::TilePath& path);
/// D, part by part.
std::string result_picture(const check::Provenance::ResultMap& map);

}  // namespace tilepath::report
