// What is found in files of every kind; and, where nvcc is installed, in those that it makes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <lz4.h>
#include <unistd.h>
#include <zstd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "fatbin/build.h"
#include "fatbin/fatbin.h"

namespace tilepath::fatbin {
namespace {

using testing::ElementsAre;

std::vector<Image> read(const std::string& file) {
    auto images = read_images(bytes_of(file), "app");
    if (!images) throw std::runtime_error(to_string(images.error()));
    return *images;
}

const std::string text = ptx_of("sm_80", "add");

std::string lz4(const std::string& from) {
    std::string out(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(from.size()))), '\0');
    out.resize(static_cast<std::size_t>(
        LZ4_compress_default(from.data(), out.data(), static_cast<int>(from.size()), static_cast<int>(out.size()))));
    return out;
}
std::string zstd(const std::string& from) {
    std::string out(ZSTD_compressBound(from.size()), '\0');
    out.resize(ZSTD_compress(out.data(), out.size(), from.data(), from.size(), 3));
    return out;
}

Entry plain(const std::string& ptx) { return {.payload = ptx}; }

TEST(Images, OfAFatbinPlainAndCompressed) {
    const std::string with_end = text + '\0';
    const auto images = read(fatbin_of({{.kind = 2, .architecture = 90, .payload = "machine code"},
                                        {.payload = text, .options = std::string(24, 'o')},
                                        {.payload = lz4(with_end), .flags = 0x2011, .uncompressed = with_end.size()},
                                        {.payload = zstd(with_end), .flags = 0x8011, .uncompressed = with_end.size()},
                                        {.kind = 8, .architecture = 100, .payload = "nvvm", .flags = 0x200011},
                                        {.kind = 2, .architecture = 90, .payload = "x", .flags = 0x100011}}));
    ASSERT_EQ(images.size(), 6u);
    for (int i : {1, 2, 3}) {
        const Image& image = images[static_cast<std::size_t>(i)];
        EXPECT_EQ(image.kind, Image::Kind::ptx);
        EXPECT_EQ(image.ptx, text) << i;
        EXPECT_EQ(image.target, "sm_80");
        EXPECT_THAT(image.entries, ElementsAre("add"));
        EXPECT_EQ(image.bytes, text.size());
    }
    EXPECT_EQ(images[0].kind, Image::Kind::sass);
    EXPECT_EQ(images[0].target, "sm_90");
    EXPECT_EQ(images[4].kind, Image::Kind::lto);
    EXPECT_EQ(images[4].target, "sm_100f");
    EXPECT_EQ(images[5].target, "sm_90a");
}

TEST(Images, OfElfFilesAndArchives) {
    // As the linker lays the sections of two object files side by side, with zeros between.
    const std::string two =
        fatbin_of({plain(text)}) + std::string(24, '\0') + fatbin_of({plain(ptx_of("sm_90", "mul"))});
    for (const char* section : {".nv_fatbin", "__nv_relfatbin"}) {
        const auto images = read(elf_of(section, two));
        ASSERT_EQ(images.size(), 2u) << section;
        EXPECT_EQ(images[1].target, "sm_90");
    }
    EXPECT_TRUE(read(elf_of(".nv_fatbin2", two)).empty());
    EXPECT_TRUE(read("just a text").empty());

    const std::string object = elf_of(".nv_fatbin", fatbin_of({plain(text)}));
    const auto images =
        read(archive_of({{"a.o", object}, {"odd.txt", "odd"}, {"a_member_with_a_long_name.o", object}}));
    ASSERT_EQ(images.size(), 2u);
    EXPECT_EQ(images[0].origin, "a.o");
    EXPECT_EQ(images[1].origin, "a_member_with_a_long_name.o");

    // Without its table of sections, and in a Windows program: found by its first bytes.
    std::string stripped = object;
    std::memset(stripped.data() + offsetof(Elf64_Ehdr, e_shoff), 0, 8);
    EXPECT_EQ(read(stripped).size(), 1u);
    EXPECT_EQ(
        read("MZ" + std::string(70, '\0') + std::string("\x50\xed\x55\xba", 4) + "no fatbin" + fatbin_of({plain(text)}))
            .size(),
        1u);

    std::string cubin = elf_of(".text.add", "code", 190);
    cubin[EI_ABIVERSION] = 8;
    const std::uint32_t flags = 0x6005004;  // what nvcc 13.0 writes for sm_80
    std::memcpy(cubin.data() + offsetof(Elf64_Ehdr, e_flags), &flags, 4);
    ASSERT_EQ(read(cubin).size(), 1u);
    EXPECT_EQ(read(cubin)[0].target, "sm_80");
    EXPECT_EQ(read(cubin)[0].kind, Image::Kind::sass);
}

