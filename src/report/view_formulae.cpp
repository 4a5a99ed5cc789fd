// A layout as arithmetic, both ways.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "layout/operations.h"
#include "report/view.h"

namespace tilepath::report {
namespace {

using layout::Axis;
using layout::Iter;
using layout::Layout;

std::string symbol(const View& view, Axis axis) {
    switch (axis) {
        case Axis::laneid: return "lane";
        case Axis::wid_in_wg: return "warp";
        case Axis::reg: return "reg";
        case Axis::tlane: return "TMEM_lane";
        case Axis::tcol: return "TMEM_column";
        case Axis::cluster_ctarank: return "cta";
        case Axis::m: return view.bytes ? "byte" : "m";
        case Axis::ctaid_x:
        case Axis::ctaid_y:
        case Axis::ctaid_z:
        case Axis::cluster_ctaid_x:
        case Axis::cluster_ctaid_y:
        case Axis::cluster_ctaid_z:
        case Axis::tx:
        case Axis::ty:
        case Axis::tz:
        case Axis::wgid:
        case Axis::tid_in_wg:
        case Axis::warpid:
        case Axis::bank:
        case Axis::byte:
        case Axis::bit: break;
    }
    return std::string(layout::traits(axis).name);
}

/// `x/p%e`: the digit of x above p, below p·e; without what does nothing.
std::string digit(const std::string& x, std::int64_t p, std::int64_t e, bool top) {
    return x + (p == 1 ? "" : fmt::format("/{}", p)) + (top ? "" : fmt::format("%{}", e));
}

std::string times(std::int64_t factor, const std::string& text) {
    if (factor == 1) return text;
    const bool simple = text.find_first_of("/%") == std::string::npos;
    return simple ? fmt::format("{}*{}", factor, text) : fmt::format("{}*({})", factor, text);
}

std::string sum(const std::vector<std::string>& terms, std::int64_t offset) {
    std::string text = fmt::format("{}", fmt::join(terms, " + "));
    if (text.empty()) return std::to_string(offset);
    return offset == 0 ? text : fmt::format("{} + {}", text, offset);
}

std::vector<std::string> forward(const View& view, const Layout& grouped) {
    std::vector<std::string> lines;
    for (const Axis axis : grouped.axes()) {
        std::vector<std::string> terms;
        for (std::size_t mode = 0; mode < grouped.rank(); ++mode) {
            std::int64_t p = grouped.shape()[mode];
            const std::int64_t whole = p;
            for (const Iter& iter : grouped.shard()[mode]) {
                p /= iter.extent;
                if (iter.axis == axis && iter.extent > 1 && iter.stride != 0)
                    terms.push_back(
                        times(iter.stride, digit(view.dimensions[mode], p, iter.extent, p * iter.extent == whole)));
            }
        }
        std::string text = sum(terms, grouped.offset(axis));
        for (const Iter& iter : grouped.replica()) {
            if (iter.axis != axis || iter.extent == 1) continue;
            std::vector<std::int64_t> steps;
            for (std::int64_t i = 0; i < std::min<std::int64_t>(iter.extent, 8); ++i) steps.push_back(i * iter.stride);
            text += fmt::format(" + each of {{{}{}}}", fmt::join(steps, ", "), iter.extent > 8 ? ", …" : "");
        }
        lines.push_back(fmt::format("{} = {}", symbol(view, axis), text));
    }
    return lines;
}

/// Nothing where digits of an axis are not the digits of its number.
std::optional<std::vector<std::string>> backward(const View& view, const Layout& grouped) {
    struct Step {
        Iter iter;
        std::size_t mode;  // the replicas' is none
        std::int64_t factor;
    };
    std::vector<std::vector<std::string>> terms(grouped.rank());
    std::vector<Step> steps;
    for (std::size_t mode = 0; mode < grouped.rank(); ++mode) {
        std::int64_t p = grouped.shape()[mode];
        for (const Iter& iter : grouped.shard()[mode]) {
            p /= iter.extent;
            if (iter.extent == 1) continue;
            if (iter.stride <= 0) return std::nullopt;
            steps.push_back({iter, mode, p});
        }
    }
    for (const Iter& iter : grouped.replica())
        if (iter.extent > 1 && iter.stride != 0) {
            if (iter.stride < 0) return std::nullopt;
            steps.push_back({iter, grouped.rank(), 0});
        }
    for (const Axis axis : grouped.axes()) {
        std::vector<Step> along;
        std::ranges::copy_if(steps, std::back_inserter(along),
                             [&](const Step& step) { return step.iter.axis == axis; });
        std::ranges::sort(along, {}, [](const Step& step) { return step.iter.stride; });
        const std::int64_t offset = grouped.offset(axis);
        const std::string x = offset == 0 ? symbol(view, axis) : fmt::format("({} - {})", symbol(view, axis), offset);
        for (std::size_t i = 0; i < along.size(); ++i) {
            const Iter& iter = along[i].iter;
            const bool top = i + 1 == along.size();
            if (!top && along[i + 1].iter.stride % (iter.stride * iter.extent) != 0) return std::nullopt;
            if (along[i].mode == grouped.rank()) continue;
            terms[along[i].mode].push_back(times(along[i].factor, digit(x, iter.stride, iter.extent, top)));
        }
    }
    std::vector<std::string> lines;
    for (std::size_t mode = 0; mode < grouped.rank(); ++mode)
        lines.push_back(fmt::format("{} = {}", view.dimensions[mode], sum(terms[mode], 0)));
    return lines;
}

void add_part(Sheet& sheet, const std::string& key, const View& view) {
    Lines lines;
    const Result<Layout> grouped = layout::group(view.layout.layout(), view.shape);
    if (!grouped) {
        lines.lines.push_back("no closed form: " + grouped.error().front().message);
        sheet.add(key, "Formulae", std::move(lines));
        return;
    }
    lines.lines = forward(view, *grouped);
    const layout::Swizzle& swizzle = view.layout.swizzle();
    const std::string at = symbol(view, Axis::m);
    if (view.layout.offset() != 0) lines.lines.push_back(fmt::format("{0} = {0} + {1}", at, view.layout.offset()));
    if (view.layout.swizzles())
        lines.lines.push_back(
            fmt::format("then {0} = {0} ^ ({0} >> {1} & {2}) << {3}", at, swizzle.base + std::max(swizzle.shift, 0),
                        (std::int64_t{1} << swizzle.bits) - 1, swizzle.base - std::min(swizzle.shift, 0)));
    if (view.after != 0) lines.lines.push_back(fmt::format("then {0} = {0} - {1}", at, -view.after));
    if (!view.layout.swizzles() && view.layout.offset() == 0) {
        if (const auto back = backward(view, *grouped)) {
            lines.lines.push_back("and back");
            lines.lines.insert(lines.lines.end(), back->begin(), back->end());
        }
    }
    sheet.add(key, fmt::format("{}: element ({}) to place", view.name, fmt::join(view.dimensions, ", ")),
              std::move(lines));
}

}  // namespace

void add_formulae(Sheet& sheet, const View& view) {
    std::string key = "formula";
    for (const View& part : view.parts()) {
        add_part(sheet, key, part);
        key += "_further";
    }
}

}  // namespace tilepath::report
