// launches/good_*.toml run; launches/bad_*.toml give exactly the diagnostics of the .txt beside them. TILEPATH_REBASE=1
// writes the .txt anew, to be read through.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "host/compare.h"
#include "host/launch_file.h"
#include "host/npy.h"

namespace tilepath::host {
namespace {

namespace fs = std::filesystem;
const fs::path folder = TILEPATH_TEST_DIR "/host/launches";

std::string load(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

Result<Job> job_of(const std::string& name) {
    auto file = read_launch_file((folder / name).string());
    if (!file) return std::unexpected(file.error());
    return prepare(*file);
}

struct Ran {
    Job job;
    Outcome outcome;

    const std::vector<std::uint8_t>& bytes(std::string_view name) const {
        for (std::size_t i = 0; i < job.buffers.size(); ++i)
            if (job.buffers[i].name == name) return outcome.buffers[i];
        ADD_FAILURE() << "no buffer " << name;
        return outcome.buffers.front();
    }
    template <class T>
    T at(std::string_view name, std::size_t offset) const {
        T value;
        std::memcpy(&value, bytes(name).data() + offset, sizeof value);
        return value;
    }
};

/// Runs a good file; every expectation in it must hold.
Ran run(const std::string& name, const exec::LaunchOptions& options = {}) {
    auto job = job_of(name);
    if (!job) throw std::runtime_error(to_string(job.error()));
    auto outcome = run_on_cpu(*job, options);
    if (!outcome) throw std::runtime_error(to_string(outcome.error()));
    EXPECT_TRUE(outcome->ok());
    for (std::size_t i = 0; i < job->buffers.size(); ++i) {
        const Buffer& buffer = job->buffers[i];
        if (!buffer.expected) continue;
        EXPECT_EQ(to_string(buffer, compare(buffer, outcome->buffers[i], *buffer.expected)), "");
    }
    return {std::move(*job), std::move(*outcome)};
}

TEST(Launches, TensorMapsOfBothKinds) {
    for (const machine::CopyPolicy policy : {machine::CopyPolicy::eager, machine::CopyPolicy::late}) {
        exec::LaunchOptions options;
        options.copies = policy;
        const Ran ran = run("good_tensormap.toml", options);
        // Pixel p of image n begins with 8 (5 n + p). With the offset 1, W runs over 1, 2, 3.
        const int pixels[4] = {1, 2, 3, 6};
        for (std::size_t row = 0; row < 4; ++row)
            for (std::size_t column = 0; column < 8; ++column) {
                const auto value = static_cast<float>(8 * pixels[row] + static_cast<int>(column));
                const std::uint64_t expected = column == 7 ? 0x7FF7 : number::from_double(value, number::Format::f16);
                EXPECT_EQ(ran.at<std::uint16_t>("out", 16 + 32 * row + 2 * column), expected) << row << ' ' << column;
            }
        EXPECT_EQ(ran.at<std::uint16_t>("out", 0), 0);
    }
}

TEST(Launches, EveryKindOfArgument) {
    const Ran ran = run("good_arguments.toml");
    constexpr std::size_t p = 8;  // the kernel writes from `out` + 8
    EXPECT_EQ(ran.at<std::uint8_t>("out", 7), 0xA5);
    EXPECT_EQ(ran.at<std::uint8_t>("out", p), 255);
    EXPECT_EQ(ran.at<std::uint8_t>("out", p + 1), 0xA5);
    EXPECT_EQ(ran.at<std::int16_t>("out", p + 2), -2);
    EXPECT_EQ(ran.at<std::uint32_t>("out", p + 4), 0x3FC00000u);
    EXPECT_EQ(ran.at<std::uint32_t>("out", p + 8), 0x7FC00001u);
    EXPECT_EQ(ran.at<std::uint32_t>("out", p + 12), 0xA5A5A5A5u);
    const auto other = ran.at<std::uint64_t>("out", p + 16);
    EXPECT_EQ((other + 4) % 512, 0u) << "allocations are aligned as cudaMalloc's";
    EXPECT_EQ(ran.at<double>("out", p + 24), 3.0);
    EXPECT_EQ(ran.at<std::uint64_t>("out", p + 32), 0x0000'0000'00AB'1234u);
    const auto out = ran.at<std::uint64_t>("out", p + 40);
    EXPECT_EQ(out % 512, 0u);
    EXPECT_NE(out, other + 4);
    EXPECT_EQ(ran.at<std::uint64_t>("out", p + 48), 0x3F80'0000'0000'0000u);
}

TEST(Launches, SeveralInOrder) {
    Ran ran = run("good_several.toml");
    EXPECT_EQ(ran.outcome.reports.size(), 2u);
    ASSERT_EQ(ran.job.buffers[0].save, (folder / "saved.npy").string());
    ran.job.buffers[0].save = testing::TempDir() + "saved.npy";
    ASSERT_TRUE(save(ran.job, ran.outcome));
    const auto saved = read_npy(ran.job.buffers[0].save);
    ASSERT_TRUE(saved);
    EXPECT_EQ(saved->shape, std::vector<std::int64_t>{8});
    float last = 0;
    std::memcpy(&last, saved->data.data() + 28, 4);
    EXPECT_EQ(last, 28.0f) << "doubled twice";
}

TEST(Launches, SymbolsAreSetAndRead) {
    run("good_symbols.toml");
    exec::LaunchOptions options;
    for (options.seed = 1; *options.seed < 4; ++*options.seed) run("good_symbols.toml", options);
}

TEST(Launches, StridesAndLayoutsPlaceElements) { run("good_shapes.toml"); }

TEST(Launches, BuffersThatNoMemoryHoldsAreRefused) {
    const auto first_error = [](const std::string& dtype, const std::string& shape, const std::string& places = "") {
        const auto file = read_launch_text(
            "l.toml", "module = \"m.ptx\"\ngrid = 1\nblock = 1\n[buffer.b]\ndtype = \"" + dtype + "\"\nshape = " + shape + "\n" + places,
            1 << 20);
        return file ? "no error" : file.error().front().message;
    };
    const std::string refused = "buffer.b: expected buffers that fit the 1 MiB of memory here, found larger ones";
    EXPECT_EQ(first_error("u8", "[1048576]"), "no error");
    EXPECT_EQ(first_error("u8", "[1048577]"), refused);
    EXPECT_EQ(first_error("f64", "[68719476736]"), refused);
    EXPECT_EQ(first_error("u8", "[2]", "strides = [1048575]\n"), refused) << "where elements lie is kept too, 8 bytes each";
    EXPECT_EQ(first_error("u8", "[2]", "strides = [1048559]\n"), "no error");
    // 2^24 × 2^40 is 2^64: a product that wraps, and bytes that would look few.
    EXPECT_EQ(first_error("u8", "[16777217]", "strides = [1099511627776]\n"), refused);
    EXPECT_EQ(first_error("f64", "[3, 2]", "strides = [1099511627776, 1]\n"), refused);
    EXPECT_EQ(first_error("f64", "[2]", "layout = \"S[2:1000000000000000000]\"\n"), refused);
    EXPECT_EQ(first_error("f64", "[0, 5]", "strides = [1099511627776, 1]\n"), "no error");
}

TEST(Launches, ASymbolsStridesStayInsideIt) {
    const auto error_of = [](const std::string& table) {
        const auto file = read_launch_text((folder / "l.toml").string(), "module = \"kernels.ptx\"\nentry = \"variables\"\ngrid = 1\nblock = 1\n"
                                           "[[arg]]\nbuffer = \"out\"\n[buffer.out]\ndtype = \"f64\"\nshape = 1\n[symbol.scratch]\n" + table);
        const auto job = prepare(*file);
        return job ? "no error" : job.error().front().message;
    };
    EXPECT_EQ(error_of("shape = [4]\nstrides = [5]\ninit = { iota = true }\n"), "no error");
    EXPECT_EQ(error_of("shape = [4]\nstrides = [6]\ninit = { iota = true }\n"), "'scratch' has 16 bytes in the module; the table describes 19");
    EXPECT_EQ(error_of("dtype = \"f32\"\nshape = [2]\nstrides = [4]\ninit = { iota = true }\n"),
              "'scratch' has 16 bytes in the module; the table describes 20");
}

TEST(Launches, DynamicSharedMemoryAndADemandedBlock) { run("good_demanding.toml"); }

TEST(Launches, ArchitectureIsTheModulesUnlessGiven) {
    EXPECT_EQ(job_of("good_symbols.toml")->arch, "sm_80");
    EXPECT_EQ(job_of("good_several.toml")->arch, "sm_90");
    EXPECT_EQ(prepare(*read_launch_file((folder / "good_several.toml").string()), "sm_89")->arch, "sm_89");
}

/// Diagnostics without the folder's own path.
std::string told(const Diagnostics& diagnostics) {
    std::string text = to_string(diagnostics);
    for (std::size_t at; (at = text.find(folder.string() + "/")) != std::string::npos;) text.erase(at, folder.string().size() + 1);
    return text;
}

std::vector<std::string> bad_files() {
    std::vector<std::string> out;
    for (const auto& entry : fs::directory_iterator(folder))
        if (entry.path().extension() == ".toml" && entry.path().filename().string().starts_with("bad_"))
            out.push_back(entry.path().stem().string());
    std::ranges::sort(out);
    return out;
}

class BadLaunch : public testing::TestWithParam<std::string> {};

TEST_P(BadLaunch, IsToldSo) {
    const auto job = job_of(GetParam() + ".toml");
    ASSERT_FALSE(job);
    const fs::path expected = folder / (GetParam() + ".txt");
    if (std::getenv("TILEPATH_REBASE")) std::ofstream(expected, std::ios::binary) << told(job.error());
    EXPECT_EQ(told(job.error()), load(expected));
}

INSTANTIATE_TEST_SUITE_P(Files, BadLaunch, testing::ValuesIn(bad_files()), [](const auto& each) { return each.param; });

}  // namespace
}  // namespace tilepath::host
