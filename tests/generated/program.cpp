// What every generated program begins and ends with, its functions, and the choice of statements.
#include "generated/generator.h"

namespace tilepath::generated {

Kernel Generator::run() {
    Kernel kernel;
    kernel.wild = wild_;
    kernel.grid = 1 + choices_.below(3);
    kernel.cluster = cluster_ = all_.target() >= "sm_90" && choices_.one_in(2) ? kernel.grid : 1;
    ragged_ = choices_.one_in(5);
    kernel.block = ragged_ ? 1 + choices_.below(80) : 32 * (1 + choices_.below(4));
    threads_ = kernel.block;
    functions_ = choices_.below(3);
    std::string functions;
    for (unsigned i = 0; i < functions_; ++i) functions += function(i);
    out_.clear();
    function_ = 0;
    callable_ = functions_;
    prologue();
    statements(3 + choices_.below(14), {.together = !ragged_, .cta = true, .cluster = cluster_ > 1});
    epilogue();
    kernel.text = header() + functions + out_ + "}\n";
    return kernel;
}

std::string Generator::any(char kind) {
    for (auto [letter, count] : register_counts)
        if (letter == kind) return fmt::format("{}{}", kind, choices_.below(count));
    return {};
}

std::string Generator::guard() {
    return choices_.one_in(6) ? fmt::format("@{}{} ", choices_.one_in(2) ? "!" : "", any('p')) : "";
}

std::string Generator::header() const {
    std::string text =
        fmt::format(".version 9.0\n.target {}\n.address_size 64\n.const .align 16 .b8 table[128] = {{", all_.target());
    for (int i = 0; i < 128; ++i) text += fmt::format("{}{}", i ? ", " : "", (i * 37 + 11) % 256);
    return text + "};\n";
}

std::string Generator::registers() const {
    return "    .reg .pred p<8>; .reg .b16 h<12>; .reg .b32 r<40>; .reg .b64 q<20>; .reg .b128 x<4>;\n"
           "    .reg .pred pt<2>; .reg .b32 t<4>; .reg .b64 w<4>;\n";
}

std::string Generator::function(unsigned index) {
    out_.clear();
    function_ = index + 1;
    callable_ = index;
    const bool by_register = choices_.one_in(2);
    by_register_[index] = by_register;
    std::string_view space = by_register ? "reg" : "param";
    out_ += fmt::format(".func (.{0} .b32 result) f{1}(.{0} .b32 a, .{0} .b64 b)\n{{\n{2}", space, index, registers());
    line("{}", by_register ? "mov.b32 t0, a" : "ld.param.b32 t0, [a]");
    line("{}", by_register ? "mov.b64 w0, b" : "ld.param.b64 w0, [b]");
    for (unsigned i = 0; i < 40; ++i) line("mad.lo.u32 r{0}, t0, {1}, {0}", i, 2654435761u + 2 * i);
    for (unsigned i = 0; i < 20; ++i) line("mad.lo.u64 q{0}, w0, {1}, {0}", i, 0x9E3779B97F4A7C15u + 2 * i);
    set_small_registers();
    const std::string_view give = by_register ? "mov.b32 result," : "st.param.b32 [result],";
    statements(1 + choices_.below(5), {.memory = false, .depth = 1});
    if (choices_.one_in(3)) {
        line("{} {}", give, any('r'));
        line("@{} ret", any('p'));
        statements(1 + choices_.below(3), {.memory = false, .depth = 2});
    }
    line("{} {}", give, any('r'));
    line("ret");
    return out_ + "}\n";
}

void Generator::set_small_registers() {
    for (unsigned i = 0; i < 12; ++i) line("cvt.u16.u32 h{}, r{}", i, i + 3);
    for (unsigned i = 0; i < 4; ++i) line("mov.b128 x{}, {{q{}, q{}}}", i, i, i + 4);
    for (unsigned i = 0; i < 8; ++i) line("setp.lt.s32 p{}, r{}, r{}", i, i, i + 8);
}

void Generator::prologue() {
    out_ += fmt::format(
        ".visible .entry k(.param .u64 input, .param .u64 slots, .param .u64 results, .param .u64 counters)\n{{\n{}"
        "    .reg .b32 tid, thread, own_shared; .reg .b64 window, own, result, counter, generic_shared, "
        "generic_local, state;\n"
        "    .shared .align 128 .b8 sh[{}]; .shared .align 8 .b8 shared_counters[{}]; .shared .align 8 .b64 mb;\n"
        "    .local .align 32 .b8 loc[{}];\n",
        registers(), threads_ * shared_slot_bytes, counter_bytes, local_bytes);
    line("mov.u32 tid, %tid.x");
    line("mov.u32 t0, %ctaid.x");
    line("mad.lo.u32 thread, t0, {}, tid", threads_);
    line("ld.param.u64 window, [input]");
    line("and.b32 t0, thread, 15");
    line("mad.wide.u32 window, t0, 192, window");
    line("ld.param.u64 own, [slots]");
    line("mad.wide.u32 own, thread, {}, own", slot_bytes);
    line("ld.param.u64 result, [results]");
    line("mad.wide.u32 result, thread, {}, result", result_bytes);
    line("ld.param.u64 counter, [counters]");
    line("mov.u32 t0, sh");
    line("mad.lo.u32 own_shared, tid, {}, t0", shared_slot_bytes);
    line("cvt.u64.u32 w0, own_shared");
    line("cvta.shared.u64 generic_shared, w0");
    line("mov.u64 w0, loc");
    line("cvta.local.u64 generic_local, w0");
    for (unsigned i = 0; i < 40; ++i) line("ld.global.b32 r{}, [window+{}]", i, 4 * i);
    for (unsigned i = 0; i < 20; ++i) line("ld.global.b64 q{}, [window+{}]", i, 8 * ((i * 7) % 24));
    set_small_registers();
    for (unsigned at = 0; at < shared_slot_bytes; at += 16)
        line("st.shared.v4.b32 [own_shared+{}], {{r{}, tid, 0, thread}}", at, at / 16);
    for (unsigned at = 0; at < local_bytes; at += 8) line("st.local.b64 [loc+{}], q{}", at, at / 8);
    // One thread makes what the CTA shares.
    line("setp.eq.u32 pt0, tid, 0");
    for (unsigned i = 0; i < std::size(counters); ++i)
        line("@pt0 st.shared.b64 [shared_counters+{}], {}", 8 * i, counters[i].initial);
    line("bar.sync 0");
}

void Generator::epilogue() {
    line("bar.sync 0");
    unsigned at = 0;
    const auto store = [&](std::string_view type, unsigned bytes, const std::string& what) {
        line("st.global.{} [result+{}], {}", type, at, what);
        at += bytes;
    };
    for (unsigned i = 0; i < 40; ++i) store("b32", 4, fmt::format("r{}", i));
    for (unsigned i = 0; i < 20; ++i) store("b64", 8, fmt::format("q{}", i));
    for (unsigned i = 0; i < 4; ++i) store("b128", 16, fmt::format("x{}", i));
    for (unsigned i = 0; i < 12; ++i) store("b16", 2, fmt::format("h{}", i));
    for (unsigned i = 0; i < 8; ++i) {
        line("selp.b32 t0, 1, 0, p{}", i);
        store("b32", 4, "t0");
    }
    for (unsigned from = 0; from < shared_slot_bytes; from += 8) {
        line("ld.shared.b64 w0, [own_shared+{}]", from);
        store("b64", 8, "w0");
    }
    for (unsigned from = 0; from < local_bytes; from += 8) {
        line("ld.local.b64 w0, [loc+{}]", from);
        store("b64", 8, "w0");
    }
    static_assert(160 + 160 + 64 + 24 + 32 + shared_slot_bytes + local_bytes + 8 <= result_bytes);
    // Each thread keeps one of the CTA's counters.
    line("rem.u32 t0, tid, {}", std::size(counters));
    line("mov.u32 t1, shared_counters");
    line("mad.lo.u32 t1, t0, 8, t1");
    line("ld.shared.b64 w0, [t1]");
    store("b64", 8, "w0");
    line("ret");
}

void Generator::statements(unsigned count, Scope scope) {
    for (unsigned i = 0; i < count; ++i) statement(scope);
}

void Generator::statement(Scope scope) {
    if (wild_ && choices_.one_in(12))
        scope.together = scope.cta = scope.memory, scope.cluster = scope.cta && cluster_ > 1;
    const unsigned kind = choices_.below(32);
    if (kind < 11) return plain();
    if (kind < 15 && scope.memory) return memory();
    if (kind < 17 && scope.together) return warp();
    if (kind < 18 && scope.together && scope.memory) return matrix();
    if (kind < 19 && scope.cluster && choices_.one_in(2)) return cluster_exchange();
    if (kind < 19 && scope.cta) return exchange();
    if (kind < 20 && scope.cta) return shared_barrier();
    if (kind < 21 && scope.memory) return asynchronous_copy(scope);
    if (kind < 22 && scope.memory) return count();
    if (kind < 23) return special_register();
    if (kind < 24) return carry_chain();
    if (kind < 25) return pack();
    if (kind < 26 && callable_ != 0) return call();
    if (scope.depth >= 3) return plain();
    if (kind < 28) return loop(scope);
    if (kind < 29) return table(scope);
    if (kind < 30 && scope.together) return uniform_branch(scope);
    return branch(scope);
}

Kernel generate(const Instructions& instructions, Choices& choices, bool wild) {
    return Generator(instructions, choices, wild).run();
}

}  // namespace tilepath::generated
