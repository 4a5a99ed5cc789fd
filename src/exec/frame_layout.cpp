#include "exec/frame_layout.h"

#include <map>
#include <utility>

#include "base/assert.h"
#include "machine/address_map.h"

namespace tilepath::exec {
namespace {

using program::Constant;
using program::DataType;
using program::Operand;

constexpr std::uint32_t scratch_rows = 4;  // a 128-bit sink
constexpr std::uint32_t no_place = ~0u;

std::uint64_t value_of(const Constant& constant, const ModuleImage& image) {
    switch (constant.kind) {
        case Constant::Kind::value:
        case Constant::Kind::shared:
        case Constant::Kind::frame: return constant.bits;
        case Constant::Kind::global_symbol: return image.variables[constant.symbol] + constant.bits;
        case Constant::Kind::function: return machine::function_address(constant.symbol) + constant.bits;
    }
    TILEPATH_ASSERT(false, "a kind of constant outside its enum");
}

}  // namespace

FrameLayout::FrameLayout(const program::Function& function, const ModuleImage& image, const Folding& folding,
                         LoadedFunction& out)
    : function_(function), out_(out) {
    out_.register_places.assign(function.registers.size(), no_place);
    place_constants(image);
    place_known_registers(folding);
    place_registers(folding);
}

std::uint32_t FrameLayout::add_constant(int width, std::uint64_t low, std::uint64_t high) {
    const auto place = static_cast<std::uint32_t>(out_.constants.size());
    out_.constants.resize(place + rows_of_width(width));
    Row* const rows = &out_.constants[place];
    auto* const wide = reinterpret_cast<std::uint64_t*>(rows);
    for (int lane = 0; lane < warp_lanes; ++lane) {
        if (width <= 32) rows->lane[lane] = static_cast<std::uint32_t>(low);
        if (width == 64) wide[lane] = low;
        if (width == 128) wide[2 * lane] = low, wide[2 * lane + 1] = high;
    }
    return place;
}

void FrameLayout::place_constants(const ModuleImage& image) {
    for (const Constant& constant : function_.constants) {
        if (constant.width == 1) {
            out_.constant_places.push_back(constant.bits & 1 ? predicate_true : predicate_false);
            continue;
        }
        const std::uint32_t place = add_constant(constant.width, value_of(constant, image), constant.high_bits);
        if (constant.kind == Constant::Kind::shared)
            out_.shared_addresses.push_back({place, constant.width == 64, constant.bits});
        if (constant.kind == Constant::Kind::frame)
            out_.frame_addresses.push_back({place, constant.width == 64, constant.bits});
        out_.constant_places.push_back(place);
    }
}

void FrameLayout::place_known_registers(const Folding& folding) {
    std::map<std::pair<int, std::uint64_t>, std::uint32_t> known;
    for (std::size_t r = 0; r < function_.registers.size(); ++r) {
        if (!folding.value[r]) continue;
        const int bits = program::bits(function_.registers[r].type);
        const auto [at, fresh] = known.try_emplace({bits, *folding.value[r]}, 0);
        if (fresh) at->second = add_constant(bits, *folding.value[r], 0);
        out_.register_places[r] = at->second;
    }
}

void FrameLayout::place_registers(const Folding& folding) {
    scratch_row_ = static_cast<std::uint32_t>(out_.constants.size());
    const std::uint32_t first_row = scratch_row_ + scratch_rows;
    const program::Slots& slots = function_.slots;
    const bool assigned = slots.of_register.size() == function_.registers.size();
    std::uint32_t rows = assigned ? slots.rows : 0, predicates = assigned ? slots.predicates : 0;
    for (std::size_t r = 0; r < function_.registers.size(); ++r) {
        const DataType type = function_.registers[r].type;
        if (out_.register_places[r] != no_place) continue;
        if (type == DataType::pred)
            out_.register_places[r] = reserved_predicates + (assigned ? slots.of_register[r] : predicates++);
        else if (assigned)
            out_.register_places[r] = first_row + slots.of_register[r];
        else
            out_.register_places[r] = first_row + std::exchange(rows, rows + rows_of_width(program::bits(type)));
    }
    for (std::size_t r = 0; r < function_.registers.size(); ++r)
        if (folding.same[r] != r) out_.register_places[r] = out_.register_places[folding.same[r]];
    out_.rows = first_row + rows;
    scratch_predicate_ = reserved_predicates + predicates;
    out_.predicates = scratch_predicate_ + 1;
}

std::uint32_t FrameLayout::place(Operand operand, bool predicate) const {
    switch (operand.kind) {
        case Operand::Kind::none: return predicate ? scratch_predicate_ : scratch_row_;
        case Operand::Kind::reg: return out_.register_places[operand.index];
        case Operand::Kind::constant: return out_.constant_places[operand.index];
    }
    TILEPATH_ASSERT(false, "a kind of operand outside its enum");
}

int FrameLayout::width(Operand operand) const {
    switch (operand.kind) {
        case Operand::Kind::none: return 0;
        case Operand::Kind::reg: return program::bits(function_.registers[operand.index].type);
        case Operand::Kind::constant: return function_.constants[operand.index].width;
    }
    TILEPATH_ASSERT(false, "a kind of operand outside its enum");
}

}  // namespace tilepath::exec
