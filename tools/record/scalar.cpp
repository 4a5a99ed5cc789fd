// Records conversions and arithmetic outside the tensor cores, and compares millions of results with number/.
//
//     scalar record LIST    for every opcode of LIST (a recording: opcodes at the beginning of a line), lines of
//                           operands and result, as tests/vectors/scalar/h200.txt has them, on standard output
//     scalar check LIST     every opcode on some 50,000 operands against number/; differences, then their count
//
// LIST's opcodes are the forms of add, sub, mul, fma, div, sqrt, rcp, min, max, neg, abs, cvt and cvt.pack that ptxas
// 13.0 takes for sm_90. Run from the root of the repository. Needs cuda.h, libcuda, src/number and tests/number.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "../../kernels/inputs.h"
#include "../../tests/number/scalar_model.h"
#include "driver.h"

using namespace tilepath;
using namespace tilepath::number;

namespace {

using driver::must;

constexpr std::size_t lines_recorded = 24;

using Values = std::vector<std::uint64_t>;

class Random {
  public:
    std::uint64_t bits() { return kernels::input_bits(1, kernels::InputOperand::a, index_++); }
    std::uint64_t below(std::uint64_t n) { return (bits() >> 32) * n >> 32; }

  private:
    std::uint64_t index_ = 0;
};

/// An operand's type: its format, how many of it lie in the register, the register's width.
struct Operand {
    std::string name;
    std::optional<Format> format;  ///< of a plain type
    int register_bits;
};

Operand operand(const std::string& type) {
    Operand o{type, format_named(type), 32};
    if (o.format) o.register_bits = std::max(traits(*o.format).container_bits, traits(*o.format).floating ? 16 : 32);
    if (type == "u16" || type == "s16" || type == "e4m3x2" || type == "e5m2x2") o.register_bits = 16;
    return o;
}

struct Form {
    ScalarForm form;
    Operand d;
    std::vector<Operand> sources;
};

Form form_of(const std::string& opcode) {
    Form f{scalar_form(opcode), {}, {}};
    const std::string& op = f.form.operation;
    if (f.form.has("pack")) {
        f.d = operand("u32");
        f.sources.assign(opcode.ends_with("b32") ? 3 : 2, operand("s32"));
        return f;
    }
    f.d = operand(f.form.types.front());
    const bool pair = f.d.name.ends_with("x2") && f.form.types.back() == "f32";
    const std::size_t count = op == "fma"                                                 ? 3
                              : op == "cvt"                                               ? (pair ? 2 : 1)
                              : op == "sqrt" || op == "rcp" || op == "neg" || op == "abs" ? 1
                                                                                          : 2;
    f.sources.assign(count, operand(f.form.types.back()));
    return f;
}

/// Zeros, ends of binades, ties of every narrower format, NaN of all kinds; integers around every power of two.
std::vector<std::uint64_t> notable(const Operand& o) {
    std::set<std::uint64_t> values;
    if (!o.format) return {};
    const FormatTraits& t = traits(*o.format);
    const std::uint64_t mask = t.bits == 64 ? ~0ull : (1ull << t.bits) - 1;
    if (!t.floating) {
        for (int k = 0; k < t.bits; ++k)
            for (int near = -2; near <= 2; ++near)
                for (const std::uint64_t sign : Values{1, ~0ull})
                    values.insert(((sign << k) + std::uint64_t(near)) & mask);
        return {values.begin(), values.end()};
    }
    const std::uint64_t one = std::uint64_t(t.bias) << t.fraction_bits, last = (1ull << t.fraction_bits) - 1;
    const std::uint64_t infinity_bits = infinity(*o.format, false);
    for (const std::uint64_t at : Values{0, one, last + 1, infinity_bits, one + (one >> 3), one - (one >> 3)})
        for (const std::uint64_t near : Values{0, 1, 2, ~0ull, ~0ull - 1}) values.insert(at + near);
    for (const int narrower : {1, 2, 3, 7, 10, 23})
        if (const int drop = t.fraction_bits - narrower; drop > 0)
            for (const double x : {1.0, 448.0, 57344.0, 65504.0, 127.0, 32767.0, 2147483648.0, 0x1p-9, 0x1p-14, 0x1p-24,
                                   0x1p-126, 0x1p127})
                for (const std::uint64_t fraction : Values{0, (1ull << drop) >> 1, ((1ull << drop) >> 1) + 1,
                                                           (1ull << drop) - 1, last, last - ((1ull << drop) >> 1)})
                    values.insert(from_double(x, *o.format) + fraction);
    for (const std::uint64_t payload : Values{1, last / 2, last / 2 + 1, last / 2 + 0x1234 % last, last, last - 8})
        values.insert(infinity_bits | payload);
    std::vector<std::uint64_t> result;
    for (const std::uint64_t x : values)
        for (const std::uint64_t sign : Values{0, 1ull << (t.bits - 1)}) result.push_back((x & (mask >> 1)) | sign);
    return result;
}

/// Random bits: any; exponents near one, near the subnormals; fractions that end in zeros or ones.
std::uint64_t random_operand(Random& random, const Operand& o) {
    std::uint64_t x = random.bits();
    if (!o.format) return x & (o.register_bits == 32 ? 0xffffffff : 0xffff);
    const FormatTraits& t = traits(*o.format);
    const std::uint64_t mask = t.bits == 64 ? ~0ull : (1ull << t.bits) - 1;
    x &= mask;
    if (!t.floating) return random.below(2) == 0 ? x : x >> random.below(std::uint64_t(t.bits));
    const std::uint64_t run = (1ull << random.below(std::uint64_t(t.fraction_bits) + 1)) - 1;
    const std::uint64_t style = random.below(6), exponent_mask = ((1ull << t.exponent_bits) - 1) << t.fraction_bits;
    std::uint64_t field = x >> t.fraction_bits;
    if (style == 1) field = std::uint64_t(t.bias) - 2 + random.below(4);
    if (style == 2) field = random.below(std::uint64_t(t.fraction_bits) + 3);
    if (style == 3) field = std::uint64_t(t.bias) / 2 + random.below(std::uint64_t(t.bias));
    x = (x & ~exponent_mask) | (field << t.fraction_bits & exponent_mask);
    return random.below(3) == 0 ? x & ~run : random.below(2) == 0 ? x | (run & mask >> 1) : x;
}

/// Columns of operands: all values of one 16-bit operand, else notable ones (crossed, if two) and random ones; products
/// and sums around the least normal, where .ftz decides.
std::vector<std::vector<std::uint64_t>> inputs(Random& random, const Form& f) {
    std::vector<std::vector<std::uint64_t>> columns(f.sources.size());
    const Operand& o = f.sources.front();
    if (columns.size() == 1 && o.register_bits == 16) {
        for (std::uint64_t x = 0; x < 0x10000; ++x) columns[0].push_back(x);
        return columns;
    }
    const std::vector<std::uint64_t> notables = notable(o);
    const auto push = [&](std::initializer_list<std::uint64_t> row) {
        for (std::size_t i = 0; i < columns.size(); ++i) columns[i].push_back(row.begin()[i]);
    };
    const auto pick = [&] {
        return notables.empty() ? random_operand(random, o) : notables[random.below(notables.size())];
    };
    for (const std::uint64_t x : notables) push({x, pick(), pick()});
    for (int i = 0; i < 12'000; ++i) push({pick(), pick(), pick()});
    for (int i = 0; i < 24'000; ++i)
        push({random_operand(random, o), random_operand(random, o), random_operand(random, o)});
    if (!o.format || !traits(*o.format).floating || columns.size() == 1) return columns;
    const FormatTraits& t = traits(*o.format);
    const auto with_exponent = [&](std::int64_t field) {
        const std::uint64_t clamped = std::uint64_t(std::clamp<std::int64_t>(field, 0, 2 * t.bias));
        const std::uint64_t fraction = (1ull << t.fraction_bits) - 1,
                            run = (1ull << random.below(std::uint64_t(t.fraction_bits) + 1)) - 1;
        const std::uint64_t x = random.bits();
        return (x & 1ull << (t.bits - 1)) | clamped << t.fraction_bits |
               ((random.below(2) == 0 ? x & ~run : x | run) & fraction);
    };
    for (int i = 0; i < 24'000; ++i) {
        const std::int64_t a = std::int64_t(random.below(std::uint64_t(t.bias + t.fraction_bits + 4)));
        const std::int64_t below = std::int64_t(random.below(i % 2 == 0 ? 6 : 2 * std::uint64_t(t.fraction_bits)));
        const std::uint64_t c = with_exponent(std::int64_t(random.below(3)));
        push({with_exponent(a), with_exponent(t.bias - a + 3 - below),
              random.below(2) == 0 ? c & ~((1ull << t.fraction_bits) - 1) : c});
    }
    return columns;
}

std::string kernel(std::size_t index, const Form& f) {
    const auto reg = [](const Operand& o, std::size_t i) {
        return (o.register_bits == 64 ? "d" : o.register_bits == 32 ? "r" : "h") + std::to_string(i);
    };
    std::string text = ".visible .entry k" + std::to_string(index) +
                       "(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 out, .param .u32 n) {\n"
                       ".reg .b64 d<8>, x<8>; .reg .b32 r<8>, q<8>; .reg .b16 h<8>; .reg .pred p;\n"
                       "mov.u32 q0, %ctaid.x; mov.u32 q1, %ntid.x; mov.u32 q2, %tid.x; mad.lo.u32 q3, q0, q1, q2;\n"
                       "ld.param.u32 q4, [n]; setp.ge.u32 p, q3, q4; @p ret; mul.wide.u32 x0, q3, 8;\n";
    std::string list = reg(f.d, 7);
    for (std::size_t i = 0; i < f.sources.size(); ++i) {
        const int bits = f.sources[i].register_bits;
        text += "ld.param.u64 x1, [p" + std::to_string(i) + "]; add.u64 x1, x1, x0; ld.global.u64 x2, [x1]; ";
        text += (bits == 64 ? "mov.b64 " : "cvt.u" + std::to_string(bits) + ".u64 ") + reg(f.sources[i], i) + ", x2;\n";
        list += ", " + reg(f.sources[i], i);
    }
    const int bits = f.d.register_bits;
    text += f.form.opcode + " " + list + ";\n";
    text += (bits == 64 ? "mov.b64 x2, " : "cvt.u64.u" + std::to_string(bits) + " x2, ") + reg(f.d, 7) + ";\n";
    return text + "ld.param.u64 x1, [out]; add.u64 x1, x1, x0; st.global.u64 [x1], x2; ret; }\n";
}

std::vector<std::uint64_t> run(CUfunction function, const std::vector<std::vector<std::uint64_t>>& columns) {
    const std::size_t n = columns.front().size(), bytes = n * sizeof(std::uint64_t);
    CUdeviceptr memory;
    must(cuMemAlloc(&memory, 4 * bytes), "cuMemAlloc");
    std::array<CUdeviceptr, 4> at{memory, memory + bytes, memory + 2 * bytes, memory + 3 * bytes};
    for (std::size_t i = 0; i < columns.size(); ++i) must(cuMemcpyHtoD(at[i], columns[i].data(), bytes), "copy in");
    unsigned count = unsigned(n);
    void* arguments[] = {&at[0], &at[1], &at[2], &at[3], &count};
    must(cuLaunchKernel(function, (count + 255) / 256, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr), "launch");
    std::vector<std::uint64_t> result(n);
    must(cuMemcpyDtoH(result.data(), at[3], bytes), "copy out");
    must(cuMemFree(memory), "cuMemFree");
    return result;
}

std::uint64_t result_mask(const Form& f) {
    const bool narrow = f.d.format && !f.form.has("pack") && f.d.name != "tf32";
    const int bits = narrow ? traits(*f.d.format).bits : f.d.register_bits;
    return bits == 64 ? ~0ull : (1ull << bits) - 1;
}

/// One line for each combination of the classes of operands and result, then random lines.
void record(Random& random, const Form& f, const std::vector<std::vector<std::uint64_t>>& columns,
            const std::vector<std::uint64_t>& results) {
    std::set<std::string> seen;
    std::set<std::size_t> chosen;
    const auto class_of = [](std::uint64_t bits, const Operand& o) {
        if (!o.format) return std::string("?");
        const Decoded d = decode(bits, *o.format);
        const bool subnormal = traits(*o.format).floating && d.kind == Class::finite &&
                               d.significand >> traits(*o.format).fraction_bits == 0;
        return std::string{char('0' + int(d.kind)), d.negative ? '-' : '+', subnormal ? 's' : 'n'};
    };
    const std::size_t n = results.size();
    for (std::size_t i = 0; i < n && chosen.size() < 2 * lines_recorded / 3; ++i) {
        std::string key = class_of(results[i] & result_mask(f), f.d);
        for (std::size_t j = 0; j < columns.size(); ++j) key += class_of(columns[j][i], f.sources[j]);
        if (seen.insert(key).second) chosen.insert(i);
    }
    while (chosen.size() < lines_recorded) chosen.insert(random.below(n));
    std::printf("%s\n", f.form.opcode.c_str());
    for (const std::size_t i : chosen) {
        for (const auto& column : columns) std::printf(" %llx", static_cast<unsigned long long>(column[i]));
        std::printf(" %llx\n", static_cast<unsigned long long>(results[i] & result_mask(f)));
    }
}

std::size_t check(const Form& f, const std::vector<std::vector<std::uint64_t>>& columns,
                  const std::vector<std::uint64_t>& results) {
    std::size_t different = 0;
    for (std::size_t i = 0; i < results.size(); ++i) {
        std::array<std::uint64_t, 3> x{};
        for (std::size_t j = 0; j < columns.size(); ++j) x[j] = columns[j][i];
        const std::uint64_t ours = model(f.form, std::span(x).first(columns.size()));
        if (((ours ^ results[i]) & result_mask(f)) == 0 || ++different > 5) continue;
        std::printf("%s %llx %llx %llx: %llx, number/ %llx\n", f.form.opcode.c_str(),
                    static_cast<unsigned long long>(x[0]), static_cast<unsigned long long>(x[1]),
                    static_cast<unsigned long long>(x[2]), static_cast<unsigned long long>(results[i]),
                    static_cast<unsigned long long>(ours));
    }
    return different;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string what = argc == 3 ? argv[1] : "";
    if (what != "record" && what != "check") return std::fprintf(stderr, "scalar record|check LIST\n"), 2;
    std::vector<Form> forms;
    std::ifstream list(argv[2]);
    std::string ptx = ".version 9.0\n.target sm_90\n.address_size 64\n";
    for (std::string line; std::getline(list, line);) {
        if (line.empty() || line.front() == ' ') continue;
        forms.push_back(form_of(line));
        ptx += kernel(forms.size() - 1, forms.back());
    }
    CUdevice device;
    CUcontext context;
    CUmodule module;
    must(cuInit(0), "cuInit");
    must(cuDeviceGet(&device, 0), "cuDeviceGet");
    must(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    must(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    must(cuModuleLoadData(&module, ptx.c_str()), "cuModuleLoadData");
    Random random;
    std::size_t compared = 0, different = 0;
    for (std::size_t i = 0; i < forms.size(); ++i) {
        CUfunction function;
        must(cuModuleGetFunction(&function, module, ("k" + std::to_string(i)).c_str()), forms[i].form.opcode);
        const auto columns = inputs(random, forms[i]);
        const auto results = run(function, columns);
        if (what == "record") record(random, forms[i], columns, results);
        compared += results.size();
        if (what == "check") different += check(forms[i], columns, results);
    }
    if (what == "check") std::printf("%zu forms, %zu compared, %zu different\n", forms.size(), compared, different);
    return different == 0 ? 0 : 1;
}
