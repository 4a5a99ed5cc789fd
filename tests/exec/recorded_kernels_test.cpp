// The kernels of tests/vectors/kernels, run as the H200 that gave their results: registers and memory hold to the bit
// what an H200 gave.
#include <array>
#include <cstdlib>
#include <fstream>

#include "kernel.h"
#include "recorded_case.h"
#include "recorded_maps.h"

namespace tilepath::exec {
namespace {

std::vector<recorded::Case> cases_of(const std::string& name) {
    std::ifstream file(TILEPATH_TEST_DIR "/vectors/kernels/" + name + ".txt");
    return recorded::read_cases(file);
}

/// The first result of row 0 that differs.
std::string first_difference(const recorded::Case& expected, const recorded::Case& found) {
    if (expected.first.size() != found.first.size()) return "another number of results";
    for (std::size_t line = 0; line < expected.first.size(); ++line)
        for (std::size_t i = 0; i < expected.first[line].size(); ++i)
            if (expected.first[line][i] != found.first[line][i])
                return fmt::format("row 0, word {}, thread {}: expected {:08x}, found {:08x}", line, i,
                                   expected.first[line][i], found.first[line][i]);
    return "in a row after the first";
}

template <class T>
T* copy_in(Device& gpu, const std::vector<T>& values) {
    T* at = gpu.buffer<T>(values.size() + 4);
    std::copy(values.begin(), values.end(), at);
    return at;
}

/// in, out, memory, then the tensor maps of all rows, each at its row's global memory.
std::vector<std::uint8_t> parameters(const recorded::Case& each, const std::array<std::uint32_t*, 3>& buffers) {
    std::vector<std::uint8_t> bytes(24);
    std::memcpy(bytes.data(), buffers.data(), 24);
    const auto memory = reinterpret_cast<machine::Address>(buffers[2]);
    for (const recorded::TensorMap& map : each.tensor_maps) {
        bytes.resize((bytes.size() + 127) / 128 * 128);
        for (std::uint32_t row = 0; row < each.rows; ++row) {
            const machine::Address at = memory + std::uint64_t{row} * each.memory_bytes() + each.shared_bytes;
            const auto encoded = machine::encode(tensor_map(map, at));
            bytes.insert(bytes.end(), encoded.begin(), encoded.end());
        }
    }
    return bytes;
}

LaunchShape shape_of(const recorded::Case& each) {
    const auto [x, y, z] = each.cluster;
    return {{each.rows / (y * z), y, z}, {each.threads, 1, 1}, {x, y, z}, 0};
}

/// What tilepath makes of a case; a fault, where it ends with one.
recorded::Case replay(const recorded::Case& each) {
    Device gpu(each.target);
    recorded::Buffers buffers = recorded::buffers_of(each);
    const std::array<std::uint32_t*, 3> device{copy_in(gpu, buffers.in), copy_in(gpu, buffers.out),
                                               copy_in(gpu, buffers.memory)};
    recorded::Case found = each;
    const program::Program program =
        compile_module(recorded::module_head(each.target) + recorded::entry_text(each, "k"));
    if (program.functions.empty()) return found.hash = ~each.hash, found;
    auto report = launch(program, gpu.device(), gpu.memory(), shape_of(each), parameters(each, device));
    if (!report) {
        ADD_FAILURE() << each.name << ": " << to_string(report.error());
        return found.hash = ~each.hash, found;
    }
    if (report->deadlock) ADD_FAILURE() << to_string(*report->deadlock);
    found.fault = report->fault ? to_string(*report->fault) : "";
    std::copy(device[1], device[1] + buffers.out.size(), buffers.out.begin());
    std::copy(device[2], device[2] + buffers.memory.size(), buffers.memory.begin());
    recorded::take_results(found, buffers);
    return found;
}

/// A file and how many cases it holds; of those, every `shards`-th from `shard` on, so that CTest spreads a long file.
struct Part {
    std::string name;
    std::size_t count = 0, shards = 1, shard = 0;
};

std::vector<Part> parts(std::initializer_list<Part> files) {
    std::vector<Part> out;
    for (const Part& file : files)
        for (std::size_t shard = 0; shard < file.shards; ++shard)
            out.push_back({file.name, file.count, file.shards, shard});
    return out;
}

class RecordedKernels : public testing::TestWithParam<Part> {};

TEST_P(RecordedKernels, GiveWhatAnH200Gave) {
    const Part& part = GetParam();
    const std::vector<recorded::Case> cases = cases_of(part.name);
    EXPECT_EQ(cases.size(), part.count);
    std::size_t different = 0;
    for (std::size_t i = part.shard; i < cases.size(); i += part.shards) {
        const recorded::Case& each = cases[i];
        const recorded::Case found = replay(each);
        if (found.fault.empty() != each.fault.empty()) {
            ++different;
            ADD_FAILURE() << each.name << ": expected " << (each.fault.empty() ? "no fault" : each.fault) << ", found "
                          << (found.fault.empty() ? "no fault" : found.fault);
        }
        if (!each.fault.empty() || !found.fault.empty()) continue;
        if (found.hash == each.hash && found.first == each.first) continue;
        ++different;
        ADD_FAILURE() << each.name << ": " << first_difference(each, found);
    }
    EXPECT_EQ(different, 0u) << "of " << cases.size();
}

INSTANTIATE_TEST_SUITE_P(OfAnH200, RecordedKernels,
                         testing::ValuesIn(parts({{"scalar", 2617},
                                                  {"approximations", 22},
                                                  {"matrix", 400},
                                                  {"matrix_moves", 949},
                                                  {"warp", 420},
                                                  {"barriers", 126},
                                                  {"atomics", 1309},
                                                  {"copies", 202},
                                                  {"mbarrier", 48},
                                                  {"cluster", 256},
                                                  {"bulk", 108},
                                                  {"tensor_map", 38},
                                                  {"tma_loads", 305},
                                                  {"tma_im2col", 171},
                                                  {"tma_stores", 236},
                                                  {"wgmma", 917, 8}})),
                         [](const auto& each) {
                             const Part& part = each.param;
                             return part.shards == 1 ? part.name : fmt::format("{}_{}", part.name, part.shard);
                         });

/// What has no model to the bit: results of row 0 that differ, by how many last places at most. Of f64 the upper words.
TEST(RecordedDeviations, StayWithinWhatIsStated) {
    std::ifstream file(TILEPATH_TEST_DIR "/vectors/deviating.txt");
    const std::vector<recorded::Case> cases = recorded::read_cases(file);
    EXPECT_EQ(cases.size(), 8u);
    for (const recorded::Case& each : cases) {
        const recorded::Case found = replay(each);
        const bool is_f64 = each.name.ends_with("f64"), is_pair = each.name.ends_with("x2");
        const int largest = each.name == "tanh.approx.f32" ? 134 : 1;
        ASSERT_EQ(found.first.size(), each.first.size());
        for (std::size_t line = is_f64 ? 1 : 0; line < each.first.size(); ++line)
            for (std::size_t i = 0; i < 32; ++i)
                for (const int half : {0, 16}) {
                    const auto part = [&](std::uint32_t word) {
                        return is_pair ? std::int64_t(word >> half & 0xFFFF) : std::int64_t(word);
                    };
                    EXPECT_LE(std::abs(part(found.first[line][i]) - part(each.first[line][i])), largest) << fmt::format(
                        "{}: expected {:08x}, found {:08x}", each.name, each.first[line][i], found.first[line][i]);
                }
    }
}

}  // namespace
}  // namespace tilepath::exec
