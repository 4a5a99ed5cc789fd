#include "generated/agreement.h"

#include <fmt/format.h>

#include <cstring>

#include "base/assert.h"
#include "isa/build.h"
#include "program/print.h"
#include "program/verify.h"
#include "ptx/print.h"
#include "ptx/read.h"

namespace tilepath::generated {
namespace {

constexpr std::uint32_t most_threads = 4 * 128;

template <class T>
T* at(machine::Address address) {
    return reinterpret_cast<T*>(static_cast<std::uintptr_t>(address));
}

std::string printed(const program::Program& program) {
    std::string out;
    for (const program::Function& function : program.functions) out += program::print(function);
    return out;
}

/// Sees every operation and does nothing: the interpreter's hooks run.
struct Onlooker : machine::Observer {
    bool wants_operations() const override { return true; }
};

}  // namespace

Agreement::Agreement(const std::string& arch)
    : device_(*machine::device_named(arch)), memory_(std::move(*machine::DeviceMemory::create())) {
    input_ = *memory_->allocate(input_bytes, "input");
    slots_ = *memory_->allocate(most_threads * slot_bytes, "slots");
    results_ = *memory_->allocate(most_threads * result_bytes, "results");
    counters_ = *memory_->allocate(8 * std::size(counters), "counters");
}

std::string Agreement::run(const Kernel& kernel, const Way& way, std::uint64_t seed, Memory& out) {
    static constexpr std::uint32_t special[] = {0,          1,          0x80000000, 0x7F800000, 0xFF800000, 0x7FFFFFFF,
                                                0x7F800001, 0x00800000, 0x007FFFFF, 0x3F800000, 0xBF800000, 0x7C007BFF,
                                                0xFFFFFFFF, 0x00010002, 0x40490FDB, 31};
    std::mt19937_64 random(seed);
    for (std::uint32_t i = 0; i < input_bytes / 4; ++i)
        at<std::uint32_t>(input_)[i] = random() % 2 ? special[random() % std::size(special)] : std::uint32_t(random());
    // What maps describe is nobody's.
    const std::size_t slots = (kernel.maps.empty() ? kernel.threads() : most_threads) * slot_bytes;
    const std::size_t results = kernel.threads() * result_bytes;
    // All of it, for a wild kernel may also read and write what no thread owns.
    for (std::uint32_t i = 0; i < most_threads * slot_bytes; ++i) at<std::uint8_t>(slots_)[i] = std::uint8_t(random());
    std::memset(at<std::uint8_t>(results_), 0xA5, most_threads * result_bytes);
    for (std::uint32_t i = 0; i < std::size(counters); ++i) at<std::uint64_t>(counters_)[i] = counters[i].initial;

    const machine::Address addresses[] = {input_, slots_, results_, counters_};
    std::vector<std::uint8_t> bytes(sizeof addresses);
    std::memcpy(bytes.data(), addresses, sizeof addresses);
    for (Kernel::Map each : kernel.maps) {
        each.map.address += each.of_slots ? slots_ : input_;
        bytes.resize((bytes.size() + 63) / 64 * 64);
        const auto encoded = machine::encode(each.map);
        bytes.insert(bytes.end(), encoded.begin(), encoded.end());
    }
    const exec::LaunchShape shape{{kernel.grid, 1, 1}, {kernel.block, 1, 1}, {kernel.cluster, 1, 1}, 0};
    std::string told;
    for (std::uint32_t part = 0; part < (way.in_parts ? kernel.grid / kernel.cluster : 1); ++part) {
        exec::LaunchOptions options = way.options;
        options.timeout = std::chrono::seconds(60);
        if (way.in_parts) options.first_cta = part * kernel.cluster, options.cta_count = kernel.cluster;
        const auto report = exec::launch(*way.program, device_, *memory_, shape, bytes, options);
        if (!report) told += to_string(report.error());
        if (report && report->fault) told += to_string(*report->fault);
        if (report && report->deadlock) told += to_string(*report->deadlock);
        if (report) {
            operations_ += report->operations;
            faults_ += report->fault.has_value();
            deadlocks_ += report->deadlock.has_value();
        }
        if (!told.empty()) break;
    }
    out.slots.assign(at<std::uint8_t>(slots_), at<std::uint8_t>(slots_) + slots);
    out.results.assign(at<std::uint8_t>(results_), at<std::uint8_t>(results_) + results);
    out.counters.assign(at<std::uint8_t>(counters_), at<std::uint8_t>(counters_) + 8 * std::size(counters));
    return told;
}

std::string Agreement::difference(const Kernel& kernel, const Memory& a, const Memory& b) const {
    const auto first = [](const std::vector<std::uint8_t>& x, const std::vector<std::uint8_t>& y) {
        return std::size_t(std::mismatch(x.begin(), x.end(), y.begin()).first - x.begin());
    };
    std::string out;
    const auto tell = [&](std::string_view name, const auto& x, const auto& y, std::uint32_t each) {
        if (x == y) return;
        const std::size_t place = first(x, y);
        out += fmt::format("{} differ: thread {} of {}, byte {}: {:02x}, {:02x}\n", name, place / each,
                           kernel.threads(), place % each, x[place], y[place]);
    };
    tell("results (r at 0, q at 160, x at 320, h at 384, p at 408, shared at 440, local at 504)", a.results, b.results,
         result_bytes);
    tell("slots", a.slots, b.slots, slot_bytes);
    tell("counters", a.counters, b.counters, 8);
    return out;
}

std::string Agreement::check(const Kernel& kernel, std::uint64_t seed) {
    const auto module = ptx::read(Source("generated.ptx", kernel.text));
    if (!module) return "it does not read:\n" + to_string(module.error());
    const auto again = ptx::read(Source("printed.ptx", ptx::print(*module)));
    if (!again) return "what is printed does not read:\n" + to_string(again.error());
    if (!ptx::same_tree(*module, *again)) return "what is printed is another tree";
    const auto program = isa::build(*module, "k");
    if (!program) {
        ++refusals_;
        return kernel.wild ? "" : "it does not build:\n" + to_string(program.error());
    }
    const auto second = isa::build(*again, "k");
    if (!second || printed(*second) != printed(*program)) return "what is printed builds to another program";
    for (const std::string& fault : program::verify(*program)) return "the verifier objects: " + fault;
    // Rows for each register alone: what shares rows by liveness must not show.
    program::Program apart = *program;
    for (program::Function& function : apart.functions) function.slots = {};

    std::mt19937_64 random(seed);
    using machine::CopyPolicy;
    Onlooker onlooker;
    const auto seeded = [](std::uint64_t of, CopyPolicy copies) {
        exec::LaunchOptions options;
        options.seed = of, options.copies = copies;
        return options;
    };
    const auto threaded = [](unsigned threads, CopyPolicy copies) {
        exec::LaunchOptions options;
        options.threads = threads, options.copies = copies;
        return options;
    };
    exec::LaunchOptions observed = seeded(random(), CopyPolicy::eager);
    observed.observer = &onlooker;
    const Way ways[] = {
        {"seed 1, eager", seeded(1, CopyPolicy::eager), &*program},
        {"a seed, copies late", seeded(random(), CopyPolicy::late), &*program},
        {"a seed, copies random", seeded(random(), CopyPolicy::random), &*program},
        {"a seed, observed", observed, &*program},
        {"two host threads, copies late", threaded(2, CopyPolicy::late), &*program},
        {"three host threads, copies random", threaded(3, CopyPolicy::random), &*program},
        {"CTA by CTA", seeded(random(), CopyPolicy::eager), &*program, true},
        {"no shared rows", seeded(1, CopyPolicy::eager), &apart},
    };
    if (kernel.wild) {
        std::string wrong = check_wild(kernel, ways, seed);
        return wrong.empty() ? check_observed(kernel, *program, seed) : wrong;
    }
    Memory expected;
    for (const Way& way : ways) {
        Memory found;
        if (std::string wrong = run(kernel, way, seed, found); !wrong.empty())
            return fmt::format("{}:\n{}", way.name, wrong);
        if (&way == ways)
            expected = std::move(found);
        else if (std::string wrong = difference(kernel, expected, found); !wrong.empty())
            return fmt::format("{} and {}: {}", ways[0].name, way.name, wrong);
    }
    return check_observed(kernel, *program, seed);
}

std::string Agreement::check_wild(const Kernel& kernel, std::span<const Way> ways, std::uint64_t seed) {
    for (const Way& way : ways) {
        Memory first, second;
        const std::string told = run(kernel, way, seed, first);
        if (told.find("time limit") != std::string::npos)
            return fmt::format("{}: it does not end:\n{}", way.name, told);
        if (!way.options.seed) continue;
        const std::string again = run(kernel, way, seed, second);
        if (told != again) return fmt::format("{}, twice:\n{}\n{}", way.name, told, again);
        if (std::string wrong = difference(kernel, first, second); !wrong.empty())
            return fmt::format("{}, twice: {}", way.name, wrong);
    }
    return {};
}

}  // namespace tilepath::generated
