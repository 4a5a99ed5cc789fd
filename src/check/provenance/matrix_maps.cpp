#include "check/provenance/matrix_maps.h"

#include <fmt/format.h>

#include <algorithm>

#include "atom/block_scale.h"
#include "atom/ldmatrix.h"
#include "atom/matrix_descriptor.h"
#include "atom/mma.h"
#include "atom/wgmma.h"
#include "atom/wmma.h"

namespace tilepath::check {
namespace {

using program::Op;

/// Every swizzle's pattern repeats within it.
constexpr std::uint64_t pattern_bytes = 1024, start_field = 0x3FFF, phase_field = pattern_bytes / 16 - 1;

std::optional<MatrixMaps::Transfer> make_transfer(const program::MicroOp& op) {
    if (op.source_type != program::DataType::none ||
        (op.type != program::DataType::b16 && op.type != program::DataType::b32))
        return {};
    const bool transposed = op.variant & 1;
    const auto made = op.op == Op::ldmatrix ? atom::ldmatrix(atom::MatrixShape::m8n8, op.vector, transposed)
                                            : atom::stmatrix(atom::MatrixShape::m8n8, op.vector, transposed);
    if (!made) return {};
    MatrixMaps::Transfer out;
    out.sources.resize(static_cast<std::size_t>(made->fragment.registers * 32 * 4));
    const auto places = atom::places(made->fragment);
    const int per_row = made->stored_columns, rows = made->stored_rows;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const int row = static_cast<int>(i) / per_row, column = static_cast<int>(i) % per_row;
        const auto lane = made->addresses.base(std::int64_t{row})[layout::Axis::laneid];
        (void)rows;
        for (int b = 0; b < made->stored_bits / 8; ++b)
            out.sources[static_cast<std::size_t>((places[i].reg * 32 + places[i].lane) * 4 + places[i].bit / 8 + b)] = {
                static_cast<std::int8_t>(lane), static_cast<std::int8_t>(column * made->stored_bits / 8 + b)};
    }
    for (std::size_t i = 0; i < out.sources.size(); ++i) {
        const MatrixMaps::Transfer::Source &first = out.sources[i & ~std::size_t{3}], &each = out.sources[i];
        out.whole_words = out.whole_words && first.byte >= 0 && first.byte % 4 == 0 && each.lane == first.lane &&
                          each.byte == first.byte + static_cast<int>(i % 4);
    }
    return out;
}

/// Of an operand in a warp's registers.
std::vector<ElementRun> register_runs(const std::vector<atom::ElementPlace>& places, int rows, int columns,
                                      bool by_columns, int bits) {
    return runs_of(rows, columns, bits, [&](int row, int column) {
        const atom::ElementPlace& at =
            places[static_cast<std::size_t>(by_columns ? column * rows + row : row * columns + column)];
        return (at.reg * 32 + at.lane) * 32 + at.bit;
    });
}

/// For every selector that the manual defines.
void set_scales(MatrixMaps::Multiply& out, const program::Mma& mma) {
    const auto vector = atom::scale_vector_named(fmt::format("{}X", mma.scale_factors));
    const auto format = program::format_of(mma.scale);
    if (!vector || !format) return;
    for (int byte = 0; byte < 4; ++byte)
        for (int thread = 0; thread < 4; ++thread) {
            const auto at = static_cast<std::size_t>(byte * 4 + thread);
            if (const auto a = atom::mma_scales(mma.kind, *vector, *format, {byte, thread}, {}))
                out.scales_a[at] = atom::places(a->a);
            const auto b = atom::mma_scales(mma.kind, *vector, *format, {}, {byte, thread});
            if (!b) continue;
            // B's come by (factor, column).
            const auto places = atom::places(b->b);
            for (int n = 0; n < mma.n; ++n)
                for (int f = 0; f < mma.scale_factors; ++f)
                    out.scales_b[at].push_back(places[static_cast<std::size_t>(f * mma.n + n)]);
        }
}

std::optional<MatrixMaps::Multiply> make_multiply(const program::Mma& mma) {
    const auto format = [](program::DataType type) { return program::format_of(type); };
    const auto fa = format(mma.a), fb = format(mma.b), fc = format(mma.c), fd = format(mma.d);
    if (!fa || !fb || !fc || !fd) return {};
    MatrixMaps::Multiply out;
    const auto fill = [&](const atom::Fragment& a, const atom::Fragment* b, const atom::Fragment& d) {
        if (a.blocks != 1) return false;
        out.a = atom::places(a), out.a_registers = a.registers, out.bits_a = atom::held(a).slot_bits;
        if (b != nullptr)
            out.b = atom::places(*b), out.b_registers = b->registers, out.bits_b = atom::held(*b).slot_bits;
        else
            out.bits_b = number::traits(*fb).container_bits;
        out.held_d = atom::held(d), out.d_registers = d.registers;
        return d.register_bits == 32;
    };
    const atom::Shape shape{mma.m, mma.n, mma.k};
    if (mma.wmma) {
        const auto atom = atom::wmma(shape, {*fd, *fa, *fb, *fc});
        if (!atom || !fill(atom->a, &atom->b, atom->d)) return {};
        out.c_registers = atom->c.registers;
        return out;
    }
    if (mma.warpgroup) {
        const auto atom = atom::wgmma(shape, {*fd, *fa, *fb, *fd}, mma.sparse);
        if (!atom || !fill(atom->a, nullptr, atom->d)) return {};
        if (mma.sparse) out.sparse = {atom->sparsity, atom->chunk, atom::places(atom->metadata(mma.selector))};
        return out;
    }
    if (mma.sparse) {
        const auto atom = atom::mma_sp(shape, {*fd, *fa, *fb, *fc}, mma.kind);
        if (!atom || mma.scale_factors > 0 || !fill(atom->a, &atom->b, atom->d)) return {};
        out.c_registers = atom->c.registers;
        out.sparse = {atom->sparsity, atom->chunk, atom::places(atom->metadata(mma.selector))};
        return out;
    }
    const auto atom =
        atom::mma_sync(shape, {*fd, *fa, *fb, *fc}, mma.a_column_major ? atom::Major::column : atom::Major::row,
                       mma.b_row_major ? atom::Major::row : atom::Major::column, mma.kind);
    if (!atom || !fill(atom->a, &atom->b, atom->d)) return {};
    out.c_registers = atom->c.registers;
    if (mma.scale_factors > 0) set_scales(out, mma);
    if (atom->a.register_bits == 32 && atom->b.register_bits == 32) {
        out.runs_a = register_runs(out.a, mma.m, mma.k, false, out.bits_a);
        out.runs_b = register_runs(out.b, mma.n, mma.k, true, out.bits_b);
    }
    return out;
}

}  // namespace

