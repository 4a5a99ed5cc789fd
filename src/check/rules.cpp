#include "check/rules.h"

#include <algorithm>
#include <array>

#include "base/assert.h"

namespace tilepath::check {
namespace {

constexpr auto all = std::to_array<Rule>({
    {"coalescing", "Global memory coalesces", false},
    {"bank-conflicts", "Shared memory has no bank conflicts", false},
    {"provenance", "Every element lies where the instruction reads it", true},
    {"race", "Accesses of threads to the same memory are ordered", true},
    {"proxy-fence", "A proxy fence lies between generic writes and the async proxy", true},
    {"read-too-early", "What a copy writes is read when it has landed", true},
    {"overwritten-too-soon", "Memory is overwritten when it has been read", true},
    {"wgmma-fence", "wgmma.fence comes before a wgmma whose registers were accessed", true},
    {"wgmma-registers", "The registers of a wgmma are used when it has been waited for", true},
    {"tensor-fence", "tcgen05's fences lie where Tensor Memory passes between threads", true},
    {"mbarrier-inval", "An mbarrier is invalidated when everybody is through with it", true},
    {"mbarrier-init", "An mbarrier is used where its initialisation is visible", true},
    {"expected-bytes", "An mbarrier expects the bytes that are copied", true},
    {"tensor-registers", "The registers of a tcgen05.ld are used when it has been waited for", false},
    {"tensor-lanes", "Addresses of Tensor Memory name the warp's lanes", false},
    {"bulk-exit", "A CTA ends when bulk copies have read its shared memory", false},
    {"cluster-exit", "A CTA stays until others are through with its shared memory", true},
    {"fault", "The kernel does nothing that ends it", true},
    {"deadlock", "The kernel comes to its end", true},
    {"tensormap-fence", "An edited tensor map is released and acquired", true},
});

}  // namespace

std::span<const Rule> rules() { return all; }

std::size_t rule_index(std::string_view check) {
    const auto found = std::ranges::find(all, check, &Rule::check);
    TILEPATH_ASSERT(found != all.end(), "every check is in the list");
    return static_cast<std::size_t>(found - all.begin());
}

const Rule& rule_of(std::string_view check) { return all[rule_index(check)]; }

}  // namespace tilepath::check
