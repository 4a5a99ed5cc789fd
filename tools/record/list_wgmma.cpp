// wgmma.mma_async: every type in shapes of every class, operands in every layout and at odd places, sparse, negated.
// And setmaxnreg.
#include <algorithm>

#include "atom/hopper.h"
#include "list.h"

namespace tilepath::recorded {
namespace {

using atom::OperandMajor;
using layout::SwizzleMode;
using number::Format;

constexpr int a_bytes = 10 * 1024;

/// A descriptor that reads within its part of shared memory.
struct Operand {
    atom::MatrixDescriptor descriptor;  ///< start: from the beginning of shared memory
    OperandMajor major = OperandMajor::k;
};

enum class Place {
    canonical,  ///< at a boundary of the pattern
    advanced,   ///< within it
    shifted,    ///< the pattern begins elsewhere: base offset
    any         ///< offsets that no layout has
};

int swizzle_bytes(SwizzleMode mode) {
    return mode == SwizzleMode::b32 ? 32 : mode == SwizzleMode::b64 ? 64 : mode == SwizzleMode::b128 ? 128 : 16;
}

int up(int value, int to) { return (value + to - 1) / to * to; }

/// Offsets that pack the operand, or others; bytes that it spans at most.
int spread(Operand& operand, int mn, int k_bytes, int mn_bytes, Place place, Draw& draw, int room) {
    atom::MatrixDescriptor& d = operand.descriptor;
    const int width = swizzle_bytes(d.swizzle);
    const bool none = d.swizzle == SwizzleMode::none, by_k = operand.major == OperandMajor::k;
    // How often each offset is taken.
    const int leading_steps = by_k   ? (none ? k_bytes / 16 - 1 : (k_bytes - 1) / width)
                              : none ? (k_bytes / 2 / 8 - 1)
                                     : (mn_bytes - 1) / width;
    const int stride_steps = by_k ? mn / 8 - 1 : none ? mn_bytes / 16 - 1 : k_bytes / 2 / 8 - 1;
    const int inner = none ? 128 : 8 * width;
    const auto span = [&](int leading, int stride) {
        return leading_steps * leading + stride_steps * stride + up(inner, 128) + 128;
    };
    int leading, stride;
    if (place == Place::any) {
        // In any order, overlapping or apart.
        const int half = (room - 2048 - inner) / 2;
        leading = 16 * draw.between(0, std::max(1, half / std::max(1, leading_steps) / 16));
        stride = 16 * draw.between(0, std::max(1, half / std::max(1, stride_steps) / 16));
    } else if (by_k && none) {
        leading = 128, stride = 128 * (k_bytes / 16);
        if (draw.one_in(2)) stride = 128, leading = 128 * (mn / 8);
    } else if (by_k) {
        stride = inner, leading = k_bytes > width ? inner * (mn / 8) : 16 * draw.between(0, 64);
    } else if (none) {
        stride = 128, leading = 128 * (mn_bytes / 16);
        if (draw.one_in(2)) leading = 128, stride = 128 * (k_bytes / 2 / 8);
    } else {
        stride = inner, leading = inner * (k_bytes / 2 / 8);
        if (draw.one_in(2)) leading = inner, stride = inner * std::max(1, mn_bytes / width);
    }
    d.leading_bytes = static_cast<std::uint32_t>(leading), d.stride_bytes = static_cast<std::uint32_t>(stride);
    return span(leading, stride);
}

/// An operand of mn rows, `bits` each, k_bytes of K (counted as if K-major), in [begin, begin + room).
Operand operand(OperandMajor major, SwizzleMode swizzle, int mn, int bits, int k_bytes, Place place, Draw& draw,
                int begin, int room) {
    Operand result;
    result.major = major;
    result.descriptor.swizzle = swizzle;
    const int span = spread(result, mn, k_bytes, mn * bits / 8, place, draw, room);
    const int pattern = swizzle == SwizzleMode::none ? 16 : 8 * swizzle_bytes(swizzle);
    int start = up(begin, pattern) + pattern * draw.between(0, std::max(0, (room - span) / pattern - 2));
    if (place == Place::shifted) {
        result.descriptor.base_offset = draw.between(1, 7);
        start += 128 * result.descriptor.base_offset;
        if (draw.one_in(2)) start += 16 * draw.between(0, 7);
    }
    if (place == Place::advanced || place == Place::any) start += 16 * draw.between(1, pattern == 16 ? 3 : 7);
    if (place == Place::any && draw.one_in(2)) result.descriptor.base_offset = draw.between(0, 7);
    result.descriptor.start_bytes = static_cast<std::uint32_t>(start);
    return result;
}

/// `name` from the operand's descriptor: the start is known when the kernel runs.
std::string descriptor_text(const std::string& name, const Operand& operand) {
    atom::MatrixDescriptor d = operand.descriptor;
    const std::uint32_t start = d.start_bytes;
    d.start_bytes = 0;
    char bits[32];
    std::snprintf(bits, sizeof bits, "0x%llx", static_cast<unsigned long long>(encode(d).value()));
    return "add.u32 t0, sm, " + std::to_string(start) + "; bfe.u32 t0, t0, 4, 14; cvt.u64.u32 " + name +
           ", t0; or.b64 " + name + ", " + name + ", " + bits + ";";
}

std::string kind_of(const atom::Fragment& fragment) {
    const std::string name(number::traits(*fragment.format).name);
    const int each = fragment.register_bits / fragment.element_bits;
    return fragment.element_bits == 1 ? "b32" : name + (each > 1 ? "x" + std::to_string(each) : "") + "/dot";
}

std::string memory_kind_of(Format format) {
    return format == Format::b1 ? "b32" : std::string(number::traits(format).name) + "/dot";
}

struct Choice {
    bool registers = false;  ///< A in registers
    int negate_a = 1, negate_b = 1;
    bool saturate = false;
    int selector = 0;
    OperandMajor a_major = OperandMajor::k, b_major = OperandMajor::k;
    SwizzleMode a_swizzle = SwizzleMode::none, b_swizzle = SwizzleMode::none;
    Place a_place = Place::canonical, b_place = Place::canonical;
};

const char* word(Place place) {
    switch (place) {
        case Place::canonical: return "";
        case Place::advanced: return "+";
        case Place::shifted: return "^";
        case Place::any: return "*";
    }
    return "";
}

std::string operand_word(OperandMajor major, SwizzleMode swizzle, Place place) {
    return (major == OperandMajor::k ? "k" : "mn") + std::to_string(swizzle_bytes(swizzle)) + word(place);
}

std::string head_of(const atom::WgmmaAtom& atom, bool saturate) {
    const std::string shape = "m64n" + std::to_string(atom.shape.n) + "k" + std::to_string(atom.shape.k);
    const auto name = [](Format format) { return "." + std::string(number::traits(format).name); };
    const bool integer = atom.types.d == Format::s32;
    return "wgmma.mma_async" + std::string(atom.sparse ? ".sp" : "") + ".sync.aligned." + shape + name(atom.types.d) +
           name(atom.types.a) + name(atom.types.b) +
           (integer && atom.types.a == Format::b1 ? ".and.popc"
            : saturate                            ? ".satfinite"
                                                  : "");
}

/// Of registers that count on.
std::string list_of(const std::vector<std::string>& names) {
    return "{" + names.front() + ".." + names.back().substr(1) + "}";
}

std::vector<std::string> registers(int first, int count) {
    std::vector<std::string> names;
    for (int i = 0; i < count; ++i) names.push_back("r" + std::to_string(first + i));
    return names;
}

void begin(Case& each, const atom::WgmmaAtom& atom, int b_bytes) {
    each.target = "sm_90a";
    each.threads = 128;
    each.keep = 1;
    each.shared_bytes = static_cast<std::uint32_t>(a_bytes + b_bytes);
    each.memory_kind =
        memory_kind_of(atom.types.a) + "@" + std::to_string(a_bytes) + "," + memory_kind_of(atom.types.b);
    each.body = {".reg .b64 da, db; .reg .b32 t0; fence.proxy.async.shared::cta; bar.sync 0;"};
}

int b_room(const atom::WgmmaAtom& atom) { return std::max(4096, atom.shape.n * 128) + 3072; }

/// `instruction` with everything after its head.
std::string product(const atom::WgmmaAtom& atom, const Choice& choice, const std::vector<std::string>& d,
                    const std::string& a, const std::string& b) {
    std::string text = head_of(atom, choice.saturate) + " " + list_of(d) + ", " + a + ", " + b;
    if (atom.sparse) text += ", r140, " + std::to_string(choice.selector);
    text += ", p1";
    if (atom.may_negate) text += ", " + std::to_string(choice.negate_a) + ", " + std::to_string(choice.negate_b);
    if (atom.may_transpose) {
        if (!choice.registers) text += choice.a_major == OperandMajor::mn ? ", 1" : ", 0";
        text += choice.b_major == OperandMajor::mn ? ", 1" : ", 0";
    }
    return text + ";";
}

void list_one(Cases& into, const atom::WgmmaAtom& atom, const Choice& choice, std::uint32_t rows, Draw& draw) {
    Case each;
    const int room = b_room(atom);
    begin(each, atom, room);
    each.rows = rows;
    each.name = head_of(atom, choice.saturate);
    each.name += " #" + (choice.registers ? "r" : operand_word(choice.a_major, choice.a_swizzle, choice.a_place)) +
                 "_" + operand_word(choice.b_major, choice.b_swizzle, choice.b_place);
    if (choice.negate_a < 0) each.name += " #-a";
    if (choice.negate_b < 0) each.name += " #-b";
    if (atom.selectors > 1) each.name += " #" + std::to_string(choice.selector);
    each.outputs = registers(0, atom.d.registers);
    for (const std::string& name : each.outputs) each.inputs.push_back({name, kind_of(atom.d)});
    std::string a = "da";
    if (choice.registers) {
        const auto names = registers(132, atom.a.registers);
        for (const std::string& name : names) each.inputs.push_back({name, kind_of(atom.a)});
        a = list_of(names);
    } else {
        const int bits = number::traits(atom.types.a).bits == 19 ? 32 : number::traits(atom.types.a).bits;
        each.body.push_back(descriptor_text(
            "da", operand(choice.a_major, choice.a_swizzle, 64, bits, 32, choice.a_place, draw, 0, a_bytes)));
    }
    const int b_bits = number::traits(atom.types.b).bits == 19 ? 32 : number::traits(atom.types.b).bits;
    each.body.push_back(descriptor_text("db", operand(choice.b_major, choice.b_swizzle, atom.shape.n, b_bits,
                                                      atom.sparse ? 64 : 32, choice.b_place, draw, a_bytes, room)));
    if (atom.sparse) each.inputs.push_back({"r140", atom.chunk == 2 ? "one12" : "pairs24"});
    each.inputs.push_back({"p1", "row:0,1,1,1"});
    each.body.push_back("wgmma.fence.sync.aligned;");
    each.body.push_back(product(atom, choice, each.outputs, a, "db"));
    each.body.push_back("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;");
    into.push_back(std::move(each));
}

const std::vector<SwizzleMode> swizzles{SwizzleMode::none, SwizzleMode::b32, SwizzleMode::b64, SwizzleMode::b128};

/// Every type and class of shape, with inputs of every family.
void list_arithmetic(Cases& into, const atom::WgmmaAtom& atom, Draw& draw) {
    for (const bool from_registers : {false, true}) {
        Choice choice;
        choice.registers = from_registers;
        choice.negate_a = atom.may_negate && draw.one_in(3) ? -1 : 1;
        choice.negate_b = atom.may_negate && draw.one_in(3) ? -1 : 1;
        choice.selector = draw.between(0, atom.selectors - 1);
        choice.a_swizzle = draw.of(swizzles), choice.b_swizzle = draw.of(swizzles);
        if (atom.may_transpose) {
            choice.a_major = draw.one_in(2) ? OperandMajor::mn : OperandMajor::k;
            choice.b_major = draw.one_in(2) ? OperandMajor::mn : OperandMajor::k;
        }
        const bool integer = atom.types.d == Format::s32 && atom.types.a != Format::b1;
        for (const bool saturate : {false, true}) {
            if (saturate && !integer) continue;
            choice.saturate = saturate;
            list_one(into, atom, choice, atom.shape.n <= 64 ? 16 : 8, draw);
        }
    }
}

/// Layouts of both operands, at every kind of place.
void list_layouts(Cases& into, const atom::WgmmaAtom& atom, Draw& draw) {
    const std::vector<OperandMajor> majors =
        atom.may_transpose ? std::vector{OperandMajor::k, OperandMajor::mn} : std::vector{OperandMajor::k};
    for (const OperandMajor a_major : majors)
        for (const SwizzleMode a_swizzle : swizzles)
            for (const OperandMajor b_major : majors)
                for (const SwizzleMode b_swizzle : swizzles) {
                    Choice choice;
                    choice.a_major = a_major, choice.b_major = b_major;
                    choice.a_swizzle = a_swizzle, choice.b_swizzle = b_swizzle;
                    choice.selector = draw.between(0, atom.selectors - 1);
                    const std::vector<Place> places{Place::canonical, Place::advanced, Place::shifted, Place::any};
                    choice.a_place = draw.of(places), choice.b_place = draw.of(places);
                    if (a_swizzle == SwizzleMode::none && choice.a_place == Place::shifted) choice.a_place = Place::any;
                    if (b_swizzle == SwizzleMode::none && choice.b_place == Place::shifted) choice.b_place = Place::any;
                    list_one(into, atom, choice, 4, draw);
                }
}

/// Several products: into one accumulator, and into two, of which one is waited for first.
void list_chains(Cases& into, const atom::WgmmaAtom& atom, Draw& draw) {
    Case each;
    const int room = b_room(atom);
    begin(each, atom, room);
    each.rows = 8;
    each.name = head_of(atom, false) + " wgmma.wait_group.sync.aligned #chain";
    const int count = atom.d.registers;
    const auto first = registers(0, count), second = registers(count, count);
    each.outputs = first;
    each.outputs.insert(each.outputs.end(), second.begin(), second.end());
    for (const std::string& name : each.outputs) each.inputs.push_back({name, kind_of(atom.d)});
    each.inputs.push_back({"p1", "const:1"});
    Choice choice;
    each.body.push_back("wgmma.fence.sync.aligned;");
    std::vector<std::string> prepare, issue;
    for (int i = 0; i < 6; ++i) {
        const std::string number = std::to_string(i);
        prepare.push_back(".reg .b64 da" + number + ", db" + number + ";");
        choice.a_swizzle = draw.of(swizzles), choice.b_swizzle = draw.of(swizzles);
        const int bits = number::traits(atom.types.a).bits == 19 ? 32 : number::traits(atom.types.a).bits;
        prepare.push_back(descriptor_text("da" + number, operand(OperandMajor::k, choice.a_swizzle, 64, bits, 32,
                                                                 Place::advanced, draw, 0, a_bytes)));
        prepare.push_back(descriptor_text("db" + number, operand(OperandMajor::k, choice.b_swizzle, atom.shape.n, bits,
                                                                 32, Place::canonical, draw, a_bytes, room)));
        issue.push_back(product(atom, choice, i < 3 ? first : second, "da" + number, "db" + number));
        if (i % 3 == 2) issue.push_back("wgmma.commit_group.sync.aligned;");
    }
    issue.push_back("wgmma.wait_group.sync.aligned 1;");
    issue.push_back("wgmma.wait_group.sync.aligned 0;");
    each.body.insert(each.body.end() - 1, prepare.begin(), prepare.end());
    each.body.insert(each.body.end(), issue.begin(), issue.end());
    into.push_back(std::move(each));
}

void list_setmaxnreg(Cases& into) {
    for (const std::string change : {"setmaxnreg.dec.sync.aligned.u32 40; setmaxnreg.inc.sync.aligned.u32 120;",
                                     "setmaxnreg.inc.sync.aligned.u32 232;", "setmaxnreg.dec.sync.aligned.u32 24;"}) {
        Case each;
        each.name = change.substr(0, change.find(' ')) +
                    (change.find(';') + 1 < change.size() ? " setmaxnreg.inc.sync.aligned.u32" : "") + " #" +
                    change.substr(change.find(' ') + 1, 3);
        each.target = "sm_90a";
        each.threads = 128;
        each.directives = ".maxntid 128 .minnctapersm 1";
        each.rows = 1;
        each.keep = 1;
        each.inputs = {{"r0", "b32"}};
        each.outputs = {"r8"};
        each.body = {change, "mad.lo.u32 r8, r0, r0, r0;"};
        into.push_back(std::move(each));
    }
}

}  // namespace

void list_wgmma(Cases& into) {
    Draw draw(1);
    for (const atom::WgmmaAtom& atom : atom::all_wgmma()) {
        const int n = atom.shape.n;
        if (n == 8 || n == 16 || n == 24 || n == 64 || n == 128 || n == 256) list_arithmetic(into, atom, draw);
        // One of each K and element width; f16 stands for bf16.
        const bool first = atom.types.a == atom.types.b && atom.types.a != Format::u8 && atom.types.a != Format::bf16 &&
                           (atom.types.d != Format::f16 || atom.types.a == Format::e5m2) &&
                           (atom.types.a != Format::e5m2 || atom.types.d == Format::f16);
        if (first && n == 48) list_layouts(into, atom, draw);
        if (first && n == 128 && atom.may_transpose) list_layouts(into, atom, draw);
        if (!atom.sparse && (n == 32 || n == 96) && atom.types.a == atom.types.b) list_chains(into, atom, draw);
    }
    list_setmaxnreg(into);
}

}  // namespace tilepath::recorded
