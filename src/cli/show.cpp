#include <memory>

#include "cli/commands.h"
#include "cli/show_options.h"

namespace tilepath::cli {
namespace {

struct Options {
    report::InstructionQuestion instruction;
    bool conflicts = false;
    int pitch = 128;
    std::optional<std::string> pattern;
    report::DescriptorQuestion descriptor;
    report::InstructionDescriptorQuestion instruction_descriptor;
    report::ScaleFactorQuestion scale_factors;
    report::SwizzleQuestion swizzle;
    std::string mask;
    int mask_m = 128, mask_n = 128;
    std::optional<std::string> address;
    SheetOutput output;
};
using Shared = std::shared_ptr<Options>;

CLI::App* subcommand(CLI::App& show, const Shared& options, const char* name, const char* what) {
    CLI::App* command = show.add_subcommand(name, what);
    options->output.add_options(*command);
    return command;
}

bool draws(const SheetOutput& output) { return !output.svg.empty() || !output.html.empty(); }

void add_descriptor(CLI::App& show, const Shared& options, int& exit_status) {
    CLI::App* command = subcommand(show, options, "descriptor",
                                   "A 64-bit descriptor of an operand in shared memory, decoded or encoded");
    report::DescriptorQuestion& question = options->descriptor;
    command->add_option("BITS", question.bits, "0x…; without: the descriptor of --tile");
    command->add_option("--arch", question.arch, "sm_90a (wgmma), sm_100a or sm_103a (tcgen05)")->capture_default_str();
    command->add_option("--dtype", question.dtype, "Type of the elements")->capture_default_str();
    command->add_option("--tile", question.tile, "MN x K: 64x64; of a decoded one, what an instruction reads");
    command->add_option("--start", question.start_bytes, "Where the tile starts, in bytes")
        ->check(CLI::Range(0, 1 << 18));
    add_major_option(*command, question.major);
    add_swizzle_option(*command, question.swizzle);
    add_view_options(*command, question.view);
    command->callback([command, options, &exit_status] {
        if (options->descriptor.bits) {
            const auto ok = refuse(*command, "a descriptor that is decoded",
                                   {{"--swizzle", "its bits say it; it needs a --tile to encode"},
                                    {"--start", "its bits say it; it needs a --tile to encode"}});
            if (!ok) return void(exit_status = report_bad_input(ok.error()));
        }
        if (draws(options->output)) options->descriptor.view.table = true;
        exit_status = options->output.put(descriptor_sheet(options->descriptor));
    });
}

void add_instruction_descriptor(CLI::App& show, const Shared& options, int& exit_status) {
    CLI::App* command =
        subcommand(show, options, "idesc", "The instruction descriptor of tcgen05.mma, decoded or encoded");
    report::InstructionDescriptorQuestion& question = options->instruction_descriptor;
    command
        ->add_option("BITS", question.text,
                     "0x…, or an instruction: tcgen05.mma.cta_group::1.kind::f16.m128n256k16.f32.f16.f16")
        ->required();
    command->add_option("--kind", question.kind, "To decode: f16 tf32 f8f6f4 i8 mxf8f6f4 mxf4 mxf4nvf4")
        ->capture_default_str();
    command->add_option("--cta-group", question.cta_group, "To decode: 1 or 2")->capture_default_str();
    command->add_flag("--ws", question.weight_stationary, "To decode: of a .ws instruction");
    command->add_flag("--a-mn-major", question.a_mn_major, "To encode: A is MN-major");
    command->add_flag("--b-mn-major", question.b_mn_major, "To encode: B is MN-major");
    command->callback([command, options, &exit_status] {
        const auto ok = options->instruction_descriptor.decodes()
                            ? refuse(*command, "a descriptor that is decoded",
                                     {{"--a-mn-major", "its bits say it; it needs an instruction to encode"},
                                      {"--b-mn-major", "its bits say it; it needs an instruction to encode"}})
                            : refuse(*command, "a descriptor that is encoded",
                                     {{"--kind", "the instruction's name says it; it needs bits to decode"},
                                      {"--cta-group", "the instruction's name says it; it needs bits to decode"},
                                      {"--ws", "the instruction's name says it; it needs bits to decode"}});
        if (!ok) return void(exit_status = report_bad_input(ok.error()));
        exit_status = options->output.put(instruction_descriptor_sheet(options->instruction_descriptor));
    });
}

void add_memory(CLI::App& show, const Shared& options, int& exit_status) {
    CLI::App* memory = subcommand(show, options, "tmem", "Tensor Memory, and what an address of it says");
    memory->add_option("ADDRESS", options->address, "0x…: lane << 16 | column");
    memory->callback(
        [options, &exit_status] { exit_status = options->output.put(report::tensor_memory_sheet(options->address)); });

    CLI::App* factors = subcommand(show, options, "scale-factors", "Where block scale factors lie in Tensor Memory");
    report::ScaleFactorQuestion& question = options->scale_factors;
    factors->add_option("--vec", question.vector, "1X, 2X or 4X; 3X or 6X of k of 96")->capture_default_str();
    factors->add_option("--id", question.id, "SFA_ID or SFB_ID: the byte of the first factor");
    factors->add_option("--rows", question.rows, "Rows of A, or columns of B")->capture_default_str();
    factors->add_flag("--split", question.split,
                      "Of B with cta_group::2 and M of 128: a half of N in each half of the lanes");
    add_view_options(*factors, question.view);
    factors->callback([options, &exit_status] {
        if (draws(options->output)) options->scale_factors.view.table = true;
        exit_status = options->output.put(scale_factor_sheet(options->scale_factors));
    });

    CLI::App* mask = subcommand(show, options, "zero-column-mask", "The zero-column mask of tcgen05.mma.ws");
    mask->add_option("BITS", options->mask, "0x…")->required();
    mask->add_option("-m", options->mask_m, "Rows: 32, 64 or 128")->capture_default_str();
    mask->add_option("-n", options->mask_n, "Columns: 64, 128 or 256")->capture_default_str();
    mask->callback([options, &exit_status] {
        exit_status =
            options->output.put(report::zero_column_mask_sheet(options->mask, options->mask_m, options->mask_n));
    });
}

void add_others(CLI::App& show, const Shared& options, int& exit_status) {
    CLI::App* compare = subcommand(show, options, "compare", "The three generations side by side");
    compare->callback([options, &exit_status] { exit_status = options->output.put(report::compare_sheet()); });

    CLI::App* swizzle =
        subcommand(show, options, "swizzle", "A swizzle without bank conflicts for several accesses, with its proof");
    swizzle->add_option("--pattern", options->swizzle.patterns, "Lane to byte address: S[32:4]; once per access")
        ->required();
    swizzle->add_option("--bytes", options->swizzle.bytes, "Bytes per lane: 4, 8 or 16; once per access")->required();
    swizzle->add_option("--address-bits", options->swizzle.address_bits, "The buffer has 2^this bytes")
        ->capture_default_str()
        ->check(CLI::Range(7, 20));
    swizzle->callback([options, &exit_status] { exit_status = options->output.put(swizzle_sheet(options->swizzle)); });
}

int show_instruction(const CLI::App& show, Options& options) {
    report::InstructionQuestion& question = options.instruction;
    if (options.conflicts) {
        constexpr std::string_view whole = "it needs an operand, without --conflicts";
        auto ok = refuse(show, "bank conflicts",
                         {{"--operand", whole},
                          {"--element", whole},
                          {"--lane", whole},
                          {"--table", whole},
                          {"--formula", whole},
                          {"--layout", whole},
                          {"--colour", whole},
                          {"--from", whole},
                          {"--major", whole},
                          {"--selector", whole},
                          {"--id", whole},
                          {"--thread-id", whole},
                          {"--vec", whole}});
        if (ok && options.pattern)
            ok = refuse(show, "a --pattern", {{"--pitch", "it needs ldmatrix or stmatrix, without --pattern"}});
        if (!ok) return report_bad_input(ok.error());
        return options.output.put(
            report::conflict_sheet({question.instruction, options.pitch, question.placement.swizzle,
                                    question.placement.start_bytes, options.pattern}));
    }
    question.placement.given = given_options(show);
    if (!question.view.table && !draws(options.output))
        if (auto ok = refuse(show, "an answer without squares", {{"--colour", "it needs --table, --svg or --html"}});
            !ok)
            return report_bad_input(ok.error());
    if (draws(options.output) && question.operand) question.view.table = true;
    return options.output.put(instruction_sheet(question));
}

}  // namespace

void add_show(CLI::App& program, int& exit_status) {
    auto options = std::make_shared<Options>();
    CLI::App* show =
        program.add_subcommand("show", "A tensor instruction: who holds which element, descriptors, bank conflicts");
    show->add_option("INSTRUCTION", options->instruction.instruction,
                     "PTX's name or a part of it, mma.sync.m16n8k16, or CuTe's: SM80_16x8x16_F32F16F16F32_TN");
    show->add_option("--operand", options->instruction.operand,
                     "A, B, C, D, meta, sfa, sfb; matrices of ldmatrix; TMEM of tcgen05.ld");
    add_view_options(*show, options->instruction.view);
    add_placement_options(*show, options->instruction.placement);
    CLI::Option* conflicts =
        show->add_flag("--conflicts", options->conflicts, "Bank conflicts of ldmatrix, stmatrix, ld.shared, st.shared");
    show->add_option("--pitch", options->pitch, "Bytes from row to row")->capture_default_str()->needs(conflicts);
    show->add_option("--pattern", options->pattern, "Lane to byte address: S[32:4]")->needs(conflicts);
    options->output.add_options(*show);
    add_descriptor(*show, options, exit_status);
    add_instruction_descriptor(*show, options, exit_status);
    add_memory(*show, options, exit_status);
    add_others(*show, options, exit_status);
    show->callback([show, options, &exit_status] {
        if (!show->get_subcommands().empty()) return;
        if (options->instruction.instruction.empty()) {
            exit_status = report_bad_input(
                fail("show what?",
                     "an instruction, descriptor, idesc, tmem, scale-factors, zero-column-mask, swizzle or compare")
                    .error());
            return;
        }
        if (options->conflicts && show->count("--swizzle") == 0)
            options->instruction.placement.swizzle = layout::SwizzleMode::none;
        exit_status = show_instruction(*show, *options);
    });
}

}  // namespace tilepath::cli
