#include <memory>

#include "cli/commands.h"
#include "cli/show_output.h"
#include "report/layout_sheet.h"

namespace tilepath::cli {

void add_layout(CLI::App& program, int& exit_status) {
    struct Options {
        report::LayoutQuestion question;
        SheetOutput output;
    };
    auto options = std::make_shared<Options>();
    CLI::App* command = program.add_subcommand("layout", "Evaluate, compare, convert and draw a layout");
    report::LayoutQuestion& question = options->question;
    command
        ->add_option("EXPR", question.expression,
                     "S[extents:strides@axis] + R[…] + O[…], CuTe's shape:stride (Sw<B,M,S> o offset o … too), or "
                     "bits[axis: bases; …] -> shape")
        ->required();
    command->add_option("--at", question.at, "Where this element lies: 8,3; may be given again")
        ->type_name("COORDINATE");
    command->add_option("--shape", question.shape, "Number elements in this shape, last dimension fastest: 16,8")
        ->type_name("SHAPE");
    command
        ->add_option("--inverse", question.inverse,
                     "What lies at a place, laneid=4,reg=1; without one: the inverse layout")
        ->type_name("PLACE")
        ->expected(0, 1);
    command->add_option("--equal", question.equal, "Compare with this layout, element by element")->type_name("EXPR");
    command->add_flag("--cute", question.cute, "Print it as CuTe's shape:stride");
    command->add_flag("--bits", question.bits, "Print it as bases over bits, from places to coordinates");
    command->add_flag("--formula", question.formula, "Print it as arithmetic, both ways");
    command->add_flag("--table", question.table, "Draw the matrix with places, and the places with elements");
    command->add_option("--colour,--color", question.colour, "What colours stand for: lane, register or bank")
        ->transform(CLI::CheckedTransformer(std::map<std::string, report::Colour>{
            {"lane", report::Colour::lane}, {"register", report::Colour::reg}, {"bank", report::Colour::bank}}));
    options->output.add_options(*command);
    command->callback([options, &exit_status] {
        report::LayoutQuestion& asked = options->question;
        const bool pictures = !options->output.svg.empty() || !options->output.html.empty();
        if (pictures) asked.table = true;
        exit_status = options->output.put(layout_sheet(asked));
    });
}

}  // namespace tilepath::cli
