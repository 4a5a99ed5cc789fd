#include "api/arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "host/pack.h"

namespace tilepath {
namespace {

std::string describe(const Argument& argument) {
    switch (argument.kind()) {
        case Argument::Kind::pointer: return "a device pointer";
        case Argument::Kind::integer: return fmt::format("an integer of {} bytes", argument.bytes().size());
        case Argument::Kind::floating: return fmt::format("a floating-point number of {} bytes", argument.bytes().size());
        case Argument::Kind::bytes: return fmt::format("a value of {} bytes", argument.bytes().size());
    }
    return "";
}

/// Whether the parameter's declared type takes that kind of value. `.b32` and the like take any.
bool kind_fits(Argument::Kind kind, const program::FrameVariable& parameter) {
    const bool floating = program::is_float(parameter.element);
    const bool bits = program::traits(parameter.element).name.starts_with('b');
    switch (kind) {
        case Argument::Kind::pointer:
        case Argument::Kind::integer: return !floating;
        case Argument::Kind::floating: return floating || bits;
        case Argument::Kind::bytes: return true;
    }
    return false;
}

std::string what_to_do(const Argument& argument, const program::FrameVariable& parameter) {
    if (argument.kind() == Argument::Kind::integer && !program::is_float(parameter.element) && parameter.bytes <= 8)
        return fmt::format("write std::uint{}_t{{…}} or std::int{}_t{{…}}", parameter.bytes * 8, parameter.bytes * 8);
    if (parameter.element == program::DataType::f32) return "write a float: 1.0f";
    if (parameter.element == program::DataType::f64) return "write a double: 1.0";
    if (parameter.bytes > 8) return "pass a struct of that size with Argument::by_value";
    return "";
}

}  // namespace

Result<std::vector<std::uint8_t>> pack_arguments(const program::Function& entry, const std::vector<Argument>& arguments) {
    const std::vector<program::FrameVariable>& parameters = entry.parameters;
    if (arguments.size() != parameters.size()) {
        std::vector<std::string> list;
        for (const program::FrameVariable& parameter : parameters) list.push_back(host::describe(parameter));
        return fail(fmt::format("'{}' has {} parameters, found {} arguments", entry.name, parameters.size(), arguments.size()),
                    list.empty() ? "it takes none" : fmt::format("its parameters: {}", fmt::join(list, ", ")));
    }
    std::vector<std::uint8_t> out;
    Diagnostics wrong;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const program::FrameVariable& parameter = parameters[i];
        const Argument& argument = arguments[i];
        if (argument.bytes().size() != parameter.bytes || !kind_fits(argument.kind(), parameter)) {
            auto error = fail(fmt::format("argument {} of '{}': expected {} bytes for {}, found {}", i, entry.name, parameter.bytes,
                                          host::describe(parameter), describe(argument)),
                              what_to_do(argument, parameter));
            wrong.push_back(std::move(error.error().front()));
            continue;
        }
        out.resize(std::max<std::size_t>(out.size(), std::size_t{parameter.offset} + parameter.bytes));
        std::ranges::copy(argument.bytes(), out.begin() + parameter.offset);
    }
    if (!wrong.empty()) return std::unexpected(std::move(wrong));
    return out;
}

}  // namespace tilepath
