#include <tilepath/number.h>

#include <fmt/format.h>

#include "base/result.h"
#include "number/recipe.h"

namespace tilepath {
namespace {

Result<number::Format> format_of(std::string_view name) {
    if (auto found = number::format_named(name)) return *found;
    std::string known;
    for (number::Format format : number::all_formats())
        known += fmt::format("{}{}", known.empty() ? "" : " ", number::traits(format).name);
    return fail(fmt::format("'{}' is no number format", name), "expected one of: " + known);
}

Result<number::Scaling> scaling_of(std::string_view kind) {
    if (kind.empty()) return number::Scaling::none;
    if (kind == "mxf8f6f4") return number::Scaling::per_dot;
    if (kind == "mxf4" || kind == "mxf4nvf4") return number::Scaling::per_group;
    return fail(fmt::format("'{}' is no block-scaled kind", kind), "expected one of: mxf8f6f4 mxf4 mxf4nvf4");
}

Result<number::DotRecipe> recipe_of(const DotRequest& request) {
    number::DotRequest out;
    Diagnostics wrong;
    auto set = [&](auto& to, const auto& from) {
        if (from) to = *from;
        else wrong.insert(wrong.end(), from.error().begin(), from.error().end());
    };
    set(out.device, number::generation_of(request.arch));
    set(out.instruction, number::instruction_named(request.instruction));
    set(out.a, format_of(request.a));
    set(out.b, format_of(request.b));
    set(out.d, format_of(request.d));
    set(out.scaling, scaling_of(request.kind));
    if (!request.kind.empty()) set(out.scale, format_of(request.scale));
    else if (!request.scale.empty()) set(out.scale, Result<number::Format>(fail("a scale format needs a block-scaled kind")));
    out.scale_block = request.scale_block;
    out.saturate = request.satfinite;
    if (!wrong.empty()) return std::unexpected(std::move(wrong));
    return number::recipe(out);
}

}  // namespace

Result<std::uint64_t> encode(double value, std::string_view format) {
    auto found = format_of(format);
    if (!found) return std::unexpected(found.error());
    return number::from_double(value, *found);
}

Result<double> decode(std::uint64_t bits, std::string_view format) {
    auto found = format_of(format);
    if (!found) return std::unexpected(found.error());
    return number::to_double(bits, *found);
}

Result<std::uint64_t> dot(const DotRequest& request, const DotOperands& operands) {
    auto recipe = recipe_of(request);
    if (!recipe) return std::unexpected(recipe.error());
    const std::size_t length = operands.a.size();
    if (length == 0 || operands.b.size() != length)
        return fail(fmt::format("expected as many elements of A as of B, at least one, found {} and {}", length, operands.b.size()));
    const std::size_t block = recipe->scaling == number::Scaling::none ? 0 : static_cast<std::size_t>(recipe->scale_block);
    const std::size_t scales = block == 0 ? 0 : (length + block - 1) / block;
    if (operands.scale_a.size() != scales || operands.scale_b.size() != scales)
        return fail(fmt::format("expected {} scale factors of A and of B for {} elements, found {} and {}", scales, length,
                                operands.scale_a.size(), operands.scale_b.size()));
    return number::dot(*recipe, operands.a, operands.b, operands.c, {operands.scale_a, operands.scale_b});
}

}  // namespace tilepath
