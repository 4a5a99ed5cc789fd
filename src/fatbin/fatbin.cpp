#include "fatbin/fatbin.h"

#include <fmt/format.h>

#include <cctype>
#include <set>

#include "base/assert.h"
#include "fatbin/parts.h"

namespace tilepath::fatbin {
namespace {

constexpr std::string_view windows_magic = "MZ";

/// The texts behind each `.word` outside comments and strings: identifiers, as PTX spells them.
std::vector<std::string> names_behind(std::string_view ptx, std::string_view word, std::size_t most) {
    auto is_word = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%';
    };
    std::vector<std::string> out;
    for (std::size_t i = 0; i < ptx.size() && out.size() < most; ++i) {
        if (ptx.substr(i, 2) == "//") {
            i = std::min(ptx.find('\n', i), ptx.size());
        } else if (ptx.substr(i, 2) == "/*") {
            i = std::min(ptx.find("*/", i + 2), ptx.size());
        } else if (ptx[i] == '"') {
            i = std::min(ptx.find('"', i + 1), ptx.size());
        } else if (ptx[i] == '.' && ptx.substr(i + 1, word.size()) == word && (i == 0 || !is_word(ptx[i - 1]))) {
            std::size_t begin = i + 1 + word.size();
            if (begin >= ptx.size() || !std::isspace(static_cast<unsigned char>(ptx[begin]))) continue;
            while (begin < ptx.size() && std::isspace(static_cast<unsigned char>(ptx[begin]))) ++begin;
            std::size_t end = begin;
            while (end < ptx.size() && is_word(ptx[end])) ++end;
            if (end > begin) out.emplace_back(ptx.substr(begin, end - begin));
            i = end;
            if (i > 0) --i;
        }
    }
    return out;
}

}  // namespace

bool is_container(Bytes bytes) {
    for (std::string_view magic : {container_magic, elf_magic, archive_magic, thin_archive_magic})
        if (begins_with(bytes, magic)) return true;
    // A text may begin with these two letters, but holds no zero.
    return begins_with(bytes, windows_magic) && bytes.size() >= 64 && std::memchr(bytes.data(), 0, 64) != nullptr;
}

std::unexpected<Diagnostics> too_much(const Reading& reading) {
    return fail(fmt::format("{}: expected at most {} MiB of PTX, found more", reading.name, reading.most >> 20),
                "give its object files one by one");
}

Result<void> read_any(Bytes bytes, const Reading& reading, std::vector<Image>& out) {
    if (begins_with(bytes, container_magic)) return read_containers(bytes, reading, out);
    if (begins_with(bytes, elf_magic)) return read_elf(bytes, reading, out);
    if (begins_with(bytes, archive_magic) || begins_with(bytes, thin_archive_magic))
        return read_archive(bytes, reading, out);
    if (begins_with(bytes, windows_magic)) return find_containers(bytes, reading, out);
    return {};
}

Result<std::vector<Image>> read_images(Bytes bytes, const std::string& name, std::uint64_t most) {
    std::vector<Image> out;
    std::uint64_t budget = most;
    if (auto read = read_any(bytes, {name, "", most, budget}, out); !read) return std::unexpected(read.error());
    return out;
}

std::string_view name(Image::Kind kind) {
    switch (kind) {
        case Image::Kind::ptx: return "PTX";
        case Image::Kind::sass: return "SASS";
        case Image::Kind::lto: return "LTO";
        case Image::Kind::other: return "other";
    }
    TILEPATH_ASSERT(false, "an Image kind outside its enum");
}

std::vector<std::string> entries_of(std::string_view ptx) {
    std::vector<std::string> out;
    std::set<std::string_view> seen;  // a declaration may stand before the definition
    std::vector<std::string> all = names_behind(ptx, "entry", ~std::size_t{0});
    for (const std::string& name : all)
        if (seen.insert(name).second) out.push_back(name);
    return out;
}

std::string target_of(std::string_view ptx) {
    std::vector<std::string> first = names_behind(ptx, "target", 1);
    return first.empty() ? "" : first.front();
}

}  // namespace tilepath::fatbin
