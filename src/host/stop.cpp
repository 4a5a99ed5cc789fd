#include "host/stop.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <set>

#include "host/stop_text.h"

namespace tilepath::host {
namespace {

struct Line {
    std::string file;  ///< empty: the PTX
    unsigned line = 0;
};

std::optional<Line> parse_line(std::string_view text) {
    Line out;
    if (const std::size_t colon = text.rfind(':'); colon != std::string_view::npos) {
        out.file = text.substr(0, colon);
        if (out.file.empty()) return {};
        text.remove_prefix(colon + 1);
    }
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out.line);
    if (error != std::errc{} || end != text.data() + text.size() || out.line == 0) return {};
    return out;
}

/// `dir/a.cu` and `a.cu` name /home/x/dir/a.cu, `b/a.cu` does not.
bool names(std::string_view asked, std::string_view file) {
    return file.ends_with(asked) && (file.size() == asked.size() || file[file.size() - asked.size() - 1] == '/');
}

/// Which line every instruction stands on, in the PTX or in the file that was asked for.
class Lines {
  public:
    Lines(const Job& job, const Line& wanted)
        : source_(wanted.file.empty() || names(wanted.file, job.ptx->name()) ? nullptr : &wanted.file), job_(job) {}

    bool of_source() const { return source_ != nullptr; }
    unsigned line(const program::Program& program, const program::Function& function,
                  const program::MicroOp& op) const {
        const program::InstructionPlace& place = function.instructions[op.instruction];
        if (!source_) return job_.ptx->line(place.span.begin);
        if (place.location < 0) return 0;
        const program::SourceLocation& location = program.locations[static_cast<std::size_t>(place.location)];
        return names(*source_, location.file) ? location.line : 0;
    }

  private:
    const std::string* source_;
    const Job& job_;
};

}  // namespace

Result<std::unique_ptr<Stop>> Stop::create(Job& job, const StopRequest& request) {
    std::vector<ShowItem> items;
    Diagnostics wrong;
    for (const std::string& text : request.show) {
        auto item = parse_show_item(text);
        if (item)
            items.push_back(std::move(*item));
        else
            wrong.insert(wrong.end(), item.error().begin(), item.error().end());
    }
    if (!wrong.empty()) return std::unexpected(std::move(wrong));
    for (Launch& launch : job.launches) {
        // Every register has a place of its own then, and none shows what another one holds.
        auto program = std::make_shared<program::Program>(*launch.program);
        for (program::Function& function : program->functions) function.slots = {};
        launch.program = std::move(program);
    }
    auto stop = std::unique_ptr<Stop>(new Stop(job, request, std::move(items)));
    if (auto found = stop->find_operations(); !found) return std::unexpected(found.error());
    if (auto checked = stop->check_items(); !checked) return std::unexpected(checked.error());
    return stop;
}

