#include <tilepath/atom.h>

#include <fmt/format.h>

#include <charconv>

#include "api/layout.h"
#include "atom/mma.h"

namespace tilepath {
namespace {

std::vector<std::string_view> split(std::string_view text) {
    std::vector<std::string_view> words;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find('.', begin), text.size());
        if (end > begin) words.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return words;
}

/// `m16n8k16`.
std::optional<atom::Shape> shape_named(std::string_view word) {
    atom::Shape shape;
    const char *at = word.data(), *end = at + word.size();
    for (auto [letter, to] : {std::pair{'m', &shape.m}, {'n', &shape.n}, {'k', &shape.k}}) {
        if (at == end || *at != letter) return {};
        auto [next, error] = std::from_chars(at + 1, end, *to);
        if (error != std::errc{}) return {};
        at = next;
    }
    return at == end ? std::optional(shape) : std::nullopt;
}

std::optional<atom::MmaKind> kind_named(std::string_view word) {
    for (auto [name, kind] : {std::pair{"kind::f8f6f4", atom::MmaKind::f8f6f4}, {"kind::mxf8f6f4", atom::MmaKind::mxf8f6f4},
                              {"kind::mxf4", atom::MmaKind::mxf4}, {"kind::mxf4nvf4", atom::MmaKind::mxf4nvf4}})
        if (word == name) return kind;
    return {};
}

Fragment fragment(const atom::Fragment& from) {
    return {from.operand, std::string(from.format ? number::traits(*from.format).name : ""), from.blocks, from.rows, from.columns,
            from.element_bits, from.registers, from.register_bits, public_layout(from.layout)};
}

MmaAtom mma_atom(const atom::MmaAtom& from) {
    return {from.name, from.shape.m, from.shape.n, from.shape.k, from.minimum_sm,
            fragment(from.a), fragment(from.b), fragment(from.c), fragment(from.d)};
}

constexpr const char* example = "for example m16n8k16.row.col.f32.f16.f16.f32, types in the order D, A, B, C";

}  // namespace

std::vector<RegisterPlace> Fragment::holders(const Element& element) const {
    std::vector<RegisterPlace> out;
    auto places = layout.at({element.block, element.row, element.column}, {blocks, rows, columns});
    if (!places) return out;
    for (const Location& place : *places)
        out.push_back({static_cast<int>(place["laneid"]), static_cast<int>(place["reg"]), static_cast<int>(place["bit"])});
    return out;
}

std::optional<Element> Fragment::held(const RegisterPlace& place) const {
    for (int block = 0; block < blocks; ++block)
        for (int row = 0; row < rows; ++row)
            for (int column = 0; column < columns; ++column)
                for (const RegisterPlace& held : holders({row, column, block}))
                    if (held.lane == place.lane && held.reg == place.reg && place.bit >= held.bit && place.bit < held.bit + element_bits)
                        return Element{row, column, block};
    return {};
}

Result<MmaAtom> mma_sync(std::string_view name) {
    std::optional<atom::Shape> shape;
    std::vector<atom::Major> majors;
    std::vector<number::Format> types;
    atom::MmaKind kind = atom::MmaKind::none;
    for (std::string_view word : split(name)) {
        if (word == "mma" || word == "sync" || word == "aligned") continue;
        if (auto found = shape_named(word); found && !shape) shape = found;
        else if (word == "row" || word == "col") majors.push_back(word == "row" ? atom::Major::row : atom::Major::column);
        else if (auto known = kind_named(word)) kind = *known;
        else if (auto format = number::format_named(word)) types.push_back(*format);
        else return fail(fmt::format("mma.sync '{}': '{}' is no shape, layout, type or kind", name, word), example);
    }
    if (!shape) return fail(fmt::format("mma.sync '{}': expected a shape such as m16n8k16", name), example);
    if (majors.size() != 2) return fail(fmt::format("mma.sync '{}': expected two layouts, row or col, found {}", name, majors.size()), example);
    if (types.size() != 4) return fail(fmt::format("mma.sync '{}': expected four types, found {}", name, types.size()), example);
    auto found = atom::mma_sync(*shape, {types[0], types[1], types[2], types[3]}, majors[0], majors[1], kind);
    if (!found) return std::unexpected(found.error());
    return mma_atom(*found);
}

std::vector<std::string> mma_sync_names() {
    std::vector<std::string> out;
    for (const atom::MmaAtom& each : atom::all_mma_sync()) out.push_back(each.name);
    return out;
}

}  // namespace tilepath
