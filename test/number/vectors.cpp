#include "vectors.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace tilepath::number {
namespace {

Generation generation_of_gpu(const std::string& gpu) {
    if (gpu == "a100") return Generation::ampere;
    if (gpu == "ada" || gpu == "l40s") return Generation::ada;
    if (gpu == "h100" || gpu == "h200") return Generation::hopper;
    if (gpu == "b200") return Generation::blackwell;
    throw std::runtime_error("a GPU that the vectors' names do not know: " + gpu);
}

std::vector<std::uint64_t> elements(const std::string& digits, Format format) {
    const std::size_t width = std::size_t(traits(format).container_bits) / 4;
    std::vector<std::uint64_t> result;
    for (std::size_t i = 0; i + width <= digits.size(); i += width)
        result.push_back(std::stoull(digits.substr(i, width), nullptr, 16));
    return result;
}

}  // namespace

VectorFile vector_file(const std::filesystem::path& path) {
    std::vector<std::string> words;
    std::stringstream stem(path.stem().string());
    for (std::string word; std::getline(stem, word, '_');) words.push_back(word);
    if (words.size() < 3) throw std::runtime_error("expected GPU[_INSTRUCTION]_INPUT_RESULT.txt: " + path.string());
    VectorFile file;
    file.path = path;
    file.gpu = words.front();
    const auto input = format_named(words[words.size() - 2]), result = format_named(words.back());
    if (!input || !result) throw std::runtime_error("unknown format in the name " + path.string());
    file.request.device = generation_of_gpu(file.gpu);
    file.request.a = file.request.b = *input;
    file.request.d = *result;
    const bool fp8 = *input == Format::e4m3 || *input == Format::e5m2;
    const bool published_hopper_fp8 = words.size() == 3 && file.request.device == Generation::hopper && fp8;
    if (published_hopper_fp8 && *result == Format::f32) {
        file.request.instruction = Instruction::wgmma;
        file.c_not_added = true;
    }
    if (words.size() > 3 && words[1] == "wgmma") file.request.instruction = Instruction::wgmma;
    if (words.size() > 3 && words[1] == "wmma") file.request.instruction = Instruction::wmma;
    return file;
}

std::vector<VectorLine> read_vectors(const VectorFile& file) {
    std::ifstream in(file.path);
    std::vector<VectorLine> lines;
    std::string a, b, c, d;
    while (in >> a >> b >> c >> d) {
        VectorLine line{elements(a, file.request.a), elements(b, file.request.b), std::stoull(c, nullptr, 16),
                        std::stoull(d, nullptr, 16)};
        if (file.c_not_added) line.c = 0;
        lines.push_back(std::move(line));
    }
    return lines;
}

}  // namespace tilepath::number
