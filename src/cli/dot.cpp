#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/commands.h"
#include "cli/dot_lines.h"
#include "number/explain.h"
#include "report/json_text.h"

namespace tilepath::cli {
namespace {

using number::DotRecipe;
using number::DotRequest;
using number::Format;
using number::Scaling;
using number::traits;

struct Options {
    std::string arch = "sm_80", instruction = "mma.sync", types, scales, kind, rounding = "rn", file = "-";
    bool satfinite = false, exclusive_or = false, m8n8k4 = false, separate_halves = false, without_c = false;
    bool explain = false, json = false;
    unsigned show = 3;
};

std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> words;
    std::stringstream in(text);
    for (std::string word; std::getline(in, word, ',');) words.push_back(word);
    return words;
}

Result<Format> format_of(const std::string& name) {
    if (const auto format = number::format_named(name)) return *format;
    std::string known;
    for (const Format f : number::all_formats()) known += fmt::format("{}{}", known.empty() ? "" : " ", traits(f).name);
    return fail(fmt::format("unknown type '{}'", name), "known are " + known);
}

Result<void> read_types(const Options& options, DotRequest& request) {
    const auto names = split(options.types);
    if (names.size() != 3)
        return fail(fmt::format("--types: expected three types A,B,D, found '{}'", options.types),
                    "for example --types f16,f16,f32");
    for (const auto& [name, to] : {std::pair{names[0], &request.a}, {names[1], &request.b}, {names[2], &request.d}}) {
        const auto format = format_of(name);
        if (!format) return std::unexpected(format.error());
        *to = *format;
    }
    return {};
}

Result<void> read_scales(const Options& options, DotRequest& request) {
    const bool fp4 = request.a == Format::e2m1 && request.b == Format::e2m1;
    if (options.scales.empty()) {
        if (!options.kind.empty()) return fail("--kind names a block-scaled kind", "give --scales too");
        return {};
    }
    const auto words = split(options.scales);
    const auto scale = format_of(words.empty() ? "" : words.front());
    if (!scale) return std::unexpected(scale.error());
    request.scale = *scale;
    request.scale_block = *scale == Format::ue4m3 ? 16 : 32;
    if (words.size() == 2 && (words[1] == "16" || words[1] == "32"))
        request.scale_block = std::stoi(words[1]);
    else if (words.size() > 1)
        return fail(fmt::format("--scales: expected ue8m0 or ue4m3, then ,16 or ,32; found '{}'", options.scales));
    if (options.kind.empty())
        request.scaling = fp4 ? Scaling::per_group : Scaling::per_dot;
    else if (options.kind == "mxf8f6f4")
        request.scaling = Scaling::per_dot;
    else if (options.kind == "mxf4" || options.kind == "mxf4nvf4")
        request.scaling = Scaling::per_group;
    else
        return fail(fmt::format("--kind: expected mxf8f6f4, mxf4 or mxf4nvf4, found '{}'", options.kind));
    return {};
}

Result<DotRecipe> recipe_of(const Options& options) {
    DotRequest request;
    Diagnostics wrong;
    const auto collect = [&](const auto& result) {
        if (!result) wrong.insert(wrong.end(), result.error().begin(), result.error().end());
        return bool(result);
    };
    const auto device = number::generation_of(options.arch);
    if (collect(device)) request.device = *device;
    const auto instruction = number::instruction_named(options.instruction);
    if (collect(instruction)) request.instruction = *instruction;
    if (collect(read_types(options, request))) collect(read_scales(options, request));
    using number::Rounding;
    for (const auto& [name, mode] :
         {std::pair{"rn", Rounding::rn}, {"rz", Rounding::rz}, {"rm", Rounding::rm}, {"rp", Rounding::rp}})
        if (options.rounding == name) request.f64_rounding = mode;
    request.saturate = options.satfinite;
    request.exclusive_or = options.exclusive_or;
    request.m8n8k4 = options.m8n8k4;
    request.separate_halves = options.separate_halves;
    if (!wrong.empty()) return std::unexpected(std::move(wrong));
    return number::recipe(request);
}

Result<Source> read_input(const std::string& path) {
    if (path == "-") return Source("<stdin>", {std::istreambuf_iterator<char>(std::cin), {}});
    std::ifstream in(path, std::ios::binary);
    if (!in)
        return fail(fmt::format("cannot read {}", path), "give a file of lines `a b c [d]`, or - for standard input");
    std::string text{std::istreambuf_iterator<char>(in), {}};
    if (in.bad() || (text.empty() && in.fail() && !in.eof())) return fail(fmt::format("cannot read {}", path));
    return Source(path, std::move(text));
}

std::string hex(std::uint64_t bits, Format format) { return fmt::format("{:0{}x}", bits, hex_digits(format)); }

nlohmann::json json_of(const number::ExplainedGroup& group, Format d) {
    nlohmann::json terms = nlohmann::json::array();
    for (const number::ExplainedTerm& t : group.terms) {
        nlohmann::json term{{"exponent", t.exponent},
                            {"significand", t.significand},
                            {"fraction_bits", t.fraction_bits},
                            {"shift", t.shift},
                            {"kept", t.kept},
                            {"cut", t.cut}};
        if (t.source != number::ExplainedTerm::Source::c) term["k"] = t.k;
        terms.push_back(std::move(term));
    }
    return {{"special", group.special}, {"largest_exponent", group.largest}, {"least_exponent", group.least},
            {"sum", group.sum},         {"terms", std::move(terms)},         {"result", hex(group.result, d)}};
}

nlohmann::json json_of(const DotLine& line, std::uint64_t computed, const number::Explanation& e, Format d) {
    nlohmann::json groups = nlohmann::json::array();
    for (const auto& group : e.groups) groups.push_back(json_of(group, d));
    nlohmann::json out{{"line", line.number}, {"computed", hex(computed, d)}, {"groups", std::move(groups)}};
    if (line.d) out["expected"] = hex(*line.d, d);
    return out;
}

/// Computes every line, tells what differs, and gives the exit status.
int compute(const Options& options, const DotRecipe& recipe, const std::vector<DotLine>& lines) {
    std::size_t compared = 0, different = 0;
    nlohmann::json results = nlohmann::json::array(), explained = nlohmann::json::array();
    for (const DotLine& line : lines) {
        const number::Scales scales{line.scale_a, line.scale_b};
        const std::uint64_t c = options.without_c ? 0 : line.c;
        const std::uint64_t d = number::dot(recipe, line.a, line.b, c, scales);
        const bool differs = line.d && *line.d != d;
        compared += line.d.has_value();
        different += differs;
        if (options.json) results.push_back(hex(d, recipe.d));
        if (!options.json && !line.d) fmt::print("{}\n", hex(d, recipe.d));
        if (!options.explain && !(differs && different <= options.show)) continue;
        const number::Explanation e = number::explain(recipe, line.a, line.b, c, scales);
        if (options.json) {
            explained.push_back(json_of(line, d, e, recipe.d));
            continue;
        }
        if (differs)
            fmt::print("line {}: computed {}, expected {}\n", line.number, hex(d, recipe.d), hex(*line.d, recipe.d));
        else
            fmt::print("line {}: {}\n", line.number, hex(d, recipe.d));
        fmt::print("{}", to_string(recipe, e));
    }
    if (options.json)
        fmt::print("{}\n", report::json_text({{"results", std::move(results)},
                                              {"explained", std::move(explained)},
                                              {"compared", compared},
                                              {"different", different}}));
    else if (compared != 0 || lines.empty())
        fmt::print("{} compared, {} different\n", compared, different);
    return different == 0 ? exit_clean : exit_difference;
}

constexpr const char* footer = R"(Each line of FILE holds hexadecimal columns:

