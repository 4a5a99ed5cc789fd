// The scale factors in Tensor Memory, against those of the rows and blocks that an instruction multiplies.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "atom/instruction_descriptor.h"
#include "check/provenance/provenance.h"

namespace tilepath::check {

using machine::TensorCells;

/// Whether the factors are those of the rows and blocks; what is wrong, else nothing.
std::vector<std::string> Provenance::check_factors(const std::vector<MemoryShadow::Cta>& ctas,
                                                   const TensorMaps::Multiply& map, bool of_b, const TensorCells& cells,
                                                   const CheckedProduct& checked) const {
    std::vector<std::string> wrong;
    const auto role = of_b ? ProductMatrix::Role::sfb : ProductMatrix::Role::sfa;
    const ProductMatrix* const matrix = product_->with(role);
    const std::vector<TensorPlace>& places = of_b ? map.scale_b : map.scale_a;
    const bool adds = checked.ks.begin != checked.ks.end;  // not so where all of k lies outside the tensors
    if (matrix == nullptr || map.factors == 0 || places.empty() || !adds) return wrong;
    const std::vector<std::uint32_t>& rows = of_b ? checked.n : checked.m;
    const auto per_cta = places.size() / static_cast<std::size_t>(map.factors);
    const std::uint32_t block = static_cast<std::uint32_t>(map.atom.shape.k / map.factors);
    for (std::size_t c = 0; c < (of_b ? 1 : ctas.size()); ++c) {
        for (std::size_t i = 0; i < places.size(); ++i) {
            const std::size_t row = c * per_cta + i / static_cast<std::size_t>(map.factors);
            const auto factor = static_cast<std::uint32_t>(i % static_cast<std::size_t>(map.factors));
            if (row >= rows.size() || rows[row] == ProductMatrix::Place::nowhere) continue;
            const std::uint32_t expected = checked.ks.begin / block + factor;
            std::optional<Origin> judged;
            for (std::uint32_t window = 0; window < 4; ++window) {
                if ((places[i].windows >> window & 1) == 0) continue;
                const std::uint32_t lane = places[i].lane % 32 + 32 * window;
                const Origin origin = tensor_.read(ctas[c], lane, cells.column + places[i].column)[places[i].bit / 8];
                if (judged == origin) continue;
                judged = origin;
                const bool unwritten = origin.kind() == Origin::Kind::unwritten;
                if (origin.kind() != Origin::Kind::memory && origin.kind() != Origin::Kind::element && !unwritten)
                    continue;
                const Product::Found found = unwritten ? Product::Found{} : product_->find(origin.address());
                if (found.matrix == matrix && found.place.row == rows[row] && found.place.column == expected) continue;
                constexpr std::size_t most = 4;
                if (wrong.size() == most) return wrong;
                wrong.push_back(fmt::format("factor {} of row {}: expected {}[{}, {}], found {} in lane {}, column {}",
                                            factor, row, matrix->name, rows[row], expected,
                                            unwritten                 ? "bytes that nobody has written"
                                            : found.matrix == nullptr ? "what is in no matrix"
                                                                      : describe(*found.matrix, found.place),
                                            lane, cells.column + places[i].column));
                break;
            }
        }
    }
    return wrong;
}

/// Adds to `checked` what is wrong with the factors; what to change, if something is.
std::string Provenance::judge_factors(const machine::TensorOperation& event, const std::vector<MemoryShadow::Cta>& ctas,
                                      const TensorMaps::Multiply& map, CheckedProduct& checked) {
    for (const bool of_b : {false, true}) {
        const auto role = of_b ? TensorCells::Role::scale_b : TensorCells::Role::scale_a;
        const auto cells = std::ranges::find(event.cells, role, &TensorCells::role);
        if (cells == event.cells.end()) continue;
        const std::vector<std::string> wrong = check_factors(ctas, map, of_b, *cells, checked);
        if (wrong.empty()) continue;
        checked.verdict = CheckedProduct::Verdict::disproven;
        if (checked.message.empty())
            checked.message = "scale factors are not those of the rows and blocks that they multiply";
        checked.facts.insert(checked.facts.end(), wrong.begin(), wrong.end());
        const program::Tcgen05Mma& what = event.site.function->tcgen05_mmas[event.site.op->detail];
        const atom::InstructionDescriptor is = atom::decode_instruction_descriptor(event.instruction, what.kind);
        for (int id = 0; id < 4; ++id) {
            atom::InstructionDescriptor with = is;
            (of_b ? with.sfb_id : with.sfa_id) = id;
            const auto bits = atom::encode(with);
            const TensorMaps::Multiply* const changed = bits ? tensor_maps_.multiply(what, *bits) : nullptr;
            if (changed != nullptr && with != is && check_factors(ctas, *changed, of_b, *cells, checked).empty())
                return fmt::format("one field makes it right, the instruction descriptor's {}: {} in place of {}",
                                   of_b ? "SFB_ID" : "SFA_ID", id, of_b ? is.sfb_id : is.sfa_id);
        }
        return "factors lie in tiles of 128 rows by 4 blocks, 512 bytes: byte 16 (row mod 32) + 4 (row / 32) + block; "
               "rows "
               "of each batch are padded to whole tiles; tcgen05.cp.32x128b.warpx4 brings a tile to all four warps' "
               "lanes";
    }
    return {};
}

}  // namespace tilepath::check
