// The products of tcgen05.mma.
#include "exec/tcgen05_multiply.h"

#include <unordered_map>

#include "base/assert.h"
#include "exec/tcgen05_product.h"

namespace tilepath::exec {
namespace {

/// Operations whose k goes into one call of the engine.
constexpr std::size_t longest_run = 8;

/// What a plan depends on.
struct Key {
    program::Tcgen05Mma what;
    Tcgen05Operands operands;  ///< without what differs from one step along k to the next

    friend bool operator==(const Key&, const Key&) = default;
};

Key key_of(const program::Tcgen05Mma& what, Tcgen05Operands operands) {
    const auto lane_of = [](std::uint32_t address) { return tensor_address(address).lane << 16; };
    operands.a = what.a_in_tensor_memory ? lane_of(static_cast<std::uint32_t>(operands.a)) : without_start(operands.a);
    operands.b = without_start(operands.b);
    operands.d = lane_of(operands.d);
    operands.metadata = lane_of(operands.metadata);
    operands.scale_a = lane_of(operands.scale_a);
    operands.scale_b = lane_of(operands.scale_b);
    operands.accumulates = true;
    return {what, operands};
}

/// Bits 4-5 and 29-30 of a block-scaled kind's descriptor say which byte of a cell holds the first factor.
Key chain_of(Key key) {
    key.operands.a = key.operands.b = 0;
    if (atom::traits(key.what.kind).block_scaled) key.operands.instruction &= ~(3u << 4 | 3u << 29);
    return key;
}

struct KeyHash {
    std::size_t operator()(const Key& key) const {
        std::uint64_t hash = 0xcbf29ce484222325;
        const auto mix = [&](std::uint64_t value) { hash = (hash ^ value) * 0x9E3779B97F4A7C15; };
        mix(key.operands.a), mix(key.operands.b), mix(key.operands.instruction), mix(key.operands.d);
        mix(static_cast<std::uint64_t>(key.what.kind)), mix(key.operands.zero_columns);
        return hash ^ hash >> 32;
    }
};

}  // namespace

struct Tcgen05Multiplier::State {
    std::unordered_map<Key, std::unique_ptr<Tcgen05FullPlan>, KeyHash> plans;
    std::unordered_map<Key, std::uint64_t, KeyHash> chains;
    Tcgen05Product product;
    bool ultra = false;
};

Tcgen05Multiplier::Tcgen05Multiplier(int architecture) : state_(std::make_unique<State>()) {
    state_->ultra = architecture == 103;
}
Tcgen05Multiplier::~Tcgen05Multiplier() = default;

const Tcgen05Plan& Tcgen05Multiplier::plan(const program::Tcgen05Mma& what, const Tcgen05Operands& operands) {
    const Key key = key_of(what, operands);
    auto& found = state_->plans[key];
    if (!found) {
        found = std::make_unique<Tcgen05FullPlan>();
        make_tcgen05_plan(what, operands, state_->ultra, *found);
        found->chain = state_->chains.try_emplace(chain_of(key), state_->chains.size()).first->second;
    }
    return *found;
}

std::string Tcgen05Multiplier::multiply(const Tcgen05Plan& plan, std::span<const Tcgen05Operands> run,
                                        const Tcgen05Ctas& ctas) {
    const auto& full = static_cast<const Tcgen05FullPlan&>(plan);
    const std::size_t most = full.chains ? longest_run : 1;
    std::vector<Tcgen05Step> steps;
    for (const Tcgen05Operands& operands : run) {
        steps.push_back({state_->plans.at(key_of(full.what, operands)).get(), &operands});
        TILEPATH_ASSERT(steps.back().plan->chain == plan.chain, "a run of tcgen05.mma that is no chain");
        if (steps.size() < most && &operands != &run.back()) continue;
        if (std::string wrong = state_->product.multiply(steps, ctas); !wrong.empty()) return wrong;
        steps.clear();
    }
    return {};
}

}  // namespace tilepath::exec