  a b c [d]            the elements of A's row and B's column in ascending k, most significant digit first,
                       without separators; C; and perhaps the result to compare with
  a b c sfa sfb [d]    with --scales: the block scales of a and of b, in ascending k, two digits each

An element takes 2, 4, 8 or 16 digits, 4-bit types one (6-bit types two, the value in the low bits); one digit of
b1 holds four elements. Blank lines and lines that begin with # are passed over. A longer k than the instruction has
is a chain of instructions. Exit status: 0 all agree, 1 some differ, 2 bad input.

  tilepath dot --arch sm_90 --instruction wgmma --types e4m3,e4m3,f32 vectors.txt
  echo 3c003c00 3c004000 3f800000 | tilepath dot --arch sm_80 --types f16,f16,f32 --explain)";

}  // namespace

void add_dot(CLI::App& program, int& exit_status) {
    auto options = std::make_shared<Options>();
    CLI::App* command =
        program.add_subcommand("dot", "What a device's tensor core gives for one dot product, to the bit");
    command->add_option("FILE", options->file, "Lines of columns (see below); default: standard input");
    command->add_option("--arch", options->arch, "The device that executes: sm_80, sm_90a, sm_100a, ...")->required();
    command->add_option("--instruction", options->instruction, "mma.sync, wgmma, tcgen05.mma or wmma")
        ->capture_default_str();
    command->add_option("--types", options->types, "Of A, B and D: A,B,D; C has D's")->required();
    command->add_option("--scales", options->scales,
                        "Block scales: ue8m0 or ue4m3, and the elements that share one: ue8m0,32");
    command->add_option("--kind", options->kind,
                        "Which block-scaled kind: mxf8f6f4, mxf4, mxf4nvf4; default: by the types (e2m1,e2m1: mxf4)");
    command->add_option("--rounding", options->rounding, "Of f64: rn, rz, rm, rp")
        ->check(CLI::IsMember({"rn", "rz", "rm", "rp"}))
        ->capture_default_str();
    command->add_flag("--satfinite", options->satfinite, "Integers: clamp to 32 bits in place of wrapping");
    command->add_flag("--xor", options->exclusive_or, "b1: .xor.popc in place of .and.popc");
    command->add_flag("--m8n8k4", options->m8n8k4, "The f16 shape of sm_70, which no later tensor core executes");
    command->add_flag("--separate-halves", options->separate_halves,
                      "FP8 mma.sync on sm_90 and sm_100 as CUDA 12.4 lowered it");
    command->add_flag("--without-c", options->without_c,
                      "Take +0 for C whatever the column says (wgmma's scale-d = 0)");
    command->add_option("--show", options->show, "How many differences to explain term by term")->capture_default_str();
    command->add_flag("--explain", options->explain, "Explain every line term by term");
    command->add_flag("--json", options->json, "Results, differences and explanations as JSON");
    command->footer(footer);
    command->callback([options, &exit_status] {
        const auto recipe = recipe_of(*options);
        if (!recipe) return void(exit_status = report_bad_input(recipe.error()));
        const auto source = read_input(options->file);
        if (!source) return void(exit_status = report_bad_input(source.error()));
        const auto lines = read_dot_lines(*source, *recipe);
        if (!lines) return void(exit_status = report_bad_input(lines.error()));
        exit_status = compute(*options, *recipe, *lines);
    });
}

}  // namespace tilepath::cli
