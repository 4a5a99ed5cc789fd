// isa/: what each instruction of PTX looks like, who has it, and what it means in micro-operations. One file per family
// in families/; this and lowering.h are the tools that they use.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "program/function.h"

namespace tilepath::isa {

class Lowering;
class Bound;
using program::DataType;

/// Which `.target`s have a form.
enum class Suffix : std::uint8_t {
    any,          ///< the base architecture and all later ones
    family,       ///< `f` or `a` targets of that family
    families,     ///< `f` or `a` targets of that family and of later ones
    architecture,  ///< the `a` target of just that architecture
    tensor_memory,           ///< `f` or `a` targets from that architecture on that have Tensor Memory: below sm_120
    tensor_memory_specific,  ///< the `a` targets of those
    tensor_memory_bytes      ///< those that multiply s8 and u8 in it: sm_100a and sm_110a
};

struct Needs {
    int major = 1, minor = 0;  ///< the PTX ISA version that introduced it
    int sm = 0;                ///< the least target
    Suffix suffix = Suffix::any;
};
constexpr Needs since(int major, int minor, int sm = 0, Suffix suffix = Suffix::any) {
    return {major, minor, sm, suffix};
}

/// A form as the manual writes it, and the words that each of its named modifiers stands for.
///
///   syntax   "ld{.weak}{.ss}{.cop}{.vec}.type d, [a]{, p:pred}"
///            .word is a modifier, {.word} may be left out. A word that `words` lists stands for one of its choices,
///            any other for itself. Modifiers come in any order, but types keep theirs (cvt.dtype.atype), and so do
///            layouts
///            (.row.col), state spaces (cp.async.shared.global) and priorities (createpolicy).
///            Operands: `d` scalar or vector, `[a]` address, `[map, at]` tensor map and coordinates, `d|p` pair, `d{|p}` pair or its first part, `(a)` list,
///            `{, a}` may be left out. `a:vector` a vector of .b32, and no scalar.
///            `a:TYPE` says an operand's type: a type, or the modifier that names it. Without it: `d`, `a`, `b`, `c`
///            have the type of .dtype, .atype, .btype, .ctype where the form has them, else of .type; `p`, `q` are
///            pred.
///   words    "type: u16 s16 u32"; one string for each named modifier
struct FormText {
    std::string_view syntax;
    std::vector<std::string_view> words;
    Needs needs;
};

/// Where the values that a form's tests expect come from.
struct Evidence {
    enum class Kind : std::uint8_t { manual, model, hardware } kind = Kind::manual;
    int sm = 0;  ///< hardware: the device that they were recorded on
};
/// tests/vectors, recorded on an H200.
constexpr Evidence h200{Evidence::Kind::hardware, 90};
std::string to_string(Evidence evidence);

/// Forms that share a lowering.
struct Family {
    std::string_view manual;  ///< PTX ISA sections
    std::vector<FormText> forms;
    void (*lower)(Lowering& to, const Bound& in) = nullptr;
    Evidence::Kind evidence = Evidence::Kind::manual;  ///< where no hardware has been recorded
    std::string_view inferred = {};  ///< what the manual leaves open, and no second source settles; empty: nothing
};

/// Modifiers that keep the form's order among themselves.
enum class Ordered : std::uint8_t { no, types, layouts, spaces, priorities };

/// One modifier of a form.
struct ModifierSlot {
    std::string name;  ///< the word itself if it stands for itself
    bool optional = false;
    Ordered ordered = Ordered::no;
    std::vector<std::string_view> words;  ///< its choices
    bool accepts(std::string_view word) const;
};

struct OperandSlot {
    enum class Kind : std::uint8_t { value, vector, address, tensor, pair, value_or_pair, list };
    std::string name, second_name;  ///< second_name: of a pair, of the coordinates in a tensor
    Kind kind = Kind::value;
    bool optional = false;
    DataType type = DataType::none;  ///< none: the lowering judges
    int type_from = -1;              ///< modifier slot that names the type
};

/// A FormText read once. Forms are compared and listed by `text`.
struct Form {
    std::string text;  ///< the syntax without `:TYPE`
    std::string opcode;
    std::vector<ModifierSlot> modifiers;
    std::vector<OperandSlot> operands;
    std::size_t least_operands = 0;
    Needs needs;
    const Family* family = nullptr;

    int modifier(std::string_view name) const;  ///< index, or −1
    int operand(std::string_view name) const;
};

/// The form as one line, with its words: its name in recorded_forms.inc.
std::string line_of(const Form& form);

/// Whether an H200 has the form, as sm_90 or sm_90a.
bool recorded_device_has(const Form& form);
/// Recorded, where tests/vectors has results for each of its words; else the manual's.
Evidence evidence_of(const Form& form);
/// The evidence in words, with what is inferred: `manual; inferred: down is …`.
std::string evidence_text(const Form& form);

/// Reads a FormText. A malformed one is a fault of ours.
Form compile(const FormText& text, const Family& family);

/// Every form of every family, in the order of the family files.
const std::vector<Form>& all_forms();
/// The forms of one opcode; empty if there is no such instruction.
const std::vector<const Form*>& forms_of(std::string_view opcode);
/// All opcodes, sorted.
const std::vector<std::string>& all_opcodes();

}  // namespace tilepath::isa
