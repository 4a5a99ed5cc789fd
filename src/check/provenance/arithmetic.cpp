// What arithmetic does to the origins of its operands.
#include <algorithm>
#include <optional>

#include "check/provenance/moves.h"

namespace tilepath::check {
namespace {

using program::DataType;
using program::Op;
using Kind = Origin::Kind;
using Role = ProductMatrix::Role;

/// One element of a packed operand: which bytes of the lane's words.
struct Part {
    int at = 0, width = 4;
};

/// Of a register of 32 bits.
Origin value_of(const WarpRegisters& r, std::uint32_t place, int lane) {
    const PackedWord word = r.packed(place, 1, lane);
    return word.is_whole() ? word.first() : word.is_apart() ? whole(r.word(place, 1, lane).data(), 4) : Origin{};
}

Origin read(const WarpRegisters& r, int source, int lane, Part part) {
    const int words = r.words(r.source(source));
    if (part.at == 0 && part.width == 4 && words == 1) return value_of(r, r.source_place(source), lane);
    std::array<Origin, 8> bytes{};
    for (int i = 0; i < part.width && i < 8; ++i) {
        const int at = part.at + i;
        if (at / 4 >= words) return {};
        bytes[static_cast<std::size_t>(i)] = r.word(r.source_place(source), words, lane, at / 4)[std::size_t(at % 4)];
    }
    if (part.width == 1) return bytes[0];
    return whole(bytes.data(), static_cast<unsigned>(std::min(part.width, 8)));
}

void write(const WarpRegisters& r, int lane, Part part, Origin origin) {
    const int words = r.words(r.destination(0));
    for (int i = 0; i < part.width; ++i) {
        const int at = part.at + i;
        if (at / 4 >= words) return;
        Word word = r.word(r.place(0), words, lane, at / 4);
        // What arithmetic gives is a value of its own, no longer the bytes in memory.
        const Origin first = origin.kind() == Kind::memory ? Origin::element(origin.address()) : origin;
        word[std::size_t(at % 4)] = first.byte(static_cast<unsigned>(i));
        r.set(r.place(0), words, lane, at / 4, word);
    }
}

bool is_data(Origin origin) { return origin.kind() == Kind::memory || origin.kind() == Kind::element; }

/// The product of an element of A and one of B, if that is what two factors are.
std::optional<Origin> product_of(Origin x, Origin y, const Product* product, KSets& sets) {
    if (product == nullptr || !is_data(x) || !is_data(y)) return {};
    Product::Found a = product->find(x.address()), b = product->find(y.address());
    if (a.matrix == nullptr || b.matrix == nullptr) return {};
    if (a.matrix->role == Role::b) std::swap(a, b);
    if (a.matrix->role != Role::a || b.matrix->role != Role::b || a.place.column != b.place.column) return {};
    const std::uint32_t k = a.place.column;
    return Origin::sum(a.place.row, b.place.row, sets.add(0, {k, k + 1}).set);
}

/// Of operands that are added, or of which all but one only scale.
Origin combine(std::span<const Origin> operands, KSets& sets) {
    std::optional<Origin> sum, data;
    bool mixed = false;
    for (const Origin& each : operands) {
        if (each == Origin::unwritten_cell()) {
            return each;  // whatever the others are
        } else if (each.kind() == Kind::sum) {
            if (!sum) {
                sum = each;
            } else if (sum->m() != each.m() || sum->n() != each.n()) {
                return {};
            } else if (*sum != each) {
                sum = Origin::sum(each.m(), each.n(), sets.unite(sum->ks(), each.ks()).set);
            }
        } else if (is_data(each)) {
            mixed = mixed || (data && *data != each);
            data = each;
        }
    }
    if (sum) return *sum;
    return data && !mixed ? *data : Origin{};
}

Origin result(const WarpRegisters& r, std::span<const Origin> operands, const Product* product, KSets& sets) {
    const bool multiplies = r.op().op == Op::mul || r.op().op == Op::fma || r.op().op == Op::mad;
    if (multiplies && operands.size() >= 2) {
        if (const auto one = product_of(operands[0], operands[1], product, sets)) {
            if (operands.size() == 2 || operands[2].kind() != Kind::sum) return *one;
            if (operands[2].m() != one->m() || operands[2].n() != one->n()) return {};
            return Origin::sum(one->m(), one->n(), sets.unite(operands[2].ks(), one->ks()).set);
        }
    }
    return combine(operands, sets);
}

bool keeps_sums(Op op) {
    static constexpr Op those[] = {Op::add, Op::sub, Op::mul, Op::mad,  Op::fma, Op::abs, Op::neg,     Op::min,
                                   Op::max, Op::cvt, Op::div, Op::tanh, Op::ex2, Op::rcp, Op::copysign};
    return std::ranges::find(those, op) != std::end(those);
}

int element_bytes(DataType type) { return std::max(1, program::bits(type) / program::traits(type).elements / 8); }

/// Elements of the result, and where each operand's lie.
void convert(const WarpRegisters& r, const Product* product, KSets& sets, int lane) {
    const DataType to = r.op().type, from = r.op().source_type;
    const int elements = program::traits(to).elements, bytes = element_bytes(to), taken = element_bytes(from);
    std::array<Origin, 8> results{};
    for (int i = 0; i < elements && i < 8; ++i) {
        // Two sources: the first becomes the upper element.
        const bool split = r.op().sources >= elements && elements > 1;
        const int source = split ? elements - 1 - i : 0;
        results[std::size_t(i)] = read(r, source, lane, {split ? 0 : i * taken, taken});
    }
    for (int i = 0; i < elements && i < 8; ++i) {
        const Origin one[] = {results[std::size_t(i)]};
        write(r, lane, {i * bytes, bytes}, result(r, one, product, sets));
    }
}

}  // namespace

void compute_origins(const WarpRegisters& r, const Product* product, KSets& sets) {
    const program::MicroOp& op = r.op();
    if (!r.any_source_held() || !keeps_sums(op.op) || op.destinations != 1 || r.words(r.destination(0)) == 0)
        return r.forget_destinations();
    if (op.op == Op::cvt) return r.each_lane([&](int lane) { convert(r, product, sets, lane); });
    const int elements = program::traits(op.type).elements, bytes = element_bytes(op.type);
    if (elements == 1 && bytes == 4 && r.words(r.destination(0)) == 1) {  // f32, s32: most of it
        const auto count = static_cast<std::size_t>(std::min<int>(op.sources, 3));
        Words& to = r.row(r.place(0)).change();  // sources never share a row with destinations
        return r.each_lane([&](int lane) {
            std::array<Origin, 3> operands{};
            for (std::size_t s = 0; s < count; ++s) operands[s] = value_of(r, r.source_place(int(s)), lane);
            const Origin origin = result(r, std::span(operands).first(count), product, sets);
            const Origin first = origin.kind() == Kind::memory ? Origin::element(origin.address()) : origin;
            to.set(static_cast<std::size_t>(lane), PackedWord::from(first));
        });
    }
    r.each_lane([&](int lane) {
        std::array<Origin, 8> results{};
        for (int i = 0; i < elements && i < 8; ++i) {
            std::array<Origin, 3> operands{};
            const auto count = static_cast<std::size_t>(std::min<int>(op.sources, 3));
            for (std::size_t s = 0; s < count; ++s) operands[s] = read(r, int(s), lane, {i * bytes, bytes});
            results[std::size_t(i)] = result(r, std::span(operands).first(count), product, sets);
        }
        for (int i = 0; i < elements && i < 8; ++i) write(r, lane, {i * bytes, bytes}, results[std::size_t(i)]);
    });
}

}  // namespace tilepath::check
