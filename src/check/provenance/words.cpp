#include "check/provenance/words.h"

#include <algorithm>

namespace tilepath::check {

void Words::set_apart(std::size_t at, const Word& word) {
    if (packed_[at].is_apart()) {
        apart_[packed_[at].number()] = word;
        return;
    }
    if (free_.empty()) {
        free_.push_back(static_cast<std::uint32_t>(apart_.size()));
        apart_.emplace_back();
    }
    packed_[at] = PackedWord::apart(free_.back());
    apart_[free_.back()] = word;
    free_.pop_back();
}

void Words::set_bytes(std::size_t at, std::size_t bytes, const Origin* from) {
    for (const std::size_t end = at + bytes; at < end;) {
        Word changed = at % 4 == 0 && at + 4 <= end ? Word{} : word(at / 4);
        const std::size_t index = at / 4;
        for (; at < end && at / 4 == index; ++at) changed[at % 4] = *from++;
        set(index, changed);
    }
}

void Words::fill(PackedWord packed) {
    std::ranges::fill(packed_, packed);
    apart_.clear();
    free_.clear();
}

std::size_t Words::bytes() const {
    return packed_.capacity() * sizeof(PackedWord) + apart_.capacity() * sizeof(Word) +
           free_.capacity() * sizeof(std::uint32_t);
}

}  // namespace tilepath::check
