#include "vectors.h"

#include <fstream>
#include <span>
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
    const std::size_t width = traits(format).bits == 4 ? 1 : std::size_t(traits(format).container_bits) / 4;
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
    if (words.size() < 3)
        throw std::runtime_error("expected GPU[_INSTRUCTION]_A[_B]_D[_kN][_satfinite].txt: " + path.string());
    VectorFile file;
    file.path = path;
    file.gpu = words.front();
    file.request.device = generation_of_gpu(file.gpu);
    std::vector<Format> formats;
    bool named = false;
    for (const std::string& word : std::span(words).subspan(1)) {
        if (const auto format = format_named(word)) {
            formats.push_back(*format);
        } else if (word == "satfinite") {
            file.request.saturate = true;
        } else if (word == "m8n8k4") {
            file.request.m8n8k4 = true;
        } else if (word == "mma" || word == "wgmma" || word == "wmma") {
            file.request.instruction = word == "mma"     ? Instruction::mma_sync
                                       : word == "wgmma" ? Instruction::wgmma
                                                         : Instruction::wmma;
            named = true;
        } else if (word.front() != 'k') {  // k8: a shorter instruction; the columns say so themselves
            throw std::runtime_error("unknown word in the name " + path.string());
        }
    }
    if (formats.size() != 2 && formats.size() != 3) throw std::runtime_error("which formats? " + path.string());
    file.request.a = formats.front();
    file.request.b = formats[formats.size() - 2];
    file.request.d = formats.back();
    const bool fp8 = file.request.a == Format::e4m3 || file.request.a == Format::e5m2;
    if (!named && file.request.device == Generation::hopper && fp8 && file.request.d == Format::f32) {
        file.request.instruction = Instruction::wgmma;
        file.c_not_added = true;
    }
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
