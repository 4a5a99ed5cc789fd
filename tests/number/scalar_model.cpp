#include "scalar_model.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <stdexcept>

#include "number/arithmetic.h"
#include "number/conversion.h"

namespace tilepath::number {
namespace {

/// `f16x2` is two f16; a plain type is one.
struct Elements {
    Format format;
    int count = 1;
};

std::optional<Elements> elements_of(const std::string& type) {
    if (const auto plain = format_named(type)) return Elements{*plain, 1};
    if (type.size() > 2 && type[type.size() - 2] == 'x')
        if (const auto packed = format_named(type.substr(0, type.size() - 2)))
            return Elements{*packed, type.back() - '0'};
    return std::nullopt;
}

Rounding rounding_of(const ScalarForm& form) {
    if (form.has("rz") || form.has("rzi")) return Rounding::rz;
    if (form.has("rm") || form.has("rmi")) return Rounding::rm;
    if (form.has("rp") || form.has("rpi")) return Rounding::rp;
    if (form.has("rna")) return Rounding::rna;
    if (form.has("rs")) return Rounding::rs;
    return Rounding::rn;
}

std::uint64_t converted(const ScalarForm& form, std::span<const std::uint64_t> x) {
    if (form.has("pack")) {
        const std::string& to = form.modifiers.back() == "sat" ? form.types.front() : form.modifiers.back();
        return convert_pack(std::uint32_t(x[0]), std::uint32_t(x[1]), x.size() > 2 ? std::uint32_t(x[2]) : 0,
                            std::stoi(to.substr(1)), to.front() == 's', true);
    }
    const Elements to = *elements_of(form.types[0]), from = *elements_of(form.types[1]);
    Conversion how;
    how.rounding = rounding_of(form);
    how.to_integral = form.has("rni") || form.has("rzi") || form.has("rmi") || form.has("rpi");
    how.ftz = form.has("ftz");
    how.saturate = form.has("sat");
    how.satfinite = form.has("satfinite");
    how.relu = form.has("relu");
    if (from.count > 1) return convert_packed(x[0], from.count, from.format, to.format, how);
    std::array<std::uint64_t, 4> elements{};
    for (int i = 0; i < to.count; ++i)
        elements[std::size_t(i)] = convert(x[std::size_t(to.count - 1 - i)], from.format, to.format, how);
    return pack(to.format, std::span(elements).first(std::size_t(to.count)));
}

}  // namespace

bool ScalarForm::has(std::string_view modifier) const {
    return std::ranges::find(modifiers, modifier) != modifiers.end();
}

ScalarForm scalar_form(const std::string& opcode) {
    ScalarForm form;
    form.opcode = opcode;
    std::stringstream words(opcode);
    std::getline(words, form.operation, '.');
    for (std::string word; std::getline(words, word, '.');)
        (elements_of(word) || word == "b32" ? form.types : form.modifiers).push_back(word);
    return form;
}

std::uint64_t model(const ScalarForm& form, std::span<const std::uint64_t> x) {
    if (form.operation == "cvt") return converted(form, x);
    const Format f = elements_of(form.types.front())->format;
    const Arithmetic how{rounding_of(form), form.has("ftz"), form.has("sat"), form.has("relu"), form.has("oob")};
    const Comparison compare{form.has("ftz"), form.has("NaN"), form.has("xorsign")};
    const std::uint64_t one = round_to(f, {false, 1, 0, false});
    if (form.operation == "add") return add(f, x[0], x[1], how);
    if (form.operation == "sub") return sub(f, x[0], x[1], how);
    if (form.operation == "mul") return mul(f, x[0], x[1], how);
    if (form.operation == "fma") return fma(f, x[0], x[1], x[2], how);
    if (form.operation == "div") return div(f, x[0], x[1], how);
    if (form.operation == "rcp") return div(f, one, x[0], how);
    if (form.operation == "sqrt") return sqrt(f, x[0], how);
    if (form.operation == "min") return minimum(f, x[0], x[1], compare);
    if (form.operation == "max") return maximum(f, x[0], x[1], compare);
    if (form.operation == "neg") return negated(f, x[0], compare);
    if (form.operation == "abs") return absolute(f, x[0], compare);
    throw std::runtime_error("no model of " + form.opcode);
}

}  // namespace tilepath::number
