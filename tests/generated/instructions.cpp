#include "generated/instructions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "base/assert.h"
#include "isa/modules.h"

namespace tilepath::generated {
namespace {

using isa::Instance;
using isa::OperandSlot;
using program::DataType;

bool contains(std::initializer_list<std::string_view> list, std::string_view word) {
    return std::find(list.begin(), list.end(), word) != list.end();
}

/// Commas outside braces and brackets part operands.
std::vector<std::string> split(std::string_view text) {
    std::vector<std::string> out(1);
    int depth = 0;
    for (char c : text) {
        depth += (c == '{' || c == '[' || c == '(') - (c == '}' || c == ']' || c == ')');
        if (c == ',' && depth == 0)
            out.emplace_back();
        else if (c != ' ' || !out.back().empty())
            out.back() += c;
    }
    return out;
}

unsigned registers_of(char kind) {
    for (auto [letter, count] : register_counts)
        if (letter == kind) return count;
    return 0;
}

/// Every register replaced by any of its kind; those of one vector stay apart, for a load writes each of them.
std::string with_any_registers(const std::string& text, Choices& choices) {
    std::string out;
    std::set<std::string> in_vector;
    for (std::size_t i = 0; i < text.size();) {
        const bool starts = i == 0 || !(std::isalnum(static_cast<unsigned char>(text[i - 1])) || text[i - 1] == '_');
        if (text[i] == '{') in_vector.clear();
        if (!starts || registers_of(text[i]) == 0 || i + 1 >= text.size() ||
            !std::isdigit(static_cast<unsigned char>(text[i + 1]))) {
            out += text[i++];
            continue;
        }
        const char kind = text[i++];
        while (i < text.size() && std::isdigit(static_cast<unsigned char>(text[i]))) ++i;
        unsigned number = choices.below(registers_of(kind));
        for (unsigned tries = 0;
             !in_vector.insert(fmt::format("{}{}", kind, number)).second && tries < registers_of(kind); ++tries)
            number = (number + 1) % registers_of(kind);
        out += fmt::format("{}{}", kind, number);
        if (text.find('{') == std::string::npos) in_vector.clear();
    }
    return out;
}

/// Values at the edges of formats and ranges, as bits.
std::uint64_t edge(Choices& choices) {
    static constexpr std::uint64_t edges[] = {0,
                                              1,
                                              2,
                                              7,
                                              31,
                                              32,
                                              33,
                                              63,
                                              64,
                                              0x7F,
                                              0x80,
                                              0xFF,
                                              0x7FFF,
                                              0x8000,
                                              0xFFFF,
                                              0x3C00,
                                              0x7C00,
                                              0xFC00,
                                              0x7E00,
                                              0x0400,
                                              0x03FF,
                                              0x7F80,
                                              0x3F80,
                                              0x7FFFFFFF,
                                              0x80000000,
                                              0xFFFFFFFF,
                                              0x3F800000,
                                              0x7F800000,
                                              0xFF800000,
                                              0x7FC00000,
                                              0x7F800001,
                                              0x007FFFFF,
                                              0x4B000000,
                                              0x3FF0000000000000,
                                              0x7FF0000000000000,
                                              0x8000000000000000,
                                              0xFFFFFFFFFFFFFFFF};
    return choices.one_in(3) ? choices.bits() * 0x9E3779B97F4A7C15u : choices.among(edges);
}

/// An immediate of the type, or nothing for types that have none.
std::string immediate(DataType type, Choices& choices) {
    const std::uint64_t bits = edge(choices);
    if (type == DataType::f32) return fmt::format("0f{:08X}", bits & 0xFFFFFFFF);
    if (type == DataType::f64) return fmt::format("0d{:016X}", bits);
    const int width = program::bits(type);
    if (type == DataType::none || type == DataType::pred || program::is_float(type) || width > 64 || width < 16)
        return {};
    return fmt::format("{}", width == 64 ? bits : bits & ((std::uint64_t{1} << width) - 1));
}

/// Operands that not every register can be.
std::string restricted(const isa::Form& form, const OperandSlot& slot, Choices& choices) {
    if (slot.name == "membermask") return "0xffffffff";
    if (slot.name == "metadata") return std::string(metadata);
    if (form.opcode == "nanosleep") return fmt::format("{}", choices.below(200));
    if (form.opcode == "lop3" && slot.name == "immLut") return fmt::format("{}", choices.below(256));
    if (form.opcode == "shfl" && slot.name == "c" && choices.one_in(2))
        return fmt::format("{}", choices.below(32) | choices.below(32) << 8);
    return {};
}

DataType type_of(const Instance& instance, const OperandSlot& slot) {
    if (slot.type_from < 0) return slot.type;
    return program::type_named(instance.words[std::size_t(slot.type_from)]).value_or(DataType::none);
}

}  // namespace

std::string_view word_of(const Instance& instance, std::string_view modifier) {
    const int at = instance.form->modifier(modifier);
    return at < 0 ? std::string_view{} : instance.words[std::size_t(at)];
}

bool has_word(const Instance& instance, std::string_view word) {
    return std::find(instance.words.begin(), instance.words.end(), word) != instance.words.end();
}

Role role_of(const isa::Form& form) {
    const auto names = [&](std::string_view word) { return form.modifier(word) >= 0; };
    const bool addressed = std::any_of(form.operands.begin(), form.operands.end(),
                                       [](const OperandSlot& slot) { return slot.kind == OperandSlot::Kind::address; });
    // Where a lane goes is the generator's; so are barriers, whose every use is a pattern.
    if (contains({"bra", "brx", "call", "ret", "exit", "trap", "brkpt", "bar", "barrier", "mbarrier", "cp"},
                 form.opcode))
        return Role::none;
    // Into a cluster's shared memory, when they like: another pattern.
    if (names("async")) return Role::none;
    // What they give depends on the schedule, or on nothing that PTX defines.
    if (contains({"activemask", "discard"}, form.opcode)) return Role::none;
    // A stack pointer that no one gave is a fault; a loop of alloca exhausts the stack.
    if (contains({"alloca", "stackrestore", "stacksave"}, form.opcode)) return Role::none;
    // What arrives at an mbarrier needs one.
    if (names("async")) return Role::none;
    // A carry is defined only right behind what made it: chains are a pattern.
    if (contains({"addc", "subc", "madc"}, form.opcode) || names("cc")) return Role::none;
    // Registers of 8 bits exist for these alone.
    if (std::any_of(form.operands.begin(), form.operands.end(),
                    [](const OperandSlot& slot) { return slot.type == DataType::e2m1x2; }))
        return Role::none;
    if (contains({"ldmatrix", "stmatrix"}, form.opcode) || (form.opcode == "wmma" && addressed)) return Role::matrix;
    if (contains({"ld", "ldu", "st", "atom", "red", "prefetch", "prefetchu", "applypriority"}, form.opcode))
        return Role::memory;
    if (addressed) return Role::none;  // a family that this generator does not know yet
    if (contains({"shfl", "vote", "match", "redux", "elect", "mma", "wmma", "movmatrix"}, form.opcode))
        return Role::warp;
    return names("sync") ? Role::none : Role::plain;
}

Instructions::Instructions(const std::string& target) : target_(target) {
    std::vector<Instance> instances;
    std::vector<std::string> lines;
    for (const isa::Form& form : isa::all_forms()) {
        if (role_of(form) == Role::none) continue;
        for (Instance& instance : isa::instances_of(form, 24)) {
            // Entry parameters are read by name; what they hold are addresses.
            if (has_word(instance, "param") || has_word(instance, "param::func") || has_word(instance, "param::entry"))
                continue;
            lines.push_back(isa::text_of(instance));
            if (role_of(form) == Role::memory && has_word(instance, "const"))
                lines.back() = fmt::format("{} r0, [g];", isa::head_of(instance));
            instances.push_back(std::move(instance));
        }
    }
    const std::set<std::size_t> refused = isa::refused_by_us(target, "9.0", lines);
    std::vector<std::map<std::string, std::vector<Instance>>> sorted(std::size(by_role_));
    for (std::size_t i = 0; i < instances.size(); ++i) {
        const std::string key =
            instances[i].form->opcode + (instances[i].form->opcode == "cvt" ? instances[i].form->text : "");
        if (!refused.contains(i))
            sorted[std::size_t(role_of(*instances[i].form))][key].push_back(std::move(instances[i]));
    }
    for (std::size_t role = 0; role < std::size(by_role_); ++role)
        for (auto& [opcode, list] : sorted[role]) by_role_[role].push_back(std::move(list));
    TILEPATH_ASSERT(opcodes(Role::plain) > 30 && opcodes(Role::memory) > 4, "most instructions can be generated");
}

const Instance& Instructions::choose(Role role, Choices& choices) const {
    return choices.among(choices.among(by_role_[std::size_t(role)]));
}

bool Instructions::accepts(const std::string& line) const {
    return !has_error(isa::faults_of(isa::module_text(target_, "9.0", {line})));
}

std::string line_of(const Instance& instance, const Instructions& all, Choices& choices, const std::string& address) {
    const isa::Form& form = *instance.form;
    std::string text = isa::text_of(instance);
    text.pop_back();
    const std::string head = isa::head_of(instance);
    if (text.size() == head.size()) return head;
    std::vector<std::string> operands = split(std::string_view(text).substr(head.size() + 1));
    std::string plain;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const OperandSlot& slot = form.operands[i];
        if (slot.kind == OperandSlot::Kind::address) {
            operands[i] = address;
            continue;
        }
        if (std::string text_of_slot = restricted(form, slot, choices); !text_of_slot.empty()) {
            operands[i] = text_of_slot;
            continue;
        }
        operands[i] = with_any_registers(operands[i], choices);
        const bool scalar = operands[i].find('{') == std::string::npos && slot.kind == OperandSlot::Kind::value;
        if (!scalar || i == 0 || !choices.one_in(8)) continue;
        std::string value = immediate(type_of(instance, slot), choices);
        if (value.empty()) continue;
        std::swap(operands[i], value);
        std::vector<std::string> alone = operands;
        for (std::string& each : alone)
            if (!address.empty() && each == address) each = has_word(instance, "const") ? "[g]" : "[s]";
        // Not every source can be an immediate.
        if (!all.accepts(fmt::format("{} {};", head, fmt::join(alone, ", ")))) std::swap(operands[i], value);
    }
    return fmt::format("{} {}", head, fmt::join(operands, ", "));
}

std::vector<std::string> operands_of(const Instance& instance, std::size_t count, Choices& choices) {
    const std::string head = isa::head_of(instance);
    std::string text = isa::text_of(instance, count);
    text.pop_back();
    if (text.size() == head.size()) return {};
    std::vector<std::string> operands = split(std::string_view(text).substr(head.size() + 1));
    for (std::string& operand : operands) operand = with_any_registers(operand, choices);
    return operands;
}

unsigned access_bytes(const Instance& instance) {
    const isa::Form& form = *instance.form;
    DataType type = DataType::none;
    for (std::string_view name : {"b", "d"})
        if (const int at = form.operand(name); at >= 0 && type == DataType::none)
            type = type_of(instance, form.operands[std::size_t(at)]);
    unsigned bytes = type == DataType::none ? 16 : std::max(1u, unsigned(program::bytes(type)));
    if (std::string_view vector = word_of(instance, "vec"); !vector.empty()) bytes *= unsigned(vector[1] - '0');
    return bytes;
}

}  // namespace tilepath::generated
