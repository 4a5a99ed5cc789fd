// Which PTX of a file is taken, and CUDA C++ as a module.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "fatbin/build.h"
#include "host/launch_file.h"
#include "host/module.h"
#include "host/npy.h"

namespace tilepath::host {
namespace {

using fatbin::Image;
using testing::AllOf;
using testing::HasSubstr;

Image ptx(const std::string& target, std::vector<std::string> entries) {
    Image image;
    image.kind = Image::Kind::ptx;
    image.target = target;
    image.ptx = target + "/" + (entries.empty() ? "" : entries.front());
    image.entries = std::move(entries);
    return image;
}

/// The target that is taken, or the error.
std::string chosen(const std::vector<Image>& images, const std::string& arch, std::vector<std::string> entries = {}) {
    auto index = choose_image(images, {.path = "", .name = "app", .arch = arch, .entries = std::move(entries)});
    return index ? images[*index].ptx : to_string(index.error());
}

TEST(Module, TheHighestTargetThatTheDeviceRuns) {
    const std::vector<Image> images = {ptx("sm_75", {"f"}),  ptx("sm_80", {"f"}),   ptx("sm_90", {"f"}),
                                       ptx("sm_90a", {"f"}), ptx("sm_100f", {"f"}), ptx("sm_120", {"f"})};
    EXPECT_EQ(chosen(images, "sm_80"), "sm_80/f");
    EXPECT_EQ(chosen(images, "sm_89"), "sm_80/f");
    EXPECT_EQ(chosen(images, "sm_90"), "sm_90a/f");
    EXPECT_EQ(chosen(images, "sm_100"), "sm_100f/f");
    EXPECT_EQ(chosen(images, "sm_103a"), "sm_100f/f") << "of one family";
    EXPECT_EQ(chosen(images, "sm_110"), "sm_90/f") << "neither sm_90a nor another family's";
    EXPECT_EQ(chosen(images, "sm_121"), "sm_120/f");
    EXPECT_EQ(chosen(images, ""), "sm_120/f");
    EXPECT_EQ(chosen({ptx("sm_35", {"f"}), ptx("sm_75", {"f"})}, "sm_80"), "sm_75/f");
    EXPECT_THAT(chosen({images[2], images[3]}, "sm_80"),
                AllOf(HasSubstr("no PTX in app is for sm_80"), HasSubstr("sm_90 (f), sm_90a (f)")));
}

TEST(Module, OfSeveralTheOneWithTheEntry) {
    const std::vector<Image> images = {ptx("sm_80", {"add"}), ptx("sm_80", {"mul", "div"}), ptx("sm_90", {"mul"}),
                                       ptx("sm_121", {"__nv_static_52__memset"})};
    EXPECT_EQ(chosen(images, "sm_80", {"mul"}), "sm_80/mul");
    EXPECT_EQ(chosen(images, "sm_90", {"mul"}), "sm_90/mul");
    EXPECT_EQ(chosen(images, "sm_90", {"mul", "div"}), "sm_80/mul");
    EXPECT_EQ(chosen(images, ""), "sm_90/mul") << "CUDA's own code is not meant";
    EXPECT_THAT(chosen(images, "sm_80"),
                AllOf(HasSubstr("app holds 2 modules of PTX for sm_80: which one?"), HasSubstr("sm_80 (mul, div)")));
    EXPECT_THAT(chosen(images, "sm_80", {"sub"}),
                AllOf(HasSubstr("no PTX in app has the entry 'sub'"), HasSubstr("sm_80 (add)")));
    EXPECT_EQ(chosen({images[0], images[0]}, "sm_80"), "sm_80/add") << "twice the same text";
    Image sass = images[0];
    sass.kind = Image::Kind::sass;
    EXPECT_THAT(chosen({sass}, "sm_80"),
                AllOf(HasSubstr("app holds SASS (machine code) for sm_80 and no PTX"), HasSubstr("code=compute_80")));
    EXPECT_THAT(chosen({}, "sm_80"), HasSubstr("app holds no device code"));
}

/// A folder with these files, removed afterwards.
struct Files {
    explicit Files(const std::vector<std::pair<std::string, std::string>>& files) {
        std::string name = (std::filesystem::temp_directory_path() / "tilepath_XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder");
        path = name;
        for (const auto& [file, content] : files)
            write_bytes(path + "/" + file, {content.begin(), content.end()}).value();
    }
    ~Files() { std::filesystem::remove_all(path); }
    std::string path;
};

const std::string launch = "grid = [1]\nblock = [32]\n";

TEST(Module, AnObjectFileRuns) {
    const std::string two =
        fatbin::fatbin_of({{.payload = fatbin::ptx_of("sm_80", "add")}, {.payload = fatbin::ptx_of("sm_90", "add")}});
    const Files files(
        {{"app.o", fatbin::elf_of(".nv_fatbin", two)}, {"a.toml", "module = \"app.o\"\narch = \"sm_89\"\n" + launch}});
    auto job = prepare(read_launch_file(files.path + "/a.toml").value());
    ASSERT_TRUE(job) << to_string(job.error());
    EXPECT_EQ(job->module_note, "app.o: PTX for sm_80, of sm_80, sm_90");
    EXPECT_EQ(job->ptx->name(), "app.o.1.sm_80.ptx");
    EXPECT_EQ(prepare(read_launch_file(files.path + "/a.toml").value(), "sm_90")->ptx->name(), "app.o.2.sm_90.ptx");
    EXPECT_TRUE(run_on_cpu(*job, {})->ok());
    auto text = launch_file_template(files.path + "/app.o", "");
    ASSERT_TRUE(text) << to_string(text.error());
    EXPECT_THAT(*text, AllOf(HasSubstr("module = \"app.o\""), HasSubstr("entry  = \"add\"")));
}

std::string error_of(const std::string& launch_file) {
    auto file = read_launch_file(launch_file);
    if (!file) return to_string(file.error());
    auto job = prepare(*file);
    return job ? "" : to_string(job.error());
}

TEST(Module, CudaFilesWithoutNvcc) {
    const Files files({{"a.cu", "__global__ void f() {}"},
                       {"a.toml", "module = \"a.cu\"\n" + launch},
                       {"b.toml", "module = \"b.ptx\"\nnvcc_flags = [\"-O1\"]\n" + launch},
                       {"c.toml", "module = \"a.cu\"\nnvcc_flags = \"-O1\"\n" + launch}});
    EXPECT_THAT(error_of(files.path + "/b.toml"),
                HasSubstr("b.toml:2:14: error: nvcc_flags are for a module in CUDA C++ (.cu), found 'b.ptx'"));
    EXPECT_THAT(error_of(files.path + "/c.toml"),
                HasSubstr("expected 'nvcc_flags' to be an array of strings, found a string"));
    if (std::filesystem::exists("/usr/local/cuda/bin/nvcc")) GTEST_SKIP() << "nvcc is found in any case";
    const std::string path = std::getenv("PATH");
    setenv("PATH", files.path.c_str(), 1);
    unsetenv("CUDA_HOME"), unsetenv("CUDA_PATH");
    EXPECT_THAT(error_of(files.path + "/a.toml"),
                AllOf(HasSubstr("a.toml:1:10: error:"), HasSubstr("no nvcc"), HasSubstr("nvcc -ptx")));
    setenv("PATH", path.c_str(), 1);
}

/// A program in place of nvcc: what it is called with, and what becomes of what it does.
TEST(Module, CudaFilesByWhateverNvccIsFound) {
    const Files files(
        {{"a.cu", "__global__ void f() {}"},
         {"a.toml", "module = \"a.cu\"\narch = \"sm_90a\"\nnvcc_flags = [\"-O1\", \"-DX=a b\"]\n" + launch},
         {"flags", ""}});
    const std::string bin = files.path + "/bin";
    std::filesystem::create_directory(bin);
    auto nvcc = [&](const std::string& script) {
        write_bytes(bin + "/nvcc", fatbin::bytes_of("#!/bin/sh\n" + script)).value();
        std::filesystem::permissions(bin + "/nvcc", std::filesystem::perms::owner_all);
    };
    const char* before = std::getenv("CUDA_HOME");
    setenv("CUDA_HOME", files.path.c_str(), 1);
    nvcc("for w; do echo \"<$w>\"; done >" + files.path + "/flags\nfor w; do out=$w; done\ncat >$out <<'E'\n" +
         fatbin::ptx_of("sm_90a", "f") + "E\n");
    auto job = prepare(read_launch_file(files.path + "/a.toml").value());
    ASSERT_TRUE(job) << to_string(job.error());
    EXPECT_EQ(job->module_note, "a.cu: compiled by nvcc for sm_90a");
    const auto flags = read_bytes(files.path + "/flags").value();
    EXPECT_THAT(std::string(flags.begin(), flags.end()),
                testing::StartsWith("<-ptx>\n<-lineinfo>\n<-arch=compute_90a>\n<-O1>\n<-DX=a b>\n<" + files.path +
                                    "/a.cu>\n<-o>\n"));
    nvcc("echo 'a.cu(1): error: no' >&2; exit 2\n");
    EXPECT_THAT(error_of(files.path + "/a.toml"),
                AllOf(HasSubstr("a.toml:1:10: error: nvcc could not compile"), HasSubstr("(exit status 2)"),
                      HasSubstr("= a.cu(1): error: no"), HasSubstr("the command was: ")));
    nvcc("exit 0\n");
    EXPECT_THAT(error_of(files.path + "/a.toml"), HasSubstr("nvcc wrote no PTX for"));
    nvcc("kill -9 $$\n");
    EXPECT_THAT(error_of(files.path + "/a.toml"), HasSubstr("could not be run, or was ended"));
    before ? setenv("CUDA_HOME", before, 1) : unsetenv("CUDA_HOME");
}

}  // namespace
}  // namespace tilepath::host
