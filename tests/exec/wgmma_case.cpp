#include "wgmma_case.h"

#include <bit>

#include "number/recipe.h"

namespace tilepath::exec {
namespace {

using number::Format;

constexpr int threads = 128;

Format format(const std::string& name) { return *number::format_named(name); }

int registers_of_d(const WgmmaCase& test) { return test.d == "f16" ? test.n / 4 : test.n / 2; }

std::uint64_t bits_at(const std::vector<std::uint8_t>& bytes, std::size_t bit, int count) {
    std::uint64_t value = 0;
    for (int i = 0; i < count; ++i, ++bit) value |= std::uint64_t(bytes[bit / 8] >> bit % 8 & 1) << i;
    return value;
}

std::string list(const std::string& name, int first, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += fmt::format("{}%{}{}", i == 0 ? "" : ", ", name, first + i);
    return "{" + text + "}";
}

/// Four bits of metadata that the manual defines.
unsigned random_nibble(const WgmmaCase& test, std::mt19937_64& random) {
    static constexpr unsigned two_of_four[] = {0b0100, 0b1000, 0b1001, 0b1100, 0b1101, 0b1110};
    if (test.a == "tf32") return random() % 2 == 0 ? 0b0100 : 0b1110;
    return two_of_four[random() % 6];
}

/// Mostly finite numbers.
std::uint32_t random_word(const std::string& type, std::mt19937_64& random) {
    const auto word = static_cast<std::uint32_t>(random());
    if (random() % 64 == 0) return word;
    if (type == "f16" || type == "bf16") return word & 0xBFFFBFFF;
    if (type == "tf32" || type == "f32") return (word & 0xBFFFFFFF) | 0x20000000;
    if (type == "e4m3" || type == "e5m2") return word & 0xBFBFBFBF;
    return word;
}

/// The columns of A's stored elements in row `row`.
std::vector<int> selected(const WgmmaCase& test, const WgmmaData& data, int row) {
    const int warp = row / 16, g = row % 8, upper = row % 16 / 8;
    std::vector<int> columns;
    const int chunk = test.a == "tf32" ? 2 : 4;
    for (int i = 0; i < test.k() / chunk; ++i) {
        unsigned nibble = 0;
        if (test.bits() == 8) {
            // Lane t = b0 + 2 b1: row g + 8 b0, columns 32 b1 on.
            const int t = upper + 2 * (i / 8);
            nibble = data.metadata[static_cast<std::size_t>(32 * warp + 4 * g + t)] >> 4 * (i % 8) & 15;
        } else {
            // Lanes 2 selector + p: the half p of k; its low 16 bits row g, the others row g + 8.
            const int t = 2 * test.selector + i / 4;
            nibble = data.metadata[static_cast<std::size_t>(32 * warp + 4 * g + t)] >> (16 * upper + 4 * (i % 4)) & 15;
        }
        if (test.a == "tf32") {
            columns.push_back(2 * i + (nibble == 0b1110 ? 1 : 0));
        } else {
            columns.push_back(4 * i + static_cast<int>(nibble & 3));
            columns.push_back(4 * i + static_cast<int>(nibble >> 2));
        }
    }
    return columns;
}

}  // namespace

std::uint64_t WgmmaOperand::descriptor(int i) const {
    static constexpr std::uint64_t modes[] = {0, 0, 3, 0, 2, 0, 0, 0, 1};
    const auto field = [](std::uint32_t bytes) { return std::uint64_t(bytes & 0x3FFFF) >> 4; };
    return field(start + static_cast<std::uint32_t>(i) * step) | field(leading) << 16 | field(stride) << 32 |
           std::uint64_t(base_offset) << 49 | modes[width] << 62;
}

std::uint32_t WgmmaOperand::place(int i, int mn, int k, int bits) const {
    const int t = 128 / bits;  // elements in 16 bytes
    const auto in_chunk = static_cast<std::uint32_t>((mn_major ? mn : k) % t * bits / 8);
    const auto times = [](int count, std::uint32_t bytes) { return static_cast<std::uint32_t>(count) * bytes; };
    std::uint32_t offset = in_chunk;
    if (!mn_major && width == 1)
        offset += times(mn % 8, 16) + times(mn / 8, stride) + times(k / t, leading);
    else if (!mn_major)
        offset += times(mn % 8, 16u * static_cast<unsigned>(width)) + times(mn / 8, stride) + times(k / t % width, 16) +
                  times(k / t / width, leading);
    else if (width == 1)
        offset += times(mn / t, stride) + times(k % 8, 16) + times(k / 8, leading);
    else
        offset += times(mn / t % width, 16) + times(mn / t / width, leading) +
                  times(k % 8, 16u * static_cast<unsigned>(width)) + times(k / 8, stride);
    const std::uint32_t address = start + static_cast<std::uint32_t>(i) * step + offset;
    return address ^ ((address / 128 - static_cast<std::uint32_t>(base_offset)) & static_cast<std::uint32_t>(width - 1))
                         << 4;
}

int WgmmaCase::bits() const { return a == "b1" ? 1 : a == "tf32" ? 32 : a == "f16" || a == "bf16" ? 16 : 8; }
int WgmmaCase::k() const { return 256 / bits() * (sparse ? 2 : 1); }

std::string WgmmaCase::instruction(int step) const {
    const bool integer = d == "s32";
    std::string text = fmt::format("wgmma.mma_async{}.sync.aligned.m64n{}k{}{}.{}.{}.{}{} {}, ", sparse ? ".sp" : "", n,
                                   k(), saturate ? ".satfinite" : "", d, a, b, a == "b1" ? ".and.popc" : "",
                                   list("d", 0, registers_of_d(*this)));
    text += a_in_registers ? list("a", 4 * step, 4) : fmt::format("{:#x}", in_a.descriptor(step));
    text += fmt::format(", {:#x}", in_b.descriptor(step));
    if (sparse) text += fmt::format(", %m, {}", selector);
    text += ", " + (step == 0 ? scale_d : "1");
    if (!integer) text += fmt::format(", {}, {}", negate_a ? -1 : 1, negate_b ? -1 : 1);
    if (bits() == 16 && !a_in_registers) text += fmt::format(", {}", in_a.mn_major ? 1 : 0);
    if (bits() == 16) text += fmt::format(", {}", in_b.mn_major ? 1 : 0);
    return text + ";\n";
}

WgmmaData random_data(const WgmmaCase& test) {
    std::mt19937_64 random(test.seed);
    WgmmaData data;
    for (std::uint32_t i = 0; i < wgmma_shared_bytes / 4; ++i) {
        const std::uint32_t word = random_word(i % 2 == 0 ? test.a : test.b, random);
        for (int byte = 0; byte < 4; ++byte) data.shared.push_back(static_cast<std::uint8_t>(word >> 8 * byte));
    }
    for (int i = 0; i < threads * registers_of_d(test); ++i) data.accumulators.push_back(random_word(test.d, random));
    for (int i = 0; i < test.steps * threads * 4; ++i) data.a.push_back(random_word(test.a, random));
    for (int i = 0; i < threads; ++i) {
        std::uint32_t word = 0;
        for (int nibble = 0; nibble < 8; ++nibble) word |= random_nibble(test, random) << 4 * nibble;
        data.metadata.push_back(word);
    }
    return data;
}

std::string wgmma_kernel(const WgmmaCase& test) {
    const int registers = registers_of_d(test);
    std::string text = fmt::format(R"(.version 8.5
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 image, .param .u64 accumulators, .param .u64 a, .param .u64 metadata)
{{
    .shared .align 1024 .b8 tile[{0}];
    .reg .b32 %d<128>; .reg .b32 %a<64>; .reg .b32 %m; .reg .b32 %r<16>; .reg .b64 %q<16>; .reg .pred %p<8>; .reg .f32 %f<8>;
    ld.param.u64 %q0, [out]; ld.param.u64 %q1, [image]; ld.param.u64 %q2, [accumulators]; ld.param.u64 %q3, [a];
    ld.param.u64 %q4, [metadata];
    mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 2; mov.u32 %r2, tile;
    mov.u32 %r3, %r1;
fill:
    cvt.u64.u32 %q5, %r3; add.u64 %q5, %q5, %q1; ld.global.b32 %r4, [%q5];
    add.u32 %r5, %r2, %r3; st.shared.b32 [%r5], %r4;
    add.u32 %r3, %r3, 512; setp.lt.u32 %p0, %r3, {0}; @%p0 bra fill;
    {2}    bar.sync 0;
    mul.wide.u32 %q5, %r0, {1}; add.u64 %q2, %q2, %q5; add.u64 %q0, %q0, %q5;
    mul.wide.u32 %q5, %r0, 16; add.u64 %q3, %q3, %q5;
    mul.wide.u32 %q5, %r0, 4; add.u64 %q4, %q4, %q5; ld.global.b32 %m, [%q4];
    setp.eq.u32 %p1, %r0, %r0; setp.ne.u32 %p2, %r0, %r0;
)",
                                   wgmma_shared_bytes, 4 * registers, publish_shared);
    for (int i = 0; i < registers; ++i) text += fmt::format("ld.global.b32 %d{}, [%q2+{}];\n", i, 4 * i);
    for (int i = 0; i < 4 * test.steps; ++i)
        text += fmt::format("ld.global.b32 %a{}, [%q3+{}];\n", i, i / 4 * threads * 16 + i % 4 * 4);
    text += test.before_first + "wgmma.fence.sync.aligned;\n";
    for (int i = 0; i < test.steps; ++i) text += test.instruction(i);
    text += "wgmma.commit_group.sync.aligned;\n" + test.before_wait + "wgmma.wait_group.sync.aligned 0;\n" +
            test.after_wait;
    for (int i = 0; i < registers; ++i) text += fmt::format("st.global.b32 [%q0+{}], %d{};\n", 4 * i, i);
    return text + "ret;\n}\n";
}

std::vector<std::uint32_t> run_wgmma(const WgmmaCase& test, const WgmmaData& data, const LaunchOptions& options) {
    Device gpu;
    const auto copy_in = [&](const auto& values) {
        auto* const to = gpu.buffer<std::uint8_t>(values.size() * sizeof values[0]);
        std::memcpy(to, values.data(), values.size() * sizeof values[0]);
        return to;
    };
    std::uint32_t* const out = gpu.buffer<std::uint32_t>(data.accumulators.size());
    const auto report =
        gpu.run(compile_module(wgmma_kernel(test)), blocks(1, threads), options, out, copy_in(data.shared),
                copy_in(data.accumulators), copy_in(data.a), copy_in(data.metadata));
    if (report.fault) ADD_FAILURE() << to_string(*report.fault);
    if (report.deadlock) ADD_FAILURE() << to_string(*report.deadlock);
    return {out, out + data.accumulators.size()};
}

std::vector<std::uint32_t> model_wgmma(const WgmmaCase& test, const WgmmaData& data) {
    number::DotRequest request;
    request.device = number::Generation::hopper;
    request.instruction = number::Instruction::wgmma;
    request.a = format(test.a), request.b = format(test.b), request.d = format(test.d);
    request.saturate = test.saturate;
    const number::DotRecipe recipe = *number::recipe(request);
    const int bits = test.bits(), stored = test.k() / (test.sparse ? 2 : 1), in_register = 32 / bits;
    const auto read = [&](const WgmmaOperand& operand, int step, int mn, int k) {
        const std::size_t address = operand.place(step, mn, k, bits) - wgmma_shared_begin;
        return bits_at(data.shared, 8 * address + static_cast<std::size_t>(k * bits % 8 * (bits < 8)), bits);
    };
    const auto a_at = [&](int step, int row, int k) {
        if (!test.a_in_registers) return read(test.in_a, step, row, k);
        // Register r: row g + 8 (r mod 2), k = t E + j + 4 E (r / 2), of warp row / 16.
        const int r = row % 16 / 8 + 2 * (k / (4 * in_register)), t = k / in_register % 4, j = k % in_register;
        const int thread = 32 * (row / 16) + 4 * (row % 8) + t;
        const std::uint32_t word = data.a[static_cast<std::size_t>((step * threads + thread) * 4 + r)];
        return std::uint64_t(word) >> j * bits & (bits == 32 ? 0xFFFFFFFFu : (1u << bits) - 1);
    };
    std::vector<std::uint32_t> out = data.accumulators;
    const int registers = registers_of_d(test);
    const std::uint64_t sign = std::uint64_t{1} << (bits - 1);
    for (int row = 0; row < 64; ++row) {
        const std::vector<int> columns = test.sparse ? selected(test, data, row) : std::vector<int>{};
        for (int column = 0; column < test.n; ++column) {
            // d_i: row g + 8 (i / 2 mod 2), column 2 t + i mod 2 + 8 (i / 4); f16: two in a register.
            const int i = column % 2 + 2 * (row % 16 / 8) + 4 * (column / 8);
            const int thread = 32 * (row / 16) + 4 * (row % 8) + column % 8 / 2;
            const bool half = test.d == "f16";
            std::uint32_t& word = out[static_cast<std::size_t>(thread * registers + (half ? i / 2 : i))];
            const int shift = half ? 16 * (i % 2) : 0;
            const bool zero = test.scale_d == "0" || test.scale_d == "%p2" || test.scale_d == "!%p1";
            std::uint64_t d = zero ? 0 : half ? word >> shift & 0xFFFF : word;
            for (int step = 0; step < test.steps; ++step) {
                std::vector<std::uint64_t> left, right;
                for (int k = 0; k < stored; ++k) {
                    left.push_back(a_at(step, row, k) ^ (test.negate_a ? sign : 0));
                    const int of_b = test.sparse ? columns[static_cast<std::size_t>(k)] : k;
                    right.push_back(read(test.in_b, step, column, of_b) ^ (test.negate_b ? sign : 0));
                }
                d = number::dot(recipe, left, right, d);
            }
            if (half)
                word = (word & ~(0xFFFFu << shift)) | static_cast<std::uint32_t>(d) << shift;
            else
                word = static_cast<std::uint32_t>(d);
        }
    }
    return out;
}

}  // namespace tilepath::exec
