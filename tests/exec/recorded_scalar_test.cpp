// Every arithmetic instruction and conversion recorded on an H200 (tests/vectors/scalar), from PTX to result.
#include <fstream>
#include <sstream>

#include <fmt/ranges.h>

#include "isa/bind.h"
#include "kernel.h"

namespace tilepath::exec {
namespace {

struct Recording {
    std::string opcode;
    std::vector<std::vector<std::uint64_t>> rows;  ///< operands, then the result
};

std::vector<Recording> recordings() {
    std::ifstream file(TILEPATH_TEST_DIR "/vectors/scalar/h200.txt");
    std::vector<Recording> all;
    for (std::string line; std::getline(file, line);) {
        if (line[0] != ' ') {
            all.push_back({line, {}});
            continue;
        }
        std::istringstream columns(line);
        std::vector<std::uint64_t>& row = all.back().rows.emplace_back();
        for (std::uint64_t value; columns >> std::hex >> value;) row.push_back(value);
    }
    return all;
}

std::vector<std::string_view> words_of(std::string_view opcode) {
    std::vector<std::string_view> words;
    for (std::size_t end; (end = opcode.find('.')) != std::string_view::npos; opcode.remove_prefix(end + 1))
        words.push_back(opcode.substr(0, end));
    words.push_back(opcode);
    return words;
}

/// The types of the operands, as the one form that takes this opcode and so many operands has them.
std::vector<program::DataType> types_of(const std::string& opcode, std::size_t operands) {
    std::vector<std::string_view> words = words_of(opcode);
    ptx::Head head{words.front(), {}};
    for (std::size_t i = 1; i < words.size(); ++i) head.modifiers.push_back({words[i], 0});
    for (const isa::Form* form : isa::forms_of(head.opcode)) {
        auto match = isa::match_head(head, *form);
        if (!match || operands < form->least_operands || operands > form->operands.size()) continue;
        std::vector<program::DataType> types;
        for (std::size_t i = 0; i < operands; ++i) types.push_back(match->operand_type(i));
        return types;
    }
    ADD_FAILURE() << "no form takes " << opcode;
    return {};
}

/// The instruction on the columns of buffer 0 (stride 256 bytes), its result into buffer 1.
std::string body_of(const std::string& opcode, const std::vector<program::DataType>& types) {
    auto name = [&](std::size_t i) {
        const int bits = program::bits(types[i]);
        return fmt::format("%{}{}", bits == 64 ? "q" : bits == 16 ? "h" : "r", 10 + i);
    };
    std::string text = "mov.u32 %r0, %tid.x; mul.wide.u32 %q2, %r0, 8; add.u64 %q0, %q0, %q2; add.u64 %q1, %q1, %q2;\n";
    std::string list = name(0);
    for (std::size_t i = 1; i < types.size(); ++i) {
        const int bits = program::bits(types[i]) < 16 ? 32 : program::bits(types[i]);
        text += fmt::format("ld.global.u64 %q3, [%q0+{}]; ", (i - 1) * 256);
        text += bits == 64 ? fmt::format("mov.b64 {}, %q3;\n", name(i))
                           : fmt::format("cvt.u{}.u64 {}, %q3;\n", bits, name(i));
        list += ", " + name(i);
    }
    const int bits = program::bits(types[0]);
    text += fmt::format("{} {};\n", opcode, list);
    text += bits == 64 ? fmt::format("mov.b64 %q3, {};\n", name(0))
                       : fmt::format("cvt.u64.u{} %q3, {};\n", bits < 16 ? 32 : bits, name(0));
    return text + "st.global.u64 [%q1], %q3;";
}

TEST(RecordedScalar, EveryInstructionGivesWhatAnH200Gave) {
    Device gpu("sm_90");
    auto* in = gpu.buffer<std::uint64_t>(3 * 32);
    auto* out = gpu.buffer<std::uint64_t>(32);
    const std::vector<Recording> all = recordings();
    ASSERT_EQ(all.size(), 773u);
    for (const Recording& each : all) {
        const std::size_t columns = each.rows.front().size();
        ASSERT_LE(each.rows.size(), 32u);
        const std::vector<program::DataType> types = types_of(each.opcode, columns);
        if (types.empty()) continue;
        std::fill(in, in + 3 * 32, 0);
        for (std::size_t row = 0; row < each.rows.size(); ++row)
            for (std::size_t column = 0; column + 1 < columns; ++column) in[32 * column + row] = each.rows[row][column];
        gpu.run_clean(compile(body_of(each.opcode, types), 2), blocks(1, 32), in, out);
        // An 8-bit result's register holds it extended; what was recorded is the result alone.
        const int bits = program::bits(types[0]);
        const std::uint64_t mask = bits == 64 ? ~std::uint64_t(0) : (std::uint64_t(1) << bits) - 1;
        for (std::size_t row = 0; row < each.rows.size(); ++row)
            EXPECT_EQ(out[row] & mask, each.rows[row].back())
                << each.opcode << " " << fmt::format("{:x}", fmt::join(each.rows[row], " "));
    }
}

}  // namespace
}  // namespace tilepath::exec
