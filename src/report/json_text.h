#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tilepath::report {

/// The text of a JSON value, `indent` spaces deeper at each level; −1: on one line. Names come from files that may hold
/// any bytes, a JSON text holds UTF-8: what is none becomes U+FFFD.
std::string json_text(const nlohmann::json& value, int indent = 2);

}  // namespace tilepath::report