TEST(Images, EntriesAndTargetsOfATextAreNoComments) {
    const std::string ptx =
        "// .entry no\n/* .target sm_1 */ .target sm_90a, debug\n.file 1 \".entry no\"\n.visible .entry\n  a$b(.param "
        ".b8 x)\n.entry a$b()\n.entryx y";
    EXPECT_THAT(entries_of(ptx), ElementsAre("a$b"));
    EXPECT_EQ(target_of(ptx), "sm_90a");
    for (const char* cut : {"", ".", ".entry", ".entry ", "\"", "/*", "//", ".target"}) {
        EXPECT_TRUE(entries_of(cut).empty()) << cut;
        EXPECT_EQ(target_of(cut), "") << cut;
    }
}

/// Without comments and blanks: nvcc leaves those out of a fatbin.
std::string bare(const std::string& ptx) {
    std::istringstream in(ptx);
    std::string out;
    for (std::string line; std::getline(in, line);) {
        line = line.substr(0, line.find("//"));
        std::erase_if(line, [](char c) { return c == ' ' || c == '\t'; });
        if (!line.empty()) out += line + "\n";
    }
    return out;
}

TEST(Images, OfWhatNvccMakes) {
    if (std::system("PATH=\"$PATH:/usr/local/cuda/bin\" nvcc --version >/dev/null 2>&1") != 0)
        GTEST_SKIP() << "no nvcc";
    std::string folder = (std::filesystem::temp_directory_path() / "tilepath_XXXXXX").string();
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    auto load = [&](const std::string& name) {
        std::ifstream in(folder + "/" + name, std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(in), {});
    };
    std::ofstream(folder + "/a.cu")
        << "__global__ void add(float* a, int n) { if (threadIdx.x < n) a[threadIdx.x] += 1; }\nint main() {}\n";
    const std::string both =
        " -gencode arch=compute_80,code=[compute_80,sm_80] -gencode arch=compute_90a,code=compute_90a a.cu -o ";
    const std::string script =
        "cd '" + folder +
        "' && export PATH=\"$PATH:/usr/local/cuda/bin\" && nvcc -ptx -arch=compute_80 a.cu -o a.ptx"
        " && nvcc -fatbin -compress-mode=none" +
        both + "plain && nvcc -fatbin -compress-mode=speed" + both + "speed && nvcc -fatbin -compress-mode=size" +
        both + "size && nvcc -c -rdc=true" + both + "object && nvcc" + both + "program && ar rcs archive object";
    ASSERT_EQ(std::system(("(" + script + ") >/dev/null 2>&1").c_str()), 0);
    for (const char* name : {"plain", "speed", "size", "object", "program", "archive"}) {
        SCOPED_TRACE(name);
        std::string targets;
        std::string ptx;
        for (const Image& image : read(load(name))) {
            if (image.kind == Image::Kind::ptx && image.target == "sm_80") ptx = image.ptx;
            if (image.entries.size() == 1 || image.kind == Image::Kind::sass)
                targets += std::string(fatbin::name(image.kind)) + " " + image.target + ", ";
        }
        EXPECT_THAT(targets, testing::AllOf(testing::HasSubstr("PTX sm_80, "), testing::HasSubstr("PTX sm_90a, "),
                                            testing::HasSubstr("SASS sm_80, ")));
        std::string expected = bare(load("a.ptx")), found = bare(ptx);
        EXPECT_EQ(found, expected);
    }
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tilepath::fatbin
