// Records which element of a matrix wmma.load puts where: every matrix element is its own row-major index, loaded as
// raw bits, one slice of the index for each pass where the element is narrower than the index. Writes
// wmma_fragments.txt into the folder named.
//
//     nvcc -std=c++20 -arch=sm_90 tools/record/fragments.cu -o fragments && ./fragments FOLDER
#include <vector>

#include "record.h"

namespace {

#define OUT_1(c) "=" c(r[0])
#define OUT_2(c) OUT_1(c), "=" c(r[1])
#define OUT_4(c) OUT_2(c), "=" c(r[2]), "=" c(r[3])
#define OUT_8(c) OUT_4(c), "=" c(r[4]), "=" c(r[5]), "=" c(r[6]), "=" c(r[7])
#define LIST_1 "{%0}, [%1], %2;"
#define LIST_2 "{%0, %1}, [%2], %3;"
#define LIST_4 "{%0, %1, %2, %3}, [%4], %5;"
#define LIST_8 "{%0, %1, %2, %3, %4, %5, %6, %7}, [%8], %9;"

// EACH(operand, layout, shape, PTX type, registers, bits of a register, bits of an element, rows, columns)
#define B16_SHAPE(EACH, shape, m, n)                                                            \
    EACH(a, row, shape, f16, 8, 32, 16, m, 16)                                                  \
    EACH(a, col, shape, f16, 8, 32, 16, m, 16)                                                  \
    EACH(b, row, shape, f16, 8, 32, 16, 16, n) EACH(b, col, shape, f16, 8, 32, 16, 16, n)       \
        EACH(c, row, shape, f16, 4, 32, 16, m, n) EACH(c, col, shape, f16, 4, 32, 16, m, n)     \
            EACH(c, row, shape, f32, 8, 32, 32, m, n) EACH(c, col, shape, f32, 8, 32, 32, m, n) \
                EACH(c, row, shape, s32, 8, 32, 32, m, n) EACH(c, col, shape, s32, 8, 32, 32, m, n)
#define NARROW_SHAPE(EACH, shape, m, n, bf16_a, bf16_b, s8_a, s8_b)                                     \
    EACH(a, row, shape, bf16, bf16_a, 32, 16, m, 16)                                                    \
    EACH(a, col, shape, bf16, bf16_a, 32, 16, m, 16)                                                    \
    EACH(b, row, shape, bf16, bf16_b, 32, 16, 16, n) EACH(b, col, shape, bf16, bf16_b, 32, 16, 16, n)   \
        EACH(a, row, shape, s8, s8_a, 32, 8, m, 16) EACH(a, col, shape, s8, s8_a, 32, 8, m, 16)         \
            EACH(b, row, shape, s8, s8_b, 32, 8, 16, n) EACH(b, col, shape, s8, s8_b, 32, 8, 16, n)     \
                EACH(a, row, shape, u8, s8_a, 32, 8, m, 16) EACH(a, col, shape, u8, s8_a, 32, 8, m, 16) \
                    EACH(b, row, shape, u8, s8_b, 32, 8, 16, n) EACH(b, col, shape, u8, s8_b, 32, 8, 16, n)
#define ROWS(EACH)                                                                                                    \
    B16_SHAPE(EACH, m16n16k16, 16, 16)                                                                                \
    B16_SHAPE(EACH, m8n32k16, 8, 32)                                                                                  \
    B16_SHAPE(EACH, m32n8k16, 32, 8) NARROW_SHAPE(EACH, m16n16k16, 16, 16, 4, 4, 2, 2)                                \
        NARROW_SHAPE(EACH, m8n32k16, 8, 32, 2, 8, 1, 4) NARROW_SHAPE(EACH, m32n8k16, 32, 8, 8, 2, 4, 1)               \
            EACH(a, row, m16n16k8, tf32, 4, 32, 32, 16, 8) EACH(a, col, m16n16k8, tf32, 4, 32, 32, 16, 8)             \
                EACH(b, row, m16n16k8, tf32, 4, 32, 32, 8, 16) EACH(b, col, m16n16k8, tf32, 4, 32, 32, 8, 16)         \
                    EACH(c, row, m16n16k8, f32, 8, 32, 32, 16, 16) EACH(c, col, m16n16k8, f32, 8, 32, 32, 16, 16)     \
                        EACH(a, row, m8n8k4, f64, 1, 64, 64, 8, 4) EACH(a, col, m8n8k4, f64, 1, 64, 64, 8, 4)         \
                            EACH(b, row, m8n8k4, f64, 1, 64, 64, 4, 8) EACH(b, col, m8n8k4, f64, 1, 64, 64, 4, 8)     \
                                EACH(c, row, m8n8k4, f64, 2, 64, 64, 8, 8) EACH(c, col, m8n8k4, f64, 2, 64, 64, 8, 8) \
                                    EACH(a, row, m8n8k32, s4, 1, 32, 4, 8, 32)                                        \
                                        EACH(b, col, m8n8k32, s4, 1, 32, 4, 32, 8)                                    \
                                            EACH(a, row, m8n8k32, u4, 1, 32, 4, 8, 32)                                \
                                                EACH(b, col, m8n8k32, u4, 1, 32, 4, 32, 8)                            \
                                                    EACH(c, row, m8n8k32, s32, 2, 32, 32, 8, 8)                       \
                                                        EACH(c, col, m8n8k32, s32, 2, 32, 32, 8, 8)                   \
                                                            EACH(a, row, m8n8k128, b1, 1, 32, 1, 8, 128)              \
                                                                EACH(b, col, m8n8k128, b1, 1, 32, 1, 128, 8)          \
                                                                    EACH(c, row, m8n8k128, s32, 2, 32, 32, 8, 8)      \
                                                                        EACH(c, col, m8n8k128, s32, 2, 32, 32, 8, 8)

template <int register_bits>
struct Register;
template <>
struct Register<32> {
    using type = std::uint32_t;
};
template <>
struct Register<64> {
    using type = double;
};

#define CONSTRAINT_32 "r"
#define CONSTRAINT_64 "d"
#define LOAD_KERNEL(operand, layout, shape, ptx_type, registers, register_bits, element_bits, rows, columns)      \
    __global__ void load_##operand##_##layout##_##shape##_##ptx_type(const void* matrix, int stride, void* out) { \
        Register<register_bits>::type r[registers];                                                               \
        asm volatile("wmma.load." #operand ".sync.aligned." #layout "." #shape "." #ptx_type " " LIST_##registers \
                     : OUT_##registers(CONSTRAINT_##register_bits)                                                \
                     : "l"(matrix), "r"(stride));                                                                 \
        for (int i = 0; i < registers; ++i)                                                                       \
            static_cast<Register<register_bits>::type*>(out)[threadIdx.x * registers + i] = r[i];                 \
    }
