#pragma once
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "atom/fragment.h"
#include "check/provenance/words.h"
#include "machine/events.h"

namespace tilepath::check {

/// The sums in a warp's accumulators, held once for all their registers: they change with every matrix multiply.
struct Sums {
    std::vector<std::uint32_t> m, n;  ///< of D's rows and columns in the instruction
    std::uint32_t ks = 0;
    const atom::HeldElements* held = nullptr;
    int columns = 0, element_bytes = 4, first_lane = 0;

    Word word(int reg, int lane) const;
    /// The same in one: of 32-bit elements.
    PackedWord packed(int reg, int lane) const {
        if (held->slot_bits != 32) return PackedWord::apart(0);
        const std::int32_t element = held->at(first_lane + lane, reg, 0);
        return element < 0 ? PackedWord{}
                           : PackedWord::from(Origin::sum(m[static_cast<std::size_t>(element / columns)],
                                                          n[static_cast<std::size_t>(element % columns)], ks));
    }
};

/// The origins of one 32-bit register of all lanes.
class ShadowRow {
  public:
    bool held() const { return held_; }
    Word word(int lane) const {
        if (sums_) return sums_->word(reg_, lane);
        return held_ ? words_.word(static_cast<std::size_t>(lane)) : Word{};
    }
    /// The same in one; apart: see word().
    PackedWord packed(int lane) const {
        if (sums_) return sums_->packed(reg_, lane);
        return held_ ? words_.packed(static_cast<std::size_t>(lane)) : PackedWord{};
    }
    /// All lanes are as another row's.
    void take(const ShadowRow& from) {
        ++changes_;
        held_ = from.held_, sums_ = from.sums_, reg_ = from.reg_;
        if (held_ && !sums_) words_ = from.words_;
    }
    /// All lanes, but for accumulators and what is not held.
    const Words* words() const { return held_ && !sums_ ? &words_ : nullptr; }
    /// To be written; it counts as changed.
    Words& change() {
        ++changes_;
        if (!held_ || sums_) begin();
        return words_;
    }
    void set(int lane, const Word& word) { change().set(static_cast<std::size_t>(lane), word); }
    void set_sums(const std::shared_ptr<Sums>& sums, int reg) {
        if (sums_ != sums) sums_ = sums;
        reg_ = reg, held_ = true;
        ++changes_;
    }
    const std::shared_ptr<Sums>& sums() const { return sums_; }
    int sums_register() const { return reg_; }
    void forget() {
        sums_.reset(), held_ = false;
        ++changes_;
    }
    /// How often it has changed: what was read of it stays true until then.
    std::uint64_t changes() const { return changes_; }

  private:
    void begin();

    Words words_;
    std::shared_ptr<Sums> sums_;
    int reg_ = 0;
    bool held_ = false;
    std::uint64_t changes_ = 0;
};

/// The registers of all warps that run, by call.
class RegisterShadow {
  public:
    std::vector<ShadowRow>& rows(const machine::Registers& registers);

  private:
    struct Frame {
        std::uint64_t number = 0;
        std::vector<ShadowRow> rows;
    };
    std::unordered_map<const void*, Frame> frames_;  ///< memory of frames is used again
    const void* last_ = nullptr;
    Frame* last_frame_ = nullptr;
};

/// Shared and global memory. Global memory that nobody has written comes from itself.
class MemoryShadow {
  public:
    struct Cta {
        std::uint64_t cluster = 0;
        std::uint32_t rank = 0;
        auto operator<=>(const Cta&) const = default;
    };

    void read_shared(Cta cta, std::uint32_t offset, std::uint32_t bytes, Origin* out) const;
    void write_shared(Cta cta, std::uint32_t offset, std::uint32_t bytes, const Origin* from);
    void read_global(machine::Address address, std::uint32_t bytes, Origin* out) const;
    void write_global(machine::Address address, std::uint32_t bytes, const Origin* from);
    // The same of words, at multiples of four bytes, one after the other in `to` or `from` from `at` on.
    void read_shared(Cta cta, std::uint32_t offset, std::uint32_t words, Words& to, std::size_t at) const;
    void write_shared(Cta cta, std::uint32_t offset, std::uint32_t words, const Words& from, std::size_t at);
    void read_global(machine::Address address, std::uint32_t words, Words& to, std::size_t at) const;
    void write_global(machine::Address address, std::uint32_t words, const Words& from, std::size_t at);
    /// Words of global memory into shared memory, zeros behind them: `copied` of `bytes`, multiples of four.
    void copy_in(Cta cta, std::uint32_t offset, machine::Address source, std::uint32_t copied, std::uint32_t bytes);

    /// All of a CTA's shared memory that was ever written.
    const Words& shared(Cta cta) const;
    /// Changes when that CTA's shared memory does.
    std::uint64_t version(Cta cta) const;
    void leave(Cta cta);
    /// That it takes, at most so far.
    std::size_t shared_bytes() const { return most_shared_bytes_; }
    std::size_t global_bytes() const;
    /// A thread's local memory.
    struct Thread {
        std::uint32_t cta = 0, warp = 0, lane = 0;  ///< the CTA's linear index
        auto operator<=>(const Thread&) const = default;
    };
    void read_local(Thread thread, machine::Address address, std::uint32_t bytes, Origin* out) const;
    void write_local(Thread thread, machine::Address address, std::uint32_t bytes, const Origin* from);
    void leave_local(std::uint32_t cta);

  private:
    struct Shared {
        Words words;
        std::uint64_t version = 0;
    };
    static constexpr std::uint64_t page_bytes = 4096;
    const Shared* find(Cta cta) const;
    Words& changed(Cta cta, std::uint32_t end);
    Words& page(machine::Address address);
    const Words* find_page(machine::Address address) const;

    std::map<Cta, Shared> shared_;
    mutable Cta last_cta_;
    mutable const Shared* last_ = nullptr;  ///< of last_cta_
    std::unordered_map<std::uint64_t, Words> pages_;
    mutable std::uint64_t last_page_ = ~std::uint64_t{0};
    mutable const Words* last_words_ = nullptr;  ///< of last_page_; null: nobody has written there
    std::size_t most_shared_bytes_ = 0;
    std::map<Thread, std::unordered_map<machine::Address, Origin>> local_;
};

}  // namespace tilepath::check
