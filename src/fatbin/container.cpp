// The fatbin itself: a header, then images, each with a header of its own. Worked out from files of nvcc 13.0 in every
// --compress-mode; the older compressed entries (LZ4) are alike.
#include <fmt/format.h>

#include "fatbin/parts.h"

namespace tilepath::fatbin {
namespace {

struct ContainerHeader {
    std::uint32_t magic;
    std::uint16_t version, header_bytes;
    std::uint64_t bytes;  ///< of the entries
};
static_assert(sizeof(ContainerHeader) == 16);

struct EntryHeader {
    std::uint16_t kind, version;
    std::uint32_t header_bytes;  ///< 64 at least; compiler options and the source's name may follow
    std::uint64_t bytes;         ///< of the image as it lies here, padded
    std::uint32_t compressed_bytes, options_offset;
    std::uint16_t minor, major;  ///< PTX: of its .version
    std::uint32_t architecture;  ///< 80
    std::uint32_t name_offset, name_bytes;
    std::uint64_t flags;
    std::uint64_t reserved;
    std::uint64_t uncompressed_bytes;  ///< 0 where nothing is compressed
};
static_assert(sizeof(EntryHeader) == 64);

constexpr std::uint16_t kind_ptx = 1, kind_elf = 2, kind_lto = 8;
constexpr std::uint64_t flag_lz4 = 0x2000, flag_zstd = 0x8000, flag_a = 0x100000, flag_f = 0x200000;

std::unexpected<Diagnostics> damaged(const Reading& reading, std::string what) {
    return fail(fmt::format("{}: the fatbin in it is damaged or cut off: {}", reading.name, what),
                "build the file again");
}

Result<void> read_entry(const EntryHeader& header, Bytes payload, const Reading& reading, std::vector<Image>& out) {
    if (!reading.take(1024)) return too_much(reading);
    Image image;
    image.origin = reading.origin;
    image.kind = header.kind == kind_ptx   ? Image::Kind::ptx
                 : header.kind == kind_elf ? Image::Kind::sass
                 : header.kind == kind_lto ? Image::Kind::lto
                                           : Image::Kind::other;
    image.target = fmt::format("sm_{}{}", header.architecture,
                               header.flags & flag_a   ? "a"
                               : header.flags & flag_f ? "f"
                                                       : "");
    const Compression how = header.flags & flag_zstd  ? Compression::zstd
                            : header.flags & flag_lz4 ? Compression::lz4
                                                      : Compression::none;
    image.bytes = how == Compression::none ? header.bytes : header.uncompressed_bytes;
    if (image.kind == Image::Kind::ptx) {
        if (how != Compression::none && header.compressed_bytes > payload.size())
            return damaged(reading, fmt::format("an entry has {} bytes, of which {} are said to be compressed",
                                                payload.size(), header.compressed_bytes));
        Result<std::string> text;
        if (how != Compression::none)
            text = decompress(how, payload.first(header.compressed_bytes), header.uncompressed_bytes, reading);
        else if (reading.take(payload.size()))
            text = std::string(payload.begin(), payload.end());
        else
            return too_much(reading);
        if (!text) return std::unexpected(text.error());
        text->resize(text->find_last_not_of('\0') + 1);  // an end and padding
        image.ptx = std::move(*text);
        image.bytes = image.ptx.size();
        image.entries = entries_of(image.ptx);
        // What the text says is what counts, where it says something.
        if (std::string target = target_of(image.ptx); !target.empty()) image.target = std::move(target);
    }
    out.push_back(std::move(image));
    return {};
}

/// The bytes of one container, header included.
Result<std::uint64_t> read_container(Bytes bytes, const Reading& reading, std::vector<Image>& out) {
    auto header = read_at<ContainerHeader>(bytes, 0);
    if (!header) return damaged(reading, fmt::format("{} bytes are too few for its header", bytes.size()));
    if (header->version != 1)
        return fail(
            fmt::format("{}: expected version 1 of the fatbin format, found {}", reading.name, header->version));
    if (header->header_bytes < sizeof(ContainerHeader))
        return damaged(reading, fmt::format("its header claims {} bytes", header->header_bytes));
    auto entries = part(bytes, header->header_bytes, header->bytes);
    if (!entries)
        return damaged(reading, fmt::format("its header promises {} bytes, of which {} are there", header->bytes,
                                            bytes.size() - std::min<std::size_t>(bytes.size(), header->header_bytes)));
    for (std::uint64_t at = 0; at < entries->size();) {
        auto entry = read_at<EntryHeader>(*entries, at);
        if (!entry)
            return damaged(reading,
                           fmt::format("{} bytes at {:#x} are too few for an entry", entries->size() - at, at));
        if (entry->header_bytes < sizeof(EntryHeader))
            return damaged(reading,
                           fmt::format("the entry at {:#x} claims a header of {} bytes", at, entry->header_bytes));
        auto payload = part(*entries, at + entry->header_bytes, entry->bytes);
        if (!payload)
            return damaged(
                reading, fmt::format("the entry at {:#x} promises {} bytes beyond the fatbin's end", at, entry->bytes));
        if (auto read = read_entry(*entry, *payload, reading, out); !read) return std::unexpected(read.error());
        at += entry->header_bytes + entry->bytes;
    }
    return header->header_bytes + header->bytes;
}

}  // namespace

Result<void> read_containers(Bytes bytes, const Reading& reading, std::vector<Image>& out) {
    for (std::uint64_t at = 0; at < bytes.size();) {
        if (bytes[at] == 0) {
            ++at;  // the linker aligns what each object file brings
            continue;
        }
        const Bytes rest = bytes.subspan(at);
        if (!begins_with(rest, container_magic)) return damaged(reading, fmt::format("no fatbin begins at {:#x}", at));
        auto read = read_container(rest, reading, out);
        if (!read) return std::unexpected(read.error());
        at += *read;
    }
    return {};
}

Result<void> find_containers(Bytes bytes, const Reading& reading, std::vector<Image>& out) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    for (std::size_t at = text.find(container_magic); at != std::string_view::npos;
         at = text.find(container_magic, at)) {
        std::vector<Image> found;
        // The number may stand in a program that reads fatbins: what is none is passed over.
        auto read = read_container(bytes.subspan(at), reading, found);
        if (read) std::move(found.begin(), found.end(), std::back_inserter(out));
        at += read ? *read : container_magic.size();
    }
    return {};
}

}  // namespace tilepath::fatbin