ROWS(LOAD_KERNEL)

using Kernel = void (*)(const void*, int, void*);
struct Row {
    const char *operand, *layout, *shape, *type;
    int registers, register_bits, element_bits, rows, columns;
    Kernel kernel;
};
#define TABLE_ROW(operand, layout, shape, ptx_type, registers, register_bits, element_bits, rows, columns) \
    {#operand,      #layout,      #shape, #ptx_type, registers,                                            \
     register_bits, element_bits, rows,   columns,   load_##operand##_##layout##_##shape##_##ptx_type},
const Row table[] = {ROWS(TABLE_ROW)};

std::uint64_t field(const std::uint8_t* bytes, int index, int bits) {
    std::uint64_t value = 0;
    for (int i = 0; i < bits; ++i) {
        const int at = index * bits + i;
        value |= std::uint64_t{bytes[at / 8]} >> (at % 8) << 63 >> 63 << i;
    }
    return value;
}

void record_row(const Row& row, FILE* file) {
    const int count = row.rows * row.columns, slots = row.register_bits / row.element_bits;
    const int fragment = 32 * row.registers * slots;
    const bool row_major = std::string(row.layout) == "row";
    std::vector<int> element(fragment, 0);
    void *in, *out;
    record::must(cudaMalloc(&in, count * row.element_bits / 8), "cudaMalloc");
    record::must(cudaMalloc(&out, 32 * row.registers * row.register_bits / 8), "cudaMalloc");
    const int pass_bits = row.element_bits < 16 ? row.element_bits : 16;
    for (int pass = 0; pass * pass_bits < 16; ++pass) {
        std::vector<std::uint8_t> bytes(count * row.element_bits / 8, 0);
        for (int i = 0; i < count; ++i) {
            const int r = i / row.columns, c = i % row.columns;
            const int at = row_major ? i : c * row.rows + r;
            for (int bit = 0; bit < pass_bits; ++bit) {
                const int to = at * row.element_bits + bit;
                bytes[to / 8] |= (i >> (pass * pass_bits + bit) & 1) << (to % 8);
            }
        }
        std::vector<std::uint8_t> back(32 * row.registers * row.register_bits / 8);
        record::must(cudaMemcpy(in, bytes.data(), bytes.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
        row.kernel<<<1, 32>>>(in, row_major ? row.columns : row.rows, out);
        record::must(cudaMemcpy(back.data(), out, back.size(), cudaMemcpyDeviceToHost), row.shape);
        for (int i = 0; i < fragment; ++i) {
            element[i] |= static_cast<int>(field(back.data(), i, row.element_bits)) << (pass * pass_bits);
        }
    }
    cudaFree(in), cudaFree(out);
    for (int reg = 0; reg < row.registers; ++reg) {
        for (int slot = 0; slot < slots; ++slot) {
            std::fprintf(file, "%s %s %s %s %d %d", row.operand, row.shape, row.type, row.layout, reg, slot);
            for (int lane = 0; lane < 32; ++lane) {
                const int e = element[(lane * row.registers + reg) * slots + slot];
                std::fprintf(file, " %d,%d", e / row.columns, e % row.columns);
            }
            std::fprintf(file, "\n");
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) return std::fprintf(stderr, "fragments FOLDER\n"), 2;
    const record::File file(argv[1], "wmma_fragments.txt");
    std::fprintf(file.get(),
                 "# Where wmma.load puts the elements of a matrix, recorded on an H200 by tools/record/fragments.cu.\n"
                 "# operand shape type layout register slot, then for lanes 0 to 31 the row,column of the element that "
                 "the lane holds there.\n"
                 "# Slot 0 is a register's lowest bits. a is M x K, b is K x N, c is M x N; layout is the qualifier "
                 "(.row, .col).\n"
                 "# An element that several lanes or registers hold appears in each of them.\n");
    for (const Row& row : table) record_row(row, file.get());
    return 0;
}
