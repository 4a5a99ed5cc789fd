// generated_programs [--seconds N] [--seed S] [--target sm_90] [--wild] [--tiles]: generates programs and checks them
// until time is over or one fails, which is printed. Exit status 1 if one failed. With `--print`, the one program of
// the seed.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <string_view>

#include "generated/agreement.h"
#include "generated/tiles.h"

using namespace tilepath::generated;

int main(int count, char** arguments) {
    double seconds = 10;
    std::uint64_t seed = 1;
    std::string target = "sm_90";
    bool print = false, wild = false, tiles = false;
    for (int i = 1; i < count; ++i) {
        const std::string_view name = arguments[i];
        if (name == "--print" || name == "--wild" || name == "--tiles") {
            (name == "--print" ? print : name == "--wild" ? wild : tiles) = true;
            continue;
        }
        const char* value = i + 1 < count ? arguments[++i] : "";
        if (name == "--seconds")
            seconds = std::atof(value);
        else if (name == "--seed")
            seed = std::strtoull(value, nullptr, 10);
        else if (name == "--target")
            target = value;
        else
            return fmt::print(
                       stderr,
                       "generated_programs [--seconds N] [--seed S] [--target SM] [--wild] [--tiles] [--print]\n"),
                   2;
    }
    std::optional<Instructions> instructions;
    std::optional<TileForms> forms;
    if (tiles)
        forms.emplace(target);
    else
        instructions.emplace(target);
    Agreement agreement(target);
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    std::uint64_t programs = 0;
    do {
        Choices choices(seed);
        const Kernel kernel = tiles ? generate_tiles(*forms, choices, wild) : generate(*instructions, choices, wild);
        if (print)
            fmt::print("// seed {}: grid {}, block {}\n{}", seed, kernel.grid, kernel.block, kernel.text),
                std::fflush(stdout);
        const std::string wrong = agreement.check(kernel, seed);
        if (!wrong.empty()) {
            fmt::print("// seed {}, target {}{}{}: grid {}, block {}\n{}\n{}\n", seed, target, wild ? ", wild" : "",
                       tiles ? ", tiles" : "", kernel.grid, kernel.block, kernel.text, wrong);
            return 1;
        }
        ++programs, ++seed;
    } while (!print && std::chrono::steady_clock::now() < end);
    fmt::print(
        "{} programs, {} micro-operations, {} faults, {} deadlocks, {} refused, {} findings, the next seed is {}: no "
        "difference\n",
        programs, agreement.operations(), agreement.faults(), agreement.deadlocks(), agreement.refusals(),
        agreement.findings(), seed);
}
