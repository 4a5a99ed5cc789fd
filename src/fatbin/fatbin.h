// fatbin/: PTX out of what nvcc makes: executables, shared libraries, object files and archives with a fatbin inside,
// fatbins and cubins.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tilepath::fatbin {

/// Code for one target, as a fatbin holds it.
struct Image {
    enum class Kind : std::uint8_t {
        ptx,
        sass,  ///< machine code: a cubin
        lto,   ///< NVVM's own form, for the linker (code=lto_80)
        other  ///< a kind that no public tool names
    };
    Kind kind = Kind::other;
    std::string target;                ///< sm_80, sm_90a
    std::uint64_t bytes = 0;           ///< uncompressed; of the PTX its text
    std::string origin;                ///< the archive's member it lies in; empty: the file itself
    std::string ptx;                   ///< the text, if it is PTX
    std::vector<std::string> entries;  ///< the PTX's kernels
};

/// Whether these bytes begin like something that read_images() reads: never so for a text.
bool is_container(std::span<const std::uint8_t> bytes);

/// What the PTX of one file may have in all: above the largest libraries', below what would hurt.
inline constexpr std::uint64_t most_text = std::uint64_t{2} << 30;

/// Every image in the bytes of a file, in its order. `name` is what errors call it. Any bytes at all are fine: what is
/// cut off or contradicts itself is an error that says where. A file without device code gives none.
Result<std::vector<Image>> read_images(std::span<const std::uint8_t> bytes, const std::string& name,
                                       std::uint64_t most = most_text);

/// `PTX`, `SASS`, …
std::string_view name(Image::Kind kind);
/// The kernels that a PTX text defines, and its target, without reading the rest of it.
std::vector<std::string> entries_of(std::string_view ptx);
std::string target_of(std::string_view ptx);

}  // namespace tilepath::fatbin
