// ldmatrix and stmatrix of bytes and of 6- and 4-bit elements: PTX ISA 9.7.14.5.15, 9.7.14.5.16. The manual's figures
// are pictures: where elements go is as CuTe's atoms for these instructions have it.
#include "kernel.h"

namespace tilepath::exec {
namespace {

/// A row of 16 stored bytes for each lane, the same in every run, and where %r1 points: lane l to row l.
constexpr const char* fill_rows = R"(
    .shared .align 16 .b8 tile[512];
    mov.u32 %r0, %laneid; mov.u32 %r1, tile; shl.b32 %r2, %r0, 4; add.u32 %r1, %r1, %r2;
    mul.wide.u32 %q1, %r0, 16; add.u64 %q1, %q1, %q0; ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%q1];
    st.shared.v4.u32 [%r1], {%r4, %r5, %r6, %r7};
    bar.warp.sync 0xFFFFFFFF;
)";

struct Load {
    const char* words;  ///< behind ldmatrix.sync.aligned., with {} for the count
    int rows, registers, bits;
    int counts;  ///< the largest
};

/// Element `column` of a stored row.
std::uint32_t element(const std::uint8_t* row, int column, int bits) {
    std::uint32_t value = 0;
    for (int i = 0; i < bits; ++i) {
        const int at = column * bits + i;
        value |= (row[at / 8] >> at % 8 & 1u) << i;
    }
    return value;
}

TEST(MatrixBytes, LoadsWidenToBytes) {
    constexpr Load loads[] = {{"m16n16.x{}.trans.shared.b8", 16, 2, 8, 2},
                              {"m16n16.x{}.trans.shared.b8x16.b6x16_p32", 16, 2, 6, 2},
                              {"m16n16.x{}.trans.shared.b8x16.b4x16_p64", 16, 2, 4, 2},
                              {"m8n16.x{}.shared.b8x16.b6x16_p32", 8, 1, 6, 4},
                              {"m8n16.x{}.shared.b8x16.b4x16_p64", 8, 1, 4, 4}};
    for (const Load& load : loads) {
        for (int count = 1; count <= load.counts; count *= 2) {
            Device gpu("sm_120a");
            auto* in = gpu.buffer<std::uint8_t>(512);
            auto* out = gpu.buffer<std::uint32_t>(32 * 4);
            for (std::uint32_t i = 0; i < 512; ++i) in[i] = static_cast<std::uint8_t>(i * 0x9E3779B1u >> 13);
            const int registers = count * load.registers;
            std::string list, stores;
            for (int r = 0; r < registers; ++r) {
                list += fmt::format("{}%r{}", r ? ", " : "", 10 + r);
                stores += fmt::format("st.global.u32 [%q3+{}], %r{};\n", 128 * r, 10 + r);
            }
            gpu.run_clean(
                compile(fill_rows +
                            fmt::format("ldmatrix.sync.aligned.{} {{{}}}, [%r1];\n",
                                        fmt::vformat(load.words, fmt::make_format_args(count)), list) +
                            "mul.wide.u32 %q3, %r0, 4; ld.param.u64 %q4, [p1]; add.u64 %q3, %q3, %q4;\n" + stores,
                        2, "", "sm_120a"),
                blocks(1, 32), in, out);
            for (int lane = 0; lane < 32; ++lane) {
                const int g = lane / 4, t = lane % 4;
                for (int r = 0; r < registers; ++r) {
                    std::uint32_t expected = 0;
                    for (int j = 0; j < 4; ++j) {
                        const int matrix = r / load.registers;
                        // Transposed: four rows down one column. Else: four neighbours of one row.
                        const int row = load.rows == 16 ? 4 * t + j : g,
                                  column = load.rows == 16 ? g + 8 * (r % 2) : 4 * t + j;
                        expected |= element(in + 16 * (matrix * load.rows + row), column, load.bits) << 8 * j;
                    }
                    ASSERT_EQ(out[32 * r + lane], expected) << load.words << " x" << count << " lane " << lane;
                }
            }
        }
    }
}

TEST(MatrixBytes, StoresTransposed) {
    for (const int count : {1, 2, 4}) {
        Device gpu("sm_100a");
        auto* in = gpu.buffer<std::uint32_t>(32 * 4);
        auto* out = gpu.buffer<std::uint8_t>(512);
        for (std::uint32_t i = 0; i < 128; ++i) in[i] = i * 0x9E3779B1u;
        const char* const lists[] = {"{%r4}", "{%r4, %r5}", "", "{%r4, %r5, %r6, %r7}"};
        gpu.run_clean(compile(fill_rows +
                                  fmt::format("stmatrix.sync.aligned.m16n8.x{}.trans.shared.b8 [%r1], {};\n", count,
                                              lists[count - 1]) +
                                  "bar.warp.sync 0xFFFFFFFF; ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r1];\n"
                                  "mul.wide.u32 %q3, %r0, 16; ld.param.u64 %q4, [p1]; add.u64 %q3, %q3, %q4;\n"
                                  "st.global.v4.u32 [%q3], {%r10, %r11, %r12, %r13};\n",
                              2, "", "sm_100a"),
                      blocks(1, 32), in, out);
        for (int matrix = 0; matrix < count; ++matrix) {
            for (int row = 0; row < 16; ++row) {
                for (int column = 0; column < 8; ++column) {
                    // Byte j of lane 4 g + t: row g + 8 (j / 2), column 2 t + j % 2; a stored row is a column.
                    const int lane = row % 8 * 4 + column / 2, j = row / 8 * 2 + column % 2;
                    ASSERT_EQ(out[16 * (8 * matrix + column) + row], in[4 * lane + matrix] >> 8 * j & 0xFF)
                        << count << ": " << row << ", " << column;
                }
            }
        }
    }
}

}  // namespace
}  // namespace tilepath::exec
