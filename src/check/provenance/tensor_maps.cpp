#include "check/provenance/tensor_maps.h"

#include <algorithm>

#include "atom/instruction_descriptor.h"
#include "atom/tcgen05_descriptor.h"
#include "atom/tmem_copy.h"
#include "atom/tmem_transfer.h"
#include "layout/table.h"

namespace tilepath::check {
namespace {

using layout::Axis;

constexpr std::uint64_t pattern_bytes = 1024, start_field = 0x3FFF, phase_field = pattern_bytes / 16 - 1;

TensorPlace place_of(const layout::Location& at) {
    const auto value = [&](Axis axis) { return static_cast<std::uint32_t>(at[axis]); };
    return {value(Axis::cluster_ctarank), value(Axis::tlane), value(Axis::tcol),
            value(Axis::bit) + 8 * value(Axis::byte)};
}

std::vector<TensorPlace> places_of(const layout::Layout& layout) {
    std::vector<TensorPlace> out;
    for (std::int64_t i = 0; i < layout.size(); ++i) out.push_back(place_of(layout.base(i)));
    return out;
}

std::shared_ptr<TensorTileMap> make_tile(const atom::Tcgen05Mma& mma) {
    auto map = std::make_shared<TensorTileMap>();
    map->columns = mma.d_columns, map->n = mma.shape.n;
    map->element_bytes = mma.types.d == number::Format::f16 ? 2 : 4;
    for (int cta = 0; cta < mma.cta_group; ++cta)
        map->elements[static_cast<std::size_t>(cta)].assign(static_cast<std::size_t>(map->columns) * 128, -1);
    const std::vector<TensorPlace> places = places_of(mma.d);
    map->lowest_lane = 127;
    for (std::size_t i = 0; i < places.size(); ++i) {
        map->elements[places[i].part][places[i].column * 128 + places[i].lane] = static_cast<std::int32_t>(i);
        map->lowest_lane = std::min(map->lowest_lane, places[i].lane);
    }
    return map;
}

std::vector<TensorPlace> factor_places(const atom::Tcgen05Mma& mma, bool of_b, atom::ScaleVector vector, int id) {
    std::vector<TensorPlace> out;
    const auto scales = mma.scales(of_b, vector, id);
    if (!scales) return out;
    const int rows = of_b ? mma.shape.n : mma.rows_per_cta();
    for (int row = 0; row < rows; ++row)
        for (int factor = 0; factor < scales->factors; ++factor) {
            const auto at = scales->at(row, factor);
            out.push_back(at.empty() ? TensorPlace{} : place_of(at.front()));
            for (const layout::Location& copy : at) {
                const TensorPlace place = place_of(copy);
                if (place.part == out.back().part) out.back().windows |= 1u << place.lane / 32;
            }
        }
    return out;
}

std::optional<TensorMaps::Multiply> make_multiply(const program::Tcgen05Mma& what, std::uint32_t bits) {
    const atom::InstructionDescriptor descriptor = atom::decode_instruction_descriptor(bits, what.kind);
    auto mma = atom::described(descriptor, what.cta_group, what.weight_stationary);
    if (!mma || mma->sparse) return {};
    TensorMaps::Multiply out;
    out.atom = *std::move(mma);
    out.transpose_a = descriptor.transpose_a, out.transpose_b = descriptor.transpose_b;
    const atom::Tcgen05KindTraits& kind = atom::traits(what.kind);
    out.a_bits = kind.container_bits;
    const auto width = [&](number::Format format) { return number::traits(format).container_bits; };
    out.bits_a = width(out.atom.types.a), out.bits_b = width(out.atom.types.b);
    const bool packs = what.kind == atom::Tcgen05Kind::mxf4 || what.kind == atom::Tcgen05Kind::mxf4nvf4;
    const auto narrow = [&](number::Format format) { return !packs && number::traits(format).bits < 8; };
    out.padded_a = narrow(out.atom.types.a), out.padded_b = narrow(out.atom.types.b);
    if (packs) out.bits_a = out.bits_b = 4;
    if (out.padded_a) out.bits_a = number::traits(out.atom.types.a).bits;
    if (out.padded_b) out.bits_b = number::traits(out.atom.types.b).bits;
    if (what.a_in_tensor_memory) out.a = places_of(out.atom.a_tensor_memory);
    if (kind.block_scaled) {
        atom::ScaleVector vector = out.atom.default_scale_vector();
        const bool k96 = out.atom.shape.k == 96;
        if (what.block == 16) vector = k96 ? atom::ScaleVector::x6 : atom::ScaleVector::x4;
        if (what.block == 32)
            vector = what.kind == atom::Tcgen05Kind::mxf8f6f4 ? atom::ScaleVector::x1
                     : k96                                    ? atom::ScaleVector::x3
                                                              : atom::ScaleVector::x2;
        out.factors = atom::factors_of(vector);
        out.scale_a = factor_places(out.atom, false, vector, descriptor.sfa_id);
        out.scale_b = factor_places(out.atom, true, vector, descriptor.sfb_id);
    }
    return out;
}

std::optional<TensorMaps::Transfer> make_transfer(const program::TmemTransfer& what, bool store) {
    if (what.reduces) return {};
    const auto made = atom::tmem_transfer(store, what.shape, what.repeats, what.packed);
    if (!made) return {};
    TensorMaps::Transfer out;
    out.registers = made->fragment.registers;
    out.sources.resize(static_cast<std::size_t>(out.registers) * 32 * 4);
    const auto places = atom::places(made->fragment);
    const int per_block = made->lanes * made->columns;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const int block = static_cast<int>(i) / per_block, rest = static_cast<int>(i) % per_block;
        const int width = what.packed ? 2 : 4;
        for (int b = 0; b < width; ++b)
            out.sources[static_cast<std::size_t>((places[i].reg * 32 + places[i].lane) * 4 + places[i].bit / 8 + b)] = {
                static_cast<std::int16_t>(rest / made->columns),
                static_cast<std::int16_t>(rest % made->columns + block * static_cast<int>(what.half_split)),
                static_cast<std::uint8_t>(b)};
    }
    out.whole_words = !what.packed && places.size() * 4 == out.sources.size();
    return out;
}

std::optional<TensorMaps::Copy> make_copy(const program::TmemCopy& what, std::uint64_t descriptor) {
    if (what.data != atom::MatrixData::b8) return {};
    const auto copy = atom::tmem_copy(what.shape, what.cta_group, what.data);
    const atom::Tcgen05Descriptor fields = atom::decode_tcgen05_descriptor(descriptor);
    const auto swizzle = fields.swizzle();
    if (!copy || !swizzle) return {};
    const auto source = atom::tmem_copy_source(*copy, *swizzle, static_cast<int>(fields.leading_bytes),
                                               static_cast<int>(fields.stride_bytes));
    if (!source) return {};
    atom::SharedOperand operand;
    operand.swizzle = *swizzle;
    TensorMaps::Copy out;
    const std::vector<layout::Location> steps = copy->destination.replica_steps();
    for (std::int64_t i = 0; i < std::int64_t{copy->rows} * copy->bytes; ++i) {
        TensorMaps::Copy::Byte each;
        each.from = static_cast<std::uint32_t>(
            atom::operand_address(operand, fields.start_bytes % pattern_bytes, fields.base_offset,
                                  static_cast<std::uint64_t>(source->base(i)[Axis::m])));
        const layout::Location to = copy->destination.base(i);
        each.column = static_cast<std::uint16_t>(to[Axis::tcol]), each.byte = static_cast<std::uint8_t>(to[Axis::byte]);
        if (steps.empty()) each.lanes.push_back(static_cast<std::uint8_t>(to[Axis::tlane]));
        for (const layout::Location& step : steps)
            each.lanes.push_back(static_cast<std::uint8_t>(to[Axis::tlane] + step[Axis::tlane]));
        out.bytes.push_back(std::move(each));
    }
    return out;
}

}  // namespace

