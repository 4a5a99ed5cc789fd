// The headers of kernels/blackwell and kernels/blackwell_rtx say what nvcc's PTX says.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "kernels/blackwell/gemm_config.h"
#include "kernels/blackwell_rtx/gemm_config.h"
#include "kernels/ptx_text.h"

namespace tilepath::kernels {
namespace {

/// Every row of `entries` is an entry of its module, with so many threads, CTAs in a cluster and tensor maps; and the
/// modules have no other entries.
template <class Entries, class ConfigOf>
void agree(const std::string& folder, const Entries& entries, ConfigOf config_of) {
    std::set<std::string_view> modules;
    for (const auto& entry : entries) modules.insert(entry.module);
    for (const std::string_view module : modules) {
        const std::string text = ptx_text(folder, module);
        std::size_t count = 0;
        for (const auto& entry : entries) {
            if (entry.module != module) continue;
            ++count;
            const std::size_t at = text.find(".visible .entry " + std::string(entry.name) + "(");
            ASSERT_NE(at, std::string::npos) << entry.name;
            const std::string head = text.substr(at, text.find('{', at) - at);
            const auto config = config_of(entry);
            EXPECT_EQ(occurrences(head, "[128]"), entry.scale == BlockScale::none ? 3u : 5u) << entry.name;
            EXPECT_EQ(occurrences(head, "[56]"), 1u) << entry.name;
            EXPECT_NE(head.find(".maxntid " + std::to_string(config.threads())), std::string::npos) << head;
            const std::string cluster = ".reqnctapercluster " + std::to_string(config.cluster_m);
            EXPECT_EQ(head.find(cluster) != std::string::npos || config.cluster_m == 1, true) << head;
        }
        EXPECT_EQ(occurrences(text, ".visible .entry "), count) << module;
    }
}

TEST(BlackwellEntries, AreTheEntriesOfThePtxAndNoMore) {
    agree("blackwell", blackwell::gemm_entries, [](const blackwell::GemmEntry& entry) {
        return blackwell::gemm_config(entry.input, entry.input_b, entry.scale, entry.form);
    });
    agree("blackwell_rtx", blackwell_rtx::gemm_entries,
          [](const blackwell_rtx::GemmEntry& entry) { return blackwell_rtx::gemm_config(entry.input, entry.scale); });
}

// What the devices have: 227 KiB of shared memory for a CTA of sm_100, 99 KiB of sm_120; 512 columns.
TEST(BlackwellEntries, FitTheirDevices) {
    for (const blackwell::GemmEntry& entry : blackwell::gemm_entries) {
        const auto config = blackwell::gemm_config(entry.input, entry.input_b, entry.scale, entry.form);
        EXPECT_LE(config.dynamic_shared_bytes(), 232448) << entry.name;
        EXPECT_LE(config.stage_column(config.stages()), 512) << entry.name;
        EXPECT_GE(config.stages(), 4) << entry.name;
    }
    for (const blackwell_rtx::GemmEntry& entry : blackwell_rtx::gemm_entries)
        EXPECT_LE(blackwell_rtx::gemm_config(entry.input, entry.scale).dynamic_shared_bytes(), 101376) << entry.name;
}

// CuTe's atom of scale factors (Sm1xxBlkScaledConfig): ((32,4),(block,4)):((16,4),(0,1)).
TEST(ScalePosition, IsTheAtomOfCute) {
    EXPECT_EQ(scale_position(0, 0, 2), 0);
    EXPECT_EQ(scale_position(31, 0, 2), 496);
    EXPECT_EQ(scale_position(32, 0, 2), 4);
    EXPECT_EQ(scale_position(127, 3, 2), 511);
    EXPECT_EQ(scale_position(0, 4, 2), 512);
    EXPECT_EQ(scale_position(128, 0, 2), 1024);
}

}  // namespace
}  // namespace tilepath::kernels
