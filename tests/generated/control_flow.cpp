// Branches, loops, tables and calls.
#include "generated/generator.h"

namespace tilepath::generated {

void Generator::call() {
    const unsigned callee = choices_.below(callable_);
    const std::string a = any('r'), b = any('q'), result = any('r');
    if (by_register_[callee]) return line("call ({}), f{}, ({}, {})", result, callee, a, b);
    out_ += "    {\n";
    line(".param .b32 out");
    line(".param .b32 first");
    line(".param .b64 second");
    line("st.param.b32 [first], {}", a);
    line("st.param.b64 [second], {}", b);
    if (choices_.one_in(2)) {
        line("call (out), f{}, (first, second)", callee);
    } else {
        const std::string prototype = fresh("prototype");
        out_ += fmt::format("    {}: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _);\n", prototype);
        line("mov.u64 w3, f{}", callee);
        line("call (out), w3, (first, second), {}", prototype);
    }
    line("ld.param.b32 {}, [out]", result);
    out_ += "    }\n";
}

void Generator::branch(Scope scope) {
    const std::string other = fresh("else"), end = fresh("end");
    const Scope inside{.memory = scope.memory, .depth = scope.depth + 1};
    line("@{}{} bra {}", choices_.one_in(2) ? "!" : "", any('p'), other);
    statements(1 + choices_.below(3), inside);
    if (choices_.one_in(2)) {
        label(other);
        return;
    }
    line("bra {}", end);
    label(other);
    statements(1 + choices_.below(3), inside);
    label(end);
}

void Generator::uniform_branch(Scope scope) {
    const std::string end = fresh("end");
    line("mov.u32 t0, %ctaid.x");
    line("setp.eq.u32 pt0, t0, {}", choices_.below(2));
    line("@pt0 bra{} {}", choices_.one_in(2) ? ".uni" : "", end);
    ++scope.depth;
    scope.cluster = false;
    statements(1 + choices_.below(4), scope);
    label(end);
}

void Generator::loop(Scope scope) {
    const std::string begin = fresh("loop"), end = fresh("end"), count = fresh("n");
    const bool uniform = choices_.one_in(2);
    out_ += fmt::format("    .reg .b32 {};\n    .reg .pred {}p;\n", count, count);
    if (uniform) {
        line("mov.u32 {}, {}", count, 1 + choices_.below(3));
    } else {
        line("and.b32 {}, {}, 3", count, any('r'));
        line("add.u32 {0}, {0}, 1", count);
    }
    label(begin);
    Scope inside{.together = uniform && scope.together,
                 .cta = uniform && scope.cta,
                 .cluster = uniform && scope.cluster,
                 .memory = scope.memory,
                 .depth = scope.depth + 1};
    const bool early = !uniform && choices_.one_in(2);
    statements(1 + choices_.below(3), inside);
    if (early) {
        line("@{} bra {}", any('p'), end);
        statements(1, inside);
    }
    line("sub.u32 {0}, {0}, 1", count);
    line("setp.ne.u32 {0}p, {0}, 0", count);
    line("@{}p bra {}", count, begin);
    label(end);
}

void Generator::table(Scope scope) {
    const std::string list = fresh("table"), end = fresh("end");
    std::string targets[3];
    for (std::string& each : targets) each = fresh("case");
    out_ += fmt::format("    {}: .branchtargets {}, {}, {}, {};\n", list, targets[0], targets[1], targets[2],
                        targets[choices_.below(3)]);
    line("and.b32 t0, {}, 3", any('r'));
    line("brx.idx t0, {}", list);
    for (const std::string& each : targets) {
        label(each);
        statements(1 + choices_.below(2), {.memory = scope.memory, .depth = scope.depth + 1});
        if (choices_.one_in(2)) line("bra {}", end);
    }
    label(end);
}

}  // namespace tilepath::generated
