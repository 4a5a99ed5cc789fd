#include <algorithm>

#include "ptx/print.h"

namespace tilepath::ptx {
namespace {

/// Compares two modules node by node; names by text, since their numbers depend on the order of the text.
class Comparison {
  public:
    Comparison(const Module& a, const Module& b) : a_(a), b_(b) {}

    bool same_module() const {
        return a_.version_major == b_.version_major && a_.version_minor == b_.version_minor &&
               a_.address_size == b_.address_size && a_.has_address_size == b_.has_address_size &&
               same_lists(a_.items, b_.items, [&](const Item& a, const Item& b) { return same_item(a, b); });
    }

  private:
    template <class T, class Same>
    static bool same_lists(const T& a, const T& b, Same same) {
        return std::equal(std::begin(a), std::end(a), std::begin(b), std::end(b), same);
    }
    template <class Node, class Same>
    static bool same_ranges(const std::vector<Node>& as, Range a, const std::vector<Node>& bs, Range b, Same same) {
        if (a.count != b.count) return false;
        for (Id i = 0; i < a.count; ++i)
            if (!same(as[a.first + i], bs[b.first + i])) return false;
        return true;
    }
    bool same_name(Id a, Id b) const { return (a == none) == (b == none) && a_.name(a) == b_.name(b); }

    bool same_item(const Item& a, const Item& b) const {
        if (a.kind != b.kind) return false;
        switch (a.kind) {
            case ItemKind::target: return a_.targets_of_module[a.index].words == b_.targets_of_module[b.index].words;
            case ItemKind::variable: return same(a_.variables[a.index], b_.variables[b.index]);
            case ItemKind::function: return same(a_.functions[a.index], b_.functions[b.index]);
            case ItemKind::alias: {
                const Alias &x = a_.aliases[a.index], &y = b_.aliases[b.index];
                return same_name(x.name, y.name) && same_name(x.aliasee, y.aliasee);
            }
            case ItemKind::file: {
                const File &x = a_.files[a.index], &y = b_.files[b.index];
                return x.index == y.index && x.name == y.name && x.has_details == y.has_details &&
                       x.timestamp == y.timestamp && x.size == y.size;
            }
            case ItemKind::section: return same(a_.sections[a.index], b_.sections[b.index]);
            case ItemKind::pragma: return a_.pragmas[a.index].strings == b_.pragmas[b.index].strings;
            case ItemKind::location: return same(a_.locations[a.index], b_.locations[b.index]);
            case ItemKind::dwarf: return a_.text(a_.dwarf_lines[a.index]) == b_.text(b_.dwarf_lines[b.index]);
        }
        return false;
    }

    bool same(const Variable& a, const Variable& b) const {
        return a.space == b.space && a.type == b.type && a.linkage == b.linkage && a.vector == b.vector &&
               a.managed == b.managed && a.unified == b.unified && a.unified_id[0] == b.unified_id[0] &&
               a.unified_id[1] == b.unified_id[1] && a.pointer == b.pointer && a.pointee_space == b.pointee_space &&
               a.pointee_align == b.pointee_align && a.parameterised == b.parameterised && a.count == b.count &&
               a.bank == b.bank && a.align == b.align && same_name(a.name, b.name) &&
               same_lists(a_.dimensions_of(a), b_.dimensions_of(b), std::equal_to<>()) &&
               (a.initializer == none) == (b.initializer == none) &&
               (a.initializer == none || same(a_.initializers[a.initializer], b_.initializers[b.initializer]));
    }

    bool same(const Initializer& a, const Initializer& b) const {
        if (a.kind != b.kind || a.generic != b.generic || a.mask_byte != b.mask_byte || !same_name(a.name, b.name) ||
            !same_name(a.value_name, b.value_name))
            return false;
        if (a.kind != InitializerKind::list) return a.bits == b.bits && a.immediate == b.immediate;
        return same_lists(a_.children(a), b_.children(b),
                          [&](const Initializer& x, const Initializer& y) { return same(x, y); });
    }

    bool same_variables(Range a, Range b) const {
        return same_ranges(a_.variables, a, b_.variables, b,
                           [&](const Variable& x, const Variable& y) { return same(x, y); });
    }

    bool same_directives(Range a, Range b) const {
        return same_ranges(
            a_.function_directives, a, b_.function_directives, b,
            [&](const FunctionDirective& x, const FunctionDirective& y) {
                return x.kind == y.kind && x.count == y.count && std::equal(x.values, x.values + x.count, y.values) &&
                       (x.pragma == none || a_.pragmas[x.pragma].strings == b_.pragmas[y.pragma].strings);
            });
    }

