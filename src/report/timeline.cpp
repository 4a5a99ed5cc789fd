#include "report/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "report/picture.h"

namespace tilepath::report {
namespace {

using check::Span;

/// Spans of one track that overlap lie in rows one below the other.
struct Track {
    std::vector<std::vector<const Span*>> rows;

    std::size_t add(const Span& span) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (rows[i].back()->end > span.begin) continue;
            rows[i].push_back(&span);
            return i;
        }
        rows.push_back({&span});
        return rows.size() - 1;
    }
};

}  // namespace

nlohmann::json timeline_as_trace(std::span<const CheckReport> reports) {
    using nlohmann::json;
    json events = json::array();
    std::map<std::pair<std::size_t, std::uint32_t>, std::size_t> processes;  // by run and CTA
    std::map<std::pair<std::size_t, std::string>, int> tracks;               // by process: the number of each
    const auto name_of = [&](const char* what, std::size_t process, std::string text) {
        return json{{"ph", "M"}, {"name", what}, {"pid", process}, {"args", {{"name", std::move(text)}}}};
    };
    for (std::size_t run = 0; run < reports.size(); ++run) {
        const std::string& title = reports[run].title;
        for (const Span& span : reports[run].spans) {
            const auto [process, first] = processes.try_emplace({run, span.cta}, processes.size());
            const std::size_t pid = process->second;
            if (first)
                events.push_back(name_of("process_name", pid,
                                         fmt::format("{}{}CTA {}", title, title.empty() ? "" : ": ", span.cta)));
            const auto [track, fresh] = tracks.try_emplace({pid, span.track}, static_cast<int>(tracks.size()));
            if (fresh) {
                events.push_back(name_of("thread_name", pid, span.track));
                events.back()["tid"] = track->second;
            }
            // Spans of a track may overlap: begin and end as asynchronous events of one id.
            json begin{
                {"ph", "b"},  {"cat", span.track},    {"name", span.name}, {"id", fmt::format("{}", events.size())},
                {"pid", pid}, {"tid", track->second}, {"ts", span.begin}};
            json end = begin;
            end["ph"] = "e", end["ts"] = span.end;
            begin["args"] = {{"warp", span.warp}};
            if (!span.detail.empty()) begin["args"]["detail"] = span.detail;
            events.push_back(std::move(begin));
            events.push_back(std::move(end));
        }
    }
    return {{"traceEvents", std::move(events)}, {"displayTimeUnit", "ns"}};
}

std::string timeline_as_svg(std::span<const Span> all) {
    constexpr std::size_t most_drawn = 600;
    std::map<std::uint32_t, std::size_t> counts;
    for (const Span& span : all) ++counts[span.cta];
    if (counts.empty()) return {};
    const std::uint32_t cta = std::ranges::max_element(counts, {}, [](const auto& each) { return each.second; })->first;
    std::map<std::string, Track> tracks;
    std::vector<std::string> order;
    std::uint64_t begin = ~0ull, end = 0;
    std::size_t drawn = 0;
    for (const Span& span : all) {
        if (span.cta != cta || drawn == most_drawn) continue;
        ++drawn;
        begin = std::min(begin, span.begin), end = std::max(end, span.end);
        if (!tracks.contains(span.track)) order.push_back(span.track);
        tracks[span.track].add(span);
    }
    constexpr int label = 190, width = 1100, row = 16, shades = 8;
    const auto x = [&](std::uint64_t time) {
        return label +
               static_cast<double>(time - begin) * width / static_cast<double>(std::max<std::uint64_t>(1, end - begin));
    };
    std::string body;
    int y = 24;
    int shade = 0;
    for (const std::string& name : order) {
        body += fmt::format("<text x=\"0\" y=\"{}\">{}</text>\n", y + 12, escaped(name));
        for (const auto& line : tracks[name].rows) {
            for (const Span* span : line)
                body += fmt::format(
                    "<g><title>{}: {}, warp {}, from {} to {}{}</title><rect class=\"cell s{}\" x=\"{:.1f}\" y=\"{}\" "
                    "width=\"{:.1f}\" height=\"{}\" rx=\"2\"/></g>\n",
                    escaped(span->name), escaped(name), span->warp, span->begin, span->end,
                    span->detail.empty() ? "" : ", " + escaped(span->detail), shade % shades, x(span->begin), y,
                    std::max(1.5, x(span->end) - x(span->begin)), row - 3);
            y += row;
        }
        y += 4;
        ++shade;
    }
    std::string colours;
    for (int i = 0; i < shades; ++i)
        colours += fmt::format(".timeline .s{}{{fill:hsl({} 55% 58%)}}", i, i * 360 / shades);
    return fmt::format(
        "<svg class=\"timeline\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" xmlns=\"http://www.w3.org/2000/svg\">\n"
        "<style>.timeline text{{font:11px system-ui,sans-serif;fill:currentColor}}{2}</style>\n"
        "<text x=\"{3}\" y=\"14\">CTA {4}: time counts the events of the run, here from {5} to {6}</text>\n{7}</svg>\n",
        label + width + 10, y, colours, label, cta, begin, end, body);
}

}  // namespace tilepath::report
