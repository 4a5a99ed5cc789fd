// cp.async.bulk in every direction, cp.reduce.async.bulk of every type and operation.
#include "list_async.h"

namespace tilepath::recorded {
namespace {

const std::string meet = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;";

/// r1 in shared and q1 in global memory, each at any of 17 multiples of 16 bytes.
void draw_places(AsyncCase& each) {
    each->inputs = {{"r1", "below:17"}, {"r2", "below:17"}};
    each.line("bar.sync 0; mad.lo.u32 r1, r1, 16, sm; mad.wide.u32 q1, r2, 16, gm;");
}

/// The cache policy in q2.
void name_policy(AsyncCase& each, bool hint) {
    if (hint) each.line("createpolicy.fractional.L2::evict_last.b64 q2, 1.0;");
}

/// No CTA ends before what others copy into it has come.
void end_together(Cases& into, AsyncCase& each) {
    each.wait();
    each.done();
    each.line(meet);
    into.push_back(*each);
}

void list_load(Cases& into, bool to_cta, bool hint, std::uint32_t bytes) {
    const std::string head = "cp.async.bulk.shared::" + std::string(to_cta ? "cta" : "cluster") +
                             ".global.mbarrier::complete_tx::bytes" + (hint ? ".L2::cache_hint" : "");
    AsyncCase each(head + " #" + std::to_string(bytes), 4, 2048, 2048);
    each.init();
    draw_places(each);
    each.alone();
    name_policy(each, hint);
    each.line("mov.u32 r3, " + std::to_string(bytes) + ";");
    each.line("cp.async.bulk.prefetch.L2.global [q1], r3;");
    each.expect(bytes);
    each.line(head + " [r1], [q1], r3, " + each.barrier() + (hint ? ", q2;" : ";"));
    each.wait();
    each.done();
    into.push_back(*each);
}

void list_store(Cases& into, bool hint, std::uint32_t bytes) {
    const std::string head = "cp.async.bulk.global.shared::cta.bulk_group" + std::string(hint ? ".L2::cache_hint" : "");
    AsyncCase each(head + " #" + std::to_string(bytes), 4, 2048, 2048);
    draw_places(each);
    each.alone();
    name_policy(each, hint);
    each.line(head + " [q1], [r1], " + std::to_string(bytes) + (hint ? ", q2;" : ";"));
    each.line("cp.async.bulk.commit_group;");
    each.line("cp.async.bulk.wait_group.read 0;");
    each.line("cp.async.bulk.wait_group 0;");
    each.done();
    into.push_back(*each);
}

void list_multicast(Cases& into, std::uint32_t ctas, std::uint32_t mask) {
    const std::string head = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster";
    AsyncCase each(head + " #" + std::to_string(ctas) + " #" + std::to_string(mask), 2 * ctas, 1024, 1024);
    each->cluster = {ctas, 1, 1};
    each.init();
    each.line("mov.u32 r42, %cluster_ctarank; mov.u32 r43, " + std::to_string(mask) +
              "; shr.u32 r44, r43, r42; and.b32 r44, r44, 1; mul.lo.u32 r44, r44, 320;");
    each.line(meet);
    each.alone();
    each.line("mbarrier.arrive.expect_tx.shared::cta.b64 q60, " + each.barrier() + ", r44;");
    each.line("setp.eq.u32 p4, r42, " + std::to_string(ctas - 1) + "; cvt.u16.u32 h0, r43; add.u32 r45, sm, 64;");
    each.line("@p4 " + head + " [r45], [gm], 320, " + each.barrier() + ", h0;");
    end_together(into, each);
}

/// Each CTA copies into its neighbour, which waits.
void list_to_peer(Cases& into, std::uint32_t ctas, std::uint32_t bytes) {
    const std::string head = "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes";
    AsyncCase each(head + " #" + std::to_string(ctas) + " #" + std::to_string(bytes), 2 * ctas, 2048, 0);
    each->cluster = {ctas, 1, 1};
    each.init();
    each.line("mov.u32 r42, %cluster_ctarank; add.u32 r42, r42, 1; rem.u32 r42, r42, " + std::to_string(ctas) +
              "; mapa.shared::cluster.u32 r43, sm, r42; add.u32 r44, r43, 1024; add.u32 r45, r43, 2048;");
    each.line(meet);
    each.alone();
    each.expect(bytes);
    each.line(head + " [r44], [sm], " + std::to_string(bytes) + ", [r45];");
    end_together(into, each);
}

void list_reduce(Cases& into, const std::string& op, const std::string& type, bool hint, const std::string& kind) {
    const bool half = type == "f16" || type == "bf16";
    const std::string head = "cp.reduce.async.bulk.global.shared::cta.bulk_group" +
                             std::string(hint ? ".L2::cache_hint" : "") + "." + op +
                             (half && op == "add" ? ".noftz" : "") + "." + type;
    AsyncCase each(head, 8, 1024, 1024);
    each->memory_kind = kind;
    each.line("bar.sync 0;");
    each.alone();
    name_policy(each, hint);
    each.line(head + " [gm], [sm], 1008" + (hint ? ", q2;" : ";"));
    each.commit_and_wait();
    each.done();
    into.push_back(*each);
}

/// Into the neighbour's shared memory.
void list_reduce_to_peer(Cases& into, const std::string& op, const std::string& type) {
    const std::string head =
        "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes." + op + "." + type;
    AsyncCase each(head, 4, 1024, 0);
    each->cluster = {2, 1, 1};
    each->memory_kind = type;
    each.init();
    each.line(
        "mov.u32 r42, %cluster_ctarank; xor.b32 r42, r42, 1; mapa.shared::cluster.u32 r43, sm, r42; add.u32 r44, "
        "r43, 512; add.u32 r45, r43, 1024;");
    each.line(meet);
    each.alone();
    each.expect(480);
    each.line(head + " [r44], [sm], 480, [r45];");
    end_together(into, each);
}

}  // namespace

void list_bulk(Cases& into) {
    for (const std::uint32_t bytes : {16u, 48u, 1024u, 0u})
        for (const bool hint : {false, true}) {
            for (const bool to_cta : {false, true}) list_load(into, to_cta, hint, bytes);
            list_store(into, hint, bytes);
        }
    for (const std::uint32_t ctas : {2u, 4u})
        for (const std::uint32_t mask : {1u, 2u, 3u, 9u, 14u, 15u})
            if (mask < 1u << ctas) list_multicast(into, ctas, mask);
    for (const std::uint32_t ctas : {2u, 4u, 8u})
        for (const std::uint32_t bytes : {16u, 528u, 1024u}) list_to_peer(into, ctas, bytes);
    struct Reduction {
        const char* op;
        std::vector<std::string> types;
    };
    const std::vector<Reduction> all{{"and", {"b32", "b64"}},
                                     {"or", {"b32", "b64"}},
                                     {"xor", {"b32", "b64"}},
                                     {"inc", {"u32"}},
                                     {"dec", {"u32"}},
                                     {"add", {"u32", "s32", "u64", "f32", "f64", "f16", "bf16"}},
                                     {"min", {"u32", "s32", "u64", "s64", "f16", "bf16"}},
                                     {"max", {"u32", "s32", "u64", "s64", "f16", "bf16"}}};
    for (const Reduction& each : all)
        for (const std::string& type : each.types)
            for (const bool hint : {false, true}) list_reduce(into, each.op, type, hint, type);
    for (const Reduction& each : all)
        for (const std::string& type : each.types)
            if (type != "b64" && type != "s64" && type[0] != 'f' && type[0] != 'b' &&
                !(type == "u64" && each.op[0] == 'm'))
                list_reduce_to_peer(into, each.op, type);
    for (const char* op : {"and", "or", "xor"}) list_reduce_to_peer(into, op, "b32");
}

}  // namespace tilepath::recorded
