#pragma once
#include <bit>
#include <functional>

#include "check/provenance/shadow.h"
#include "machine/events.h"

namespace tilepath::check {

/// The registers of one executed operation beside their origins. A row that no origin was kept for is zero where its
/// lane is 0, else unknown.
class WarpRegisters {
  public:
    WarpRegisters(const machine::EventSite& site, const machine::Registers& registers, std::vector<ShadowRow>& rows)
        : site_(site), registers_(registers), rows_(rows) {}

    const program::MicroOp& op() const { return *site_.op; }
    std::uint32_t lanes() const { return site_.lanes; }
    program::Operand destination(int i) const { return operand(i); }
    program::Operand source(int i) const { return operand(op().destinations + i); }
    std::uint32_t place(int operand) const { return registers_.places[operand]; }
    std::uint32_t source_place(int i) const { return place(op().destinations + i); }

    /// 32-bit words of an operand in each lane; 0: a predicate, or none.
    int words(program::Operand operand) const {
        if (operand.kind == program::Operand::Kind::none) return 0;
        const int bits = operand.kind == program::Operand::Kind::reg
                             ? program::bits(site_.function->registers[operand.index].type)
                             : site_.function->constants[operand.index].width;
        return bits == 1 ? 0 : std::max(1, bits / 32);
    }
    std::uint32_t value(std::uint32_t place, int word) const {
        return registers_.rows[place + static_cast<std::uint32_t>(word) / 32][word % 32];
    }
    /// Word `i` of the operand at `place` that takes `words` in each lane.
    Word word(std::uint32_t place, int words, int lane, int i = 0) const {
        const int at = lane * words + i;
        const std::uint32_t row = place + static_cast<std::uint32_t>(at) / 32;
        if (row < rows_.size() && rows_[row].held()) return rows_[row].word(at % 32);
        if (value(place, at) != 0) return {};
        return {Origin::zero(), Origin::zero(), Origin::zero(), Origin::zero()};
    }
    void set(std::uint32_t place, int words, int lane, int i, const Word& word) const {
        const int at = lane * words + i;
        row(place + static_cast<std::uint32_t>(at) / 32).set(at % 32, word);
    }
    bool held(std::uint32_t place, int words) const {
        for (std::uint32_t r = place; r < place + static_cast<std::uint32_t>(words) && r < rows_.size(); ++r)
            if (rows_[r].held()) return true;
        return false;
    }
    ShadowRow& row(std::uint32_t place) const {
        if (rows_.size() <= place) rows_.resize(place + 1);
        return rows_[place];
    }
    std::uint64_t frame() const { return registers_.frame; }
    /// The active lanes of the operand hold nothing that has an origin.
    void forget(std::uint32_t place, int words) const {
        if (!held(place, words)) return;
        for (int i = 0; i < words; ++i)
            if (lanes() == ~0u)
                row(place + static_cast<std::uint32_t>(i)).forget();
            else
                each_lane([&](int lane) { set(place, words, lane, i, {}); });
    }
    void forget_destinations() const {
        for (int i = 0; i < op().destinations; ++i)
            if (const int count = words(destination(i)); count != 0) forget(place(i), count);
    }
    bool any_source_held() const {
        for (int i = 0; i < op().sources; ++i)
            if (const int count = words(source(i)); count != 0 && held(source_place(i), count)) return true;
        return false;
    }
    std::uint32_t predicate(int i) const {
        return registers_.predicates[source_place(i)] ^ (source(i).negated ? ~0u : 0u);
    }
    template <class Visit>
    void each_lane(Visit visit) const {
        for (std::uint32_t left = lanes(); left != 0; left &= left - 1) visit(std::countr_zero(left));
    }

  private:
    program::Operand operand(int i) const {
        return site_.function->operands[op().first_operand + static_cast<std::uint32_t>(i)];
    }
    const machine::EventSite& site_;
    const machine::Registers& registers_;
    std::vector<ShadowRow>& rows_;
};

}  // namespace tilepath::check
