#pragma once
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "isa/form.h"
#include "isa/target.h"
#include "ptx/syntax.h"

namespace tilepath::isa {

/// One form that a head (`ld.global.v4.f32`) fits, with the word that each of its modifiers took.
struct HeadMatch {
    const Form* form = nullptr;
    std::vector<std::string_view> words;  ///< by modifier slot; empty: left out
    std::vector<DataType> types;          ///< the same, where the word is a type
    program::Flags flags;
    number::Rounding rounding = number::Rounding::rn;
    program::MemoryOrder order = program::MemoryOrder::weak;
    program::MemoryScope scope = program::MemoryScope::none;
    DataType operand_type(std::size_t operand) const;
};

/// An instruction with its one form: what a lowering reads.
class Bound {
  public:
    Bound(const HeadMatch& match, const ptx::Module& module, const ptx::Instruction& instruction)
        : match_(match),
          module_(module),
          instruction_(instruction),
          operands_(module.operands_in(instruction.operands)) {}

    const Form& form() const { return *match_.form; }
    const ptx::Module& module() const { return module_; }
    const ptx::Instruction& instruction() const { return instruction_; }

    /// The word that a modifier took, or "" if it was left out or the form has no such modifier.
    std::string_view word(std::string_view modifier) const;
    bool has(std::string_view modifier) const { return !word(modifier).empty(); }
    /// The type that a modifier took; none if it was left out.
    DataType type(std::string_view modifier = "type") const;
    /// .ftz .sat .satfinite .relu .approx .full .NaN .xorsign .abs .noftz .aligned .volatile .nc, and whether a
    /// rounding stands.
    program::Flags flags() const { return match_.flags; }
    number::Rounding rounding() const { return match_.rounding; }
    program::MemoryOrder order() const { return match_.order; }
    program::MemoryScope scope() const { return match_.scope; }

    std::size_t operand_count() const { return operands_.size(); }
    /// An operand by its name in the form; nullptr if it was left out. Of a pair: the pair.
    const ptx::Operand* operand(std::string_view name) const;
    const ptx::Operand& operator[](std::string_view name) const;
    const ptx::Operand& operand(std::size_t index) const { return operands_[index]; }
    DataType operand_type(std::string_view name) const;
    DataType operand_type(std::size_t index) const { return match_.operand_type(index); }

  private:
    const HeadMatch& match_;
    const ptx::Module& module_;
    const ptx::Instruction& instruction_;
    std::span<const ptx::Operand> operands_;
};

/// Binds each instruction of one module to exactly one form. What it finds out about a head it remembers.
class Binder {
  public:
    explicit Binder(const ptx::Module& module);

    /// The match, or a diagnostic that names what does not fit. Valid as long as the Binder.
    const HeadMatch* bind(const ptx::Instruction& instruction, Diagnostics& diagnostics);

  private:
    struct HeadEntry {
        bool known = false;
        std::vector<HeadMatch> matches;  ///< supported by the module's version and target
        std::optional<Needs> missing;    ///< of a form that fits but is not supported
    };
    const HeadEntry& entry(ptx::Id head);
    void explain(const ptx::Instruction& instruction, const HeadEntry& entry, Diagnostics& diagnostics) const;

    const ptx::Module& module_;
    Target target_;
    std::vector<HeadEntry> entries_;
};

/// Every way in which a head's modifiers fit one form: at most one. nullopt if they do not.
std::optional<HeadMatch> match_head(const ptx::Head& head, const Form& form);

/// The words of `candidates` most like `word`, best first; at most `most`.
std::vector<std::string_view> similar(std::string_view word, std::span<const std::string> candidates,
                                      std::size_t most = 3);

}  // namespace tilepath::isa
