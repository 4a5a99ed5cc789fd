// CuTe's names of instructions, as its headers arch/mma_sm*.hpp and arch/copy_sm*.hpp spell them.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "atom/instruction.h"

namespace tilepath::atom {
namespace {

bool take(std::string_view& text, std::string_view word) {
    if (!text.starts_with(word)) return false;
    text.remove_prefix(word.size());
    return true;
}

std::optional<int> take_number(std::string_view& text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || value < 0) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
}

/// `F32F16F16F32`: our names of the types, each after a dot.
std::string types_in(std::string_view& text) {
    static constexpr std::pair<std::string_view, std::string_view> names[] = {
        {"BF16", "bf16"}, {"TF32", "tf32"}, {"F16", "f16"},   {"F32", "f32"},  {"F64", "f64"}, {"S32", "s32"},
        {"S8", "s8"},     {"U8", "u8"},     {"S4", "s4"},     {"U4", "u4"},    {"U1", "b1"},   {"E4M3", "e4m3"},
        {"E5M2", "e5m2"}, {"E3M2", "e3m2"}, {"E2M3", "e2m3"}, {"E2M1", "e2m1"}};
    std::string all;
    for (bool found = true; found;) {
        found = false;
        for (const auto& [cute, ours] : names) {
            if (!take(text, cute)) continue;
            all += fmt::format(".{}", ours);
            found = true;
            break;
        }
    }
    return all;
}

/// `16x8x16`.
std::optional<Shape> shape_in(std::string_view& text) {
    std::string_view rest = text;
    const auto m = take_number(rest);
    if (!m || !take(rest, "x")) return std::nullopt;
    const auto n = take_number(rest);
    if (!n || !take(rest, "x")) return std::nullopt;
    const auto k = take_number(rest);
    if (!k) return std::nullopt;
    text = rest;
    return Shape{*m, *n, *k};
}

/// The arguments between < and >.
std::vector<std::string_view> arguments_in(std::string_view text) {
    std::vector<std::string_view> all;
    const std::size_t open = text.find('<'), close = text.rfind('>');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open) return all;
    text = text.substr(open + 1, close - open - 1);
    while (!text.empty()) {
        const std::size_t comma = std::min(text.find(','), text.size());
        std::string_view word = text.substr(0, comma);
        while (word.starts_with(' ')) word.remove_prefix(1);
        while (word.ends_with(' ')) word.remove_suffix(1);
        all.push_back(word);
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return all;
}

std::string_view type_named(std::string_view word) {
    static constexpr std::pair<std::string_view, std::string_view> names[] = {
        {"half_t", "f16"},        {"bfloat16_t", "bf16"},   {"tfloat32_t", "tf32"},   {"float", "f32"},
        {"int8_t", "s8"},         {"uint8_t", "u8"},        {"int32_t", "s32"},       {"float_e4m3_t", "e4m3"},
        {"float_e5m2_t", "e5m2"}, {"float_e2m3_t", "e2m3"}, {"float_e3m2_t", "e3m2"}, {"float_e2m1_t", "e2m1"}};
    if (const std::size_t colons = word.rfind("::"); colons != std::string_view::npos) word.remove_prefix(colons + 2);
    for (const auto& [cute, ours] : names)
        if (word == cute) return ours;
    return {};
}

/// `MMA_F16BF16_2x1SM_SS<half_t, half_t, float, 256, 128, …>`: types A, B, D, then M and N.
std::optional<std::string> tcgen05(std::string_view text) {
    const std::vector<std::string_view> given = arguments_in(text);
    const std::string_view head = text.substr(0, text.find('<'));
    const auto says = [&](std::string_view word) { return head.find(word) != std::string_view::npos; };
    static constexpr std::pair<std::string_view, std::string_view> kinds[] = {
        {"MXF4NVF4", "mxf4nvf4"}, {"MXF4", "mxf4"}, {"MXF8F6F4", "mxf8f6f4"}, {"F8F6F4", "f8f6f4"}, {"TF32", "tf32"},
        {"F16BF16", "f16"},       {"S8", "i8"}};
    const auto kind = std::ranges::find_if(kinds, [&](const auto& row) { return says(row.first); });
    if (kind == std::end(kinds)) return std::nullopt;
    std::string name = fmt::format("tcgen05.mma{}{}.cta_group::{}.kind::{}", says("_WS") ? ".ws" : "",
                                   says("SPARSE") ? ".sp" : "", says("2x1SM") ? 2 : 1, kind->second);
    std::vector<std::string_view> types;
    std::vector<int> sizes;
    for (std::string_view word : given) {
        if (const std::string_view type = type_named(word); !type.empty() && types.size() < 3 && sizes.empty())
            types.push_back(type);
        else if (const auto number = take_number(word); number && word.empty() && sizes.size() < 2)
            sizes.push_back(*number);
    }
    if (sizes.size() == 2) {
        const int k = traits(*tcgen05_kind_named(kind->second)).k * (says("SPARSE") ? 2 : 1);
        name += fmt::format(".m{}n{}k{}", sizes[0], sizes[1], k);
    }
    if (types.size() == 3) name += fmt::format(".{}.{}.{}", types[2], types[0], types[1]);
    return name;
}

/// `TMEM_LOAD_16dp256b4x`, with `_16b` for packed halves.
std::optional<std::string> tensor_memory(std::string_view text) {
    const bool store = text.starts_with("TMEM_STORE_");
    if (!store && !take(text, "TMEM_LOAD_")) return std::nullopt;
    if (store) take(text, "TMEM_STORE_");
    const auto lanes = take_number(text);
    if (!lanes || !take(text, "dp")) return std::nullopt;
    const auto bits = take_number(text);
    if (!bits || !take(text, "b")) return std::nullopt;
    const auto repeats = take_number(text);
    if (!repeats || !take(text, "x")) return std::nullopt;
    const bool packed = text == "_16b";
    return fmt::format("tcgen05.{}.sync.aligned.{}x{}b{}.x{}{}.b32", store ? "st" : "ld", *lanes, *bits,
                       *lanes == 16 && *bits == 32 ? "x2" : "", *repeats,
                       !packed ? ""
                       : store ? ".unpack::16b"
                               : ".pack::16b");
}

/// `UTCCP_4x32dp128bit_1cta`.
std::optional<std::string> copy(std::string_view text) {
    static constexpr std::pair<std::string_view, std::string_view> names[] = {
        {"UTCCP_128dp256bit", "128x256b"},
        {"UTCCP_128dp128bit", "128x128b"},
        {"UTCCP_4dp256bit", "4x256b"},
        {"UTCCP_2x64dp128bitlw0213", "64x128b.warpx2::02_13"},
        {"UTCCP_2x64dp128bitlw0123", "64x128b.warpx2::01_23"},
        {"UTCCP_4x32dp128bit", "32x128b.warpx4"}};
    for (const auto& [cute, ours] : names)
        if (text.starts_with(cute))
            return fmt::format("tcgen05.cp.cta_group::{}.{}", text.ends_with("_2cta") ? 2 : 1, ours);
    return std::nullopt;
}

/// `U32x4_LDSM_N`, `U16x8_LDSM_T`, `U32x4_STSM_N`, `U8x16_LDSM_T`: elements of U16 and U8 are counted per thread.
std::optional<std::string> matrices(std::string_view text) {
    if (!take(text, "U")) return std::nullopt;
    const auto bits = take_number(text);
    if (!bits || !take(text, "x")) return std::nullopt;
    const auto count = take_number(text);
    const bool store = text.starts_with("_STSM_");
    if (!count || (!store && !text.starts_with("_LDSM_"))) return std::nullopt;
    const char* head = store ? "stmatrix" : "ldmatrix";
    if (*bits == 32) return fmt::format("{}.sync.aligned.m8n8.x{}.b16", head, *count);
    if (*bits == 16) return fmt::format("{}.sync.aligned.m8n8.x{}.trans.b16", head, *count / 2);
    return fmt::format("{}.sync.aligned.{}.x{}.trans.b8", head, store ? "m16n8" : "m16n16", *count / (store ? 4 : 8));
}

}  // namespace

