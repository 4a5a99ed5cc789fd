// tcgen05.mma, .sp, .ws and .ws.sp: PTX ISA 9.7.16.10. Shapes, types and layouts stand in registers; what is refused
// here, ptxas 13.0 refuses.
#include <fmt/format.h>

#include <array>

#include "atom/tcgen05_mma.h"
#include "base/assert.h"
#include "isa/matrix_rules.h"
#include "isa/tensor_memory.h"

namespace tilepath::isa {
namespace {

using program::Tcgen05Mma;
using program::Tcgen05Source;

constexpr std::string_view collects =
    "collect: collector::a::fill collector::a::use collector::a::lastuse "
    "collector::a::discard";
constexpr std::string_view stationary_collects =
    "collect: collector::b0::fill collector::b0::use collector::b0::lastuse collector::b0::discard "
    "collector::b1::fill collector::b1::use collector::b1::lastuse collector::b1::discard "
    "collector::b2::fill collector::b2::use collector::b2::lastuse collector::b2::discard "
    "collector::b3::fill collector::b3::use collector::b3::lastuse collector::b3::discard";

/// `collector::b0::fill`.
void read_collector(std::string_view word, Tcgen05Mma& mma) {
    using enum Tcgen05Mma::Buffer;
    using enum Tcgen05Mma::Collect;
    if (word.empty()) return;
    const std::string_view buffer = word.substr(11, word.rfind("::") - 11),
                           use_of_it = word.substr(word.rfind("::") + 2);
    mma.collector = buffer == "a" ? a : buffer == "b0" ? b0 : buffer == "b1" ? b1 : buffer == "b2" ? b2 : b3;
    mma.collect = use_of_it == "fill" ? fill : use_of_it == "use" ? use : use_of_it == "lastuse" ? lastuse : discard;
}

/// How many elements of K share a factor: .scale_vec::4X is .block16, the others .block32, which is what none means
/// too.
int block_of(const Bound& in) {
    if (!in.has("block_scale")) return 0;
    return in.word("size") == "block16" || in.word("size") == "scale_vec::4X" ? 16 : 32;
}

Tcgen05Mma describe(Lowering& to, const Bound& in) {
    Tcgen05Mma mma;
    mma.cta_group = cta_group(in);
    const auto kind = atom::tcgen05_kind_named(in.word("kind").substr(6));
    TILEPATH_ASSERT(kind, "a form of tcgen05.mma with a kind that atom/ does not know");
    mma.kind = *kind;
    mma.sparse = in.has("sp");
    mma.weight_stationary = in.has("ws");
    mma.a_in_tensor_memory = in.operand("a_tmem") != nullptr;
    mma.ashift = in.has("ashift");
    mma.block = block_of(in);
    read_collector(in.word("collect"), mma);
    if (mma.ashift && (mma.collect == Tcgen05Mma::Collect::fill || mma.collect == Tcgen05Mma::Collect::use))
        to.error(in.instruction().span, fmt::format("'.ashift' and '.{}' do not go together", in.word("collect")),
                 "with .ashift the collector is .collector::a::lastuse or ::discard");
    if (const ptx::Operand* scale = in.operand("scale_input_d")) {
        const std::int64_t value = to.immediate(*scale, "scale-input-d");
        if (value < 0 || value > 15)
            to.error(scale->span, fmt::format("scale-input-d is 0 to 15, D counts times 2^-that; found {}", value));
        mma.scale_input_d = static_cast<int>(value);
    }
    return mma;
}

/// One bit for each lane of Tensor Memory: of one CTA, or of two.
std::vector<Operand> disabled_lanes(Lowering& to, const Bound& in, int cta_group) {
    const ptx::Operand* operand = in.operand("disable_output_lane");
    if (operand == nullptr) return {};
    std::vector<Operand> words = to.read_vector(*operand, DataType::b32);
    require_some_register(to, *operand, words);
    check_registers(to, *operand, words.size(), 4 * cta_group);
    return words;
}

void multiply(Lowering& to, const Bound& in) {
    const Tcgen05Mma mma = describe(to, in);
    std::vector<Operand> sources(program::tcgen05_fixed_sources);
    const auto source = [&](Tcgen05Source which) -> Operand& { return sources[static_cast<std::size_t>(which)]; };
    source(Tcgen05Source::d) = whole_tensor_address(to, in["d_tmem"]);
    source(Tcgen05Source::a) =
        mma.a_in_tensor_memory ? whole_tensor_address(to, in["a_tmem"]) : to.read(in["a_desc"], DataType::u64);
    source(Tcgen05Source::b) = to.read(in["b_desc"], DataType::u64);
    source(Tcgen05Source::descriptor) = to.read(in["idesc"], DataType::u32);
    source(Tcgen05Source::accumulates) = to.read_predicate(in["enable_input_d"]);
    if (mma.block != 0) {
        source(Tcgen05Source::scale_a) = whole_tensor_address(to, in["scale_a_tmem"]);
        source(Tcgen05Source::scale_b) = whole_tensor_address(to, in["scale_b_tmem"]);
    }
    if (mma.sparse) source(Tcgen05Source::metadata) = whole_tensor_address(to, in["sp_meta_tmem"]);
    if (const ptx::Operand* mask = in.operand("zero_column_mask"))
        source(Tcgen05Source::zero_columns) = to.read(*mask, DataType::u64);
    const std::vector<Operand> lanes = disabled_lanes(to, in, mma.cta_group);
    sources.insert(sources.end(), lanes.begin(), lanes.end());
    MicroOp& out = to.emit(Op::tcgen05_mma, DataType::none, {}, sources);
    out.variant = static_cast<std::uint8_t>(mma.cta_group);
    out.detail = static_cast<std::uint32_t>(to.out().tcgen05_mmas.size());
    to.out().tcgen05_mmas.push_back(mma);
}

/// Where a form's A lies, and whether it is sparse.
struct Operands {
    bool a_in_tensor_memory = false, sparse = false;

