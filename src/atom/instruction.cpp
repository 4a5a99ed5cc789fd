#include "atom/instruction.h"

#include "atom/instruction_words.h"

namespace tilepath::atom {

Result<Instruction> matrix_named(const Words& words) {
    const bool store = words[0] == "stmatrix", transposed = has(words, "trans");
    MatrixShape shape = MatrixShape::m8n8;
    MatrixData data = MatrixData::b16;
    for (std::size_t i = 1; i < words.size(); ++i) {
        const std::string_view word = words[i];
        if (word == "m8n8")
            shape = MatrixShape::m8n8;
        else if (word == "m16n16")
            shape = MatrixShape::m16n16;
        else if (word == "m8n16")
            shape = MatrixShape::m8n16;
        else if (word == "m16n8")
            shape = MatrixShape::m16n8;
        else if (word == "b8")
            data = MatrixData::b8;
        else if (word == "b6x16_p32")
            data = MatrixData::b6x16_p32;
        else if (word == "b4x16_p64")
            data = MatrixData::b4x16_p64;
        else if (word != "sync" && word != "aligned" && word != "trans" && word != "b16" && word != "shared" &&
                 word != "b8x16" && word != "shared::cta" && !repeats_of(word))
            return fail(fmt::format("{} has no word '{}'", words[0], word),
                        "for example ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16");
    }
    auto transfer = (store ? stmatrix : ldmatrix)(shape, repeats_in(words), transposed, data);
    if (!transfer) return std::unexpected(transfer.error());
    std::string name = fmt::format("{}.sync.aligned.{}", words[0], transfer->name);
    return Instruction{std::move(name), MatrixMove{*std::move(transfer), store}, {}};
}

Result<Instruction> instruction_named(std::string_view text) {
    const std::optional<std::string> cute = ptx_name_of_cute(text);
    const std::string name = cute ? *cute : std::string(text);
    const Words words = words_of(name);
    const std::string_view opcode = words.empty() ? "" : words.front();
    if (opcode == "mma") return mma_named(words);
    if (opcode == "wmma") return wmma_named(words);
    if (opcode == "wgmma") return wgmma_named(words);
    if (opcode == "ldmatrix" || opcode == "stmatrix") return matrix_named(words);
    if (opcode == "movmatrix") return Instruction{"movmatrix.sync.aligned.m8n8.trans.b16", movmatrix(), {}};
    if (opcode == "tcgen05") return tcgen05_named(words);
    return fail(
        fmt::format("no tensor instruction is named '{}'", text),
        "mma, mma.sp, wmma, ldmatrix, stmatrix, movmatrix, wgmma, tcgen05.mma, .ld, .st, .cp, .shift; or CuTe's name, "
        "SM80_16x8x16_F32F16F16F32_TN");
}

}  // namespace tilepath::atom
