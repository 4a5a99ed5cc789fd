#pragma once
#include "exec/warp.h"

namespace tilepath::exec {

/// What the body of an operation gets to see.
struct Context {
    Warp& warp;
    Group& group;
    Frame& frame;
    Row* rows;
    LaneMask* predicates;
    const Code& code;
    LaneMask active;

    const program::MicroOp& op() const { return *code.op; }
    const program::Function& function() const { return *frame.function->function; }
    Row& row(std::uint32_t place) const { return rows[place]; }
    std::uint64_t* wide(std::uint32_t place) const { return reinterpret_cast<std::uint64_t*>(&rows[place]); }
    std::uint32_t destination(int i) const { return code.places[i]; }
    std::uint32_t source(int i) const { return code.places[code.op->destinations + i]; }
    bool has_source(int i) const { return i < code.op->sources; }
    LaneMask source_predicate(int i) const { return predicates[source(i)] ^ code.inverts[code.op->destinations + i]; }
    void set_predicate(std::uint32_t place, LaneMask value) const {
        predicates[place] = (predicates[place] & ~active) | (value & active);
    }
    std::uint32_t pc() const { return static_cast<std::uint32_t>(&code - frame.function->code.data()); }
};

/// What becomes of the lanes after an operation.
enum class Step : std::uint8_t {
    next,  ///< they go on with the next operation
    stop,  ///< the groups of the warp have changed: choose one anew
    fault  ///< the launch ends
};

/// Addresses of a warp's access, checked.
struct Lanes {
    /// uniform: every active lane has base's; consecutive: lane i has base + i × bytes, and all lanes are active.
    enum class Pattern : std::uint8_t { scattered, uniform, consecutive } pattern = Pattern::scattered;
    bool mixed = false;                                ///< generic addresses of several spaces: `spaces` tells
    program::Space space = program::Space::global;     ///< where they all lie, unless mixed
    std::uint8_t* base = nullptr;                      ///< where it is not scattered
    alignas(64) machine::Address address[warp_lanes];  ///< within the space; of an inactive lane: some active lane's
    alignas(64) std::uint8_t* host[warp_lanes];        ///< filled if scattered, for inactive lanes too
    program::Space spaces[warp_lanes];

    void fill_host(std::uint32_t bytes);  ///< makes it scattered
};

}  // namespace tilepath::exec
