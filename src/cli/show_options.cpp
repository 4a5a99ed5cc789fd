#include "cli/show_options.h"

namespace tilepath::cli {

void add_view_options(CLI::App& command, report::ViewQuestion& question) {
    command.add_option("--element", question.elements, "Where this element lies: 8,3; may be given again")
        ->type_name("COORDINATE");
    command.add_option("--lane", question.lane,
                       "What this lane holds: 0 to 31, 0 to 127 of a warpgroup or of Tensor Memory");
    command.add_flag("--table", question.table, "The matrix with places, and the places with elements");
    command.add_flag("--formula", question.formula, "Places as arithmetic, both ways");
    command.add_flag("--layout", question.layout, "The layout as S + R + O, CuTe's tree and bases over bits");
    command.add_option("--colour,--color", question.colour, "What colours stand for: lane, register or bank")
        ->transform(CLI::CheckedTransformer(std::map<std::string, report::Colour>{
            {"lane", report::Colour::lane}, {"register", report::Colour::reg}, {"bank", report::Colour::bank}}));
}

void add_swizzle_option(CLI::App& command, layout::SwizzleMode& swizzle) {
    std::string names;
    for (const layout::SwizzleTraits& row : layout::all_swizzle_modes())
        names.append(names.empty() ? "" : ", ").append(row.name);
    command
        .add_option_function<std::string>(
            "--swizzle",
            [&swizzle, names](const std::string& name) {
                const auto mode = layout::swizzle_mode_named(name);
                if (!mode) throw CLI::ValidationError("--swizzle", "expected one of " + names + "; found " + name);
                swizzle = *mode;
            },
            names)
        ->type_name("MODE");
}

void add_major_option(CLI::App& command, atom::OperandMajor& major) {
    command.add_option("--major", major, "What runs along the rows in shared memory: K, or MN (M of A, N of B)")
        ->transform(CLI::CheckedTransformer(
            std::map<std::string, atom::OperandMajor>{{"K", atom::OperandMajor::k}, {"MN", atom::OperandMajor::mn}},
            CLI::ignore_case));
}

void add_placement_options(CLI::App& command, report::OperandPlacement& placement) {
    command.add_option("--from", placement.from, "Where the operand is: registers, shared or tmem")
        ->check(CLI::IsMember({"registers", "shared", "tmem"}));
    add_major_option(command, placement.major);
    add_swizzle_option(command, placement.swizzle);
    command.add_option("--start", placement.start_bytes, "Where a shared operand starts, in bytes")
        ->check(CLI::Range(0, 1 << 18));
    command.add_option("--selector", placement.selector, "The sparsity selector of meta");
    command.add_option("--id", placement.scale_id, "byte-id, SFA_ID or SFB_ID of scale factors");
    command.add_option("--thread-id", placement.thread_id, "thread-id of mma.sync's scale factors");
    command
        .add_option_function<std::string>(
            "--vec",
            [&placement](const std::string& name) {
                const auto vector = atom::scale_vector_named(name);
                if (!vector) throw CLI::ValidationError("--vec", "expected 1X, 2X, 4X, 3X or 6X, found " + name);
                placement.vector = *vector;
            },
            "Scale factors per row: 1X, 2X or 4X; 3X or 6X with k of 96")
        ->type_name("VEC");
}

std::vector<std::string> given_options(const CLI::App& command) {
    std::vector<std::string> names;
    for (const CLI::Option* option : command.get_options())
        if (option->count() > 0 && !option->get_lnames().empty()) names.push_back("--" + option->get_lnames().front());
    return names;
}

Result<void> refuse(const CLI::App& command, std::string_view what, std::initializer_list<Irrelevant> options) {
    for (const Irrelevant& each : options)
        if (command.count(std::string(each.option)) > 0)
            return fail(std::string(each.option) + " says nothing of " + std::string(what), std::string(each.needs));
    return {};
}

}  // namespace tilepath::cli
