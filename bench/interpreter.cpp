// The interpreter on one core beside the same loops in C++: saxpy over 2^24 floats, and a sum in blocks through shared
// memory, of 64 elements per thread and of one, where barriers and the tree are all there is. `ratio NAME VALUE`: time
// of the interpreter / time of the loop that g++ -O2 makes.
#include <fmt/format.h>

#include <time.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "exec/launch.h"
#include "isa/build.h"
#include "ptx/read.h"

namespace {

using namespace tilepath;

constexpr int elements = 1 << 24, block = 256;
constexpr int tile = 1 << 14;  // elements that one block of the reduction adds up

// As nvcc -O3 -arch=sm_80 writes the loops below: one element per thread, and 64 elements per thread before the tree.
constexpr const char* saxpy_text = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry saxpy(.param .u64 px, .param .u64 py, .param .f32 pa, .param .u32 pn)
{
    .reg .pred %p<2>; .reg .b32 %r<6>; .reg .f32 %f<5>; .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [px];
    ld.param.u64 %rd2, [py];
    ld.param.f32 %f1, [pa];
    ld.param.u32 %r2, [pn];
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %ntid.x;
    mov.u32 %r5, %tid.x;
    mad.lo.s32 %r1, %r3, %r4, %r5;
    setp.ge.s32 %p1, %r1, %r2;
    @%p1 bra done;
    cvta.to.global.u64 %rd3, %rd1;
    mul.wide.s32 %rd4, %r1, 4;
    add.s64 %rd5, %rd3, %rd4;
    ld.global.f32 %f2, [%rd5];
    cvta.to.global.u64 %rd6, %rd2;
    add.s64 %rd7, %rd6, %rd4;
    ld.global.f32 %f3, [%rd7];
    fma.rn.f32 %f4, %f1, %f2, %f3;
    st.global.f32 [%rd7], %f4;
done:
    ret;
}
)";

// The sum of a thread's own elements, in %f1.
constexpr const char* one_element = R"(
    mad.lo.s32 %r5, %r1, %r10, %r3;
    mul.wide.u32 %rd4, %r5, 4;
    add.s64 %rd5, %rd3, %rd4;
    ld.global.f32 %f1, [%rd5];
)";
constexpr const char* sixty_four_elements = R"(
    shl.b32 %r4, %r1, 14;
    add.s32 %r5, %r4, %r3;
    mul.wide.u32 %rd4, %r5, 4;
    add.s64 %rd5, %rd3, %rd4;
    mov.f32 %f1, 0f00000000;
    mov.u32 %r6, 0;
more:
    ld.global.f32 %f2, [%rd5];
    add.rn.f32 %f3, %f1, %f2;
    ld.global.f32 %f4, [%rd5+1024];
    add.rn.f32 %f5, %f3, %f4;
    ld.global.f32 %f2, [%rd5+2048];
    add.rn.f32 %f3, %f5, %f2;
    ld.global.f32 %f4, [%rd5+3072];
    add.rn.f32 %f1, %f3, %f4;
    add.s64 %rd5, %rd5, 4096;
    add.s32 %r6, %r6, 4;
    setp.ne.s32 %p1, %r6, 64;
    @%p1 bra more;
)";

/// A block's sum through shared memory, of what `own_sum` leaves in %f1 of each thread.
std::string sum_text(const char* name, const char* own_sum) {
    return fmt::format(R"(
.visible .entry {}(.param .u64 px, .param .u64 psums)
{{
    .reg .pred %p<4>; .reg .b32 %r<16>; .reg .f32 %f<7>; .reg .b64 %rd<10>;
    .shared .align 4 .b8 partial[1024];
    ld.param.u64 %rd1, [px];
    ld.param.u64 %rd2, [psums];
    cvta.to.global.u64 %rd3, %rd1;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r3, %tid.x;
    mov.u32 %r10, %ntid.x;
{}
    shl.b32 %r7, %r3, 2;
    mov.u32 %r8, partial;
    add.s32 %r9, %r8, %r7;
    st.shared.f32 [%r9], %f1;
    bar.sync 0;
again:
    mov.u32 %r6, %r10;
    shr.u32 %r10, %r6, 1;
    setp.ge.u32 %p1, %r3, %r10;
    @%p1 bra skip;
    shl.b32 %r11, %r10, 2;
    add.s32 %r12, %r9, %r11;
    ld.shared.f32 %f2, [%r12];
    ld.shared.f32 %f3, [%r9];
    add.rn.f32 %f4, %f3, %f2;
    st.shared.f32 [%r9], %f4;
skip:
    bar.sync 0;
    setp.gt.u32 %p2, %r6, 3;
    @%p2 bra again;
    setp.ne.s32 %p3, %r3, 0;
    @%p3 bra done;
    ld.shared.f32 %f4, [partial];
    cvta.to.global.u64 %rd6, %rd2;
    mul.wide.u32 %rd7, %r1, 4;
    add.s64 %rd8, %rd6, %rd7;
    st.global.f32 [%rd8], %f4;
done:
    ret;
}}
)",
                       name, own_sum);
}