std::optional<std::string> ptx_name_of_cute(std::string_view atom) {
    std::string_view text = atom;
    if (const std::size_t colons = text.substr(0, text.find('<')).rfind("::"); colons != std::string_view::npos)
        text.remove_prefix(colons + 2);
    if (text.starts_with("GMMA_")) text.remove_prefix(1), text = atom.substr(atom.size() - text.size());  // "MMA_…"
    std::string_view rest = text;
    std::optional<int> sm;
    if (take(rest, "SM")) {
        sm = take_number(rest);
        if (!sm || !take(rest, "_")) return std::nullopt;
    } else if (atom.starts_with("SM") && take(rest, "MMA_")) {
        sm = 90;  // SM90::GMMA::MMA_64x128x16_…
    } else {
        return std::nullopt;
    }
    if (auto name = matrices(rest)) return name;
    if (auto name = tensor_memory(rest)) return name;
    if (auto name = copy(rest)) return name;
    if (*sm >= 100 && *sm < 120 && rest.starts_with("MMA_")) return tcgen05(rest);
    const bool sparse = take(rest, "SPARSE_") || atom.find("SPARSE") != std::string_view::npos;
    take(rest, "MMA_");
    take(rest, "GMMA_");
    const auto shape = shape_in(rest);
    if (!shape || !take(rest, "_")) return std::nullopt;
    const std::string types = types_in(rest);
    if (shape->m == 64)
        return fmt::format("wgmma.mma_async{}.sync.aligned.{}{}", sparse ? ".sp" : "", to_string(*shape), types);
    Shape named = *shape;
    return fmt::format("mma{}.sync.aligned.{}.row.col{}{}", sparse ? ".sp" : "", to_string(named),
                       *sm >= 120 ? ".kind::f8f6f4" : "", types);
}

}  // namespace tilepath::atom
