// Statements of one lane or one warp.
#include "generated/generator.h"

namespace tilepath::generated {

void Generator::plain() { line("{}{}", guard(), line_of(all_.choose(Role::plain, choices_), all_, choices_)); }

void Generator::warp() {
    const isa::Instance& instance = all_.choose(Role::warp, choices_);
    if (instance.form->operand("metadata") >= 0) {
        // Nibbles of 4 or 14: columns 0 and 1 or 2 and 3 of four, the first or second of two.
        line("and.b32 {}, {}, 0x11111111", metadata, any('r'));
        line("mad.lo.u32 {0}, {0}, 10, 0x44444444", metadata);
    }
    line("{}", line_of(instance, all_, choices_));
}

void Generator::memory() {
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

std::string Generator::anywhere(bool narrow) {
    constexpr std::string_view wide_bases[] = {"own", "window", "generic_shared", "generic_local", "counter"};
    const int offset = int(choices_.below(8192)) - 4096;
    if (choices_.one_in(3)) return fmt::format("[{}+{}]", any(narrow ? 'r' : 'q'), offset);
    return fmt::format("[{}+{}]", narrow ? "own_shared" : choices_.among(wide_bases), offset);
}

void Generator::matrix() {
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

void Generator::special_register() {
    constexpr std::string_view names[] = {"%tid.x",       "%ntid.x",           "%ctaid.x",     "%nctaid.x",
                                          "%laneid",      "%warpid",           "%nwarpid",     "%lanemask_eq",
                                          "%lanemask_le", "%lanemask_lt",      "%lanemask_ge", "%lanemask_gt",
                                          "%tid.y",       "%dynamic_smem_size"};
    line("{}mov.u32 {}, {}", guard(), any('r'), choices_.among(names));
}

void Generator::carry_chain() {
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

void Generator::pack() {
    switch (choices_.below(6)) {
        case 0: return line("mov.b64 {}, {{{}, {}}}", any('q'), any('r'), any('r'));
        case 1: return line("mov.b32 {}, {{{}, {}}}", any('r'), any('h'), any('h'));
        case 2:
            return line("{}mov.b64 {{r{}, r{}}}, {}", guard(), choices_.below(20), 20 + choices_.below(20), any('q'));
        case 3: return line("{}mov.b32 {{h{}, h{}}}, {}", guard(), choices_.below(6), 6 + choices_.below(6), any('r'));
        case 4: return line("mov.b128 {}, {{{}, {}}}", any('x'), any('q'), any('q'));
        default:
            return line("{}mov.b128 {{q{}, q{}}}, {}", guard(), choices_.below(10), 10 + choices_.below(10), any('x'));
    }
}

}  // namespace tilepath::generated
