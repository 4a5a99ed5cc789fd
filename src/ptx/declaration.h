// Syntax of variables, functions and what stands in function bodies.
#pragma once
#include "ptx/instruction.h"

namespace tilepath::ptx {

enum class InitializerKind : std::uint8_t {
    list,     ///< `{…}`: `children`
    value,    ///< an immediate
    address,  ///< `name`, `name+offset`, `generic(name)+offset`, `0xFF00(name)`
    field,  ///< `addr_mode_0 = clamp_to_edge` of a sampler, or `filter_mode = 1`: `name`; `value_name` or the immediate
            ///< `bits`
};

struct Initializer {
    InitializerKind kind = InitializerKind::value;
    ImmediateKind immediate = ImmediateKind::s64;
    bool generic = false;              ///< `generic(name)`
    std::uint8_t mask_byte = no_mask;  ///< `0xFF00(…)` has 1: which byte of the address
    Span span;
    Id name = none;
    Id value_name = none;
    Id symbol = none;
    union {
        std::uint64_t bits = 0;  ///< value, or byte offset of an address
        Range children;          ///< in Module::initializers
    };

    static constexpr std::uint8_t no_mask = 0xff;
    std::int64_t offset() const { return static_cast<std::int64_t>(bits); }
};

/// One declared name. `.reg .pred p, q;` is two of these.
struct Variable {
    Space space = Space::none;
    Type type = Type::none;
    Linkage linkage = Linkage::none;
    std::uint8_t vector = 1;         ///< 2 for `.v2`
    bool managed : 1 = false;        ///< `.attribute(.managed)`
    bool unified : 1 = false;        ///< `.attribute(.unified(a, b))`: `unified_id`
    bool pointer : 1 = false;        ///< a kernel parameter's `.ptr`: `pointee_space` (none: generic), `pointee_align`
    bool parameterised : 1 = false;  ///< `%r<100>`: `count` names, from name0
    Space pointee_space = Space::none;
    std::uint8_t bank = 0;    ///< the legacy `.const[bank]`
    std::uint32_t align = 0;  ///< bytes as written; 0: natural
    std::uint32_t pointee_align = 0;
    std::uint32_t count = 1;
    Span span;  ///< from the space (or linkage) through the declarator
    Span name_span;
    Id name = none;  ///< none for the `_` of a prototype
    Id symbol = none;
    Range dimensions{};     ///< in Module::dimensions; a first dimension of 0 is `[]`
    Id initializer = none;  ///< in Module::initializers
    std::uint64_t unified_id[2] = {0, 0};
};

struct Pragma {
    Span span;
    std::vector<std::string_view> strings;  ///< between the quotes
};

struct FunctionDirective {
    DirectiveKind kind;
    std::uint8_t count = 0;
    std::uint32_t values[3] = {0, 0, 0};
    Span span;
    Id pragma = none;  ///< in Module::pragmas
};

enum class FunctionKind : std::uint8_t { entry, func };

struct Function {
    FunctionKind kind = FunctionKind::func;
    Linkage linkage = Linkage::none;
    bool has_body = false;
    bool has_parameter_list = false;  ///< `f ()`; a list may be left out
    bool unified = false;
    std::uint64_t unified_id[2] = {0, 0};
    Span span;
    Span name_span;
    Id name = none;
    Id symbol = none;
    Range returns{};                   ///< in Module::variables
    Range parameters{};                ///< in Module::variables
    Range directives{};                ///< in Module::function_directives
    Range body{};                      ///< in Module::statements, without the outermost braces
    std::uint32_t register_count = 0;  ///< single registers declared anywhere in it: numbers 0 … register_count − 1
    std::uint32_t label_count = 0;     ///< labels declared anywhere in it: numbers 0 … label_count − 1
};

/// `L: .callprototype (ret) _ (params) …;`
struct Prototype {
    Span span;
    Span name_span;
    Id name = none;
    Id symbol = none;
    bool has_parameter_list = false;
    Range returns{};
    Range parameters{};
    Range directives{};
};

/// `L: .branchtargets L1, L2;` or `L: .calltargets f, g;` The shorthand `N<5>` is stored as N0 … N4.
struct Targets {
    Span span;
    Span name_span;
    Id name = none;
    Id symbol = none;
    bool calls = false;
    Range targets{};  ///< in Module::operands: identifiers
};

struct Label {
    Span span;  ///< of the name
    Id name = none;
    Id symbol = none;
};

enum class StatementKind : std::uint8_t {
    instruction,  ///< Module::instructions
    label,        ///< Module::labels
    variable,     ///< Module::variables
    open,         ///< `{`; `index` is the statement that closes it
    close,        ///< `}`; `index` is the statement that opened it
    location,     ///< Module::locations
    pragma,       ///< Module::pragmas
    prototype,    ///< Module::prototypes
    targets,      ///< Module::targets
};

struct Statement {
    StatementKind kind;
    Id index;
};

}  // namespace tilepath::ptx