    bool same(const Function& a, const Function& b) const {
        return a.kind == b.kind && a.linkage == b.linkage && a.has_body == b.has_body &&
               a.has_parameter_list == b.has_parameter_list && a.unified == b.unified &&
               a.unified_id[0] == b.unified_id[0] && a.unified_id[1] == b.unified_id[1] && same_name(a.name, b.name) &&
               same_variables(a.returns, b.returns) && same_variables(a.parameters, b.parameters) &&
               same_directives(a.directives, b.directives) &&
               same_ranges(a_.statements, a.body, b_.statements, b.body,
                           [&](const Statement& x, const Statement& y) { return same(x, y); });
    }

    bool same(const Statement& a, const Statement& b) const {
        if (a.kind != b.kind) return false;
        switch (a.kind) {
            case StatementKind::instruction: return same(a_.instructions[a.index], b_.instructions[b.index]);
            case StatementKind::label: return same_name(a_.labels[a.index].name, b_.labels[b.index].name);
            case StatementKind::variable: return same(a_.variables[a.index], b_.variables[b.index]);
            case StatementKind::open:
            case StatementKind::close: return true;
            case StatementKind::location: return same(a_.locations[a.index], b_.locations[b.index]);
            case StatementKind::pragma: return a_.pragmas[a.index].strings == b_.pragmas[b.index].strings;
            case StatementKind::prototype: {
                const Prototype &x = a_.prototypes[a.index], &y = b_.prototypes[b.index];
                return same_name(x.name, y.name) && x.has_parameter_list == y.has_parameter_list &&
                       same_variables(x.returns, y.returns) && same_variables(x.parameters, y.parameters) &&
                       same_directives(x.directives, y.directives);
            }
            case StatementKind::targets: {
                const Targets &x = a_.targets[a.index], &y = b_.targets[b.index];
                return same_name(x.name, y.name) && x.calls == y.calls &&
                       same_operands(a_.operands_in(x.targets), b_.operands_in(y.targets));
            }
        }
        return false;
    }

    bool same(const Instruction& a, const Instruction& b) const {
        if ((a.guard == none) != (b.guard == none) ||
            (a.guard != none && !same(a_.operands[a.guard], b_.operands[b.guard])))
            return false;
        const Head &x = a_.head(a), &y = b_.head(b);
        return x.opcode == y.opcode &&
               same_lists(x.modifiers, y.modifiers,
                          [](const Modifier& p, const Modifier& q) { return p.text == q.text; }) &&
               same_operands(a_.operands_in(a.operands), b_.operands_in(b.operands));
    }

    bool same_operands(std::span<const Operand> a, std::span<const Operand> b) const {
        return same_lists(a, b, [&](const Operand& x, const Operand& y) { return same(x, y); });
    }

    bool same(const Operand& a, const Operand& b) const {
        if (a.kind != b.kind || a.component != b.component || a.not_ != b.not_ || a.minus != b.minus ||
            a.unified != b.unified || a.element != b.element || !same_name(a.name, b.name))
            return false;
        if (a.has_children()) return same_operands(a_.children(a), b_.children(b));
        return a.bits == b.bits && (a.kind != OperandKind::immediate || a.immediate == b.immediate);
    }

    bool same(const Location& a, const Location& b) const {
        return a.file == b.file && a.line == b.line && a.column == b.column && a.inlined_file == b.inlined_file &&
               a.inlined_line == b.inlined_line && a.inlined_column == b.inlined_column &&
               same_name(a.function_name, b.function_name) && a.function_name_offset == b.function_name_offset;
    }

    bool same(const Section& a, const Section& b) const {
        return a.name == b.name &&
               same_ranges(a_.section_lines, a.lines, b_.section_lines, b.lines,
                           [&](const SectionLine& x, const SectionLine& y) {
                               return same_name(x.label, y.label) && x.type == y.type &&
                                      same_ranges(a_.section_values, x.values, b_.section_values, y.values,
                                                  [&](const SectionValue& p, const SectionValue& q) {
                                                      return p.value == q.value && same_name(p.name, q.name) &&
                                                             same_name(p.minus_name, q.minus_name);
                                                  });
                           });
    }

    const Module& a_;
    const Module& b_;
};

}  // namespace

bool same_tree(const Module& a, const Module& b) { return Comparison(a, b).same_module(); }

}  // namespace tilepath::ptx
