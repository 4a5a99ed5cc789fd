#include "generated/program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tilepath::generated {
namespace {

constexpr std::uint32_t counter_bytes = 8 * std::size(counters);

class Generator {
  public:
    Generator(const Instructions& instructions, Choices& choices, bool wild)
        : all_(instructions), choices_(choices), wild_(wild) {}

    Kernel run() {
        Kernel kernel;
        kernel.wild = wild_;
        kernel.grid = 1 + choices_.below(3);
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
        statements(3 + choices_.below(14), {.together = !ragged_, .cta = true});
        epilogue();
        kernel.text = header() + functions + out_ + "}\n";
        return kernel;
    }

  private:
    /// What is known where a statement stands.
    struct Scope {
        bool together = false;  ///< all lanes of each warp are here
        bool cta = false;       ///< so are all threads of the CTA
        bool memory = true;     ///< the kernel's own addresses are at hand
        int depth = 0;
    };

    template <class... Values>
    void line(fmt::format_string<Values...> text, Values&&... values) {
        out_ += fmt::format("    {};\n", fmt::format(text, std::forward<Values>(values)...));
    }
    void label(const std::string& name) { out_ += name + ":\n"; }
    std::string fresh(std::string_view what) { return fmt::format("{}{}", what, names_++); }
    std::string any(char kind) {
        for (auto [letter, count] : register_counts)
            if (letter == kind) return fmt::format("{}{}", kind, choices_.below(count));
        return {};
    }
    std::string guard() {
        return choices_.one_in(6) ? fmt::format("@{}{} ", choices_.one_in(2) ? "!" : "", any('p')) : "";
    }

    std::string header() const {
        std::string text = fmt::format(
            ".version 9.0\n.target {}\n.address_size 64\n.const .align 16 .b8 table[128] = {{", all_.target());
        for (int i = 0; i < 128; ++i) text += fmt::format("{}{}", i ? ", " : "", (i * 37 + 11) % 256);
        return text + "};\n";
    }

    std::string registers() const {
        return "    .reg .pred p<8>; .reg .b16 h<12>; .reg .b32 r<40>; .reg .b64 q<20>; .reg .b128 x<4>;\n"
               "    .reg .pred pt<2>; .reg .b32 t<4>; .reg .b64 w<4>;\n";
    }

