// The PTX around a recorded body: registers from the buffers, results into them.
#include <algorithm>
#include <sstream>

#include "recorded_case.h"

namespace tilepath::recorded {
namespace {

/// The register's 32-bit words w0, w1, … from it, or into it.
std::string words_into(const std::string& name) {
    switch (name[0]) {
        case 'p': return "setp.ne.u32 " + name + ", w0, 0;";
        case 'h': return "cvt.u16.u32 " + name + ", w0;";
        case 'r': return "mov.b32 " + name + ", w0;";
        case 'q': return "mov.b64 " + name + ", {w0, w1};";
        default: return "mov.b64 y0, {w0, w1}; mov.b64 y1, {w2, w3}; mov.b128 " + name + ", {y0, y1};";
    }
}

std::string words_out_of(const std::string& name) {
    switch (name[0]) {
        case 'p': return "selp.u32 w0, 1, 0, " + name + ";";
        case 'h': return "cvt.u32.u16 w0, " + name + ";";
        case 'r': return "mov.b32 w0, " + name + ";";
        case 'q': return "mov.b64 {w0, w1}, " + name + ";";
        default: return "mov.b128 {y0, y1}, " + name + "; mov.b64 {w0, w1}, y0; mov.b64 {w2, w3}, y1;";
    }
}

/// Every thread copies its share between the memory buffer and shared memory.
void copy_shared(std::ostream& to, const Case& each, bool in) {
    if (each.shared_bytes == 0) return;
    if (!in) to << "bar.sync 0;\n";
    to << "mul.wide.u32 y0, tid, 4; add.u64 y0, y0, mem; mad.lo.u32 w1, tid, 4, sm;\n";
    for (std::uint32_t at = 0; at < each.shared_bytes; at += 4 * each.threads) {
        const std::uint32_t left = (each.shared_bytes - at) / 4;
        const bool partial = left < each.threads;
        if (partial) to << "setp.lt.u32 guard, tid, " << left << ";\n";
        const std::string guard = partial ? "@guard " : "";
        if (in)
            to << guard << "ld.global.u32 w0, [y0+" << at << "]; " << guard << "st.shared.u32 [w1+" << at << "], w0;\n";
        else
            to << guard << "ld.shared.u32 w0, [w1+" << at << "]; " << guard << "st.global.u32 [y0+" << at << "], w0;\n";
    }
    if (in) to << "bar.sync 0;\n";
}

/// `r0..3` as `r0, r1, r2, r3`.
std::string expanded(std::string line) {
    for (std::size_t dots; (dots = line.find("..")) != std::string::npos;) {
        const std::size_t begin = line.find_last_not_of("0123456789", dots - 1);
        const std::size_t end = std::min(line.find_first_not_of("0123456789", dots + 2), line.size());
        const int first = std::stoi(line.substr(begin + 1, dots - begin - 1)),
                  last = std::stoi(line.substr(dots + 2, end - dots - 2));
        std::string names;
        for (int i = first; i <= last; ++i) names += (i == first ? "" : ", ") + (line[begin] + std::to_string(i));
        line.replace(begin, end - begin, names);
    }
    return line;
}

/// 32-bit registers that the body may use.
std::size_t words_declared(const Case& each) {
    std::size_t count = 64;
    const auto cover = [&](const std::string& name) {
        if (name[0] == 'r') count = std::max(count, std::size_t(std::stoul(name.substr(1))) + 1);
    };
    for (const Input& input : each.inputs) cover(input.name);
    for (const std::string& output : each.outputs) cover(output);
    return count;
}

}  // namespace

std::string module_head(const std::string& target) {
    return ".version 9.0\n.target " + target + "\n.address_size 64\n";
}

std::string entry_text(const Case& each, const std::string& name) {
    std::ostringstream to;
    to << ".visible .entry " << name << "(.param .u64 p_in, .param .u64 p_out, .param .u64 p_memory";
    for (std::size_t map = 0; map < each.tensor_maps.size(); ++map)
        to << ", .param .align 128 .b8 p_map" << map << "[" << 128 * each.rows << "]";
    to << ")";
    if (each.ctas_of_cluster() != 1)
        to << " .explicitcluster .reqnctapercluster " << each.cluster[0] << ", " << each.cluster[1] << ", "
           << each.cluster[2];
    if (!each.directives.empty()) to << " " << each.directives;
    to << "\n{\n.reg .pred p<16>, guard; .reg .b16 h<32>; .reg .b32 r<" << words_declared(each)
       << ">, tid, row, sm, w<4>;\n"
       << ".reg .b64 q<64>, in, out, mem, gm, y<2>; .reg .b128 x<8>;\n";
    if (each.shared_bytes != 0) to << ".shared .align 1024 .b8 s[" << each.shared_bytes << "];\nmov.u32 sm, s;\n";
    to << "mov.u32 tid, %tid.x; mov.u32 row, %ctaid.x;\n";
    if (each.cluster[1] != 1 || each.cluster[2] != 1)
        to << "mov.u32 w0, %ctaid.z; mov.u32 w1, %nctaid.y; mov.u32 w2, %ctaid.y; mad.lo.u32 w0, w0, w1, w2;\n"
           << "mov.u32 w1, %nctaid.x; mad.lo.u32 row, w0, w1, row;\n";
    for (std::size_t map = 0; map < each.tensor_maps.size(); ++map)
        to << ".reg .b64 tm" << map << "; mov.b64 tm" << map << ", p_map" << map << "; cvta.param.u64 tm" << map
           << ", tm" << map << "; mad.wide.u32 tm" << map << ", row, 128, tm" << map << ";\n";
    to << "ld.param.u64 in, [p_in]; ld.param.u64 out, [p_out]; ld.param.u64 mem, [p_memory];\n"
       << "mad.lo.u32 w0, row, " << each.input_words() * each.threads << ", tid; mad.wide.u32 in, w0, 4, in;\n"
       << "mad.lo.u32 w0, row, " << each.output_words() * each.threads << ", tid; mad.wide.u32 out, w0, 4, out;\n"
       << "mad.wide.u32 mem, row, " << each.memory_bytes() << ", mem; add.u64 gm, mem, " << each.shared_bytes << ";\n";
    copy_shared(to, each, true);
    std::uint32_t word = 0;
    for (const Input& input : each.inputs) {
        for (std::uint32_t i = 0; i < words_of(input.name); ++i)
            to << "ld.global.u32 w" << i << ", [in+" << 4 * each.threads * word++ << "]; ";
        to << words_into(input.name) << "\n";
    }
    for (const std::string& line : each.body) to << expanded(line) << "\n";
    word = 0;
    for (const std::string& output : each.outputs) {
        to << words_out_of(output);
        for (std::uint32_t i = 0; i < words_of(output); ++i)
            to << " st.global.u32 [out+" << 4 * each.threads * word++ << "], w" << i << ";";
        to << "\n";
    }
    copy_shared(to, each, false);
    to << "ret;\n}\n";
    return to.str();
}

}  // namespace tilepath::recorded