std::optional<atom::SharedOperand> TensorMaps::Multiply::shared(bool of_a, std::uint64_t descriptor, bool transposed,
                                                                int ctas) const {
    const atom::Shape& shape = this->atom.shape;
    const bool transpose = (of_a ? transpose_a : transpose_b) != transposed;
    const auto operand = atom::described(
        atom::decode_tcgen05_descriptor(descriptor), transpose ? atom::OperandMajor::mn : atom::OperandMajor::k,
        of_a ? bits_a : bits_b, (of_a ? shape.m : shape.n) / ctas, shape.k, of_a ? padded_a : padded_b);
    return operand ? std::optional(*operand) : std::nullopt;
}

const TensorMaps::Multiply* TensorMaps::multiply(const program::Tcgen05Mma& what, std::uint32_t instruction) {
    for (const KnownMultiply& known : multiplies_)
        if (known.instruction == instruction && known.what == what) return known.map ? &*known.map : nullptr;
    multiplies_.push_back({what, instruction, make_multiply(what, instruction)});
    if (auto& map = multiplies_.back().map) map->d = tile_of(map->atom);
    return multiplies_.back().map ? &*multiplies_.back().map : nullptr;
}

std::shared_ptr<TensorTileMap> TensorMaps::tile_of(const atom::Tcgen05Mma& mma) {
    const int element_bytes = mma.types.d == number::Format::f16 ? 2 : 4;
    for (const KnownTile& known : tiles_)
        if (known.path == mma.data_path && known.m == mma.shape.m && known.n == mma.shape.n &&
            known.cta_group == mma.cta_group && known.element_bytes == element_bytes)
            return known.map;
    tiles_.push_back({mma.data_path, mma.shape.m, mma.shape.n, mma.cta_group, element_bytes, make_tile(mma)});
    return tiles_.back().map;
}

const TensorMaps::Transfer* TensorMaps::transfer(const program::TmemTransfer& what, bool store) {
    for (const KnownTransfer& known : transfers_)
        if (known.store == store && known.what == what) return known.map ? &*known.map : nullptr;
    transfers_.push_back({what, store, make_transfer(what, store)});
    return transfers_.back().map ? &*transfers_.back().map : nullptr;
}

const TensorMaps::Copy* TensorMaps::copy(const program::TmemCopy& what, std::uint64_t descriptor) {
    const std::uint64_t key = descriptor & ~(start_field & ~phase_field);
    for (const KnownCopy& known : copies_)
        if (known.key == key && known.what == what) return known.map ? &*known.map : nullptr;
    copies_.push_back({what, key, make_copy(what, descriptor)});
    return copies_.back().map ? &*copies_.back().map : nullptr;
}

std::uint32_t TensorMaps::base(std::uint64_t descriptor) {
    return static_cast<std::uint32_t>(descriptor & start_field & ~phase_field) * 16;
}

}  // namespace tilepath::check
