#pragma once
#include <map>
#include <vector>

#include "isa/bind.h"
#include "program/function.h"
#include "ptx/syntax.h"

namespace tilepath::isa {

/// What the functions of one Program share while it is built: symbols get their places when they are first named.
class ProgramBuilder {
  public:
    ProgramBuilder(const ptx::Module& module, program::Program& program, Diagnostics& diagnostics);

    /// Lowers functions until nothing that they name is missing.
    void run(ptx::Id entry);

    /// Index of a function in the Program; it is lowered later. −1 if it has no body.
    std::int32_t function_index(ptx::Id function);
    /// Index of a .global or .const variable in Program::variables.
    std::uint32_t variable_index(ptx::Id variable);
    /// Offset of a static shared variable; given at its first use.
    std::uint32_t shared_offset(ptx::Id variable);
    bool is_dynamic_shared(const ptx::Variable& variable) const;
    /// Remembers that a constant is the address of dynamic shared memory, which lies behind all static variables.
    void note_dynamic_shared(std::uint32_t function, std::uint32_t constant, const ptx::Variable& variable);
    std::int32_t location(ptx::Id location);

    Binder& binder() { return binder_; }
    Diagnostics& diagnostics() { return diagnostics_; }
    std::uint32_t current_function() const { return current_; }
    const ptx::Module& module() const { return module_; }

  private:
    void check_target();
    void lower(std::uint32_t index);
    /// Where the variable begins behind `end`, which becomes its own; an error beyond what any device has.
    std::uint32_t reserve(const ptx::Variable& variable, std::uint32_t& end);
    program::FrameVariable place(const ptx::Variable& variable, std::uint32_t& end);
    void lay_out_parameters(const ptx::Function& function, program::Function& out);
    void read_bounds(const ptx::Function& entry);
    void add_variables();
    void add_variable(ptx::Id id);
    void initialise(const ptx::Variable& from, program::Variable& to);
    void fill(const ptx::Initializer& initializer, const ptx::Variable& from, program::Variable& to, std::uint64_t& at);
    void place_dynamic_shared();

    struct DynamicUse {
        std::uint32_t function, constant;
    };

    const ptx::Module& module_;
    program::Program& program_;
    Diagnostics& diagnostics_;
    Binder binder_;
    std::vector<ptx::Id> functions_;  ///< syntax of Program::functions, by index
    std::map<ptx::Id, std::int32_t> function_index_;
    std::map<ptx::Id, std::uint32_t> variable_index_, shared_offset_;
    std::map<ptx::Id, std::int32_t> location_;
    std::vector<DynamicUse> dynamic_uses_;
    std::uint32_t dynamic_alignment_ = 1;
    std::string dynamic_name_;  ///< of one of the `extern .shared` arrays, which all lie at the same place
    std::uint32_t current_ = 0;
};

}  // namespace tilepath::isa
