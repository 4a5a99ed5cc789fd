// The readers of each kind of file, for read_images().
#pragma once
#include <string>
#include <vector>

#include "base/result.h"
#include "fatbin/bytes.h"
#include "fatbin/fatbin.h"

namespace tilepath::fatbin {

inline constexpr std::string_view container_magic = "\x50\xed\x55\xba", elf_magic =
                                                                            "\x7f"
                                                                            "ELF";
inline constexpr std::string_view archive_magic = "!<arch>\n", thin_archive_magic = "!<thin>\n";

/// What is being read: for errors, and how much memory what lies in it may still take. Sections may overlap and claim
/// anything, so that a small file could ask for all there is.
struct Reading {
    std::string name;       ///< the file, or FILE(MEMBER)
    std::string origin;     ///< the member
    std::uint64_t most;     ///< bytes
    std::uint64_t& budget;  ///< what is left of them

    bool take(std::uint64_t size) const { return size <= budget && ((budget -= size), true); }
};
std::unexpected<Diagnostics> too_much(const Reading& reading);

/// Fatbins one after the other, with zeros between them, as a section holds them.
Result<void> read_containers(Bytes bytes, const Reading& reading, std::vector<Image>& out);
/// The same for a file whose parts nobody names: wherever the magic number stands and a whole fatbin follows.
Result<void> find_containers(Bytes bytes, const Reading& reading, std::vector<Image>& out);
Result<void> read_elf(Bytes bytes, const Reading& reading, std::vector<Image>& out);
Result<void> read_archive(Bytes bytes, const Reading& reading, std::vector<Image>& out);
/// Any of these, by its first bytes; what is none of them holds nothing.
Result<void> read_any(Bytes bytes, const Reading& reading, std::vector<Image>& out);

enum class Compression : std::uint8_t { none, lz4, zstd };
/// `size`: what it must give. Not for none.
Result<std::string> decompress(Compression how, Bytes bytes, std::uint64_t size, const Reading& reading);

}  // namespace tilepath::fatbin