// What g++ -O2 makes of them, whatever this file is compiled with. The sums are those of the kernel, in its order.
__attribute__((noinline, optimize("O2"))) void saxpy(const float* x, float* y, float a, int n) {
    for (int i = 0; i < n; ++i) y[i] = a * x[i] + y[i];
}
__attribute__((noinline, optimize("O2"))) void reduce(const float* x, float* sums, int n, int of_a_block) {
    float partial[block];
    for (int first = 0; first < n; first += of_a_block) {
        for (int t = 0; t < block; ++t) partial[t] = 0;
        for (int k = first; k < first + of_a_block; k += block)
            for (int t = 0; t < block; ++t) partial[t] += x[k + t];
        for (int half = block / 2; half != 0; half /= 2)
            for (int t = 0; t < half; ++t) partial[t] += partial[t + half];
        sums[first / of_a_block] = partial[0];
    }
}

/// Of this process, so that others count less.
double process_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

template <class Run>
double best_seconds(int rounds, Run run) {
    double best = 1e9;
    for (int i = 0; i < rounds; ++i) {
        const double begin = process_seconds();
        run();
        best = std::min(best, process_seconds() - begin);
    }
    return best;
}

template <class... Parameters>
std::vector<std::uint8_t> pack(Parameters... parameters) {
    std::vector<std::uint8_t> bytes;
    const auto add = [&](const auto& each) {
        bytes.resize((bytes.size() + sizeof each - 1) / sizeof each * sizeof each + sizeof each);
        std::memcpy(bytes.data() + bytes.size() - sizeof each, &each, sizeof each);
    };
    (add(parameters), ...);
    return bytes;
}

void run(const ptx::Module& module, const char* entry, machine::DeviceMemory& memory, std::uint32_t blocks,
         std::span<const std::uint8_t> bytes) {
    const auto program = isa::build(module, entry);
    exec::LaunchOptions options;
    options.threads = 1;
    const auto report = exec::launch(*program, *machine::device_named("sm_80"), memory,
                                     {{blocks, 1, 1}, {block, 1, 1}, {1, 1, 1}, 0}, bytes, options);
    if (!report || !report->ok()) fmt::print("{} failed\n", entry), std::exit(1);
}

void print(const char* name, double native, double interpreted, bool equal) {
    fmt::print("{:<10} {:>10.2f} ms {:>12.2f} ms   {:>6.1f} times{}\n", name, native * 1e3, interpreted * 1e3,
               interpreted / native, equal ? "" : "   RESULTS DIFFER");
    if (!equal) std::exit(1);
}

}  // namespace

int main() {
    const auto module = ptx::read(
        Source("bench.ptx", saxpy_text + sum_text("tree", one_element) + sum_text("reduce", sixty_four_elements)));
    auto memory = *machine::DeviceMemory::create();
    const auto floats = [&](int count, const char* name) {
        return reinterpret_cast<float*>(*memory->allocate(std::uint64_t(count) * 4, name));
    };
    float *x = floats(elements, "x"), *y = floats(elements, "y"), *sums = floats(elements / block, "sums");
    std::vector<float> y_native(elements), sums_native(elements / block);
    for (int i = 0; i < elements; ++i)
        x[i] = static_cast<float>(i % 1000), y[i] = y_native[i] = static_cast<float>(i % 77);

    constexpr int rounds = 5;
    const float a = 0.5f;
    const double saxpy_native = best_seconds(rounds, [&] { saxpy(x, y_native.data(), a, elements); });
    const double saxpy_kernel =
        best_seconds(rounds, [&] { run(*module, "saxpy", *memory, elements / block, pack(x, y, a, elements)); });
    const bool saxpy_equal = std::memcmp(y, y_native.data(), std::size_t(elements) * 4) == 0;
    struct Times {
        double native, kernel;
        bool equal;
    };
    const auto sum = [&](const char* entry, int of_a_block) {
        Times out{};
        out.native = best_seconds(rounds, [&] { reduce(x, sums_native.data(), elements, of_a_block); });
        out.kernel = best_seconds(rounds, [&] { run(*module, entry, *memory, elements / of_a_block, pack(x, sums)); });
        out.equal = std::memcmp(sums, sums_native.data(), std::size_t(elements / of_a_block) * 4) == 0;
        return out;
    };
    const Times reduction = sum("reduce", tile), tree = sum("tree", block);

    fmt::print("{:<10} {:>13} {:>15}\n", "", "g++ -O2", "interpreter");
    print("saxpy", saxpy_native, saxpy_kernel, saxpy_equal);
    print("reduction", reduction.native, reduction.kernel, reduction.equal);
    print("tree", tree.native, tree.kernel, tree.equal);
    fmt::print("ratio interpreter_saxpy {:.2f}\nratio interpreter_reduction {:.2f}\nratio interpreter_tree {:.2f}\n",
               saxpy_kernel / saxpy_native, reduction.kernel / reduction.native, tree.kernel / tree.native);
}
