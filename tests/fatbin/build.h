// Fatbins, ELF files and archives made by hand from what container.cpp, elf.cpp and archive.cpp say of them: tests need
// no nvcc and no binary in the tree.
#pragma once
#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace tilepath::fatbin {

template <class T>
void append(std::string& to, const T& value) {
    to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

struct Entry {
    std::uint16_t kind = 1;  // PTX
    std::uint32_t architecture = 80;
    std::string payload;
    std::uint64_t flags = 0x11;
    std::uint64_t uncompressed = 0;  // 0: as it is
    std::string options = {};        // behind the header
};

inline std::string fatbin_of(const std::vector<Entry>& entries) {
    std::string body;
    for (const Entry& entry : entries) {
        std::string payload = entry.payload;
        if (entry.kind == 1 && entry.uncompressed == 0) payload += '\0';
        payload.resize((payload.size() + 7) / 8 * 8);
        append(body, entry.kind), append(body, std::uint16_t{0x101});
        append(body, static_cast<std::uint32_t>(64 + entry.options.size())),
            append(body, std::uint64_t{payload.size()});
        append(body, static_cast<std::uint32_t>(entry.uncompressed == 0 ? 0 : entry.payload.size()));
        append(body, std::uint32_t{0}), append(body, std::uint16_t{0}), append(body, std::uint16_t{9});
        append(body, entry.architecture), append(body, std::uint64_t{0}), append(body, entry.flags);
        append(body, std::uint64_t{0}), append(body, entry.uncompressed);
        body += entry.options + payload;
    }
    std::string out;
    append(out, std::uint32_t{0xBA55ED50}), append(out, std::uint16_t{1}), append(out, std::uint16_t{16});
    append(out, std::uint64_t{body.size()});
    return out + body;
}

/// An ELF file with that one section besides its names.
inline std::string elf_of(const std::string& section, const std::string& content, std::uint16_t machine = EM_X86_64) {
    const std::string names = std::string("\0", 1) + section + std::string("\0.shstrtab\0", 11);
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64, header.e_ident[EI_DATA] = ELFDATA2LSB,
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_machine = machine, header.e_shentsize = sizeof(Elf64_Shdr), header.e_shnum = 3, header.e_shstrndx = 2;
    Elf64_Shdr sections[3] = {};
    sections[1].sh_name = 1, sections[1].sh_type = SHT_PROGBITS, sections[1].sh_offset = sizeof header;
    sections[1].sh_size = content.size();
    sections[2].sh_name = static_cast<Elf64_Word>(section.size() + 2), sections[2].sh_type = SHT_STRTAB;
    sections[2].sh_offset = sizeof header + content.size(), sections[2].sh_size = names.size();
    header.e_shoff = sizeof header + content.size() + names.size();
    std::string out;
    append(out, header);
    out += content + names;
    append(out, sections);
    return out;
}

inline std::string archive_of(const std::vector<std::pair<std::string, std::string>>& members) {
    std::string out = "!<arch>\n", long_names;
    auto add = [&](std::string name, const std::string& content) {
        std::string size = std::to_string(content.size());
        name.resize(48, ' '), size.resize(10, ' ');
        out += name + size + "`\n" + content + (content.size() % 2 ? "\n" : "");
    };
    for (const auto& [name, content] : members)
        if (name.size() > 15) long_names += name + "/\n";
    if (!long_names.empty()) add("//", long_names);
    std::size_t at = 0;
    for (const auto& [name, content] : members) {
        if (name.size() <= 15) {
            add(name + "/", content);
        } else {
            add("/" + std::to_string(at), content);
            at += name.size() + 2;
        }
    }
    return out;
}

inline std::string ptx_of(const std::string& target, const std::string& entry) {
    return ".version 8.0\n.target " + target + "\n.address_size 64\n.visible .entry " + entry + "()\n{\n    ret;\n}\n";
}

inline std::vector<std::uint8_t> bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

}  // namespace tilepath::fatbin
