// mbarrier: random sequences of one thread, every state asked for after every step.
#include "list_async.h"

#include <array>

namespace tilepath::recorded {
namespace {

/// What the sequence may do next without a fault; it says nothing of what is recorded.
struct Model {
    int expected = 0, pending = 0, bytes = 0;
    void settle() {
        if (pending == 0 && bytes == 0) pending = expected;
    }
    bool may_arrive(int count) const { return count <= pending && count >= 1; }
};

const std::array<const char*, 3> semantics{"", ".release.cta", ".relaxed.cluster"};
const std::array<const char*, 3> acquire{"", ".acquire.cta", ".relaxed.cluster"};

class Sequence {
  public:
    Sequence(Draw& draw, int number) : draw_(draw) {
        each_.name = "mbarrier.init.shared::cta.b64 #" + std::to_string(number);
        each_.rows = 1;
        each_.shared_bytes = 128;
        each_.threads = 32;
        each_.keep = 32;
        model_.expected = model_.pending = draw.between(1, 5);
        line("setp.ne.u32 p0, tid, 0; @p0 bra done;");
        line("mbarrier.init.shared::cta.b64 [sm], " + std::to_string(model_.pending) + ";");
        observe();
    }
    void step();
    /// Four steps to an output.
    Case finish() {
        line("mbarrier.inval.shared::cta.b64 [sm]; st.shared.b64 [sm], 0;");
        line("done:");
        for (int i = 0; i <= observations_ / 8; ++i) each_.outputs.push_back("r" + std::to_string(i));
        for (int i = 0; i <= observations_ / 8; ++i)
            each_.body.insert(each_.body.begin(), "mov.u32 r" + std::to_string(i) + ", 0;");
        return each_;
    }
    std::size_t steps() const { return each_.body.size(); }

  private:
    void line(const std::string& text) { each_.body.push_back(text); }
    /// A bit of the outputs.
    void note(const std::string& predicate) {
        const std::string target = "r" + std::to_string(observations_ / 8);
        line("selp.u32 r60, 1, 0, " + predicate + "; shl.b32 r60, r60, " +
             std::to_string(observations_ % 8 * 4 + bit_++) + "; or.b32 " + target + ", " + target + ", r60;");
    }
    void observe() {
        bit_ = 0;
        for (const char* parity : {"0", "1"}) {
            line("mbarrier.test_wait.parity" + std::string(acquire[draw_.below(3)]) + ".shared::cta.b64 p1, [sm], " +
                 parity + ";");
            note("p1");
        }
        if (has_state_) {
            line("mbarrier.test_wait" + std::string(acquire[draw_.below(3)]) + ".shared::cta.b64 p1, [sm], q1;");
            note("p1");
        }
        ++observations_;
    }
    void pending_count() {
        line("mbarrier.pending_count.b64 r61, q1; and.b32 r61, r61, 1; setp.ne.u32 p2, r61, 0;");
        bit_ = 3;
        --observations_;
        note("p2");
        ++observations_;
    }

