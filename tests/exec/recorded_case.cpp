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

/// `r0` is itself; `r0..3` is r0, r1, r2, r3.
std::vector<std::string> names_in(const std::string& range) {
    const std::size_t dots = range.find("..");
    if (dots == std::string::npos) return {range};
    std::vector<std::string> names;
    const int last = std::stoi(range.substr(dots + 2));
    for (int i = std::stoi(range.substr(1, dots - 1)); i <= last; ++i) names.push_back(range[0] + std::to_string(i));
    return names;
}

void read_inputs(const std::string& text, Case& into) {
    std::istringstream words(text);
    for (std::string each; words >> each;) {
        const std::size_t colon = each.find(':');
        if (colon == std::string::npos) throw std::runtime_error("an input is NAME:KIND, found " + each);
        for (const std::string& name : names_in(each.substr(0, colon)))
            into.inputs.push_back({name, each.substr(colon + 1)});
    }
}

/// How many follow `at` whose names count on and whose kinds are one.
std::size_t run_length(const std::vector<Input>& inputs, std::size_t at) {
    std::size_t end = at + 1;
    const int number = std::stoi(inputs[at].name.substr(1));
    while (end < inputs.size() && inputs[end].kind == inputs[at].kind &&
           inputs[end].name == inputs[at].name[0] + std::to_string(number + int(end - at)))
        ++end;
    return end - at;
}

/// Long runs as ranges.
void write_inputs(std::ostream& to, const std::vector<Input>& inputs) {
    for (std::size_t at = 0; at < inputs.size();) {
        const std::size_t length = run_length(inputs, at) < 5 ? 1 : run_length(inputs, at);
        to << " " << inputs[at].name;
        if (length > 1) to << ".." << inputs[at + length - 1].name.substr(1);
        if (!inputs[at].kind.empty()) to << ":" << inputs[at].kind;
        at += length;
    }
    to << "\n";
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
            for (std::string range; words >> range;)
                for (const std::string& name : names_in(range)) each.outputs.push_back(name);
        } else if (key == "rows") {
            words >> each.rows;
        } else if (key == "threads") {
            words >> each.threads;
        } else if (key == "memory") {
            words >> each.shared_bytes >> each.global_bytes >> each.memory_kind;
        } else if (key == "target") {
            words >> each.target;
        } else if (key == "cluster") {
            words >> each.cluster[0] >> each.cluster[1] >> each.cluster[2];
        } else if (key == "entry") {
            each.directives = value;
        } else if (key == "keep") {
            words >> each.keep;
        } else if (key == "tensormap") {
            each.tensor_maps.push_back(read_tensor_map(value));
        } else if (key == "fault") {
            each.fault = value;
        } else if (key == "hash") {
            words >> std::hex >> each.hash;
        } else {
            throw std::runtime_error(
                "expected case, target, in, ptx, out, tensormap, memory, threads, cluster, entry, rows, keep, "
                "fault or hash, found " +
                line);
        }
    }
    return all;
}

void write_case(std::ostream& to, const Case& each) {
    to << "case " << each.name << "\n";
    if (each.target != "sm_90") to << "target " << each.target << "\n";
    if (!each.inputs.empty()) {
        to << "in";
        write_inputs(to, each.inputs);
    }
    for (const std::string& line : each.body) to << "ptx " << line << "\n";
    if (!each.outputs.empty()) {
        to << "out";
        std::vector<Input> outputs;
        for (const std::string& output : each.outputs) outputs.push_back({output, ""});
        write_inputs(to, outputs);
    }
    if (each.memory_bytes() != 0)
        to << "memory " << each.shared_bytes << " " << each.global_bytes << " " << each.memory_kind << "\n";
    for (const TensorMap& map : each.tensor_maps) to << "tensormap " << to_string(map) << "\n";
    if (each.threads != 32) to << "threads " << each.threads << "\n";
    if (each.ctas_of_cluster() != 1)
        to << "cluster " << each.cluster[0] << " " << each.cluster[1] << " " << each.cluster[2] << "\n";
    if (!each.directives.empty()) to << "entry " << each.directives << "\n";
    to << "rows " << each.rows << "\n";
    if (each.keep != 4) to << "keep " << each.keep << "\n";
    if (!each.fault.empty()) {
        to << "fault " << each.fault << "\n";
        return;
    }
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
        const std::size_t at = each.memory_kind.find('@'), comma = each.memory_kind.find(',');
        const std::string first_kind = each.memory_kind.substr(0, at);
        const std::string rest_kind = at == std::string::npos ? first_kind : each.memory_kind.substr(comma + 1);
        const std::uint32_t first_bytes =
            at == std::string::npos ? 0 : static_cast<std::uint32_t>(std::stoul(each.memory_kind.substr(at + 1)));
        for (std::uint32_t byte = 0; byte < each.memory_bytes(); byte += 16) {
            const Value value = values.vector(byte < first_bytes ? first_kind : rest_kind);
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
    for (std::uint32_t word = 0; word < std::min(each.keep, each.output_words()); ++word) {
        const auto begin = after.out.begin() + word * each.threads;
        each.first.emplace_back(begin, begin + each.threads);
    }
    if (each.memory_bytes() != 0)
        each.first.emplace_back(after.memory.begin(), after.memory.begin() + std::min(32u, each.memory_bytes() / 4));
}

}  // namespace tilepath::recorded