Result<void> Stop::find_operations() {
    auto wanted = parse_line(request_.at);
    if (!wanted) return fail(fmt::format("expected --stop-at LINE or FILE:LINE, found '{}'", request_.at));
    const Lines lines(job_, *wanted);
    std::map<unsigned, std::string> others;  // lines that have instructions
    std::set<std::string> files;
    for (const Launch& launch : job_.launches) {
        for (const program::SourceLocation& location : launch.program->locations) files.insert(location.file);
        for (const program::Function& function : launch.program->functions) {
            bool found = false;
            for (const program::Block& block : function.blocks) {
                unsigned before = 0;
                for (std::uint32_t i = block.first; i < block.last; ++i) {
                    const program::MicroOp& op = function.ops[i];
                    const unsigned line = lines.line(*launch.program, function, op);
                    if (line != 0) others.try_emplace(line, job_.ptx->text(function.instructions[op.instruction].span));
                    const bool first = i == block.first || function.ops[i - 1].instruction != op.instruction;
                    // A source line is entered once, a line of PTX at each of its instructions' first operations.
                    if (line == wanted->line && first && (!lines.of_source() || before != line))
                        operations_.insert(&op), found = true;
                    before = line;
                }
            }
            if (found) functions_.push_back(&function);
        }
    }
    if (!operations_.empty()) return {};
    if (others.empty())
        return fail(
            fmt::format("--stop-at {}: the kernel has no instruction of '{}'", request_.at, wanted->file),
            files.empty()
                ? fmt::format("its PTX, {}, names no source lines: compile with nvcc -lineinfo", job_.ptx->name())
                : fmt::format("its lines are of {} and {}", job_.ptx->name(), fmt::join(files, ", ")));
    auto error = fail(fmt::format("--stop-at {}: no instruction of the kernel is on that line", request_.at));
    auto after = others.upper_bound(wanted->line);
    std::vector<std::string> nearest;
    auto add = [&](const auto& at) {
        nearest.push_back(lines.of_source() ? fmt::format("{}", at.first) : fmt::format("{}: {}", at.first, at.second));
    };
    if (after != others.begin()) add(*std::prev(after));
    if (after != others.end()) add(*after);
    error.error().front().notes.push_back(fmt::format("the nearest: line {}", fmt::join(nearest, "; line ")));
    return error;
}

Result<void> Stop::check_items() const {
    Diagnostics wrong;
    auto add = [&](const std::unexpected<Diagnostics>& error) { wrong.push_back(error.error().front()); };
    for (const ShowItem& item : items_) {
        const std::string& name = item.space ? item.address_register : item.name;
        if (!name.empty()) {
            std::set<std::string> registers;
            bool found = false;
            for (const program::Function* function : functions_)
                for (const program::Register& each : function->registers) {
                    found = found || each.name == name;
                    if (!each.name.empty()) registers.insert(each.name);
                }
            if (!found)
                add(fail(fmt::format("--show {}: {} has no register '{}'", item.text, functions_.front()->name, name),
                         fmt::format("its registers: {}", list_of_registers(registers))));
        } else if (!item.name.empty()) {
            std::vector<std::string> buffers;
            for (const Buffer& buffer : job_.buffers) buffers.push_back(buffer.name);
            for (const program::Variable& variable : job_.launches.front().program->variables)
                buffers.push_back(variable.name);
            if (std::ranges::find(buffers, item.name) == buffers.end())
                add(fail(fmt::format("--show {}: there is no buffer or variable '{}'", item.text, item.name),
                         fmt::format("there are: {}", fmt::join(buffers, ", "))));
        }
    }
    if (!wrong.empty()) return std::unexpected(std::move(wrong));
    return {};
}

bool Stop::reached(const exec::StoppedWarp& warp) {
    const machine::Dim3 cta = warp.cta();
    const std::uint32_t here[] = {cta.x, cta.y, cta.z};
    const std::vector<std::uint32_t>& asked = request_.cta;
    if ((request_.warp && *request_.warp != warp.warp()) || !std::equal(asked.begin(), asked.end(), here)) {
        ++others_;
        return false;
    }
    if (++hits_ < request_.count) return false;
    text_ = describe_stop(job_, warp, items_);
    return true;
}

std::unexpected<Diagnostics> Stop::not_reached() const {
    std::string who = request_.warp ? fmt::format("warp {}", *request_.warp) : "a warp";
    if (!request_.cta.empty()) who += fmt::format(" of CTA ({})", fmt::join(request_.cta, ", "));
    if (hits_ > 0)
        return fail(
            fmt::format("--stop-at {}: {} came there {} times, not {}", request_.at, who, hits_, request_.count),
            "give a lower --count");
    return fail(
        fmt::format("--stop-at {}: the kernel ended, and {} never came there", request_.at, who),
        others_ > 0 ? fmt::format("others did, {} times: leave out --warp or --cta, or give another", others_) : "");
}

}  // namespace tilepath::host
