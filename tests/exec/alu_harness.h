// Runs one operation of lane scope on values, for every vector unit of this processor, as the interpreter would.
#pragma once
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <optional>
#include <random>
#include <vector>

#include "exec/alu/alu.h"
#include "program/types.h"

namespace tilepath::exec::alu_test {

using program::DataType;
using program::MicroOp;
using program::Op;

/// What one lane reads or writes: an element of a row, or a predicate.
using Bits = std::uint64_t;

/// An operand over all lanes.
struct Values {
    Bits lane[warp_lanes] = {};
};

inline Values splat(Bits bits) {
    Values values;
    for (Bits& lane : values.lane) lane = bits;
    return values;
}

inline Bits f32(float value) { return std::bit_cast<std::uint32_t>(value); }
inline Bits f64(double value) { return std::bit_cast<std::uint64_t>(value); }

/// How wide an operand lies in the frame: 1 (predicate), 32, 64, 128 bits.
struct Shape {
    std::vector<int> destinations, sources;
};

inline int row_width(DataType type) {
    const int bits = program::bits(type);
    return type == DataType::pred ? 1 : bits <= 32 ? 32 : bits;
}

/// A frame with room for a few operands; it starts with junk, so that lanes that should stay can be seen to.
class Frame {
  public:
    static constexpr int rows_per_operand = 4, operands = 8;

    explicit Frame(std::uint64_t seed = 1) {
        std::mt19937_64 random(seed);
        for (Row& row : rows_)
            for (std::uint32_t& lane : row.lane) lane = std::uint32_t(random());
        for (LaneMask& mask : predicates_) mask = LaneMask(random());
        predicates_[predicate_false] = 0;
        predicates_[predicate_true] = all_lanes;
    }

    static std::uint32_t place(int operand, int width) {
        return width == 1 ? reserved_predicates + std::uint32_t(operand) : std::uint32_t(operand * rows_per_operand);
    }

    Bits get(int operand, int width, int lane) const {
        if (width == 1) return predicates_[place(operand, 1)] >> lane & 1;
        if (width == 32) return rows_[place(operand, 32)].lane[lane];
        Bits value = 0;
        std::memcpy(&value, reinterpret_cast<const char*>(&rows_[place(operand, width)]) + lane * width / 8, 8);
        return value;
    }
    void set(int operand, int width, int lane, Bits value) {
        if (width == 1) {
            LaneMask& mask = predicates_[place(operand, 1)];
            mask = (mask & ~(1u << lane)) | LaneMask(value & 1) << lane;
        } else if (width == 32) {
            rows_[place(operand, 32)].lane[lane] = std::uint32_t(value);
        } else {
            std::memcpy(reinterpret_cast<char*>(&rows_[place(operand, width)]) + lane * width / 8, &value, 8);
        }
    }

    /// Operand i has its own place, unless `places` says otherwise.
    void run(const MicroOp& op, const Shape& shape, LaneFunction body, LaneMask active, LaneMask inverts = 0) {
        std::vector<std::uint32_t> places;
        std::vector<LaneMask> inverted;
        int operand = 0;
        for (const std::vector<int>* widths : {&shape.destinations, &shape.sources})
            for (int width : *widths) {
                places.push_back(place(operand, width));
                inverted.push_back((inverts >> operand & 1) != 0 ? all_lanes : 0);
                ++operand;
            }
        run_at(op, body, active, places, inverted);
    }
    void run_at(const MicroOp& op, LaneFunction body, LaneMask active, const std::vector<std::uint32_t>& places,
                const std::vector<LaneMask>& inverted) {
        Decoded decoded;
        decoded.op = &op;
        decoded.places = places.data();
        decoded.inverts = inverted.data();
        const std::uint32_t* source = places.data() + op.destinations;
        if (op.destinations > 0) decoded.d = places[0];
        if (op.sources > 0) decoded.a = source[0];
        if (op.sources > 1) decoded.b = source[1];
        if (op.sources > 2) decoded.c = source[2];
        body(decoded, rows_, predicates_, active);
    }

    friend bool operator==(const Frame& a, const Frame& b) {
        return std::memcmp(a.rows_, b.rows_, sizeof a.rows_) == 0 &&
               std::memcmp(a.predicates_, b.predicates_, sizeof a.predicates_) == 0;
    }

    Row rows_[rows_per_operand * operands];
    LaneMask predicates_[reserved_predicates + operands];
};

/// An operation, and how its operands lie.
struct Case {
    MicroOp op;
    Shape shape;

    Case(Op which, DataType type, std::vector<int> destinations, std::vector<int> sources)
        : shape{destinations, sources} {
        op.op = which;
        op.type = type;
        op.source_type = type;
        op.destinations = std::uint16_t(destinations.size());
        op.sources = std::uint16_t(sources.size());
    }
    /// Every operand has the operation's type.
    Case(Op which, DataType type, int sources)
        : Case(which, type, {row_width(type)}, std::vector<int>(std::size_t(sources), row_width(type))) {}

    Case variant(auto value) const {
        Case copy = *this;
        copy.op.variant = std::uint8_t(value);
        return copy;
    }
    Case with(auto change) const {
        Case copy = *this;
        change(copy.op);
        return copy;
    }

    /// The results in lane 0 … of all destinations, the same for every target; lanes that are inactive are not touched.
    std::vector<Values> run(const std::vector<Values>& sources, LaneMask active = all_lanes,
                            LaneMask inverts = 0) const {
        std::optional<Frame> first;
        for (const alu::Target& target : alu::targets()) {
            const LaneFunction body = target.choose(op);
            if (body == nullptr) {
                ADD_FAILURE() << target.name << " has no body for " << program::traits(op.op).name << "."
                              << program::traits(op.type).name << "." << program::traits(op.source_type).name;
                return std::vector<Values>(shape.destinations.size());
            }
            Frame frame;
            const int count = int(shape.destinations.size());
            for (int s = 0; s < int(sources.size()); ++s)
                for (int lane = 0; lane < warp_lanes; ++lane)
                    frame.set(count + s, shape.sources[std::size_t(s)], lane, sources[std::size_t(s)].lane[lane]);
            const Frame before = frame;
            frame.run(op, shape, body, active, inverts);
            for (int d = 0; d < count; ++d)
                for (int lane = 0; lane < warp_lanes; ++lane) {
                    const int width = shape.destinations[std::size_t(d)];
                    const bool kept = frame.get(d, width, lane) == before.get(d, width, lane);
                    EXPECT_TRUE(kept || (active >> lane & 1) != 0) << target.name << " wrote inactive lane " << lane;
                }
            if (!first) first = frame;
            EXPECT_TRUE(frame == *first) << target.name << " differs from the baseline";
        }
        std::vector<Values> results(shape.destinations.size());
        for (int d = 0; d < int(results.size()); ++d)
            for (int lane = 0; lane < warp_lanes; ++lane)
                results[std::size_t(d)].lane[lane] = first->get(d, shape.destinations[std::size_t(d)], lane);
        return results;
    }

    /// One lane's worth.
    Bits operator()(auto... operands) const { return run({splat(Bits(operands))...})[0].lane[0]; }
};

}  // namespace tilepath::exec::alu_test
