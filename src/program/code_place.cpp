#include "program/code_place.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"

namespace tilepath::program {

const Program& Programs::of(const Function& function) const {
    const auto owns = [&](const Program* each) {
        return std::ranges::any_of(each->functions, [&](const Function& its) { return &its == &function; });
    };
    const auto found = std::ranges::find_if(all_, owns);
    TILEPATH_ASSERT(found != all_.end(), "every function that ran belongs to a program of the run");
    return **found;
}

CodePlace code_place(const Programs& programs, const Function& function, const MicroOp* op) {
    return code_place(programs.of(function), function, op);
}

CodePlace code_place(const Program& program, const Function& function, const MicroOp* op) {
    CodePlace place;
    place.function = function.name;
    if (op == nullptr) return place;
    place.operation = traits(op->op).name;
    if (op->instruction >= function.instructions.size()) return place;
    const InstructionPlace& where = function.instructions[op->instruction];
    if (program.source != nullptr) {
        place.ptx = program.source->place(where.span);
        place.operation = program.source->text(where.span);
    }
    if (where.location >= 0) {
        const SourceLocation& location = program.locations[static_cast<std::size_t>(where.location)];
        place.source_file = location.file;
        place.source_line = location.line;
    }
    return place;
}

std::string one_line(std::string_view instruction) {
    std::string text;
    for (const char c : instruction) {
        const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
        if (!blank)
            text += c;
        else if (!text.empty() && text.back() != ' ')
            text += ' ';
    }
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t open = text.find('{', at), close = text.find('}', open);
        if (close == std::string::npos) return out + text.substr(at);
        const std::string list = text.substr(open, close - open);
        const auto commas = std::ranges::count(list, ',');
        out += text.substr(at, open - at);
        out += commas < 4 ? list : list.substr(0, list.find(',')) + ", …" + list.substr(list.rfind(',') + 1);
        at = close;
    }
    return out;
}

std::string describe(const CodePlace& place) {
    std::string out = fmt::format("in {}", place.function);
    if (place.ptx.line != 0) out += fmt::format(", {}:{}", place.ptx.file, place.ptx.line);
    if (!place.operation.empty()) out += ": " + one_line(place.operation);
    if (place.source_line != 0) out += fmt::format("  ({}:{})", place.source_file, place.source_line);
    return out;
}

}  // namespace tilepath::program