    Draw& draw_;
    Case each_;
    Model model_;
    bool has_state_ = false;
    int observations_ = 0, bit_ = 0;
};

void Sequence::step() {
    const std::string sem = semantics[draw_.below(3)];
    const int count = draw_.between(1, 3);
    const std::string number = std::to_string(count);
    bool counted = false;
    switch (draw_.below(8)) {
        case 0:
        case 1:
            if (!model_.may_arrive(count)) return;
            line("mbarrier.arrive" + sem + ".shared::cta.b64 q1, [sm], " + number + ";");
            model_.pending -= count, has_state_ = counted = true;
            break;
        case 2: {
            if (!model_.may_arrive(1)) return;
            const int bytes = 16 * draw_.between(0, 4);
            line("mbarrier.arrive.expect_tx" + sem + ".shared::cta.b64 q1, [sm], " + std::to_string(bytes) + ";");
            model_.bytes += bytes, model_.pending -= 1, has_state_ = counted = true;
            break;
        }
        case 3: {
            if (!model_.may_arrive(count) || model_.expected - count < 1) return;
            line("mbarrier.arrive_drop" + sem + ".shared::cta.b64 q1, [sm], " + number + ";");
            model_.pending -= count, model_.expected -= count, has_state_ = counted = true;
            break;
        }
        case 4: {
            if (model_.pending <= count) return;
            line("mbarrier.arrive.noComplete.release.cta.shared::cta.b64 q1, [sm], " + number + ";");
            model_.pending -= count, has_state_ = counted = true;
            break;
        }
        case 5: {
            const int bytes = 16 * draw_.between(1, 4);
            line("mbarrier.expect_tx.relaxed." + std::string(draw_.one_in(2) ? "cta" : "cluster") +
                 ".shared::cta.b64 [sm], " + std::to_string(bytes) + ";");
            model_.bytes += bytes;
            break;
        }
        default: {
            const int bytes = model_.bytes > 0 && !draw_.one_in(4) ? model_.bytes : 16 * draw_.between(1, 3);
            line("mbarrier.complete_tx.relaxed." + std::string(draw_.one_in(2) ? "cta" : "cluster") +
                 ".shared::cta.b64 [sm], " + std::to_string(bytes) + ";");
            model_.bytes -= bytes;
            break;
        }
    }
    model_.settle();
    observe();
    if (counted) pending_count();
}

/// Pending counts themselves, of every kind of arrival.
void list_counts(Cases& into) {
    for (const std::string head :
         {"mbarrier.arrive.shared::cta.b64", "mbarrier.arrive.noComplete.shared::cta.b64",
          "mbarrier.arrive_drop.shared::cta.b64", "mbarrier.arrive_drop.noComplete.shared::cta.b64",
          "mbarrier.arrive.expect_tx.shared::cta.b64", "mbarrier.arrive_drop.expect_tx.shared::cta.b64",
          "mbarrier.arrive.release.cluster.shared::cta.b64", "mbarrier.arrive_drop.release.cta.shared::cta.b64",
          "mbarrier.arrive.expect_tx.relaxed.cta.shared::cta.b64",
          "mbarrier.arrive_drop.expect_tx.release.cluster.shared::cta.b64"}) {
        Case each;
        each.name = head + " mbarrier.pending_count.b64 mbarrier.init.shared::cta.b64";
        each.rows = 8;
        each.shared_bytes = 128;
        each.inputs = {{"r0", "choose:5,6,7,100,fffff"}, {"r1", "choose:1,2,3"}};
        each.outputs = {"r8", "r9", "r10", "r11", "r12"};
        each.body = {"mov.u32 r8, 0; mov.u32 r9, 0; mov.u32 r10, 0; mov.u32 r11, 0; mov.u32 r12, 0;",
                     "setp.ne.u32 p0, tid, 0; @p0 bra done;",
                     "mbarrier.init.shared::cta.b64 [sm], r0;",
                     head + " q1, [sm], r1;",
                     "mbarrier.pending_count.b64 r8, q1;",
                     "mbarrier.arrive.noComplete.shared::cta.b64 q2, [sm], 1;",
                     "mbarrier.pending_count.b64 r9, q2;",
                     "mbarrier.test_wait.shared::cta.b64 p1, [sm], q1; selp.u32 r10, 1, 0, p1;"};
        if (head.find("expect_tx") != std::string::npos)
            each.body.push_back("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [sm], r1;");
        each.body.insert(each.body.end(),
                         {"mbarrier.pending_count.b64 r20, q2; sub.u32 r20, r20, 1;",
                          "mbarrier.arrive.shared::cta.b64 q3, [sm], r20;",
                          "mbarrier.test_wait.shared::cta.b64 p1, [sm], q1; selp.u32 r11, 1, 0, p1;",
                          "mbarrier.arrive.noComplete.shared::cta.b64 q4, [sm], 1; mbarrier.pending_count.b64 r12, q4;",
                          "mbarrier.inval.shared::cta.b64 [sm]; st.shared.b64 [sm], 0;", "done:"});
        into.push_back(std::move(each));
    }
}

/// All lanes arrive; they wait for the phase, three times.
void list_phases(Cases& into) {
    for (const std::string wait :
         {"mbarrier.try_wait.parity.shared::cta.b64", "mbarrier.test_wait.parity.shared::cta.b64",
          "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64", "mbarrier.try_wait.shared::cta.b64",
          "mbarrier.test_wait.acquire.cta.shared::cta.b64"}) {
        const bool parity = wait.find("parity") != std::string::npos;
        for (const bool limit : {false, true}) {
            if (limit && wait.find("try") == std::string::npos) continue;
            Case each;
            each.name = wait + (limit ? " #limit" : "");
            each.rows = 2;
            each.threads = 96;
            each.keep = 1;
            each.shared_bytes = 512;
            each.inputs = {{"r0", "b32"}};
            each.outputs = {"r8"};
            each.body = {"setp.eq.u32 p0, tid, 0; @p0 mbarrier.init.shared::cta.b64 [sm], 96; bar.sync 0;",
                         "mov.u32 r1, 0; mov.u32 r8, r0; mad.lo.u32 r2, tid, 4, sm; add.u32 r3, tid, 33; rem.u32 r3, "
                         "r3, 96; mad.lo.u32 r3, r3, 4, sm;",
                         "again: st.shared.b32 [r2+128], r8;",
                         "mbarrier.arrive.shared::cta.b64 q1, [sm];",
                         "and.b32 r4, r1, 1;",
                         "waits: " + wait + " p1, [sm], " + (parity ? "r4" : "q1") + (limit ? ", 1000;" : ";"),
                         "@!p1 bra waits;",
                         "ld.shared.b32 r5, [r3+128]; mad.lo.u32 r8, r8, 3, r5;",
                         "bar.sync 1; add.u32 r1, r1, 1; setp.lt.u32 p2, r1, 3; @p2 bra again;",
                         "@p0 mbarrier.inval.shared::cta.b64 [sm]; @p0 st.shared.b64 [sm], 0;"};
            into.push_back(std::move(each));
        }
    }
}

}  // namespace

void list_mbarrier(Cases& into) {
    Draw draw(5);
    for (int number = 0; number < 30; ++number) {
        Sequence sequence(draw, number);
        for (int i = 0; i < 60; ++i) sequence.step();
        into.push_back(sequence.finish());
    }
    list_counts(into);
    list_phases(into);
}

}  // namespace tilepath::recorded
