// ELF files of 64 bits: the sections that nvcc puts fatbins into, and cubins, which are ELF files of machine 190.
#include <elf.h>
#include <fmt/format.h>

#include <algorithm>

#include "fatbin/parts.h"

namespace tilepath::fatbin {
namespace {

constexpr std::uint16_t machine_cuda = 190;  // EM_CUDA
/// Fatbins of whole programs, and of relocatable device code (nvcc -rdc=true).
constexpr std::string_view fatbin_sections[] = {".nv_fatbin", "__nv_relfatbin"};

std::unexpected<Diagnostics> damaged(const Reading& reading, std::string what) {
    return fail(fmt::format("{}: this ELF file is damaged or cut off: {}", reading.name, what),
                "build or copy the file again");
}

/// e_flags of a cubin: since ABI version 8 (CUDA 13) the architecture is bits 8 to 15, before it bits 0 to 7.
Image cubin(const Elf64_Ehdr& header, Bytes bytes, const Reading& reading) {
    const bool recent = header.e_ident[EI_ABIVERSION] >= 8;
    Image image;
    image.kind = Image::Kind::sass;
    image.origin = reading.origin;
    image.bytes = bytes.size();
    image.target = fmt::format("sm_{}", recent ? header.e_flags >> 8 & 0xFF : header.e_flags & 0xFF);
    return image;
}

/// The section's name: as much of it as tells whether it is one of ours.
std::string_view name_of(Bytes names, std::uint32_t offset) {
    if (offset >= names.size()) return {};
    const std::string_view rest(reinterpret_cast<const char*>(names.data()) + offset,
                                std::min<std::size_t>(names.size() - offset, 32));
    return rest.substr(0, rest.find('\0'));
}

}  // namespace

Result<void> read_elf(Bytes bytes, const Reading& reading, std::vector<Image>& out) {
    auto header = read_at<Elf64_Ehdr>(bytes, 0);
    if (!header) return damaged(reading, fmt::format("{} bytes are too few for its header", bytes.size()));
    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
        return fail(fmt::format("{}: expected an ELF file of 64 bits, low byte first", reading.name),
                    "nvcc makes no others since CUDA 9");
    if (header->e_machine == machine_cuda) {
        out.push_back(cubin(*header, bytes, reading));
        return {};
    }
    if (header->e_shoff == 0) return find_containers(bytes, reading, out);  // stripped of its sections
    auto first = read_at<Elf64_Shdr>(bytes, header->e_shoff);
    if (!first || header->e_shentsize != sizeof(Elf64_Shdr))
        return damaged(reading, fmt::format("its sections are said to be at {:#x}, and it has {} bytes",
                                            header->e_shoff, bytes.size()));
    // What does not fit 16 bits stands in the first section (ELF, "extended numbering").
    const std::uint64_t count = header->e_shnum != 0 ? header->e_shnum : first->sh_size;
    const std::uint64_t names_index = header->e_shstrndx != SHN_XINDEX ? header->e_shstrndx : first->sh_link;
    auto section = [&](std::uint64_t i) -> std::optional<Elf64_Shdr> {
        if (i >= count || i > bytes.size()) return {};
        return read_at<Elf64_Shdr>(bytes, header->e_shoff + i * sizeof(Elf64_Shdr));
    };
    auto names_section = section(names_index);
    auto names = names_section ? part(bytes, names_section->sh_offset, names_section->sh_size) : std::nullopt;
    if (!names) return damaged(reading, "the names of its sections are beyond its end");
    for (std::uint64_t i = 0; i < count; ++i) {
        auto each = section(i);
        if (!each) return damaged(reading, fmt::format("it promises {} sections, and ends at {}", count, i));
        const std::string_view name = name_of(*names, each->sh_name);
        if (std::ranges::find(fatbin_sections, name) == std::end(fatbin_sections) || each->sh_type == SHT_NOBITS)
            continue;
        auto content = part(bytes, each->sh_offset, each->sh_size);
        if (!content) return damaged(reading, fmt::format("section {} is beyond its end", name));
        if (auto read = read_containers(*content, reading, out); !read) return read;
    }
    return {};
}

}  // namespace tilepath::fatbin
