// Clusters: registers, addresses, peers' shared memory through loads, stores and atomics, remote mbarriers, st.async,
// red.async.
#include <array>

#include "list_async.h"

namespace tilepath::recorded {
namespace {

const std::string meet = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;";
const std::string here = "cvt.u64.u32 q5, sm; cvta.shared.u64 q5, q5;";  // the generic address

Case begin(const std::string& name, std::uint32_t ctas, std::uint32_t rows) {
    Case each;
    each.name = name + " #" + std::to_string(ctas);
    each.cluster = {ctas, 1, 1};
    each.rows = rows;
    each.shared_bytes = 512;
    return each;
}

void list_registers(Cases& into) {
    for (const std::array<std::uint32_t, 3> shape :
         {std::array{1u, 1u, 1u}, std::array{2u, 1u, 1u}, std::array{4u, 1u, 1u}, std::array{2u, 2u, 1u},
          std::array{1u, 2u, 2u}, std::array{2u, 2u, 2u}, std::array{8u, 1u, 1u}, std::array{16u, 1u, 1u},
          std::array{4u, 2u, 2u}}) {
        Case each;
        each.name = "mov.u32 #cluster_" + std::to_string(shape[0]) + "_" + std::to_string(shape[1]) + "_" +
                    std::to_string(shape[2]);
        each.cluster = shape;
        each.rows = 2 * shape[0] * shape[1] * shape[2];
        each.keep = 1;
        const std::vector<std::string> registers{
            "%cluster_ctarank",  "%cluster_nctarank", "%cluster_ctaid.x",  "%cluster_ctaid.y", "%cluster_ctaid.z",
            "%cluster_nctaid.x", "%cluster_nctaid.y", "%cluster_nctaid.z", "%clusterid.x",     "%clusterid.y",
            "%clusterid.z",      "%nclusterid.x",     "%nclusterid.y",     "%nclusterid.z",    "%ctaid.x",
            "%ctaid.y",          "%ctaid.z",          "%nctaid.x",         "%nctaid.y",        "%nctaid.z"};
        for (std::size_t i = 0; i < registers.size(); ++i) {
            each.outputs.push_back("r" + std::to_string(i));
            each.body.push_back("mov.u32 r" + std::to_string(i) + ", " + registers[i] + ";");
        }
        each.body.push_back("mov.pred p1, %is_explicit_cluster;");
        each.outputs.push_back("p1");
        into.push_back(std::move(each));
    }
}

/// Raw addresses: those of shared memory are the same everywhere, of generic ones the low words.
void list_addresses(Cases& into) {
    for (const std::uint32_t ctas : {1u, 2u, 4u, 8u, 16u}) {
        Case each = begin(
            "mapa.shared::cluster.u32 mapa.u64 mapa.shared::cluster.u64 getctarank.shared::cluster.u32 "
            "getctarank.u64 getctarank.shared::cluster.u64 getctarank.u32 mapa.u32",
            ctas, 2 * ctas);
        each.keep = 1;
        each.inputs = {{"r0", "below:" + std::to_string(ctas)}, {"r1", "below:500"}};
        each.body = {here,
                     "add.u32 r2, sm, r1; mapa.shared::cluster.u32 r8, r2, r0;",
                     "cvt.u64.u32 q1, r1; add.u64 q2, q5, q1; mapa.u64 q3, q2, r0; cvt.u32.u64 r9, q3;",
                     "cvt.u64.u32 q4, r2; mapa.shared::cluster.u64 q6, q4, r0; cvt.u32.u64 r10, q6; shr.u64 q7, q6, "
                     "32; cvt.u32.u64 r11, q7;",
                     "getctarank.shared::cluster.u32 r12, r8; getctarank.shared::cluster.u32 r13, sm;",
                     "getctarank.u64 r14, q3; getctarank.u64 r15, q5; getctarank.shared::cluster.u64 r16, q6;",
                     "xor.b64 q8, q3, q2; shr.u64 q8, q8, 32; cvt.u32.u64 r17, q8;",
                     "cvta.to.shared.u64 q9, q2; cvt.u32.u64 r18, q9; cvta.to.shared.u64 q9, q3; cvt.u32.u64 r19, q9;",
                     "cvta.to.shared::cluster.u64 q9, q3; cvt.u32.u64 r20, q9; cvta.shared::cluster.u64 q10, q6; "
                     "sub.u64 q10, q10, q3; cvt.u32.u64 r21, q10;",
                     "isspacep.shared p1, q3; isspacep.shared::cta p2, q3; isspacep.shared::cluster p3, q3; "
                     "isspacep.global p4, q3;",
                     "isspacep.shared p5, q2; isspacep.shared::cta p6, q2; isspacep.shared::cluster p7, q2; "
                     "isspacep.shared::cluster p8, gm; mov.u32 r22, sm;"};
        for (int i = 8; i <= 22; ++i) each.outputs.push_back("r" + std::to_string(i));
        for (int i = 1; i <= 8; ++i) each.outputs.push_back("p" + std::to_string(i));
        into.push_back(std::move(each));
    }
}

std::string letter(const std::string& type) { return type == "b64" || type == "u64" || type == "f64" ? "q" : "r"; }

/// Each lane at its own place of a peer's shared memory.
void list_access(Cases& into, const std::string& head, const std::string& operands, const std::string& type,
                 bool generic, std::uint32_t ctas) {
    Case each = begin(head, ctas, 2 * ctas);
    each.inputs = {{"r1", "below:32"}, {letter(type) + "10", type}, {letter(type) + "11", type}};
    const std::string d = letter(type) + "12", next = letter(type) + "13";
    each.body = {"mov.u32 r2, %cluster_ctarank; add.u32 r2, r2, 1; rem.u32 r2, r2, " + std::to_string(ctas) + ";",
                 "mad.lo.u32 r3, tid, 8, sm; mapa.shared::cluster.u32 r4, r3, r2;",
                 "mov.b64 q12, 0; mov.b32 r12, 0; mov.b64 q13, 0; mov.b32 r13, 0;"};
    std::string address = "[r4]";
    if (generic)
        each.body.push_back("cvt.u64.u32 q6, r3; cvta.shared.u64 q6, q6; mapa.u64 q7, q6, r2;"), address = "[q7]";
    each.body.push_back(meet);
    std::string text = head + " " + operands + ";";
    const auto replace = [&](const std::string& what, const std::string& by) {
        for (std::size_t at; (at = text.find(what)) != std::string::npos;) text.replace(at, what.size(), by);
    };
    replace("$d", d), replace("$e", next), replace("$a", address), replace("$x", letter(type) + "10"),
        replace("$y", letter(type) + "11");
    each.body.push_back(text);
    each.body.push_back(meet);
    each.outputs = {d, next};
    into.push_back(std::move(each));
}

void list_accesses(Cases& into) {
    for (const bool generic : {false, true}) {
        const std::string space = generic ? "" : ".shared::cluster";
        for (const std::uint32_t ctas : {2u, 4u}) {
            for (const std::string type : {"b32", "u32", "b64", "u8", "s16", "f32", "f64"}) {
                list_access(into, "ld" + space + "." + type, "$d, $a", type == "s16" || type == "u8" ? "b32" : type,
                            generic, ctas);
                list_access(into, "st" + space + "." + type, "$a, $x", type == "s16" || type == "u8" ? "b32" : type,
                            generic, ctas);
            }
            list_access(into, "ld" + space + ".v2.b32", "{$d, $e}, $a", "b32", generic, ctas);
            list_access(into, "st" + space + ".v2.b32", "$a, {$x, $y}", "b32", generic, ctas);
            list_access(into, "ld.volatile" + space + ".b32", "$d, $a", "b32", generic, ctas);
            list_access(into, "ld.relaxed.cluster" + space + ".b32", "$d, $a", "b32", generic, ctas);
            list_access(into, "ld.acquire.cluster" + space + ".b32", "$d, $a", "b32", generic, ctas);
            list_access(into, "st.release.cluster" + space + ".b32", "$a, $x", "b32", generic, ctas);
        }
        for (const std::string op : {"add", "min", "max", "inc", "dec", "and", "or", "xor", "exch"})
            for (const std::string type : {"u32", "s32", "b32", "u64", "b64", "f32"}) {
                const bool bits = op == "and" || op == "or" || op == "xor" || op == "exch", is_b = type[0] == 'b';
                if (bits != is_b || ((op == "inc" || op == "dec") && type != "u32") || (type == "f32" && op != "add"))
                    continue;
                list_access(into, "atom.relaxed.cluster" + space + "." + op + "." + type, "$d, $a, $x", type, generic,
                            2);
                if (op != "exch")
                    list_access(into, "red.relaxed.cluster" + space + "." + op + "." + type, "$a, $x", type, generic,
                                2);
            }
        list_access(into, "atom.acq_rel.cluster" + space + ".cas.b32", "$d, $a, $x, $y", "b32", generic, 2);
        list_access(into, "atom" + space + ".cas.b64", "$d, $a, $x, $y", "b64", generic, 2);
    }
}

/// barrier.cluster in every dress: what a peer wrote before it is seen.
void list_cluster_barriers(Cases& into) {
    for (const std::string aligned : {"", ".aligned"})
        for (const std::string release : {"", ".release", ".relaxed"})
            for (const std::string acquire : {"", ".acquire"}) {
                Case each = begin(
                    "barrier.cluster.arrive" + release + aligned + " barrier.cluster.wait" + acquire + aligned, 4, 8);
                each.inputs = {{"r1", "b32"}};
                each.outputs = {"r8"};
                each.body = {meet,
                             "mov.u32 r2, %cluster_ctarank; xor.b32 r2, r2, 3; mad.lo.u32 r3, tid, 4, sm; "
                             "mapa.shared::cluster.u32 r4, r3, r2;",
                             "st.shared::cluster.b32 [r4], r1;"};
                if (release == ".relaxed") each.body.push_back("fence.acq_rel.cluster;");
                each.body.push_back("barrier.cluster.arrive" + release + aligned + ";");
                each.body.push_back("mul.lo.u32 r1, r1, 3;");
                each.body.push_back("barrier.cluster.wait" + acquire + aligned + ";");
                each.body.push_back("ld.shared.b32 r8, [r3]; xor.b32 r8, r8, r1;");
                each.body.push_back(meet);
                into.push_back(std::move(each));
            }
}

/// The peer's barrier: lane 0 alone waits at home.
void list_remote_barriers(Cases& into) {
    const std::vector<std::pair<std::string, std::string>> arrivals{
        {"mbarrier.arrive.release.cluster.shared::cluster.b64", "_, [r4], 7;"},
        {"mbarrier.arrive.relaxed.cluster.shared::cluster.b64", "_, [r4], 7;"},
        {"mbarrier.arrive_drop.release.cluster.shared::cluster.b64", "_, [r4], 7;"},
        {"mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64", "_, [r4], 0;"},
        {"mbarrier.arrive_drop.expect_tx.release.cluster.shared::cluster.b64", "_, [r4], 0;"}};
    for (const auto& [head, operands] : arrivals) {
        const std::string count = head.find("expect_tx") == std::string::npos ? "7" : "1";
        Case each = begin(head + " mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64", 4, 8);
        each.outputs = {"r8", "r9"};
        each.body = {
            "setp.eq.u32 p0, tid, 0; mov.u32 r8, 0; mov.u32 r9, 0;",
            "@p0 mbarrier.init.shared::cta.b64 [sm], " + count + "; @p0 fence.mbarrier_init.release.cluster;",
            "mov.u32 r2, %cluster_ctarank; add.u32 r2, r2, 3; and.b32 r2, r2, 3; mapa.shared::cluster.u32 r4, sm, r2;",
            meet,
            "@!p0 bra done;",
            head + " " + operands,
            "waits: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p1, [sm], 0; @!p1 bra waits;",
            "mbarrier.test_wait.parity.shared::cta.b64 p1, [sm], 1; selp.u32 r8, 3, 2, p1;",
            "done:",
            meet,
            "@p0 mbarrier.inval.shared::cta.b64 [sm]; @p0 st.shared.b64 [sm], 0;"};
        into.push_back(std::move(each));
    }
    Case each = begin(
        "mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 "
        "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64",
        2, 4);
    each.outputs = {"r8"};
    each.body = {
        "setp.eq.u32 p0, tid, 0; mov.u32 r8, 0;",
        "@p0 mbarrier.init.shared::cta.b64 [sm], 1; @p0 fence.mbarrier_init.release.cluster;",
        "mov.u32 r2, %cluster_ctarank; xor.b32 r2, r2, 1; mapa.shared::cluster.u32 r4, sm, r2;",
        meet,
        "@p0 mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [r4], 48;",
        meet,
        "@p0 mbarrier.arrive.shared::cta.b64 q1, [sm];",
        "@p0 mbarrier.test_wait.parity.shared::cta.b64 p1, [sm], 0; @p0 selp.u32 r8, 1, 0, p1;",
        meet,
        "@p0 mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [r4], 48;",
        meet,
        "@p0 mbarrier.test_wait.parity.shared::cta.b64 p1, [sm], 0; @p0 selp.u32 r9, 2, 0, p1; @p0 or.b32 r8, r8, r9;",
        meet,
        "@p0 mbarrier.inval.shared::cta.b64 [sm]; @p0 st.shared.b64 [sm], 0;"};
    into.push_back(std::move(each));
}

/// Each lane of each CTA sends to its place in the next CTA, whose barrier counts bytes.
void list_async(Cases& into, const std::string& head, const std::string& value, const std::string& kind,
                std::uint32_t bytes) {
    for (const std::uint32_t ctas : {2u, 4u}) {
        AsyncCase each(head + " #" + std::to_string(ctas), 2 * ctas, 1024, 0);
        each->cluster = {ctas, 1, 1};
        each->memory_kind = kind;
        for (int i = 10; i < 14; ++i)
            each->inputs.push_back({(value.find('q') == std::string::npos ? "r" : "q") + std::to_string(i), kind});
        each.init();
        each.line("mov.u32 r2, %cluster_ctarank; add.u32 r2, r2, 1; rem.u32 r2, r2, " + std::to_string(ctas) +
                  "; mapa.shared::cluster.u32 r3, sm, r2; mad.lo.u32 r4, tid, 32, r3;");
        each.line("@p0 mbarrier.arrive.expect_tx.shared::cta.b64 q60, " + each.barrier() + ", " +
                  std::to_string(32 * bytes) + ";");
        each.line(meet);
        each.line(head + " [r4], " + value + ", [r3+1024];");
        each.alone();
        each.wait();
        each.done();
        each.line(meet);
        into.push_back(*each);
    }
}

}  // namespace

void list_cluster(Cases& into) {
    list_registers(into);
    list_addresses(into);
    list_accesses(into);
    list_cluster_barriers(into);
    list_remote_barriers(into);
    for (const std::string type : {"b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64"}) {
        const bool wide = type.ends_with("64");
        const std::string head = "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes";
        list_async(into, head + "." + type, wide ? "q10" : "r10", type, wide ? 8 : 4);
        list_async(into, head + ".v2." + type, wide ? "{q10, q11}" : "{r10, r11}", type, wide ? 16 : 8);
        if (!wide) list_async(into, head + ".v4." + type, "{r10, r11, r12, r13}", type, 16);
    }
    const std::string red = "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.";
    for (const std::string each : {"inc.u32", "dec.u32", "min.u32", "max.u32", "add.u32", "min.s32", "max.s32",
                                   "add.s32", "and.b32", "or.b32", "xor.b32"})
        list_async(into, red + each, "r10", each.substr(each.find('.') + 1), 4);
    list_async(into, red + "add.u64", "q10", "u64", 8);
}

}  // namespace tilepath::recorded