atom::SharedOperand MatrixMaps::Multiply::shape(const program::Mma& mma, bool of_a, std::uint64_t descriptor) const {
    const bool mn_major = of_a ? mma.a_column_major : mma.b_row_major;
    return atom::described(atom::decode_matrix_descriptor(descriptor),
                           mn_major ? atom::OperandMajor::mn : atom::OperandMajor::k, of_a ? bits_a : bits_b,
                           of_a ? mma.m : mma.n, of_a ? a_columns(mma) : mma.k);
}

const MatrixMaps::Transfer* MatrixMaps::transfer(const program::MicroOp& op) {
    auto known = transfers_.find(&op);
    if (known == transfers_.end()) known = transfers_.emplace(&op, make_transfer(op)).first;
    return known->second ? &*known->second : nullptr;
}

const MatrixMaps::Multiply* MatrixMaps::multiply(const program::Mma& mma) {
    const auto known = multiplies_.find(&mma);
    if (known != multiplies_.end()) return known->second;
    auto like = std::ranges::find(made_, mma, &std::pair<program::Mma, std::optional<Multiply>>::first);
    if (like == made_.end()) like = made_.emplace(made_.end(), mma, make_multiply(mma));
    return multiplies_[&mma] = like->second ? &*like->second : nullptr;
}

std::uint32_t MatrixMaps::base(std::uint64_t descriptor) {
    return static_cast<std::uint32_t>(descriptor & start_field & ~phase_field) * 16;
}

const std::vector<std::int32_t>* MatrixMaps::shared_places(DescriptorKind kind, std::uint64_t descriptor,
                                                           const atom::SharedOperand& shape) {
    const std::uint64_t key = descriptor & ~(start_field & ~phase_field);
    for (auto each = places_.begin(); each != places_.end(); ++each) {
        if (each->kind != kind || each->key != key || each->shape != shape) continue;
        places_.splice(places_.begin(), places_, each);
        return places_.front().bits ? &*places_.front().bits : nullptr;
    }
    constexpr std::size_t most = 128;
    if (places_.size() == most) places_.pop_back();
    places_.push_front({kind, key, shape, {}, {}});
    // Of the fields only the start and the base offset are left to say where: the shape has the others.
    const DescriptorView view = view_of(kind, key);
    atom::MatrixDescriptor where;
    where.start_bytes = view.start_bytes, where.base_offset = view.base_offset;
    const auto places = atom::operand_places(where, shape);
    if (!places) return nullptr;
    std::vector<std::int32_t>& bits = places_.front().bits.emplace();
    for (const atom::OperandPlace& place : *places)
        bits.push_back(static_cast<std::int32_t>(place.address) * 8 + place.bit);
    std::vector<std::int32_t> sorted = bits;
    std::ranges::sort(sorted);
    places_.front().overlap = std::ranges::adjacent_find(sorted) != sorted.end();
    if (!places_.front().overlap)
        places_.front().runs = runs_of(shape.mn, shape.k, shape.element_bits, [&](int row, int column) {
            return bits[static_cast<std::size_t>(row * shape.k + column)];
        });
    return &bits;
}

const std::vector<ElementRun>& MatrixMaps::shared_runs(DescriptorKind kind, std::uint64_t descriptor,
                                                       const atom::SharedOperand& shape) {
    shared_places(kind, descriptor, shape);
    return places_.front().runs;
}

bool MatrixMaps::overlaps(DescriptorKind kind, std::uint64_t descriptor, const atom::SharedOperand& shape) {
    return shared_places(kind, descriptor, shape) != nullptr && places_.front().overlap;
}

}  // namespace tilepath::check
