// Damaged and hostile files: an error that says what is wrong, for any bytes at all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include <random>

#include "fatbin/build.h"
#include "fatbin/fatbin.h"

namespace tilepath::fatbin {
namespace {

using testing::HasSubstr;

std::string error_of(const std::string& file) {
    auto images = read_images(bytes_of(file), "app");
    return images ? "" : to_string(images.error());
}

template <class T>
std::string with(std::string file, std::size_t at, T value) {
    std::memcpy(file.data() + at, &value, sizeof value);
    return file;
}

const std::string text = ptx_of("sm_80", "add");
const std::string good = fatbin_of({{.payload = text}});
constexpr std::size_t entry = 16;  // where the first one begins

TEST(BadFiles, AreToldWhatIsWrong) {
    struct Row {
        std::string file;
        const char* says;
    };
    const std::string object = elf_of(".nv_fatbin", good);
    std::string packed(ZSTD_compressBound(text.size()), '\0');
    packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 1));
    const Entry compressed{.payload = packed, .flags = 0x8011, .uncompressed = text.size()};
    const Row rows[] = {
        {with(good, 4, std::uint16_t{2}), "expected version 1 of the fatbin format, found 2"},
        {with(good, 6, std::uint16_t{8}), "its header claims 8 bytes"},
        {with(good, 8, std::uint64_t{1} << 60), "its header promises"},
        {with(good, 8, std::uint64_t{40}), "too few for an entry"},
        {with(good, entry + 4, std::uint32_t{0}), "claims a header of 0 bytes"},
        {with(good, entry + 4, ~std::uint32_t{0}), "beyond the fatbin's end"},
        {with(good, entry + 8, ~std::uint64_t{0}), "beyond the fatbin's end"},
        {good.substr(0, 10), "10 bytes are too few"},
        {good.substr(0, good.size() - 8), "its header promises"},
        {good + "x", "no fatbin begins at"},
        {with(fatbin_of({compressed}), entry + 16, ~std::uint32_t{0}), "are said to be compressed"},
        {with(fatbin_of({compressed}), entry + 56, std::uint64_t{1} << 50), "more than can be"},
        {with(fatbin_of({compressed}), entry + 56, std::uint64_t{3}), "cannot be decompressed"},
        {with(fatbin_of({compressed}), entry + 56, std::uint64_t{9999}), "bytes, not 9999"},
        {with(fatbin_of({compressed}), entry + 64 + 6, std::uint64_t{0}), "cannot be decompressed"},
        {with(fatbin_of({compressed}), entry + 40, std::uint64_t{0x2011}), "compressed with LZ4 is damaged"},
        {object.substr(0, 32), "32 bytes are too few"},
        {object.substr(0, object.size() - 64 * 3), "its sections are said to be at"},
        {object.substr(0, object.size() - 64), "names of its sections"},
        {with(object, EI_CLASS, char{1}), "expected an ELF file of 64 bits"},
        {with(object, offsetof(Elf64_Ehdr, e_shnum), std::uint16_t{60000}), "it promises 60000 sections"},
        {with(object, offsetof(Elf64_Ehdr, e_shstrndx), std::uint16_t{50}), "names of its sections"},
        {with(object, object.size() - 2 * 64 + 32, ~std::uint64_t{0}), "section .nv_fatbin is beyond its end"},
        {archive_of({{"a.o", object}}).substr(0, 90), "no whole member at"},
        {archive_of({{"a.o", object.substr(0, object.size() - 64)}}), "app(a.o)"},
        {"!<thin>\nrest", "thin archive"},
    };
    for (const Row& row : rows) EXPECT_THAT(error_of(row.file), HasSubstr(row.says));
}

TEST(BadFiles, SmallOnesDoNotTakeAllOfTheMemory) {
    // 1,000 sections that are all the same 64 KiB of PTX.
    const std::string content = fatbin_of({{.payload = std::string(64 << 10, '.')}});
    std::string file = elf_of(".nv_fatbin", content);
    const std::string section = file.substr(file.size() - 128, 64);
    for (int i = 0; i < 1000; ++i) file += section;
    const auto images =
        read_images(bytes_of(with(file, offsetof(Elf64_Ehdr, e_shnum), std::uint16_t{1003})), "app", 8 << 20);
    ASSERT_FALSE(images);
    EXPECT_THAT(to_string(images.error()), HasSubstr("expected at most 8 MiB of PTX"));
}

TEST(BadFiles, EveryCutAndManyChangesEndWell) {
    const std::string files[] = {good, elf_of(".nv_fatbin", good),
                                 archive_of({{"a.o", elf_of("__nv_relfatbin", good)}})};
    std::mt19937 random(1);
    for (const std::string& file : files) {
        for (std::size_t size = 0; size < file.size(); ++size) (void)error_of(file.substr(0, size));
        for (int i = 0; i < 20000; ++i) {
            std::string changed = file;
            for (unsigned n = random() % 4 + 1; n > 0; --n)
                changed[random() % changed.size()] = static_cast<char>(random());
            (void)error_of(changed);
        }
    }
}

}  // namespace
}  // namespace tilepath::fatbin
