#include "cli/show_output.h"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>

#include "cli/commands.h"

namespace tilepath::cli {
namespace {

Result<void> write(const std::string& path, const std::string& text) {
    std::ofstream out(path, std::ios::binary);
    out << text;
    out.close();
    if (!out) return fail(fmt::format("cannot write {}", path), "is its folder there, and may you write in it?");
    return {};
}

}  // namespace

void SheetOutput::add_options(CLI::App& command) {
    command.add_flag("--json", json, "Print it as JSON");
    command.add_option("--svg", svg, "Draw it in this file too")->type_name("FILE");
    command.add_option("--html", html, "Write it to this file as a page too")->type_name("FILE");
}

int SheetOutput::put(const Result<report::Sheet>& sheet) const {
    if (!sheet) return report_bad_input(sheet.error());
    std::fputs((json ? to_json(*sheet) : to_text(*sheet)).c_str(), stdout);
    if (!svg.empty()) {
        if (auto ok = write(svg, to_svg(*sheet)); !ok) return report_bad_input(ok.error());
    }
    if (!html.empty()) {
        if (auto ok = write(html, to_html(*sheet)); !ok) return report_bad_input(ok.error());
    }
    return sheet->disagrees ? exit_difference : exit_clean;
}

}  // namespace tilepath::cli
