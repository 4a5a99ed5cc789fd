#pragma once
#include <optional>
#include <vector>

#include "check/provenance/origin.h"

namespace tilepath::check {

/// A word's four origins in 64 bits, where they belong together: each byte follows the one before it, or two halves are
/// the sums of neighbours in a row of D.
class PackedWord {
  public:
    constexpr PackedWord() = default;
    /// Bytes that follow the first one.
    static constexpr PackedWord from(Origin first) { return PackedWord(first.bits()); }
    static constexpr PackedWord apart(std::uint32_t number) { return PackedWord(Kind::apart, number); }
    static constexpr std::optional<PackedWord> of(const Word& word) {
        const Origin first = word[0];
        if (word[1] != first.byte(1)) return std::nullopt;
        if (word[2] == first.byte(2) && word[3] == first.byte(3)) return from(first);
        if (first.kind() != Origin::Kind::sum || word != pair(first)) return std::nullopt;
        return PackedWord(Kind::pair, first.bits() & payload);
    }

    /// The origins are kept elsewhere, by number().
    constexpr bool is_apart() const { return bits_ >> kind_at == static_cast<std::uint64_t>(Kind::apart); }
    constexpr bool is_pair() const { return bits_ >> kind_at == static_cast<std::uint64_t>(Kind::pair); }
    /// Each byte follows the first one.
    constexpr bool is_whole() const { return bits_ >> kind_at < static_cast<std::uint64_t>(Kind::pair); }
    constexpr std::uint32_t number() const { return static_cast<std::uint32_t>(bits_); }
    /// Of the first byte; not of what is apart.
    constexpr Origin first() const {
        return is_pair() ? Origin::of_bits(std::uint64_t(Origin::Kind::sum) << kind_at | (bits_ & payload))
                         : Origin::of_bits(bits_);
    }
    constexpr Origin byte(unsigned i) const { return is_pair() && i >= 2 ? pair(first())[i] : first().byte(i); }
    constexpr Word word() const {
        const Origin f = first();
        return is_pair() ? pair(f) : Word{f, f.byte(1), f.byte(2), f.byte(3)};
    }
    friend constexpr bool operator==(PackedWord, PackedWord) = default;

  private:
    enum class Kind : std::uint8_t { pair = 6, apart = 7 };  // beside those of Origin
    static constexpr unsigned kind_at = Origin::kind_at;
    static constexpr std::uint64_t payload = (std::uint64_t{1} << kind_at) - 1;
    constexpr explicit PackedWord(std::uint64_t bits) : bits_(bits) {}
    constexpr PackedWord(Kind kind, std::uint64_t rest) : bits_(std::uint64_t(kind) << kind_at | rest) {}
    static constexpr Word pair(Origin first) {
        const Origin next = Origin::sum(first.m(), first.n() + 1, first.ks());
        return {first, first.byte(1), next, next.byte(1)};
    }

    std::uint64_t bits_ = 0;
};

/// The origins of words in a row: of a register's lanes, of memory. Nearly all are packed; the rest lie apart.
class Words {
  public:
    std::size_t size() const { return packed_.size(); }
    bool empty() const { return packed_.empty(); }
    void resize(std::size_t words, PackedWord fill) { packed_.resize(words, fill); }

    PackedWord packed(std::size_t at) const { return packed_[at]; }
    Word word(std::size_t at) const {
        const PackedWord packed = packed_[at];
        return packed.is_apart() ? apart_[packed.number()] : packed.word();
    }
    /// Of one byte; `at` counts bytes.
    Origin byte(std::size_t at) const {
        const PackedWord packed = packed_[at / 4];
        return packed.is_apart() ? apart_[packed.number()][at % 4] : packed.byte(at % 4);
    }
    void set(std::size_t at, PackedWord packed) {
        if (packed_[at].is_apart()) free_.push_back(packed_[at].number());
        packed_[at] = packed;
    }
    void set(std::size_t at, const Word& word) {
        if (const auto packed = PackedWord::of(word))
            set(at, *packed);
        else
            set_apart(at, word);
    }
    void take(std::size_t at, const Words& from, std::size_t other) {
        const PackedWord packed = from.packed_[other];
        if (packed.is_apart())
            set_apart(at, Word(from.apart_[packed.number()]));
        else
            set(at, packed);
    }
    /// Of bytes in a row; `at` counts bytes.
    void set_bytes(std::size_t at, std::size_t bytes, const Origin* from);
    void fill(PackedWord packed);
    std::size_t bytes() const;

  private:
    void set_apart(std::size_t at, const Word& word);

    std::vector<PackedWord> packed_;
    std::vector<Word> apart_;
    std::vector<std::uint32_t> free_;  ///< of apart_
};

}  // namespace tilepath::check
