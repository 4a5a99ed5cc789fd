// Instructions whose result in a lane is a function of that lane's registers: straight from the forms.
#include <map>
#include <set>

#include "../../tests/exec/recorded_inputs.h"
#include "list.h"
#include "program/types.h"

namespace tilepath::recorded {
namespace {

using program::DataType;

/// Everything else in isa/ that takes only registers.
const std::set<std::string, std::less<>> no_arithmetic{
    "activemask", "alloca",       "applypriority", "atom",     "bar",          "barrier",   "bra",
    "brkpt",      "brx",          "call",          "cp",       "createpolicy", "cvta",      "discard",
    "elect",      "exit",         "fence",         "isspacep", "istypep",      "ld",        "ldmatrix",
    "ldu",        "match",        "mbarrier",      "membar",   "mma",          "movmatrix", "nanosleep",
    "pmevent",    "prefetch",     "prefetchu",     "red",      "redux",        "ret",       "shfl",
    "st",         "stackrestore", "stacksave",     "stmatrix", "trap",         "vote",      "wmma",
    "getctarank", "mapa",         "griddepcontrol"};

bool is_approximate(const isa::Form& form) {
    return form.text.find(".approx") != std::string::npos || form.text.find(".full") != std::string::npos;
}

/// lop3's table has no register.
std::vector<std::string> tables_of(const isa::Form& form) {
    if (form.opcode != "lop3") return {""};
    return {"0x00", "0x01", "0x80", "0x96", "0xe8", "0xca", "0x1b", "0xfe", "0x3c", "0x6a", "0xd8", "0xff"};
}

/// Extended precision: the carry comes from an addition before, and is read after.
void with_carry(Case& each, const isa::Form& form, bool sets) {
    const bool borrows = form.opcode.starts_with("sub");
    const std::string opcode = borrows ? "sub" : "add";
    if (form.opcode == "addc" || form.opcode == "subc" || form.opcode == "madc") {
        each.inputs.push_back({"r60", "choose:0,1,ffffffff"});
        each.body.insert(each.body.begin(), opcode + ".cc.u32 r61, r60, 1;");
    }
    if (!sets) return;
    each.body.push_back(opcode + "c.u32 r62, 0, 0;");
    each.outputs.push_back("r62");
}

std::string kind_of(DataType type) {
    const std::string name(program::traits(type).name);
    if (name == "pred" || bits_of_type(name) != 0) return name;
    const std::size_t by = name.rfind('x');
    return by == std::string::npos || bits_of_type(name.substr(0, by)) == 0 ? "b" + std::to_string(program::bits(type))
                                                                            : name;
}

void add_case(Cases& into, const isa::Form& form, const Words& words, std::size_t operands, const std::string& table,
              bool paired) {
    Case each;
    const std::string head = head_of(form, words);
    each.name = head + (operands > form.least_operands ? " #" + std::to_string(operands) : "") +
                (table.empty() ? "" : " #" + table) + (paired ? " #pair" : "");
    ptx::Head parsed{form.opcode, {}};
    for (std::string_view word : words)
        if (!word.empty()) parsed.modifiers.push_back({word, 0});
    auto matched = isa::match_head(parsed, form);
    if (!matched) return;
    Names names;
    std::string list;
    for (std::size_t i = 0; i < operands; ++i) {
        const isa::OperandSlot& slot = form.operands[i];
        list += i == 0 ? "" : ", ";
        if (slot.name == "immLut") {
            list += table;
            continue;
        }
        const DataType type = matched->operand_type(i);
        if (slot.kind == isa::OperandSlot::Kind::address || slot.kind == isa::OperandSlot::Kind::list ||
            type == DataType::none)
            return;
        const int bits = program::bits(type);
        const std::string name = names.next(type == DataType::pred ? 1 : bits < 16 ? 32 : bits);
        list += name;
        if (i != 0) {
            each.inputs.push_back({name, kind_of(type)});
            continue;
        }
        each.outputs.push_back(name);
        if (slot.kind != isa::OperandSlot::Kind::pair && !paired) continue;
        each.outputs.push_back(names.next(1));
        list += "|" + each.outputs.back();
    }
    each.body = {head + " " + list + ";"};
    const bool sets = word_in(form, words, "cc") == "cc";
    if (sets || form.opcode == "addc" || form.opcode == "subc" || form.opcode == "madc") with_carry(each, form, sets);
    each.rows = 64;
    into.push_back(std::move(each));
}

void add_form(Cases& into, const isa::Form& form, std::size_t cap) {
    if (form.operands.empty()) return;
    const bool optional_pair = form.operands[0].kind == isa::OperandSlot::Kind::value_or_pair;
    for (const Words& words : combinations(form, cap))
        for (std::size_t operands = form.least_operands; operands <= form.operands.size(); ++operands)
            for (const std::string& table : tables_of(form))
                for (bool paired : {false, true})
                    if (!paired || optional_pair) add_case(into, form, words, operands, table, paired);
}

/// What kinds of single types seldom draw.
void add_searches(Cases& into) {
    Case each;
    each.name = "fns.b32 #near";
    each.inputs = {
        {"r1", "b32"}, {"r2", "below:34"}, {"r3", "choose:0,1,2,3,5,ffffffff,fffffffe,fffffffd,80000000,7fffffff,20"}};
    each.outputs = {"r0"};
    each.body = {"fns.b32 r0, r1, r2, r3;"};
    each.rows = 64;
    into.push_back(std::move(each));
}

}  // namespace

void list_scalar(Cases& into) {
    for (const isa::Form& form : isa::all_forms())
        if (on_sm_90(form) && !no_arithmetic.contains(form.opcode) && !is_approximate(form)) add_form(into, form, 24);
    add_searches(into);
}

void list_approximations(Cases& into) {
    for (const isa::Form& form : isa::all_forms())
        if (on_sm_90(form) && is_approximate(form)) add_form(into, form, 24);
    for (Case& each : into) {
        const bool half = each.inputs.size() == 1 && each.inputs[0].name[0] == 'h';
        if (half) each.inputs[0].kind = "all";
        each.rows = half ? 2048 : 512;
    }
}

}  // namespace tilepath::recorded
