#include "recorded_tensor_map.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace tilepath::recorded {

const std::vector<std::string> tensor_map_types{
    "u8",  "u16",  "u32",     "s32",  "u64",      "s64",          "f16",           "f32",
    "f64", "bf16", "f32_ftz", "tf32", "tf32_ftz", "16u4_align8b", "16u4_align16b", "16u6_align16b"};
const std::vector<std::string> tensor_map_interleaves{"none", "16B", "32B"};
const std::vector<std::string> tensor_map_swizzles{
    "none", "32B", "64B", "128B", "128B_atom_32B", "128B_atom_32B_flip_8B", "128B_atom_64B"};
const std::vector<std::string> tensor_map_fills{"zero", "nan"};

namespace {

int number_of(const std::vector<std::string>& names, const std::string& name) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found != names.end()) return static_cast<int>(found - names.begin());
    return std::stoi(name);  // what the driver does not name
}

std::string name_of(const std::vector<std::string>& names, int number) {
    const auto at = static_cast<std::size_t>(number);
    return at < names.size() ? names[at] : std::to_string(number);
}

template <class T>
std::vector<T> list_of(const std::string& text) {
    std::vector<T> values;
    std::istringstream from(text);
    for (std::string each; std::getline(from, each, ',');) values.push_back(static_cast<T>(std::stoll(each)));
    return values;
}

template <class T>
std::string text_of(const std::vector<T>& values) {
    std::string text;
    for (const T& each : values) text += (text.empty() ? "" : ",") + std::to_string(each);
    return text;
}

}  // namespace

int bits_of_tensor_map_type(int type) {
    static constexpr int bits[] = {8, 16, 32, 32, 64, 64, 16, 32, 64, 16, 32, 32, 32, 4, 4, 6};
    return bits[type];
}

TensorMap read_tensor_map(const std::string& line) {
    TensorMap map;
    std::istringstream words(line);
    for (std::string word; words >> word;) {
        const std::size_t equals = word.find('=');
        const std::string key = word.substr(0, equals), value = equals < word.size() ? word.substr(equals + 1) : "";
        if (key == "type")
            map.type = number_of(tensor_map_types, value);
        else if (key == "dims")
            map.dims = list_of<std::uint64_t>(value);
        else if (key == "strides")
            map.strides = list_of<std::uint64_t>(value);
        else if (key == "box")
            map.box = list_of<std::uint32_t>(value);
        else if (key == "lower")
            map.lower = list_of<int>(value);
        else if (key == "upper")
            map.upper = list_of<int>(value);
        else if (key == "channels")
            map.channels = static_cast<std::uint32_t>(std::stoul(value));
        else if (key == "pixels")
            map.pixels = static_cast<std::uint32_t>(std::stoul(value));
        else if (key == "steps")
            map.steps = list_of<std::uint32_t>(value);
        else if (key == "interleave")
            map.interleave = number_of(tensor_map_interleaves, value);
        else if (key == "swizzle")
            map.swizzle = number_of(tensor_map_swizzles, value);
        else if (key == "fill")
            map.fill = number_of(tensor_map_fills, value);
        else if (key == "at")
            map.at = static_cast<std::uint32_t>(std::stoul(value));
        else
            throw std::runtime_error("a tensor map has no " + word);
    }
    return map;
}

std::string to_string(const TensorMap& map) {
    std::string text = "type=" + name_of(tensor_map_types, map.type) + " dims=" + text_of(map.dims);
    if (!map.strides.empty()) text += " strides=" + text_of(map.strides);
    if (map.im2col())
        text += " lower=" + text_of(map.lower) + " upper=" + text_of(map.upper) +
                " channels=" + std::to_string(map.channels) + " pixels=" + std::to_string(map.pixels);
    else
        text += " box=" + text_of(map.box);
    text += " steps=" + text_of(map.steps) + " interleave=" + name_of(tensor_map_interleaves, map.interleave) +
            " swizzle=" + name_of(tensor_map_swizzles, map.swizzle) + " fill=" + name_of(tensor_map_fills, map.fill);
    if (map.at != 0) text += " at=" + std::to_string(map.at);
    return text;
}

}  // namespace tilepath::recorded
