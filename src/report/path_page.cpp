// The ways of tiles as HTML.
#include "report/path_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "report/path_pictures.h"
#include "report/picture.h"

namespace tilepath::report {
namespace {

using check::OperandPath;
using check::PathStep;
using check::StepKind;
using check::TilePath;

std::string line_of(const program::CodePlace& place) {
    std::string out = fmt::format("{}:{}", place.ptx.file.substr(place.ptx.file.rfind('/') + 1), place.ptx.line);
    if (place.source_line != 0)
        out = fmt::format("{}:{} ({})", place.source_file.substr(place.source_file.rfind('/') + 1), place.source_line,
                          out);
    return out;
}

/// The instruction without its operands.
std::string opcode(const program::CodePlace& place) {
    const std::string& text = place.operation;
    const std::size_t guard = text.starts_with('@') ? text.find(' ') + 1 : 0;
    return text.substr(guard, text.find_first_of(" \n\t", guard) - guard);
}

std::string what(const PathStep& step) {
    switch (step.kind) {
        case StepKind::load: return "loads into registers";
        case StepKind::store: return "stores";
        case StepKind::copy: return "copies 16 bytes a lane";
        case StepKind::bulk: return "copies bytes in a row";
        case StepKind::tensor:
            return fmt::format("TMA copies a box, swizzle {}",
                               layout::traits(step.swizzle.value_or(layout::SwizzleMode::none)).name);
        case StepKind::compute: return "computes or converts";
        case StepKind::tensor_store: return "stores into Tensor Memory";
        case StepKind::tensor_copy: return "copies into Tensor Memory";
        case StepKind::multiply: return "multiplies";
    }
    return {};
}

enum class State { plain, right, broken };

std::string box(State state, std::string_view heading, std::string_view code, std::string_view note,
                std::string_view picture) {
    const std::string_view name = state == State::broken ? " broken" : state == State::right ? " right" : "";
    std::string out = fmt::format("<div class=\"step{}\"><b>{}</b>", name, escaped(heading));
    if (state == State::broken) out += "<em>broken here</em>";
    if (!code.empty()) out += fmt::format("<code>{}</code>", escaped(code));
    if (!note.empty()) out += fmt::format("<p>{}</p>", escaped(note));
    return out + std::string(picture) + "</div>\n";
}

/// Whether something is wrong at this very instruction.
bool told_at(const CheckReport& report, const program::CodePlace& place) {
    return std::ranges::any_of(report.findings, [&](const check::Finding& each) {
        return each.check == "provenance" && each.place.ptx.line == place.ptx.line &&
               each.place.function == place.function;
    });
}

std::string box(const CheckReport& report, const PathStep& step) {
    return box(told_at(report, step.place) ? State::broken : State::plain, what(step),
               opcode(step.place) + "\n" + line_of(step.place), "", "");
}

std::string operand_html(const CheckReport& report, const TilePath& path, const OperandPath& operand) {
    const State reading = operand.wrong ? State::broken : path.unknown != 0 ? State::plain : State::right;
    std::string out =
        fmt::format("<h3>operand {}: {}</h3>\n<div class=\"flow\">\n", operand.name,
                    operand.matrix.empty() ? "from what is not followed" : "elements of " + operand.matrix);
    if (!operand.matrix.empty())
        out +=
            box(State::plain, "global memory: " + operand.matrix, "",
                fmt::format("rows {} to {}, columns {} to {}", operand.first_row, operand.first_row + operand.rows - 1,
                            operand.first_column, operand.first_column + operand.columns - 1),
                global_picture(operand));
    // Behind the last step that writes shared memory lies the picture of it.
    const auto writes = [](const PathStep& step) {
        return step.kind == StepKind::store || step.kind == StepKind::copy || step.kind == StepKind::bulk ||
               step.kind == StepKind::tensor;
    };
    std::size_t written = operand.steps.size();
    for (std::size_t i = 0; i < operand.steps.size(); ++i)
        if (writes(operand.steps[i])) written = i;
    const auto drawn = [&] {
        return box(State::plain, "shared memory: what was written", "", "each 16 bytes by their first element",
                   shared_picture(operand, false));
    };
    if (written == operand.steps.size() && operand.shared) out += drawn();
    bool read = false;
    for (std::size_t i = 0; i < operand.steps.size(); ++i) {
        const PathStep& step = operand.steps[i];
        if (i > written && step.kind == StepKind::load && operand.shared && !read) {
            read = true;
            out += box(reading, "what is read", opcode(step.place) + "\n" + line_of(step.place),
                       "what belongs in each 16 bytes that the lanes' addresses name", shared_picture(operand, true));
            continue;
        }
        out += box(report, step);
        if (i == written && operand.shared) out += drawn();
    }
    if (operand.by_descriptor && operand.shared)
        out += box(reading, "what is read", opcode(path.instruction.place) + "\n" + line_of(path.instruction.place),
                   "by its descriptor: " + operand.reading + "; what belongs in each 16 bytes",
                   shared_picture(operand, true));
    out += box(operand.wrong && !operand.shared ? State::broken
               : reading == State::right        ? State::right
                                                : State::plain,
               fmt::format("{} as the instruction takes it", operand.name), "",
               operand.wrong ? "framed: other elements than belong there" : "", taken_picture(operand));
    return out + "</div>\n";
}

std::string result_html(const CheckReport& report, const TilePath& path) {
    std::string out = "<h3>D</h3>\n<div class=\"flow\">\n";
    out +=
        box(path.disproven != 0 ? State::broken : State::plain, "multiplies, adds to its accumulators",
            opcode(path.instruction.place) + "\n" + line_of(path.instruction.place),
            "lane and register, or lane and column of Tensor Memory, of D's first elements", accumulator_picture(path));
    // Of several ways the longest says most.
    const auto longest = std::ranges::max_element(path.results, {}, [](const auto& way) { return way.size(); });
    if (longest != path.results.end())
        for (const PathStep& step : *longest) out += box(report, step);
    const bool wrong = std::ranges::any_of(report.result.parts, [](const auto& part) { return part.disproven != 0; });
    const bool known = !report.result.parts.empty();
    out += box(wrong                                               ? State::broken
               : known && path.disproven == 0 && path.unknown == 0 ? State::right
                                                                   : State::plain,
               "global memory: D", "",
               known ? fmt::format("each part {} by {} elements: ✓ row m of A times column n of B over each k once",
                                   report.result.part_rows, report.result.part_columns)
                     : "not looked at, since operands are wrong",
               result_picture(report.result));
    return out + "</div>\n";
}

}  // namespace

std::string paths_as_html(const CheckReport& report) {
    if (report.paths.empty()) return {};
    constexpr std::size_t most = 6;
    std::string out = "<h2>The way of the tiles, from global memory to D</h2>\n";
    for (std::size_t i = 0; i < std::min(most, report.paths.size()); ++i) {
        const TilePath& path = report.paths[i];
        const std::string_view verdict = path.disproven != 0 ? "broken"
                                         : path.unknown != 0 ? "in part unknown"
                                                             : "verified";
        out += fmt::format(
            "<div class=\"path\"><h3>{}: {} <code>{}</code></h3>\n<p>executions by a warp: {} with both operands "
            "right, {} wrong, {} unknown{}</p>\n",
            verdict, escaped(line_of(path.instruction.place)), escaped(opcode(path.instruction.place)), path.proven,
            path.disproven, path.unknown,
            path.also.empty()
                ? ""
                : fmt::format(
                      "; {} more instructions like it, in lines {}{}", path.also.size(),
                      fmt::join(path.also.begin(),
                                path.also.begin() + std::ptrdiff_t(std::min<std::size_t>(8, path.also.size())), ", "),
                      path.also.size() > 8 ? ", …" : ""));
        out += operand_html(report, path, path.a) + operand_html(report, path, path.b) + result_html(report, path);
        out += "</div>\n";
    }
    if (report.paths.size() > most) out += fmt::format("<p>{} more</p>\n", report.paths.size() - most);
    return out;
}

std::string path_style() {
    return ".path{border-left:3px solid #d0d7de;padding-left:1em;margin:1em 0 2em}.path h3{font-size:1em;margin:.9em "
           "0 .3em}.flow{display:flex;flex-wrap:wrap;align-items:flex-start;row-gap:.8em;padding-bottom:.6em}"
           ".step{position:relative;flex:none;border:1px solid #c4ccd4;border-radius:6px;padding:.5em "
           ".7em;margin-right:2em}.step:not(:last-child)::after{content:'→';position:absolute;"
           "right:-1.5em;top:.2em;font-size:1.2em;color:#5b6470}.step b,.step svg{display:block}.step code,.path h3 "
           "code{font:12px "
           "ui-monospace,'DejaVu Sans Mono',monospace}.step "
           "code{display:block;white-space:pre-wrap;overflow-wrap:anywhere;max-width:24em;color:#5b6470}"
           ".step p{font-size:.85em;color:#5b6470;margin:.2em 0;max-width:36em}"
           ".step.right{border-color:#2da44e}.step.broken{border:2px solid #d1242f}"
           ".step em{color:#d1242f;font-style:normal;font-weight:600}"
           ".path .mark{stroke:#d1242f}\n"
           "@media screen and (prefers-color-scheme:dark){.step{border-color:#3a424b}.step code,.step p"
           "{color:#9aa4b0}.path .mark{stroke:#ff6b6b}.step em{color:#ff6b6b}}\n";
}

}  // namespace tilepath::report
