#include "ptx/special_registers.h"

#include <algorithm>
#include <iterator>

namespace tilepath::ptx {
namespace {

// Sorted.
constexpr std::string_view plain[] = {"%aggr_smem_size",
                                      "%clock",
                                      "%clock64",
                                      "%clock_hi",
                                      "%cluster_ctaid",
                                      "%cluster_ctarank",
                                      "%cluster_nctaid",
                                      "%cluster_nctarank",
                                      "%clusterid",
                                      "%ctaid",
                                      "%current_graph_exec",
                                      "%dynamic_smem_size",
                                      "%globaltimer",
                                      "%globaltimer_hi",
                                      "%globaltimer_lo",
                                      "%gridid",
                                      "%is_explicit_cluster",
                                      "%laneid",
                                      "%lanemask_eq",
                                      "%lanemask_ge",
                                      "%lanemask_gt",
                                      "%lanemask_le",
                                      "%lanemask_lt",
                                      "%nclusterid",
                                      "%nctaid",
                                      "%nsmid",
                                      "%ntid",
                                      "%nwarpid",
                                      "%reserved_smem_offset_begin",
                                      "%reserved_smem_offset_cap",
                                      "%reserved_smem_offset_end",
                                      "%smid",
                                      "%tid",
                                      "%total_smem_size",
                                      "%warpid"};
static_assert(std::is_sorted(std::begin(plain), std::end(plain)));

/// `%envreg<32>` and their like: the names prefix0suffix … prefix(count-1)suffix.
struct Family {
    std::string_view prefix, suffix;
    unsigned count;
};
constexpr Family families[] = {
    {"%envreg", "", 32}, {"%pm", "", 8}, {"%pm", "_64", 8}, {"%reserved_smem_offset_", "", 2}};

bool belongs(std::string_view name, const Family& family) {
    if (!name.starts_with(family.prefix) || !name.ends_with(family.suffix)) return false;
    if (name.size() <= family.prefix.size() + family.suffix.size()) return false;
    const std::string_view digits =
        name.substr(family.prefix.size(), name.size() - family.prefix.size() - family.suffix.size());
    if (digits.size() > 2 || (digits.size() == 2 && digits[0] == '0')) return false;
    unsigned number = 0;
    for (char c : digits) {
        if (c < '0' || c > '9') return false;
        number = number * 10 + static_cast<unsigned>(c - '0');
    }
    return number < family.count;
}

}  // namespace

std::span<const std::string_view> special_registers() { return plain; }

bool is_special_register(std::string_view name) {
    if (!name.starts_with('%')) return false;
    return std::binary_search(std::begin(plain), std::end(plain), name) ||
           std::any_of(std::begin(families), std::end(families),
                       [&](const Family& family) { return belongs(name, family); });
}

}  // namespace tilepath::ptx
