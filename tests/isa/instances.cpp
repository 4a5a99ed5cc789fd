#include "instances.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <random>

#include "atom/mma_sp.h"
#include "atom/tmem_transfer.h"
#include "atom/wgmma.h"
#include "atom/wmma.h"
#include "isa/matrix_rules.h"

namespace tilepath::isa {
namespace {

std::string_view word_in(const Instance& instance, std::string_view slot) {
    int at = instance.form->modifier(slot);
    return at < 0 ? std::string_view{} : instance.words[static_cast<std::size_t>(at)];
}

/// Registers that hold a value of some width; numbers go up so that operands differ.
class Registers {
  public:
    std::string next(DataType type) {
        if (type == DataType::pred) return fmt::format("p{}", predicates_++ % 16);
        const int bits = program::bits(type);
        if (type == DataType::e2m1x2) return fmt::format("c{}", bytes_++ % 4);
        if (bits <= 16) return fmt::format("h{}", halves_++ % 16);
        if (bits == 32) return fmt::format("r{}", words_++ % 64);
        if (bits == 64) return fmt::format("q{}", doubles_++ % 32);
        return fmt::format("x{}", quads_++ % 8);
    }
    std::string vector(DataType type, int count) {
        std::vector<std::string> parts;
        for (int i = 0; i < count; ++i) parts.push_back(next(type));
        return fmt::format("{{{}}}", fmt::join(parts, ", "));
    }

