#include <fmt/format.h>

#include "ptx/printer.h"

namespace tilepath::ptx {

void Printer::print_attributes(bool managed, bool unified, const std::uint64_t (&id)[2]) {
    if (!managed && !unified) return;
    put(".attribute(");
    if (managed) put(".managed");
    if (managed && unified) put(", ");
    if (unified) out_ += fmt::format(".unified({}U, {}U)", id[0], id[1]);
    put(") ");
}

void Printer::print_variable(const Variable& v) {
    if (v.linkage != Linkage::none) put("."), put(word(v.linkage)), put(" ");
    put("."), put(word(v.space));
    if (v.bank != 0) out_ += fmt::format("[{}]", v.bank);
    put(" ");
    if (v.align != 0) out_ += fmt::format(".align {} ", v.align);
    print_attributes(v.managed, v.unified, v.unified_id);
    if (v.vector != 1) out_ += fmt::format(".v{} ", v.vector);
    put("."), put(word(v.type)), put(" ");
    if (v.pointer) {
        put(".ptr ");
        if (v.pointee_space != Space::none) put("."), put(word(v.pointee_space)), put(" ");
        if (v.pointee_align != 0) out_ += fmt::format(".align {} ", v.pointee_align);
    }
    put_name(v.name);
    if (v.parameterised) out_ += fmt::format("<{}>", v.count);
    const auto dimensions = m_.dimensions_of(v);
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
        put("[");
        if (dimensions[i] != 0) put_number(dimensions[i]);
        put("]");
    }
    if (v.initializer != none) put(" = "), print_initializer(m_.initializers[v.initializer]);
}

void Printer::print_initializer(const Initializer& node) {
    switch (node.kind) {
        case InitializerKind::list: {
            put("{");
            bool first = true;
            for (const Initializer& child : m_.children(node))
                put(first ? "" : ", "), print_initializer(child), first = false;
            return put("}");
        }
        case InitializerKind::value: return put_immediate(node.immediate, node.bits);
        case InitializerKind::address:
            if (node.mask_byte == Initializer::no_mask) return print_initializer_address(node);
            out_ += fmt::format("0x{:X}(", std::uint64_t{0xff} << (8 * node.mask_byte));
            print_initializer_address(node);
            return put(")");
        case InitializerKind::field:
            put_name(node.name), put(" = ");
            return node.value_name == none ? put_number(node.bits) : put_name(node.value_name);
    }
}

void Printer::print_initializer_address(const Initializer& node) {
    if (node.generic) put("generic(");
    put_name(node.name);
    if (node.generic) put(")");
    put_offset(node.bits);
}

void Printer::print_pragma(const Pragma& pragma) {
    put(".pragma ");
    for (std::size_t i = 0; i < pragma.strings.size(); ++i) put(i ? ", " : ""), put_quoted(pragma.strings[i]);
    put(";");
}

void Printer::print_location(const Location& location) {
    out_ += fmt::format(".loc {} {} {}", location.file, location.line, location.column);
    if (location.function_name == none) return;
    put(", function_name "), put_name(location.function_name), put_offset(location.function_name_offset);
    out_ += fmt::format(", inlined_at {} {} {}", location.inlined_file, location.inlined_line, location.inlined_column);
}

void Printer::print_file(const File& file) {
    out_ += fmt::format(".file {} ", file.index);
    put_quoted(file.name);
    if (file.has_details) out_ += fmt::format(", {}U, {}U", file.timestamp, file.size);
}

void Printer::print_section(const Section& section) {
    put(".section "), put(section.name), put("\n{");
    for (Id i = section.lines.first; i < section.lines.first + section.lines.count; ++i) {
        const SectionLine& line = m_.section_lines[i];
        put("\n");
        if (line.label != none) {
            put_name(line.label), put(":");
            continue;
        }
        put("\t."), put(word(line.type));
        for (Id j = 0; j < line.values.count; ++j) {
            const SectionValue& value = m_.section_values[line.values.first + j];
            put(j ? ", " : " ");
            if (value.name == none) {
                put_immediate(ImmediateKind::s64, static_cast<std::uint64_t>(value.value));
                continue;
            }
            put_name(value.name);
            if (value.minus_name != none)
                put("-"), put_name(value.minus_name);
            else
                put_offset(static_cast<std::uint64_t>(value.value));
        }
    }
    put("\n}");
}

}  // namespace tilepath::ptx
