#include "host/module.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "host/npy.h"
#include "isa/target.h"
#include "machine/device.h"

namespace tilepath::host {
namespace {

using fatbin::Image;

/// Whether a device runs PTX of that target (PTX ISA, .target): the same with an `a`, the same family with an `f`,
/// older ones without.
bool runs(const isa::Target& device, const isa::Target& target) {
    if (target.suffix == 'a') return target.sm == device.sm;
    if (target.suffix == 'f') return target.sm / 10 == device.sm / 10 && target.sm <= device.sm;
    return target.sm <= device.sm;
}

/// How well a target suits: the highest, and of one number the most special.
int rank(const isa::Target& target) {
    return target.sm * 4 + (target.suffix == 'a' ? 2 : target.suffix == 'f' ? 1 : 0);
}

bool suits(const Image& image, const std::string& arch) {
    const auto target = isa::target_named(image.target);
    if (!target) return false;
    if (const auto device = isa::target_named(arch)) return runs(*device, *target);
    return machine::device_named(image.target).has_value();
}

bool has_entries(const Image& image, const std::vector<std::string>& wanted) {
    // CUDA's own device code, which -rdc=true links in, is not what anybody means.
    if (wanted.empty())
        return std::ranges::any_of(image.entries, [](const std::string& name) { return !name.starts_with("__nv_"); });
    return std::ranges::all_of(
        wanted, [&](const std::string& name) { return std::ranges::find(image.entries, name) != image.entries.end(); });
}

/// `sm_80 (add, mul), sm_90a (add)`; long lists cut off.
std::string describe(const std::vector<Image>& images, const std::vector<std::size_t>& which) {
    std::string out;
    for (std::size_t n = 0; n < which.size() && n < 12; ++n) {
        const Image& image = images[which[n]];
        std::vector<std::string> names(image.entries.begin(),
                                       image.entries.begin() + std::min<std::ptrdiff_t>(6, std::ssize(image.entries)));
        if (names.size() < image.entries.size()) names.push_back("…");
        out += fmt::format("{}{} ({})", n ? ", " : "", image.target,
                           names.empty() ? "no kernel" : fmt::format("{}", fmt::join(names, ", ")));
    }
    if (which.size() > 12) out += fmt::format(" and {} more", which.size() - 12);
    return out;
}

Result<ModuleText> from_container(const ModuleRequest& request, const std::vector<std::uint8_t>& bytes) {
    auto images = fatbin::read_images(bytes, request.name);
    if (!images) return std::unexpected(images.error());
    auto chosen = choose_image(*images, request);
    if (!chosen) return std::unexpected(chosen.error());
    Image& image = (*images)[*chosen];
    std::vector<std::string> targets;
    for (const Image& each : *images)
        if (each.kind == Image::Kind::ptx && has_entries(each, request.entries)) targets.push_back(each.target);
    std::ranges::sort(targets);
    targets.erase(std::ranges::unique(targets).begin(), targets.end());
    std::string note = fmt::format("{}: PTX for {}", request.name, image.target);
    if (targets.size() > 1) note += fmt::format(", of {}", fmt::join(targets, ", "));
    return ModuleText{Source(image_file_name(*images, *chosen, request.name), std::move(image.ptx)), std::move(note)};
}

}  // namespace

std::string image_file_name(const std::vector<Image>& images, std::size_t index, const std::string& file) {
    const auto number = std::count_if(images.begin(), images.begin() + static_cast<std::ptrdiff_t>(index) + 1,
                                      [](const Image& image) { return image.kind == Image::Kind::ptx; });
    return fmt::format("{}.{}.{}.ptx", file, number, images[index].target);
}

std::unexpected<Diagnostics> no_ptx(const std::vector<Image>& images, const std::string& name) {
    if (images.empty())
        return fail(fmt::format("{} holds no device code", name),
                    "expected PTX, or a file that nvcc made: an executable, library, object file, fatbin or cubin");
    std::vector<std::string> targets;
    bool sass = false;
    for (const Image& image : images) {
        targets.push_back(image.target);
        sass = sass || image.kind == Image::Kind::sass;
    }
    std::ranges::sort(targets);
    targets.erase(std::ranges::unique(targets).begin(), targets.end());
    return fail(fmt::format("{} holds {} for {} and no PTX", name,
                            sass ? "SASS (machine code)" : "NVVM code for the linker", fmt::join(targets, ", ")),
                "tilepath runs PTX: compile with nvcc -gencode arch=compute_80,code=compute_80 beside what there is, "
                "or nvcc -ptx");
}

Result<std::size_t> choose_image(const std::vector<Image>& images, const ModuleRequest& request) {
    std::vector<std::size_t> all, named, best;
    for (std::size_t i = 0; i < images.size(); ++i)
        if (images[i].kind == Image::Kind::ptx) all.push_back(i);
    if (all.empty()) return no_ptx(images, request.name);
    std::ranges::copy_if(all, std::back_inserter(named),
                         [&](std::size_t i) { return has_entries(images[i], request.entries); });
    if (named.empty())
        return fail(request.entries.empty() ? fmt::format("the PTX in {} has no kernel", request.name)
                                            : fmt::format("no PTX in {} has {}'{}'", request.name,
                                                          request.entries.size() > 1 ? "all of " : "the entry ",
                                                          fmt::join(request.entries, "', '")),
                    "it holds " + describe(images, all));
    for (std::size_t i : named) {
        if (!suits(images[i], request.arch)) continue;
        const int mine = rank(*isa::target_named(images[i].target));
        const int least = best.empty() ? mine : rank(*isa::target_named(images[best.front()].target));
        if (mine > least) best.clear();
        if (mine >= least) best.push_back(i);
    }
    if (best.empty())
        return fail(fmt::format("no PTX in {} is for {}", request.name,
                                request.arch.empty() ? "a device that tilepath has" : request.arch),
                    "it holds " + describe(images, named));
    // Several object files: each its own module, unless they say the same.
    const bool alike =
        std::ranges::all_of(best, [&](std::size_t i) { return images[i].ptx == images[best.front()].ptx; });
    if (!alike)
        return fail(fmt::format("{} holds {} modules of PTX for {}: which one?", request.name, best.size(),
                                images[best.front()].target),
                    fmt::format("name the kernel with entry = \"…\", or take one out with `tilepath extract`: {}",
                                describe(images, best)));
    return best.front();
}

Result<ModuleText> read_module_text(const ModuleRequest& request) {
    auto bytes = read_bytes(request.path);
    if (!bytes) return std::unexpected(bytes.error());
    if (std::filesystem::path(request.path).extension() == ".cu") {
        auto text = compile_cuda(request.path, request.arch, request.nvcc_flags);
        if (!text) return std::unexpected(text.error());
        const std::string target = fatbin::target_of(*text);
        return ModuleText{Source(request.name + ".ptx", std::move(*text)),
                          fmt::format("{}: compiled by nvcc for {}", request.name, target)};
    }
    if (fatbin::is_container(*bytes)) return from_container(request, *bytes);
    return ModuleText{Source(request.name, std::string(bytes->begin(), bytes->end())), ""};
}

}  // namespace tilepath::host