  private:
    int predicates_ = 0, bytes_ = 0, halves_ = 0, words_ = 0, doubles_ = 0, quads_ = 0;
};

DataType type_of(const Instance& instance, const OperandSlot& slot) {
    if (slot.type_from < 0) return slot.type;
    return program::type_named(instance.words[static_cast<std::size_t>(slot.type_from)]).value_or(DataType::b32);
}

/// Operands whose kind no type says.
std::string special_operand(const Form& form, const OperandSlot& slot) {
    static const std::map<std::string, std::string, std::less<>> texts{{"cp size", "16"},
                                                                       {"cp n", "8"},
                                                                       {"cp policy", "q9"},
                                                                       {"lop3 immLut", "0x5a"},
                                                                       {"bar a", "1"},
                                                                       {"bar b", "64"},
                                                                       {"barrier a", "1"},
                                                                       {"barrier b", "64"},
                                                                       {"mma selector", "0"},
                                                                       {"mma scale_a", "r61"},
                                                                       {"mma scale_b", "r62"},
                                                                       {"mma selector_a", "{0, 1}"},
                                                                       {"mma selector_b", "{h1, h2}"},
                                                                       {"wgmma selector", "0"},
                                                                       {"wgmma scale_d", "p1"},
                                                                       {"wgmma scale_a", "1"},
                                                                       {"wgmma scale_b", "-1"},
                                                                       {"wgmma trans", "0"},
                                                                       {"wgmma trans_b", "1"},
                                                                       {"wgmma n", "1"},
                                                                       {"isspacep a", "q8"},
                                                                       {"applypriority size", "128"},
                                                                       {"discard size", "128"},
                                                                       {"alloca alignment", "16"},
                                                                       {"pmevent a", "3"},
                                                                       {"mbarrier phase", "q8"},
                                                                       {"mbarrier hint", "1000"},
                                                                       {"fence size", "128"},
                                                                       {"setmaxnreg a", "64"},
                                                                       {"wmma stride", "32"}};
    auto found = texts.find(form.opcode + " " + slot.name);
    return found == texts.end() ? std::string{} : found->second;
}

/// How many registers a vector operand has; 0: it is none.
int vector_length(const Instance& instance, const OperandSlot& slot) {
    if (slot.kind != OperandSlot::Kind::value) return 0;
    if (instance.form->opcode == "mma" || instance.form->opcode == "wmma") return 0;
    if (instance.form->opcode == "cvt" && slot.name == "a" && word_in(instance, "dtype").ends_with("x4")) return 4;
    for (std::string_view counter : {"vec", "num"})
        if (std::string_view word = word_in(instance, counter); !word.empty() && (slot.name == "d" || slot.name == "b"))
            return word[1] - '0';
    return 0;
}

std::string fragment_text(Registers& registers, const atom::Fragment& fragment) {
    return registers.vector(fragment.register_bits == 64 ? DataType::b64 : DataType::b32, fragment.registers);
}

/// d, a, b or c of mma and wmma; empty if there is no such atom.
std::string matrix_operand(const Instance& instance, const OperandSlot& slot, Registers& registers) {
    const bool wide = instance.form->opcode == "wmma", sparse = instance.form->modifier("sp") >= 0;
    const atom::Shape shape = shape_named(word_in(instance, "shape"));
    auto format = [&](std::string_view modifier) {
        std::string_view word = word_in(instance, modifier);
        return number::format_named(word.empty() ? "f16" : word).value_or(number::Format::f16);
    };
    auto pick = [&](const auto& atom) {
        return fragment_text(registers, slot.name == "d"   ? atom.d
                                        : slot.name == "a" ? atom.a
                                        : slot.name == "b" ? atom.b
                                                           : atom.c);
    };
    if (instance.form->modifier("type") >= 0) {  // wmma.load, wmma.store
        const char matrix = instance.form->modifier("a") >= 0 ? 'a' : instance.form->modifier("b") >= 0 ? 'b' : 'c';
        for (const atom::WmmaAtom& each : atom::all_wmma()) {
            const number::Format type = matrix == 'a' ? each.types.a : matrix == 'b' ? each.types.b : each.types.c;
            if (each.shape == shape && type == format("type"))
                return fragment_text(registers, matrix == 'a' ? each.a : matrix == 'b' ? each.b : each.c);
        }
        return "{r0, r1}";
    }
    const atom::MmaTypes types{format("dtype"), format("atype"), format("btype"), format("ctype")};
    if (wide) {
        auto atom = atom::wmma(shape, types);
        return atom ? pick(*atom) : "{r0, r1}";
    }
    const auto kind = atom::mma_kind_named(word_in(instance, "kind")).value_or(atom::MmaKind::none);
    if (sparse) {
        auto atom = atom::mma_sp(shape, types, kind);
        return atom ? pick(*atom) : "{r0, r1}";
    }
    auto major = [&](std::string_view layout) {
        return word_in(instance, layout) == "col" ? atom::Major::column : atom::Major::row;
    };
    auto atom = atom::mma_sync(shape, types, major("alayout"), major("blayout"), kind);
    return atom ? pick(*atom) : "{r0, r1}";
}

/// d or a of wgmma. The form's least operands are those of A in registers where that makes a difference.
std::string warpgroup_operand(const Instance& instance, const OperandSlot& slot, Registers& registers) {
    auto format = [&](std::string_view modifier) {
        return number::format_named(word_in(instance, modifier)).value_or(number::Format::f16);
    };
    if (slot.name == "a" && instance.form->operand("trans") < 0) return registers.next(DataType::b64);
    const auto atom = atom::wgmma(shape_named(word_in(instance, "shape")),
                                  {format("dtype"), format("atype"), format("btype"), format("dtype")},
                                  instance.form->modifier("sp") >= 0);
    if (!atom) return "{r0, r1}";
    return fragment_text(registers, slot.name == "a" ? atom->a : atom->d);
}

/// Registers of tcgen05.ld and .st, lanes that tcgen05.mma leaves alone; addresses in Tensor Memory. Empty: as others.
std::string tensor_memory_operand(const Instance& instance, const OperandSlot& slot, Registers& registers) {
    if (slot.name == "disable_output_lane")
        return registers.vector(DataType::b32, word_in(instance, "group") == "cta_group::2" ? 8 : 4);
    if (slot.name == "immHalfSplitoff") return "16";
    if (slot.name == "scale_input_d") return "3";
    if (slot.kind == OperandSlot::Kind::vector) {
        using enum atom::TmemShape;
        const std::string_view word = word_in(instance, "num");
        const std::string number(word.empty() ? "1" : word.substr(1));
        for (const atom::TmemShape shape : {s32x32b, s16x64b, s16x128b, s16x256b, s16x32bx2})
            if (atom::name(shape) == word_in(instance, "shape"))
                if (const auto transfer = atom::tmem_transfer(false, shape, std::stoi(number)))
                    return registers.vector(DataType::b32, transfer->fragment.registers);
        return "{r0, r1}";
    }
    const bool elsewhere = slot.name == "mbar" || slot.name == "dst";
    return slot.kind == OperandSlot::Kind::address && !elsewhere ? fmt::format("[{}]", registers.next(DataType::b32))
                                                                 : "";
}

std::string operand_text(const Instance& instance, const OperandSlot& slot, Registers& registers) {
    const Form& form = *instance.form;
    if (form.opcode == "tcgen05")
        if (std::string text = tensor_memory_operand(instance, slot, registers); !text.empty()) return text;
    if (form.opcode == "wgmma" && (slot.name == "a" || slot.name == "d"))
        return warpgroup_operand(instance, slot, registers);
    // Tensors have as many coordinates as the instruction says, and two im2col offsets fewer.
    const int dimensions = std::max(1, word_in(instance, "dim").empty() ? 1 : word_in(instance, "dim")[0] - '0');
    const std::string_view mode = word_in(instance, "mode");
    if (slot.kind == OperandSlot::Kind::tensor && (mode == "tile::gather4" || mode == "tile::scatter4"))
        return fmt::format("[q0, {}]", registers.vector(DataType::b32, 5));
    if (slot.kind == OperandSlot::Kind::tensor)
        return fmt::format("[q0, {}]", registers.vector(DataType::b32, dimensions));
    if (slot.name == "offsets" && mode.starts_with("im2col::w")) return registers.vector(DataType::b16, 2);
    if (slot.name == "offsets") return registers.vector(DataType::b16, std::max(1, dimensions - 2));
    if (form.opcode == "clusterlaunchcontrol" && slot.kind == OperandSlot::Kind::address) return "[s]";
    if (form.opcode == "clusterlaunchcontrol" && slot.name == "d" && word_in(instance, "what") == "get_first_ctaid")
        return registers.vector(DataType::b32, 4);
    if (slot.name == "mbar") return "[s]";
    if (slot.kind == OperandSlot::Kind::address && !word_in(instance, slot.name).empty())
        return word_in(instance, slot.name).starts_with("shared") ? "[s]" : "[q1]";
    if (form.opcode == "tensormap" && slot.kind != OperandSlot::Kind::address) {
        const bool number = word_in(instance, "field") != "global_address" && form.operand("ord") < 0;
        if (slot.name == "ord" || (slot.name == "value" && number && word_in(instance, "field") != "rank")) return "1";
        if (slot.name == "size") return "128";
    }
    if (form.opcode == "tensormap" && form.operand("size") >= 0) return slot.name == "dst" ? "[q0]" : "[s]";
    if (slot.kind == OperandSlot::Kind::address) {
        const bool shared = std::any_of(instance.words.begin(), instance.words.end(),
                                        [](auto word) { return word.starts_with("shared"); });
        const bool from_global = slot.name == "src";
        return shared && !from_global                                   ? "[s]"
               : from_global || word_in(instance, "global") == "global" ? "[q1]"
                                                                        : "[q0]";
    }
    if (form.opcode == "mbarrier" && slot.name == "d" && word_in(instance, "ss") == "shared::cluster") return "_";
    if (std::string text = special_operand(form, slot); !text.empty()) {
        if (form.opcode == "mbarrier" && slot.name == "phase" && word_in(instance, "parity") == "parity") return "r9";
        return text;
    }
    if ((form.opcode == "mma" || form.opcode == "wmma") &&
        (slot.name == "a" || slot.name == "b" || slot.name == "c" || slot.name == "d" || slot.name == "r"))
        return matrix_operand(instance, slot, registers);
    const DataType type = type_of(instance, slot);
    if (int length = vector_length(instance, slot))
        return registers.vector(type == DataType::none ? DataType::b32 : type, length);
    const DataType of_register = type == DataType::none ? DataType::b32 : type;
    if (slot.kind == OperandSlot::Kind::pair) return registers.next(of_register) + "|" + registers.next(DataType::pred);
    return registers.next(of_register);
}

/// Words to try in a slot's place: those of slots with its name anywhere among the opcode's forms.
std::vector<std::string_view> alternatives(const Form& form, const ModifierSlot& slot) {
    std::vector<std::string_view> out;
    auto add = [&](std::string_view word) {
        if (!slot.accepts(word) && std::find(out.begin(), out.end(), word) == out.end()) out.push_back(word);
    };
    for (const Form* other : forms_of(form.opcode))
        for (const ModifierSlot& each : other->modifiers)
            if (each.name == slot.name || each.ordered == slot.ordered)
                for (std::string_view word : each.words)
                    if (each.ordered != Ordered::no || each.name == slot.name) add(word);
    if (slot.ordered == Ordered::types)
        for (std::string_view type :
             {"u8", "u16", "u32", "s64", "b16", "b32", "f16", "f16x2", "bf16", "bf16x2", "f32", "f64", "u16x2"})
            add(type);
    return out;
}

}  // namespace

std::string head_of(const Instance& instance) {
    std::string head = instance.form->opcode;
    for (std::string_view word : instance.words)
        if (!word.empty()) head += fmt::format(".{}", word);
    return head;
}

std::string text_of(const Instance& instance) { return text_of(instance, instance.form->least_operands); }

std::string text_of(const Instance& instance, std::size_t count) {
    Registers registers;
    std::vector<std::string> operands;
    for (std::size_t i = 0; i < count; ++i)
        operands.push_back(operand_text(instance, instance.form->operands[i], registers));
    return fmt::format("{}{}{};", head_of(instance), operands.empty() ? "" : " ", fmt::join(operands, ", "));
}

std::vector<Instance> instances_of(const Form& form, std::size_t cap) {
    std::vector<std::vector<std::string_view>> choices;
    std::size_t total = 1;
    for (const ModifierSlot& slot : form.modifiers) {
        std::vector<std::string_view> words;
        if (slot.optional) words.push_back({});
        words.insert(words.end(), slot.words.begin(), slot.words.end());
        total *= words.size();
        choices.push_back(std::move(words));
    }
    std::vector<Instance> out;
    // With more combinations than the cap, a stride prime to all counts visits every word of every slot.
    std::size_t stride = total <= cap ? 1 : total / cap;
    if (total > cap) {
        auto divides = [&](std::size_t by) {
            return std::any_of(choices.begin(), choices.end(),
                               [&](const auto& words) { return words.size() > 1 && by % words.size() == 0; });
        };
        while (divides(stride)) ++stride;
    }
    for (std::size_t i = 0; i < total && out.size() < cap; i += stride) {
        Instance instance{&form, {}};
        std::size_t rest = i;
        for (const auto& words : choices) instance.words.push_back(words[rest % words.size()]), rest /= words.size();
        out.push_back(std::move(instance));
    }
    return out;
}

std::vector<Instance> neighbours_of(const Form& form, std::size_t cap) {
    std::vector<Instance> all;
    std::vector<Instance> from = instances_of(form, 6);
    for (std::size_t slot = 0; slot < form.modifiers.size(); ++slot) {
        for (std::string_view word : alternatives(form, form.modifiers[slot])) {
            Instance changed = from[all.size() % from.size()];
            changed.words[slot] = word;
            all.push_back(std::move(changed));
        }
        if (!form.modifiers[slot].optional && form.modifiers[slot].ordered == Ordered::no) {
            Instance without = from[all.size() % from.size()];
            without.words[slot] = {};
            all.push_back(std::move(without));
        }
    }
    if (all.size() <= cap) return all;
    std::mt19937 random(static_cast<unsigned>(form.text.size()));
    std::shuffle(all.begin(), all.end(), random);
    all.resize(cap);
    return all;
}

}  // namespace tilepath::isa