    /// A function of a word and a double word, whose other registers come from both.
    std::string function(unsigned index) {
        out_.clear();
        function_ = index + 1;
        callable_ = index;
        const bool by_register = choices_.one_in(2);
        by_register_[index] = by_register;
        std::string_view space = by_register ? "reg" : "param";
        out_ +=
            fmt::format(".func (.{0} .b32 result) f{1}(.{0} .b32 a, .{0} .b64 b)\n{{\n{2}", space, index, registers());
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

    /// h, x and p from r and q.
    void set_small_registers() {
        for (unsigned i = 0; i < 12; ++i) line("cvt.u16.u32 h{}, r{}", i, i + 3);
        for (unsigned i = 0; i < 4; ++i) line("mov.b128 x{}, {{q{}, q{}}}", i, i, i + 4);
        for (unsigned i = 0; i < 8; ++i) line("setp.lt.s32 p{}, r{}, r{}", i, i, i + 8);
    }

    void prologue() {
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

    void epilogue() {
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

    void statements(unsigned count, Scope scope) {
        for (unsigned i = 0; i < count; ++i) statement(scope);
    }

    void statement(Scope scope) {
        if (wild_ && choices_.one_in(12)) scope.together = scope.cta = scope.memory;
        const unsigned kind = choices_.below(32);
        if (kind < 11) return plain();
        if (kind < 15 && scope.memory) return memory();
        if (kind < 17 && scope.together) return warp();
        if (kind < 18 && scope.together && scope.memory) return matrix();
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

    void plain() { line("{}{}", guard(), line_of(all_.choose(Role::plain, choices_), all_, choices_)); }
    void warp() {
        const isa::Instance& instance = all_.choose(Role::warp, choices_);
        if (instance.form->operand("metadata") >= 0) {
            // Nibbles of 4 or 14: columns 0 and 1 or 2 and 3 of four, the first or second of two.
            line("and.b32 {}, {}, 0x11111111", metadata, any('r'));
            line("mad.lo.u32 {0}, {0}, 10, 0x44444444", metadata);
        }
        line("{}", line_of(instance, all_, choices_));
    }

    void memory() {
        const isa::Instance& instance = all_.choose(Role::memory, choices_);
        const unsigned bytes = access_bytes(instance);
        const auto within = [&](unsigned size) { return bytes * choices_.below(size / bytes); };
        const auto has = [&](std::string_view word) { return has_word(instance, word); };
        std::string address;
        if (wild_ && choices_.one_in(6)) {
            address = anywhere(has("shared") || has("shared::cta") || has("shared::cluster") || has("local"));
        } else if (has("nc") || instance.form->opcode == "ldu")
            address = fmt::format("[window+{}]", within(192));
        else if (has("const"))
            address = fmt::format("[table+{}]", within(128));
        else if (has("local"))
            address = fmt::format("[loc+{}]", within(local_bytes));
        else if (has("shared") || has("shared::cta") || has("shared::cluster"))
            address = fmt::format("[own_shared+{}]", within(shared_slot_bytes));
        else if (has("global") || !only_generic(instance))
            address = fmt::format("[own+{}]", within(slot_bytes));
        else
            address = generic_address(instance, within);
        line("{}{}", guard(), line_of(instance, all_, choices_, address));
    }
    /// Near a place that is the kernel's, or anywhere at all.
    std::string anywhere(bool narrow) {
        constexpr std::string_view wide_bases[] = {"own", "window", "generic_shared", "generic_local", "counter"};
        const int offset = int(choices_.below(8192)) - 4096;
        if (choices_.one_in(3)) return fmt::format("[{}+{}]", any(narrow ? 'r' : 'q'), offset);
        return fmt::format("[{}+{}]", narrow ? "own_shared" : choices_.among(wide_bases), offset);
    }
    /// Forms whose `.global` may be left out mean global memory all the same.
    static bool only_generic(const isa::Instance& instance) { return instance.form->modifier("global") < 0; }
    template <class Within>
    std::string generic_address(const isa::Instance& instance, Within within) {
        switch (choices_.below(instance.form->opcode.starts_with("prefetch") ? 1 : 3)) {
            case 0: return fmt::format("[own+{}]", within(slot_bytes));
            case 1: return fmt::format("[generic_shared+{}]", within(shared_slot_bytes));
            default:
                return fmt::format("[{}+{}]", instance.form->opcode == "ld" ? "generic_local" : "generic_shared",
                                   within(local_bytes));
        }
    }

    /// Rows that other lanes write: nobody writes while they are read, nor reads while they are written.
    void matrix() {
        const isa::Instance& instance = all_.choose(Role::matrix, choices_);
        const bool shared = has_word(instance, "shared") || has_word(instance, "shared::cta");
        line("bar.warp.sync 0xffffffff");
        if (instance.form->opcode == "wmma") {
            // The warp's slots lie side by side: 2 KiB of shared memory, 4 KiB of global, of which a matrix takes up
            // to 2.
            line("and.b32 t0, tid, -32");
            if (shared) {
                line("mov.u32 t1, sh");
                line("mad.lo.u32 t1, t0, {}, t1", shared_slot_bytes);
            } else {
                line("ld.param.u64 w0, [slots]");
                line("sub.u32 t1, tid, t0");
                line("sub.u32 t0, thread, t1");
                line("mad.wide.u32 w0, t0, {}, w0", slot_bytes);
            }
            line("{}", line_of(instance, all_, choices_, shared ? "[t1]" : "[w0]"));
        } else {
            line("{}", line_of(instance, all_, choices_, shared ? "[own_shared]" : "[generic_shared]"));
        }
        line("bar.warp.sync 0xffffffff");
    }

    /// What a neighbour in the CTA has in its slot, between two barriers.
    void exchange() {
        if (choices_.one_in(4)) {
            constexpr std::string_view reductions[] = {"bar.red.popc.u32 {}, 0, {}", "bar.red.and.pred {}, 0, {}",
                                                       "bar.red.or.pred {}, 0, {}"};
            const unsigned which = choices_.below(3);
            return line(fmt::runtime(reductions[which]), which == 0 ? any('r') : any('p'), any('p'));
        }
        line("{}", barrier());
        line("add.u32 t0, tid, {}", 1 + choices_.below(threads_));
        line("rem.u32 t0, t0, {}", threads_);
        line("mov.u32 t1, sh");
        line("mad.lo.u32 t0, t0, {}, t1", shared_slot_bytes);
        line("ld.shared.b64 {}, [t0+{}]", any('q'), 8 * choices_.below(8));
        line("{}", barrier());
    }
    std::string barrier() {
        const unsigned number = choices_.below(16);
        if (threads_ % 32 == 0 && choices_.one_in(3)) return fmt::format("barrier.sync {}, {}", number, threads_);
        return fmt::format("{} {}", choices_.one_in(2) ? "bar.sync" : "barrier.sync.aligned", number);
    }

    /// An mbarrier for one phase of the whole CTA; in half of them each thread's copy arrives for it.
    void shared_barrier() {
        const bool copies = choices_.one_in(2);
        const std::string again = fresh("wait");
        line("setp.eq.u32 pt0, tid, 0");
        line("@pt0 mbarrier.init.shared.b64 [mb], {}", threads_);
        line("bar.sync 0");
        if (copies) {
            copy();
            line("cp.async.mbarrier.arrive.noinc.shared.b64 [mb]");
        } else {
            line("mbarrier.arrive.shared.b64 state, [mb]");
        }
        label(again);
        constexpr std::string_view waits[] = {"test_wait", "try_wait"};
        const std::string_view wait = waits[all_.target() < "sm_90" ? 0 : choices_.below(2)];
        if (copies)
            line("mbarrier.{}.parity.shared.b64 pt1, [mb], 0", wait);
        else
            line("mbarrier.{}.shared.b64 pt1, [mb], state", wait);
        line("@!pt1 bra {}", again);
        line("bar.sync 0");
        line("@pt0 mbarrier.inval.shared.b64 [mb]");
        line("bar.sync 0");
    }

    void copy() {
        const unsigned bytes = 4u << choices_.below(3), to = bytes * choices_.below(shared_slot_bytes / bytes);
        const unsigned from = bytes * choices_.below(192 / bytes);
        const bool whole = bytes == 16 && choices_.one_in(2);
        line("{}cp.async.{}.shared.global [own_shared+{}], [window+{}], {}{}", guard(), whole ? "cg" : "ca", to, from,
             bytes, choices_.one_in(3) ? fmt::format(", {}", choices_.below(bytes + 1)) : "");
    }

    /// Copies into the thread's own slot, which it leaves alone until they are waited for. Two copies to one place may
    /// land in either order, so each group is waited for before the next.
    void asynchronous_copy(Scope scope) {
        copy();
        if (choices_.one_in(2)) line("cp.async.commit_group");
        statements(choices_.below(3), {.together = scope.together, .memory = false, .depth = scope.depth + 1});
        if (choices_.one_in(2)) {
            line("cp.async.commit_group");
            line("cp.async.wait_group 0");
        } else {
            line("cp.async.wait_all");
        }
    }

    void count() {
        const unsigned index = choices_.below(std::size(counters));
        const Counter& counter = counters[index];
        const bool wide = counter.type.ends_with("64"), shared = choices_.one_in(2);
        const std::string place = fmt::format("[{}+{}]", shared ? "shared_counters" : "counter", 8 * index);
        // What an atomic gives back depends on the order: `_`.
        const std::string head = choices_.one_in(2) ? fmt::format("red.{}", shared ? "shared" : "global")
                                                    : fmt::format("atom.{}", shared ? "shared" : "global");
        line("{}{}.{}.{} {}{}, {}", guard(), head, counter.operation, counter.type,
             head.starts_with("atom") ? "_, " : "", place, any(wide ? 'q' : 'r'));
    }

    void special_register() {
        constexpr std::string_view names[] = {"%tid.x",       "%ntid.x",           "%ctaid.x",     "%nctaid.x",
                                              "%laneid",      "%warpid",           "%nwarpid",     "%lanemask_eq",
                                              "%lanemask_le", "%lanemask_lt",      "%lanemask_ge", "%lanemask_gt",
                                              "%tid.y",       "%dynamic_smem_size"};
        line("{}mov.u32 {}, {}", guard(), any('r'), choices_.among(names));
    }

    void carry_chain() {
        constexpr std::string_view chains[] = {"add", "sub", "mad.lo", "mad.hi"};
        const bool wide = choices_.one_in(3);
        const char kind = wide ? 'q' : 'r';
        const unsigned links = 2 + choices_.below(3);
        for (unsigned i = 0; i < links; ++i) {
            std::string_view what = choices_.among(chains);
            const bool mad = what.starts_with("mad"), last = i + 1 == links;
            const std::string opcode =
                fmt::format("{}{}{}", what.substr(0, 3), i == 0 ? "" : "c", mad ? what.substr(3) : "");
            line("{}{}.u{} {}, {}, {}{}", opcode, last ? "" : ".cc", wide ? 64 : 32, any(kind), any(kind), any(kind),
                 mad ? ", " + any(kind) : "");
        }
    }

    void pack() {
        switch (choices_.below(6)) {
            case 0: return line("mov.b64 {}, {{{}, {}}}", any('q'), any('r'), any('r'));
            case 1: return line("mov.b32 {}, {{{}, {}}}", any('r'), any('h'), any('h'));
            case 2:
                return line("{}mov.b64 {{r{}, r{}}}, {}", guard(), choices_.below(20), 20 + choices_.below(20),
                            any('q'));
            case 3:
                return line("{}mov.b32 {{h{}, h{}}}, {}", guard(), choices_.below(6), 6 + choices_.below(6), any('r'));
            case 4: return line("mov.b128 {}, {{{}, {}}}", any('x'), any('q'), any('q'));
            default:
                return line("{}mov.b128 {{q{}, q{}}}, {}", guard(), choices_.below(10), 10 + choices_.below(10),
                            any('x'));
        }
    }

    void call() {
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
            out_ +=
                fmt::format("    {}: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _);\n", prototype);
            line("mov.u64 w3, f{}", callee);
            line("call (out), w3, (first, second), {}", prototype);
        }
        line("ld.param.b32 {}, [out]", result);
        out_ += "    }\n";
    }

    void branch(Scope scope) {
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

    /// All of a CTA go one way.
    void uniform_branch(Scope scope) {
        const std::string end = fresh("end");
        line("mov.u32 t0, %ctaid.x");
        line("setp.eq.u32 pt0, t0, {}", choices_.below(2));
        line("@pt0 bra{} {}", choices_.one_in(2) ? ".uni" : "", end);
        ++scope.depth;
        statements(1 + choices_.below(4), scope);
        label(end);
    }

    /// A counted loop: of as many turns for all, or of each lane's own number, perhaps left early.
    void loop(Scope scope) {
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

    void table(Scope scope) {
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

    const Instructions& all_;
    Choices& choices_;
    std::string out_;
    std::uint32_t threads_ = 32;
    bool ragged_ = false, wild_ = false;
    unsigned functions_ = 0, callable_ = 0, function_ = 0, names_ = 0;
    bool by_register_[4] = {};
};

}  // namespace

Kernel generate(const Instructions& instructions, Choices& choices, bool wild) {
    return Generator(instructions, choices, wild).run();
}

}  // namespace tilepath::generated