    std::string text() const {
        return fmt::format("[d_tmem], {}, b_desc:b64{}, idesc:b32", a_in_tensor_memory ? "[a_tmem]" : "a_desc:b64",
                           sparse ? ", [sp_meta_tmem]" : "");
    }
};
std::array<Operands, 2> both_operands(bool sparse) { return {{{false, sparse}, {true, sparse}}}; }

constexpr std::string_view of_metadata = "metadata of 64 rows, and what the selectors 2 and 3 read";

Family unscaled(bool sparse) {
    struct Row {
        std::string_view kinds;
        bool scales_d;  ///< has scale-input-d; for i8 ptxas 13.0 takes anything in its place
        Suffix targets;
    };
    static constexpr Row rows[] = {{"kind: kind::f16 kind::tf32", true, Suffix::tensor_memory},
                                   {"kind: kind::f8f6f4", false, Suffix::tensor_memory},
                                   {"kind: kind::i8", false, Suffix::tensor_memory_bytes}};
    Family family{.manual = sparse ? "9.7.16.10.9.2" : "9.7.16.10.9.1",
                  .forms = {},
                  .lower = multiply,
                  .evidence = Evidence::Kind::model,
                  .inferred = sparse ? of_metadata
                                     : "the rows that .ashift moves go as tcgen05.shift moves them, after the product, "
                                       "as numsim, a public simulator, has it; how D is rounded after scale-input-d"};
    for (const Operands& operands : both_operands(sparse))
        for (const Row& row : rows)
            for (const std::string_view lanes : {"", ", disable_output_lane:vector"})
                family.forms.push_back(
                    {keep(fmt::format("tcgen05.mma{}.group.kind{}{{.collect}} {}{}, enable_input_d:pred{}",
                                      operands.sparse ? ".sp" : "", operands.a_in_tensor_memory ? "{.ashift}" : "",
                                      operands.text(), lanes, row.scales_d ? "{, scale_input_d:none}" : "")),
                     {cta_groups, row.kinds, collects},
                     since(8, 6, 100, row.targets)});
    return family;
}

Family block_scaled(bool sparse) {
    struct Row {
        std::string_view kind, size_syntax, sizes;
        bool specific;         ///< `a` targets alone
        bool sparse_specific;  ///< of the sparse form
    };
    // .scale_vec, and sparse four-bit kinds, are no family's.
    static constexpr Row rows[] = {
        {"kind: kind::mxf8f6f4", "{.size}", "size: block32", false, false},
        {"kind: kind::mxf8f6f4", ".size", "size: scale_vec::1X", true, true},
        {"kind: kind::mxf4", "{.size}", "size: block32", false, true},
        {"kind: kind::mxf4", ".size", "size: scale_vec::2X", true, true},
        {"kind: kind::mxf4nvf4", ".size", "size: block16 block32", false, true},
        {"kind: kind::mxf4nvf4", ".size", "size: scale_vec::2X scale_vec::4X", true, true},
    };
    Family family{.manual = sparse ? "9.7.16.10.9.2" : "9.7.16.10.9.1",
                  .forms = {},
                  .lower = multiply,
                  .evidence = Evidence::Kind::model,
                  .inferred = sparse ? of_metadata : "how the factors of k = 96 go on into the next column"};
    for (const Operands& operands : both_operands(sparse))
        for (const Row& row : rows)
            family.forms.push_back(
                {keep(fmt::format(
                     "tcgen05.mma{}.group.kind.block_scale{}{{.collect}} {}, [scale_a_tmem], [scale_b_tmem], "
                     "enable_input_d:pred",
                     operands.sparse ? ".sp" : "", row.size_syntax, operands.text())),
                 {cta_groups, row.kind, row.sizes, collects},
                 since(8, row.sizes.starts_with("size: block") ? 8 : 6, 100,  // ptxas reads none as .block32
                       (operands.sparse ? row.sparse_specific : row.specific) ? Suffix::tensor_memory_specific
                                                                              : Suffix::tensor_memory)});
    return family;
}

Family weight_stationary(bool sparse) {
    Family family{.manual = sparse ? "9.7.16.10.9.4" : "9.7.16.10.9.3",
                  .forms = {},
                  .lower = multiply,
                  .evidence = Evidence::Kind::model,
                  .inferred = sparse ? of_metadata
                                     : "the spans of the zero-column mask are those of the manual's examples, not of "
                                       "its table"};
    for (const Operands& operands : both_operands(sparse)) {
        auto add = [&](std::string_view kinds, Suffix targets) {
            family.forms.push_back(
                {keep(fmt::format(
                     "tcgen05.mma.ws{}.group.kind{{.collect}} {}, enable_input_d:pred{{, zero_column_mask:b64}}",
                     operands.sparse ? ".sp" : "", operands.text())),
                 {"group: cta_group::1", kinds, stationary_collects},
                 since(8, 6, 100, targets)});
        };
        add("kind: kind::f16 kind::tf32 kind::f8f6f4", Suffix::tensor_memory);
        add("kind: kind::i8", Suffix::tensor_memory_bytes);
    }
    return family;
}

}  // namespace

std::vector<Family> tcgen05_mma_families() {
    return {unscaled(false),    unscaled(true),           block_scaled(false),
            block_scaled(true), weight_stationary(false), weight_stationary(true)};
}

}  // namespace tilepath::isa
