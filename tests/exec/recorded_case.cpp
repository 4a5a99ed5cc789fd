#include "recorded_case.h"

#include <algorithm>
#include <istream>
#include <ostream>
#include <sstream>
#include <stdexcept>

#include "recorded_inputs.h"

namespace tilepath::recorded {
namespace {

std::string hexadecimal(std::uint64_t value, int digits) {
    std::string text(static_cast<std::size_t>(digits), '0');
    for (auto digit = text.rbegin(); digit != text.rend(); ++digit, value >>= 4)
        *digit = "0123456789abcdef"[value & 15];
    return text;
}

std::vector<std::uint32_t> words_in(const std::string& line) {
    if (line.size() % 8 != 1) throw std::runtime_error("a line of results is words of eight digits: " + line);
    std::vector<std::uint32_t> words;
    for (std::size_t at = 1; at < line.size(); at += 8)
        words.push_back(static_cast<std::uint32_t>(std::stoul(line.substr(at, 8), nullptr, 16)));
    return words;
}

void read_inputs(const std::string& text, Case& into) {
    std::istringstream names(text);
    for (std::string each; names >> each;) {
        const std::size_t colon = each.find(':');
        if (colon == std::string::npos) throw std::runtime_error("an input is NAME:KIND, found " + each);
        into.inputs.push_back({each.substr(0, colon), each.substr(colon + 1)});
    }
}

class Hash {
  public:
    void add(std::uint32_t word) {
        for (int byte = 0; byte < 4; ++byte) value_ = (value_ ^ (word >> 8 * byte & 0xFF)) * 0x100000001B3u;
    }
    std::uint64_t value() const { return value_; }

  private:
    std::uint64_t value_ = 0xCBF29CE484222325u;  // FNV-1a
};

}  // namespace

std::uint32_t words_of(const std::string& register_name) {
    return register_name[0] == 'x' ? 4 : register_name[0] == 'q' ? 2 : 1;
}

std::uint32_t Case::input_words() const {
    std::uint32_t words = 0;
    for (const Input& each : inputs) words += words_of(each.name);
    return words;
}

std::uint32_t Case::output_words() const {
    std::uint32_t words = 0;
    for (const std::string& each : outputs) words += words_of(each);
    return words;
}

std::vector<Case> read_cases(std::istream& from) {
    std::vector<Case> all;
    for (std::string line; std::getline(from, line);) {
        if (line.empty() || line[0] == '#') continue;
        const std::size_t space = line.find(' ');
        const std::string key = line.substr(0, space), value = space < line.size() ? line.substr(space + 1) : "";
        if (key == "case") {
            all.emplace_back().name = value;
            continue;
        }
        if (all.empty()) throw std::runtime_error("a recording begins with a case, found " + line);
        Case& each = all.back();
        std::istringstream words(value);
        if (key.empty()) {
            each.first.push_back(words_in(line));
        } else if (key == "in") {
            read_inputs(value, each);
        } else if (key == "ptx") {
            each.body.push_back(value);
        } else if (key == "out") {
            for (std::string name; words >> name;) each.outputs.push_back(name);
        } else if (key == "rows") {
            words >> each.rows;
        } else if (key == "threads") {
            words >> each.threads;
        } else if (key == "memory") {
            words >> each.shared_bytes >> each.global_bytes >> each.memory_kind;
        } else if (key == "hash") {
            words >> std::hex >> each.hash;
        } else {
            throw std::runtime_error("expected case, in, ptx, out, rows, threads, memory or hash, found " + line);
        }
    }
    return all;
}

void write_case(std::ostream& to, const Case& each) {
    to << "case " << each.name << "\n";
    if (!each.inputs.empty()) {
        to << "in";
        for (const Input& input : each.inputs) to << " " << input.name << ":" << input.kind;
        to << "\n";
    }
    for (const std::string& line : each.body) to << "ptx " << line << "\n";
    if (!each.outputs.empty()) {
        to << "out";
        for (const std::string& output : each.outputs) to << " " << output;
        to << "\n";
    }
    if (each.memory_bytes() != 0)
        to << "memory " << each.shared_bytes << " " << each.global_bytes << " " << each.memory_kind << "\n";
    if (each.threads != 32) to << "threads " << each.threads << "\n";
    to << "rows " << each.rows << "\n";
    for (const auto& line : each.first) {
        to << " ";
        for (std::uint32_t word : line) to << hexadecimal(word, 8);
        to << "\n";
    }
    to << "hash " << hexadecimal(each.hash, 16) << "\n";
}

Buffers buffers_of(const Case& each) {
    Buffers buffers;
    const std::uint32_t words = each.input_words();
    buffers.in.resize(std::size_t(each.rows) * words * each.threads);
    buffers.out.assign(std::size_t(each.rows) * each.output_words() * each.threads, 0xA5A5A5A5);
    for (std::uint32_t row = 0; row < each.rows; ++row) {
        for (std::uint32_t thread = 0; thread < each.threads; ++thread) {
            Generator values(each.name, row, thread);
            std::uint32_t* at = buffers.in.data() + std::size_t(row) * words * each.threads + thread;
            for (const Input& input : each.inputs) {
                const Value value = values.next(input.kind);
                for (std::uint32_t i = 0; i < words_of(input.name); ++i, at += each.threads)
                    *at = static_cast<std::uint32_t>((i < 2 ? value.low : value.high) >> 32 * (i % 2));
            }
        }
        Generator values(each.name, row, 0xFFFF);
        for (std::uint32_t byte = 0; byte < each.memory_bytes(); byte += 16) {
            const Value value = values.vector(each.memory_kind);
            for (int i = 0; i < 4; ++i)
                buffers.memory.push_back(static_cast<std::uint32_t>((i < 2 ? value.low : value.high) >> 32 * (i % 2)));
        }
    }
    return buffers;
}

void take_results(Case& each, const Buffers& after) {
    Hash hash;
    for (std::uint32_t word : after.out) hash.add(word);
    for (std::uint32_t word : after.memory) hash.add(word);
    each.hash = hash.value();
    each.first.clear();
    for (std::uint32_t word = 0; word < std::min(4u, each.output_words()); ++word) {
        const auto begin = after.out.begin() + word * each.threads;
        each.first.emplace_back(begin, begin + each.threads);
    }
    if (each.memory_bytes() != 0)
        each.first.emplace_back(after.memory.begin(), after.memory.begin() + std::min(32u, each.memory_bytes() / 4));
}

}  // namespace tilepath::recorded
