#pragma once
#include "number/engine_targets.h"
// After engine_targets.h:
#include <gtest/gtest.h>
#include <hwy/targets.h>

namespace tilepath::number {

/// Runs with one of the instruction sets of this CPU, its parameter.
class TargetTest : public testing::TestWithParam<std::int64_t> {
  protected:
    void SetUp() override { select(GetParam()); }
    void TearDown() override { select(0); }
    static void select(std::int64_t targets) {
        hwy::SetSupportedTargetsForTest(targets);
        hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    }
};

}  // namespace tilepath::number
