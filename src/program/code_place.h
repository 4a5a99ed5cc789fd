#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "program/function.h"

namespace tilepath::program {

/// Where an instruction stands, told so that a report needs no Program.
struct CodePlace {
    std::string function;
    Place ptx;              ///< file, line, column and text of the PTX
    std::string operation;  ///< the instruction's text
    std::string source_file;
    unsigned source_line = 0;  ///< from .loc; 0: none
};

/// The programs of a run: a function's instructions have their places in the one that it belongs to.
class Programs {
  public:
    Programs(const Program& only) : all_{&only} {}
    explicit Programs(std::vector<const Program*> all) : all_(std::move(all)) {}
    const Program& of(const Function& function) const;

  private:
    std::vector<const Program*> all_;
};

CodePlace code_place(const Program& program, const Function& function, const MicroOp* op);
CodePlace code_place(const Programs& programs, const Function& function, const MicroOp* op);

/// An instruction's text in one line; of a list of more than four registers the first and the last.
std::string one_line(std::string_view instruction);
/// `in kernel, file.ptx:12: add.u32 %r1, %r2, %r3;`, and the source's line behind it.
std::string describe(const CodePlace& place);

}  // namespace tilepath::program
