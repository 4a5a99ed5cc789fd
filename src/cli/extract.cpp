#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "host/module.h"
#include "host/npy.h"
#include "report/json_text.h"

namespace tilepath::cli {
namespace {

using fatbin::Image;
namespace fs = std::filesystem;

struct Options {
    std::string file, output = ".";
    bool list = false, force = false, json = false;
};

/// `app: 2 PTX, 1 SASS`.
std::string summary(const std::vector<Image>& images) {
    std::map<Image::Kind, std::size_t> counts;
    for (const Image& image : images) ++counts[image.kind];
    std::string out;
    for (const auto& [kind, count] : counts)
        out += fmt::format("{}{} {}", out.empty() ? "" : ", ", count, fatbin::name(kind));
    return out;
}

std::string line(const Image& image) {
    std::string out = fmt::format("  {:<4}  {:<7} {:>9} bytes", fatbin::name(image.kind), image.target, image.bytes);
    if (!image.origin.empty()) out += "  " + image.origin;
    constexpr std::size_t shown = 8;
    std::string kernels;
    for (std::size_t i = 0; i < image.entries.size() && i < shown; ++i)
        kernels += (kernels.empty() ? "" : ", ") + image.entries[i];
    if (image.entries.size() > shown) kernels += fmt::format(" and {} more", image.entries.size() - shown);
    if (image.kind == Image::Kind::ptx) out += "  " + (kernels.empty() ? "no kernel" : kernels);
    return out + "\n";
}

nlohmann::json to_json(const std::vector<Image>& images, const std::vector<std::string>& written) {
    nlohmann::json out{{"exit_status", exit_clean}, {"images", nlohmann::json::array()}};
    std::size_t next = 0;
    for (const Image& image : images) {
        nlohmann::json row{{"kind", fatbin::name(image.kind)}, {"target", image.target}, {"bytes", image.bytes}};
        if (!image.origin.empty()) row["member"] = image.origin;
        if (image.kind == Image::Kind::ptx) {
            row["entries"] = image.entries;
            if (next < written.size()) row["file"] = written[next++];
        }
        out["images"].push_back(row);
    }
    return out;
}

/// Writes each PTX; the paths, in order.
Result<std::vector<std::string>> write_all(const Options& options, const std::vector<Image>& images) {
    std::error_code error;
    fs::create_directories(options.output, error);
    if (error) return fail(fmt::format("cannot make the folder {}: {}", options.output, error.message()));
    std::vector<std::string> paths;
    const std::string name = fs::path(options.file).filename().string();
    for (std::size_t i = 0; i < images.size(); ++i) {
        if (images[i].kind != Image::Kind::ptx) continue;
        paths.push_back(
            (fs::path(options.output) / host::image_file_name(images, i, name)).lexically_normal().string());
        if (fs::exists(paths.back()) && !options.force)
            return fail(fmt::format("{} exists already", paths.back()), "give another --output, or --force");
    }
    std::size_t next = 0;
    for (const Image& image : images) {
        if (image.kind != Image::Kind::ptx) continue;
        if (auto written = host::write_bytes(paths[next++], {image.ptx.begin(), image.ptx.end()}); !written)
            return std::unexpected(written.error());
    }
    return paths;
}

Result<std::vector<Image>> read(const std::string& file) {
    auto bytes = host::read_bytes(file);
    if (!bytes) return std::unexpected(bytes.error());
    if (!fatbin::is_container(*bytes) &&
        !fatbin::target_of({reinterpret_cast<const char*>(bytes->data()), bytes->size()}).empty())
        return fail(fmt::format("{} is PTX already", file),
                    fmt::format("`tilepath init {}` writes a launch file for it", file));
    return fatbin::read_images(*bytes, file);
}

int extract(const Options& options) {
    auto images = read(options.file);
    if (!images) return report_bad_input(images.error());
    const bool has_ptx =
        std::ranges::any_of(*images, [](const Image& image) { return image.kind == Image::Kind::ptx; });
    if (images->empty() || (!has_ptx && !options.list))
        return report_bad_input(host::no_ptx(*images, options.file).error());
    std::vector<std::string> written;
    if (!options.list) {
        auto paths = write_all(options, *images);
        if (!paths) return report_bad_input(paths.error());
        written = std::move(*paths);
    }
    if (options.json) {
        fmt::print("{}\n", report::json_text(to_json(*images, written)));
        return exit_clean;
    }
    fmt::print("{}: {}\n", options.file, summary(*images));
    for (const Image& image : *images) std::fputs(line(image).c_str(), stdout);
    for (const std::string& path : written) fmt::print("wrote {}\n", path);
    if (!has_ptx) {
        Diagnostic nothing = host::no_ptx(*images, options.file).error().front();
        nothing.severity = Severity::note;
        std::fputs(to_string(nothing).c_str(), stdout);
    }
    return exit_clean;
}

}  // namespace

void add_extract(CLI::App& program, int& exit_status) {
    auto options = std::make_shared<Options>();
    CLI::App* command =
        program.add_subcommand("extract", "Take the PTX out of an executable, library, object file or fatbin");
    command->add_option("FILE", options->file, "What nvcc made: ELF, static library, fatbin, cubin")->required();
    command->add_option("-o,--output", options->output, "The folder to write to; default: here");
    command->add_flag("--list", options->list, "Only say what is in it");
    command->add_flag("--force", options->force, "Overwrite existing files");
    command->add_flag("--json", options->json, "Print it as JSON");
    command->callback([options, &exit_status] { exit_status = extract(*options); });
}

}  // namespace tilepath::cli
