// The scalar reference of number/, which verifies every result, on decoded operands of k = 512 and one core: FP8 as
// mma.sync computes it on sm_90 (two f16 groups and an IEEE addition for 32 products) beside f16's single groups.
// `ratio NAME VALUE`: products per second of FP8 / of f16.
#include <fmt/format.h>

#include <time.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "number/fused_dot.h"
#include "number/recipe.h"

namespace {

using namespace tilepath::number;

constexpr int k = 512, rows = 64, repetitions = 15;

/// Of this thread, so that other processes count less.
double thread_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

struct Case {
    Case(const DotRequest& request, std::string description)
        : recipe(*tilepath::number::recipe(request)), name(std::move(description)) {
        std::mt19937 random(1);
        std::normal_distribution<double> normal;
        for (int i = 0; i < rows * k; ++i) {
            a.push_back(decode_term(from_double(normal(random), recipe.a), recipe.a));
            b.push_back(decode_term(from_double(normal(random), recipe.b), recipe.b));
        }
    }

    void run() {
        const double start = thread_seconds();
        for (std::size_t i = 0; i < rows; ++i)
            for (std::size_t j = 0; j < rows; ++j)
                sum += dot(recipe, std::span(a).subspan(i * k, k), std::span(b).subspan(j * k, k), 0u);
        times.push_back(thread_seconds() - start);
    }

    double million_products_per_second() {
        std::ranges::nth_element(times, times.begin() + std::ptrdiff_t(times.size() / 2));
        return 1e-6 * rows * rows * k / times[times.size() / 2];
    }

    DotRecipe recipe;
    std::string name;
    std::vector<Term> a, b;
    std::vector<double> times;
    std::uint32_t sum = 0;  ///< so that nothing is left out
};

}  // namespace

int main() {
    using enum Format;
    const auto hopper = Generation::hopper;
    Case f16_case({.device = hopper, .a = f16, .b = f16, .d = f32}, "f16, mma.sync on sm_90");
    Case fp8_case({.device = hopper, .a = e4m3, .b = e4m3, .d = f32}, "e4m3, mma.sync on sm_90");
    for (int i = 0; i < repetitions; ++i) f16_case.run(), fp8_case.run();
    fmt::print("{:<40}{:>20}\n", "scalar reference", "million products/s");
    for (Case* c : {&f16_case, &fp8_case})
        fmt::print("{:<40}{:>20.1f}   (sum of results {:08x})\n", c->name, c->million_products_per_second(), c->sum);
    fmt::print("\nratio scalar_dot/f16_e4m3_mma_sync {:.3f}\n",
               fp8_case.million_products_per_second() / f16_case.million_products_per_second());
}
