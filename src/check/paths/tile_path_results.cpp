// The ways as a report wants them: of like instructions one.
#include <algorithm>

#include "check/paths/tile_paths.h"

namespace tilepath::check {
namespace {

std::string opcode(const std::string& text) {
    const std::size_t guard = text.starts_with('@') ? text.find(' ') + 1 : 0;
    return text.substr(guard, text.find_first_of(" \n\t", guard) - guard);
}

/// What tells instructions apart that are not like each other: not where in a loop's copies they stand.
std::string likeness(const TilePath& path) {
    std::string out = path.instruction.place.function + "\n" + opcode(path.instruction.place.operation);
    out += path.disproven != 0 ? "\nwrong" : path.unknown != 0 ? "\nunknown" : "\nright";
    for (const OperandPath* operand : {&path.a, &path.b}) {
        out += "\n" + operand->matrix + (operand->wrong ? " wrong" : "");
        for (const PathStep& step : operand->steps) {
            out += "\n" + opcode(step.place.operation);
            if (step.swizzle) out += layout::traits(*step.swizzle).name;
        }
    }
    return out;
}

}  // namespace

PathStep TilePaths::step_of(const program::Programs& programs, const Ways::Way& way) const {
    PathStep out{way.kind, program::code_place(programs, *way.function, way.op), {}};
    if (way.kind == StepKind::tensor) out.swizzle = way.swizzle;
    return out;
}

std::vector<TilePath> TilePaths::paths(const program::Programs& programs) const {
    std::vector<const Known*> in_order;
    for (const auto& [op, known] : known_) in_order.push_back(&known);
    std::ranges::sort(in_order, {}, [](const Known* each) { return std::pair(!each->wrong, each->order); });
    std::vector<TilePath> out;
    std::map<std::string, std::size_t> groups;
    std::map<const program::MicroOp*, std::size_t> group_of;
    for (const Known* known : in_order) {
        TilePath path;
        path.instruction = {
            StepKind::multiply, program::code_place(programs, *known->site.function, known->site.op), {}};
        path.name = known->name.empty() ? opcode(path.instruction.place.operation) : known->name;
        path.proven = known->proven, path.disproven = known->disproven, path.unknown = known->unknown;
        path.a = known->a.path, path.b = known->b.path;
        for (const auto& [operand, way] : {std::pair(&path.a, known->a.way), std::pair(&path.b, known->b.way)})
            for (const Ways::Way& each : writers_.ways.steps(way)) operand->steps.push_back(step_of(programs, each));
        const auto [group, fresh] = groups.try_emplace(likeness(path), out.size());
        group_of[known->site.op] = group->second;
        if (fresh) {
            out.push_back(std::move(path));
            continue;
        }
        TilePath& first = out[group->second];
        first.proven += path.proven, first.disproven += path.disproven, first.unknown += path.unknown;
        first.also.push_back(path.instruction.place.ptx.line);
    }
    for (const Ways::Id id : results_) {
        const std::vector<Ways::Way> steps = writers_.ways.steps(id);
        const auto root = std::ranges::find(steps, StepKind::multiply, &Ways::Way::kind);
        if (root == steps.end() || !group_of.contains(root->op)) continue;
        std::vector<PathStep> way;
        for (auto each = root + 1; each != steps.end(); ++each) way.push_back(step_of(programs, *each));
        auto& ways = out[group_of[root->op]].results;
        // Copies of a loop's body differ in their lines only.
        const auto like = [&](const std::vector<PathStep>& other) {
            return std::ranges::equal(
                other, way, {}, [](const PathStep& step) { return opcode(step.place.operation); },
                [](const PathStep& step) { return opcode(step.place.operation); });
        };
        if (std::ranges::none_of(ways, like)) ways.push_back(std::move(way));
    }
    for (TilePath& each : out) std::ranges::sort(each.also);
    return out;
}

}  // namespace tilepath::check
