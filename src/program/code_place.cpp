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

std::string describe(const CodePlace& place) {
    std::string out = fmt::format("in {}", place.function);
    if (place.ptx.line != 0) out += fmt::format(", {}:{}", place.ptx.file, place.ptx.line);
    if (!place.operation.empty()) out += ": " + place.operation;
    if (place.source_line != 0) out += fmt::format("  ({}:{})", place.source_file, place.source_line);
    return out;
}

}  // namespace tilepath::program
