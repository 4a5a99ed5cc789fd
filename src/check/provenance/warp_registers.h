#pragma once
#include <bit>
#include <functional>
#include <span>
#include <unordered_map>

#include "check/provenance/shadow.h"
#include "machine/events.h"

namespace tilepath::check {

/// The rows that the operands of each operation take, found once.
class Footprints {
  public:
    std::span<const std::uint32_t> of(const machine::EventSite& site, const machine::Registers& registers) {
        if (site.function != function_) {
            function_ = site.function;
            known_ = &functions_[function_];
            known_->resize(function_->ops.size());
        }
        Known& known = (*known_)[static_cast<std::size_t>(site.op - function_->ops.data())];
        if (known.end == unknown) find(site, registers, known);
        return std::span(rows_).subspan(known.begin, known.end - known.begin);
    }
    void clear() { functions_.clear(), rows_.clear(), function_ = nullptr; }

  private:
    static constexpr std::uint32_t unknown = ~0u;
    struct Known {
        std::uint32_t begin = 0, end = unknown;  ///< in rows_
    };
    void find(const machine::EventSite& site, const machine::Registers& registers, Known& known);

    std::unordered_map<const program::Function*, std::vector<Known>> functions_;
    std::vector<std::uint32_t> rows_;
    const program::Function* function_ = nullptr;
    std::vector<Known>* known_ = nullptr;  ///< of function_
};

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
        return unfollowed(value(place, at));
    }
    /// What is known of a word that no origin was kept for.
    static Word unfollowed(std::uint32_t value) {
        if (value != 0) return {};
        return {Origin::zero(), Origin::zero(), Origin::zero(), Origin::zero()};
    }
    /// The same in one; apart: see word().
    PackedWord packed(std::uint32_t place, int words, int lane, int i = 0) const {
        const int at = lane * words + i;
        const std::uint32_t row = place + static_cast<std::uint32_t>(at) / 32;
        if (row < rows_.size() && rows_[row].held()) return rows_[row].packed(at % 32);
        return value(place, at) != 0 ? PackedWord{} : PackedWord::from(Origin::zero());
    }
    void copy_word(std::uint32_t place, int words, int lane, int i, Words& to, std::size_t where) const {
        if (const PackedWord one = packed(place, words, lane, i); !one.is_apart())
            to.set(where, one);
        else
            to.set(where, word(place, words, lane, i));
    }
    void set(std::uint32_t place, int words, int lane, int i, const Word& word) const {
        const int at = lane * words + i;
        row(place + static_cast<std::uint32_t>(at) / 32).set(at % 32, word);
    }
    /// The words of a row, to be written, and which of them is word `i` of a lane.
    Words& change(std::uint32_t place, int words, int lane, int i) const {
        return row(place + static_cast<std::uint32_t>(lane * words + i) / 32).change();
    }
    static std::size_t index(int words, int lane, int i) { return static_cast<std::size_t>(lane * words + i) % 32; }
    /// All lanes of a register become those of another, of which at least one row is held.
    void take(std::uint32_t place, std::uint32_t from, int words) const {
        for (int i = 0; i < words; ++i) {
            const std::uint32_t at = from + static_cast<std::uint32_t>(i);
            ShadowRow& to = row(place + static_cast<std::uint32_t>(i));
            if (at < rows_.size() && rows_[at].held())
                to.take(rows_[at]);
            else
                for (int lane = 0; lane < 32; ++lane) to.set(lane, word(at, 1, lane));
        }
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
                each_lane([&](int lane) { set(place, words, lane, i, unfollowed(value(place, lane * words + i))); });
    }
    void forget_destinations() const {
        for (int i = 0; i < op().destinations; ++i)
            if (const int count = words(destination(i)); count != 0) forget(place(i), count);
    }
    bool any_held(std::span<const std::uint32_t> rows) const {
        for (const std::uint32_t row : rows)
            if (row < rows_.size() && rows_[row].held()) return true;
        return false;
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
