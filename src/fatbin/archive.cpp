// Static libraries: the format of ar, with GNU's table of long names.
#include <fmt/format.h>

#include <charconv>

#include "fatbin/parts.h"

namespace tilepath::fatbin {
namespace {

struct MemberHeader {
    char name[16], date[12], owner[6], group[6], mode[8], size[10], end[2];
};
static_assert(sizeof(MemberHeader) == 60);

std::unexpected<Diagnostics> damaged(const Reading& reading, std::string what) {
    return fail(fmt::format("{}: this archive is damaged or cut off: {}", reading.name, what),
                "build or copy the file again");
}

std::string_view trimmed(std::string_view text) { return text.substr(0, text.find_last_not_of(' ') + 1); }

std::optional<std::uint64_t> number(std::string_view text) {
    std::uint64_t value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return {};
    return value;
}

/// `a.o/`, or `/123`: where it stands among the long names.
std::string member_name(std::string_view field, std::string_view long_names) {
    if (field.size() > 1 && field[0] == '/') {
        if (auto at = number(field.substr(1)); at && *at < long_names.size()) {
            field = long_names.substr(*at);
            field = field.substr(0, field.find('\n'));
        }
    }
    if (field.ends_with('/')) field.remove_suffix(1);
    return std::string(field);
}

}  // namespace

Result<void> read_archive(Bytes bytes, const Reading& reading, std::vector<Image>& out) {
    if (begins_with(bytes, thin_archive_magic))
        return fail(fmt::format("{}: this is a thin archive, which only names its object files", reading.name),
                    "give the object files themselves");
    std::string_view long_names;
    for (std::uint64_t at = archive_magic.size(); at < bytes.size();) {
        if (bytes[at] == '\n') {  // members begin at even offsets
            ++at;
            continue;
        }
        auto header = read_at<MemberHeader>(bytes, at);
        auto size = header ? number(trimmed({header->size, sizeof header->size})) : std::nullopt;
        auto content = size ? part(bytes, at + sizeof(MemberHeader), *size) : std::nullopt;
        if (!content) return damaged(reading, fmt::format("no whole member at {:#x}", at));
        const std::string_view field = trimmed({header->name, sizeof header->name});
        if (field == "//") {
            long_names = {reinterpret_cast<const char*>(content->data()), content->size()};
        } else if (field != "/" && field != "/SYM64/" && !begins_with(*content, archive_magic)) {
            const std::string member = member_name(field, long_names);
            const Reading inner{fmt::format("{}({})", reading.name, member), member, reading.most, reading.budget};
            if (auto read = read_any(*content, inner, out); !read) return read;
        }
        at += sizeof(MemberHeader) + *size;
    }
    return {};
}

}  // namespace tilepath::fatbin
