// ptx::read (tokens, syntax tree, names resolved) beside nlohmann-json's parse of as many bytes, on one core, in one
// run.
//
// The PTX is what nvcc made of kernels/; the JSON is the same syntax tree written out, cut to the same number of bytes.
// Each time is the median of repetitions that alternate between the two. Other PTX files may be named as arguments.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ptx/print.h"
#include "isa/build.h"
#include "ptx/read.h"

namespace {

using namespace tilepath;

constexpr int repetitions = 15;

std::string load(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + std::ptrdiff_t(values.size() / 2), values.end());
    return values[values.size() / 2];
}

template <class Body>
double seconds(Body body) {
    const std::clock_t start = std::clock();
    const auto result = body();  // its destruction is not timed
    return double(std::clock() - start) / CLOCKS_PER_SEC;
}

void append_operand(std::string& out, const ptx::Module& module, const ptx::Operand& operand) {
    if (operand.has_children()) {
        out += '[';
        for (const ptx::Operand& child : module.children(operand)) append_operand(out, module, child), out += ',';
        if (out.back() == ',') out.pop_back();
        out += ']';
    } else if (operand.kind == ptx::OperandKind::immediate) {
        out += fmt::format("{}", operand.bits);
    } else if (operand.kind == ptx::OperandKind::address) {
        out += fmt::format(R"({{"base":"{}","offset":{}}})", module.name(operand.name), operand.offset());
    } else {
        out += fmt::format(R"("{}")", module.name(operand.name));
    }
}

std::string to_json(const ptx::Module& module, const ptx::Instruction& instruction) {
    std::string out = fmt::format(R"({{"line":{},"opcode":"{}","modifiers":[)", module.source->line(instruction.begin),
                                  module.opcode(instruction));
    for (const ptx::Modifier& modifier : module.modifiers(instruction)) out += fmt::format(R"("{}",)", modifier.text);
    out.back() = out.back() == ',' ? ']' : '[';
    if (out.back() == '[') out += ']';
    out += R"(,"operands":[)";
    for (const ptx::Operand& operand : module.operands_in(instruction.operands))
        append_operand(out, module, operand), out += ',';
    if (out.back() == ',') out.pop_back();
    return out + "]}";
}

/// The instructions as a JSON array of about `bytes` bytes, beginning again if there are too few.
std::string to_json(const ptx::Module& module, std::size_t bytes) {
    std::string out = "[";
    for (std::size_t i = 0; out.size() < bytes; ++i)
        out += to_json(module, module.instructions[i % module.instructions.size()]) + ",\n";
    out.erase(out.size() - 2);
    return out + "]";
}

struct Input {
    std::string name, text, json;
    std::size_t instructions = 0;
    std::vector<double> ptx_times, bound_times, json_times;
};

std::vector<std::filesystem::path> compiled_kernels() {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(TILEPATH_KERNELS_DIR))
        if (entry.path().extension() == ".ptx") paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    return paths;
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<std::filesystem::path> paths(argv + 1, argv + argc);
    if (paths.empty()) paths = compiled_kernels();
    std::vector<Input> inputs;
    for (const auto& path : paths) {
        Input input{path.filename().string(), load(path), {}, 0, {}, {}, {}};
        const auto module = ptx::read(Source(input.name, input.text));
        if (!module) return fmt::print(stderr, "{}", to_string(module.error())), 2;
        if (module->instructions.empty()) continue;
        input.instructions = module->instructions.size();
        input.json = to_json(*module, input.text.size());
        inputs.push_back(std::move(input));
    }
    for (int i = 0; i < repetitions; ++i)
        for (Input& input : inputs) {
            input.ptx_times.push_back(seconds([&] { return ptx::read(Source(input.name, input.text)); }));
            input.bound_times.push_back(seconds([&] {
                auto module = ptx::read(Source(input.name, input.text));
                return std::pair(isa::check_instructions(*module), std::move(module));
            }));
            input.json_times.push_back(seconds([&] { return nlohmann::json::parse(input.json); }));
        }

    fmt::print("{:<28}{:>10}{:>14}{:>12}{:>12}{:>10}\n", "", "kB", "instructions", "PTX MB/s", "JSON MB/s", "ratio");
    double ptx_total = 0, bound_total = 0, json_total = 0;
    for (const Input& input : inputs) {
        const double megabytes = 1e-6 * double(input.text.size());
        // The JSON may be a few bytes longer than the PTX.
        const double ptx = median(input.ptx_times);
        const double json = median(input.json_times) * double(input.text.size()) / double(input.json.size());
        fmt::print("{:<28}{:>10.0f}{:>14}{:>12.1f}{:>12.1f}{:>10.3f}\n", input.name, 1e3 * megabytes,
                   input.instructions, megabytes / ptx, megabytes / json, ptx / json);
        ptx_total += ptx;
        bound_total += median(input.bound_times);
        json_total += json;
    }
    fmt::print("\nratio ptx_parse_vs_nlohmann_json {:.3f}\n", ptx_total / json_total);
    fmt::print("ratio ptx_parse_and_bind_vs_nlohmann_json {:.3f}\n", bound_total / json_total);
}
