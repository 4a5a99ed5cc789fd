// Comparisons: PTX ISA 9.3.1, 9.7.6.1 and 9.7.7.1 (set), 9.7.6.2 and 9.7.7.2 (setp).
#include "exec/alu/vector/choosers.h"
#include "exec/alu/vector/half_lanes.h"

namespace tilepath::exec::alu::TILEPATH_ALU_TARGET {
namespace {

using program::Compare;
using program::DataType;
using program::MicroOp;

/// A comparison is one of few relations, perhaps with its operands swapped or its result inverted: an unordered
/// comparison is the inverse of the opposite ordered one.
struct Eq {
    template <class T>
    TILEPATH_BODY bool operator()(T a, T b) const {
        return a == b;
    }
};
struct Lt {
    template <class T>
    TILEPATH_BODY bool operator()(T a, T b) const {
        return a < b;
    }
};
struct Le {
    template <class T>
    TILEPATH_BODY bool operator()(T a, T b) const {
        return a <= b;
    }
};
struct OrderedNe {
    template <class T>
    TILEPATH_BODY bool operator()(T a, T b) const {
        return a < b || a > b;
    }
};
struct Num {
    template <class T>
    TILEPATH_BODY bool operator()(T a, T b) const {
        return a == a && b == b;
    }
};

enum class Relation { eq, lt, le, ne, num };
struct Shape {
    Relation relation;
    bool swap, invert;
};

TILEPATH_BODY Shape shape_of(Compare compare, bool floating) {
    switch (compare) {
        case Compare::eq: return {Relation::eq, false, false};
        case Compare::ne: return floating ? Shape{Relation::ne, false, false} : Shape{Relation::eq, false, true};
        case Compare::lt:
        case Compare::lo: return {Relation::lt, false, false};
        case Compare::le:
        case Compare::ls: return {Relation::le, false, false};
        case Compare::gt:
        case Compare::hi: return {Relation::lt, true, false};
        case Compare::ge:
        case Compare::hs: return {Relation::le, true, false};
        case Compare::equ: return {Relation::ne, false, true};
        case Compare::neu: return {Relation::eq, false, true};
        case Compare::ltu: return {Relation::le, true, true};
        case Compare::leu: return {Relation::lt, true, true};
        case Compare::gtu: return {Relation::le, false, true};
        case Compare::geu: return {Relation::lt, false, true};
        case Compare::num: return {Relation::num, false, false};
        case Compare::nan: return {Relation::num, false, true};
    }
    return {};
}

template <class T>
constexpr bool is_floating = std::is_floating_point_v<Value<T>>;

/// Sixteen-bit elements at `shift` of a row (0 unless packed).
template <class T, class F, int shift = 0>
TILEPATH_BODY LaneMask compare(const Decoded& op, const Row* rows) {
    const Shape shape = shape_of(op.op->compare, is_floating<T>);
    const auto* a = lanes_of<T>(rows, shape.swap ? op.b : op.a);
    const auto* b = lanes_of<T>(rows, shape.swap ? op.a : op.b);
    alignas(64) u32 flags[warp_lanes];
    for (int i = 0; i < warp_lanes; ++i)
        flags[i] = F{}(Lane<T>::read(Stored<T>(a[i] >> shift)), Lane<T>::read(Stored<T>(b[i] >> shift))) ? ~0u : 0;
    return mask_of(flags) ^ (shape.invert ? all_lanes : 0);
}

template <class T, class F>
void setp(const Decoded& op, Row* rows, LaneMask* predicates, LaneMask active) {
    const MicroOp& what = *op.op;
    const LaneMask t = compare<T, F>(op, rows);
    if (what.bool_op == program::BoolOp::none && what.destinations == 1) {
        write_mask(predicates[op.d], t, active);
        return;
    }
    const LaneMask c =
        what.bool_op == program::BoolOp::none ? 0 : predicate_source(op, predicates, what.destinations + 2);
    write_mask(predicates[op.d], combine(what.bool_op, t, c), active);
    if (what.destinations == 2) write_mask(predicates[op.places[1]], combine(what.bool_op, ~t, c), active);
}

struct Ne {
    template <class T>
    TILEPATH_BODY bool operator()(T a, T b) const {
        return a != b;
    }
};

/// The setp of loops and bounds: integers, one predicate, nothing combined. What the others look up is in its type.
template <class T, class F, bool swap = false>
void plain_setp(const Decoded& op, Row* rows, LaneMask* predicates, LaneMask active) {
    const auto* a = lanes_of<T>(rows, swap ? op.b : op.a);
    const auto* b = lanes_of<T>(rows, swap ? op.a : op.b);
    alignas(64) u32 flags[warp_lanes];
    for (int i = 0; i < warp_lanes; ++i) flags[i] = F{}(T(a[i]), T(b[i])) ? ~0u : 0;
    write_mask(predicates[op.d], mask_of(flags), active);
}

template <class T>
LaneFunction plain_relation(Compare compare) {
    const Shape shape = shape_of(compare, false);
    switch (shape.relation) {
        case Relation::eq: return shape.invert ? plain_setp<T, Ne> : plain_setp<T, Eq>;
        case Relation::lt: return shape.swap ? plain_setp<T, Lt, true> : plain_setp<T, Lt>;
        case Relation::le: return shape.swap ? plain_setp<T, Le, true> : plain_setp<T, Le>;
        case Relation::ne:
        case Relation::num: return nullptr;
    }
    return nullptr;
}

/// Null: it is another setp.
LaneFunction choose_plain_setp(const MicroOp& op) {
    if (op.bool_op != program::BoolOp::none || op.destinations != 1) return nullptr;
    switch (op.type) {
        case DataType::b32:
        case DataType::u32: return plain_relation<u32>(op.compare);
        case DataType::b64:
        case DataType::u64: return plain_relation<u64>(op.compare);
        case DataType::s32: return plain_relation<s32>(op.compare);
        case DataType::s64: return plain_relation<s64>(op.compare);
        default: return nullptr;
    }
}

/// Two elements: p from the lower, q from the upper.
template <class T, class F>
void setp_pair(const Decoded& op, Row* rows, LaneMask* predicates, LaneMask active) {
    const MicroOp& what = *op.op;
    const LaneMask low = compare<T, F>(op, rows), high = compare<T, F, 16>(op, rows);
    const LaneMask c =
        what.bool_op == program::BoolOp::none ? 0 : predicate_source(op, predicates, what.destinations + 2);
    write_mask(predicates[op.d], combine(what.bool_op, low, c), active);
    if (what.destinations == 2) write_mask(predicates[op.places[1]], combine(what.bool_op, high, c), active);
}

/// What `set` writes for true.
u32 true_value(DataType type) {
    switch (type) {
        case DataType::f32: return 0x3F800000;
        case DataType::f16: return 0x3C00;
        case DataType::bf16: return 0x3F80;
        case DataType::f16x2: return 0x3C003C00;
        case DataType::bf16x2: return 0x3F803F80;
        case DataType::u16:
        case DataType::s16: return 0xFFFF;
        default: return 0xFFFFFFFF;
    }
}

template <bool pair, class T, class F>
void set(const Decoded& op, Row* rows, LaneMask* predicates, LaneMask active) {
    const MicroOp& what = *op.op;
    const LaneMask c = what.bool_op == program::BoolOp::none ? 0 : predicate_source(op, predicates, 3);
    const LaneMask low = combine(what.bool_op, compare<T, F>(op, rows), c);
    const LaneMask high = pair ? combine(what.bool_op, compare < T, F, pair ? 16 : 0 > (op, rows), c) : low;
    const u32 value = true_value(what.type);
    const u32 low_value = pair ? value & 0xFFFF : value, high_value = pair ? value & 0xFFFF0000 : 0;
    alignas(64) u32 result[warp_lanes];
    for (int i = 0; i < warp_lanes; ++i)
        result[i] = ((low & lane_bit[i]) != 0 ? low_value : 0) | ((high & lane_bit[i]) != 0 ? high_value : 0);
    write_lanes(rows, op.d, result, active);
}

struct Setp {
    template <class T, class F>
    static constexpr LaneFunction single = setp<T, F>;
    template <class T, class F>
    static constexpr LaneFunction pair = setp_pair<T, F>;
};
struct Set {
    template <class T, class F>
    static constexpr LaneFunction single = set<false, T, F>;
    template <class T, class F>
    static constexpr LaneFunction pair = set<true, T, F>;
};

template <class Kind, class T>
LaneFunction integer_relation(Compare compare) {
    switch (shape_of(compare, false).relation) {
        case Relation::eq: return Kind::template single<T, Eq>;
        case Relation::lt: return Kind::template single<T, Lt>;
        case Relation::le: return Kind::template single<T, Le>;
        case Relation::ne:
        case Relation::num: return nullptr;
    }
    return nullptr;
}

template <class Kind, class T>
LaneFunction float_relation(Compare compare) {
    switch (shape_of(compare, true).relation) {
        case Relation::eq: return Kind::template single<T, Eq>;
        case Relation::lt: return Kind::template single<T, Lt>;
        case Relation::le: return Kind::template single<T, Le>;
        case Relation::ne: return Kind::template single<T, OrderedNe>;
        case Relation::num: return Kind::template single<T, Num>;
    }
    return nullptr;
}

template <class Kind, class T>
LaneFunction pair_relation(Compare compare) {
    switch (shape_of(compare, true).relation) {
        case Relation::eq: return Kind::template pair<T, Eq>;
        case Relation::lt: return Kind::template pair<T, Lt>;
        case Relation::le: return Kind::template pair<T, Le>;
        case Relation::ne: return Kind::template pair<T, OrderedNe>;
        case Relation::num: return Kind::template pair<T, Num>;
    }
    return nullptr;
}

template <class Kind>
LaneFunction choose_comparison(const MicroOp& op, DataType type) {
    const Compare how = op.compare;
    const bool ftz = op.flags.ftz;
    switch (type) {
        case DataType::b16:
        case DataType::u16: return integer_relation<Kind, u16>(how);
        case DataType::b32:
        case DataType::u32: return integer_relation<Kind, u32>(how);
        case DataType::b64:
        case DataType::u64: return integer_relation<Kind, u64>(how);
        case DataType::s16: return integer_relation<Kind, s16>(how);
        case DataType::s32: return integer_relation<Kind, s32>(how);
        case DataType::s64: return integer_relation<Kind, s64>(how);
        case DataType::f64: return float_relation<Kind, double>(how);
        case DataType::f32: return ftz ? float_relation<Kind, F32Ftz>(how) : float_relation<Kind, float>(how);
        case DataType::f16: return ftz ? float_relation<Kind, HalfFtz>(how) : float_relation<Kind, Half>(how);
        case DataType::bf16: return float_relation<Kind, BFloat>(how);
        case DataType::f16x2: return ftz ? pair_relation<Kind, HalfFtz>(how) : pair_relation<Kind, Half>(how);
        case DataType::bf16x2: return pair_relation<Kind, BFloat>(how);
        default: return nullptr;  // no instruction compares the other types
    }
}

}  // namespace

LaneFunction choose_setp(const MicroOp& op) {
    const LaneFunction plain = choose_plain_setp(op);
    return plain != nullptr ? plain : choose_comparison<Setp>(op, op.type);
}
LaneFunction choose_set(const MicroOp& op) { return choose_comparison<Set>(op, op.source_type); }

}  // namespace tilepath::exec::alu::TILEPATH_ALU_TARGET
