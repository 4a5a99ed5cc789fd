#include "check/provenance/shadow.h"

#include <algorithm>

namespace tilepath::check {

Word Sums::word(int reg, int lane) const {
    Word out{};
    const int slots = held->slots, bytes = held->slot_bits / 8;
    for (int slot = 0; slot < slots && slot * bytes < 4; ++slot) {
        const std::int32_t element = held->at(first_lane + lane, reg, slot);
        if (element < 0) continue;
        const Origin first = Origin::sum(m[static_cast<std::size_t>(element / columns)],
                                         n[static_cast<std::size_t>(element % columns)], ks);
        for (int i = 0; i < bytes; ++i) out[static_cast<std::size_t>(slot * bytes + i)] = first.byte(unsigned(i));
    }
    return out;
}

Word ShadowRow::word(int lane) const {
    if (sums_) return sums_->word(reg_, lane);
    return bytes_ ? (*bytes_)[static_cast<std::size_t>(lane)] : Word{};
}

void ShadowRow::set(int lane, const Word& word) {
    ++changes_;
    if (sums_) {
        auto bytes = std::make_unique<std::array<Word, 32>>();
        for (int i = 0; i < 32; ++i) (*bytes)[static_cast<std::size_t>(i)] = sums_->word(reg_, i);
        bytes_ = std::move(bytes);
        sums_.reset();
    }
    if (!bytes_) bytes_ = std::make_unique<std::array<Word, 32>>();
    (*bytes_)[static_cast<std::size_t>(lane)] = word;
}

std::vector<ShadowRow>& RegisterShadow::rows(const machine::Registers& registers) {
    if (registers.rows != last_) {
        last_ = registers.rows;
        last_frame_ = &frames_[registers.rows];
    }
    if (last_frame_->number != registers.frame) {
        last_frame_->rows.clear();
        last_frame_->number = registers.frame;
    }
    return last_frame_->rows;
}

const std::vector<Origin>& MemoryShadow::shared(Cta cta) const {
    static const std::vector<Origin> nothing;
    const auto found = shared_.find(cta);
    return found == shared_.end() ? nothing : found->second.bytes;
}

std::uint64_t MemoryShadow::version(Cta cta) const {
    const auto found = shared_.find(cta);
    return found == shared_.end() ? 0 : found->second.version;
}

void MemoryShadow::read_shared(Cta cta, std::uint32_t offset, std::uint32_t bytes, Origin* out) const {
    const std::vector<Origin>& from = shared(cta);
    for (std::uint32_t i = 0; i < bytes; ++i)
        out[i] = offset + i < from.size() ? from[offset + i] : Origin::unwritten();
}

void MemoryShadow::write_shared(Cta cta, std::uint32_t offset, std::uint32_t bytes, const Origin* from) {
    Shared& to = shared_[cta];
    if (to.bytes.size() < offset + bytes) to.bytes.resize(offset + bytes, Origin::unwritten());
    std::copy_n(from, bytes, to.bytes.begin() + offset);
    ++to.version;
}

void MemoryShadow::read_global(machine::Address address, std::uint32_t bytes, Origin* out) const {
    for (std::uint32_t done = 0; done < bytes;) {
        const machine::Address at = address + done;
        const auto count =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes - done, page_bytes - at % page_bytes));
        const auto page = pages_.find(at / page_bytes);
        for (std::uint32_t i = 0; i < count; ++i)
            out[done + i] = page == pages_.end() ? Origin::memory(at + i) : (*page->second)[at % page_bytes + i];
        done += count;
    }
}

void MemoryShadow::write_global(machine::Address address, std::uint32_t bytes, const Origin* from) {
    for (std::uint32_t done = 0; done < bytes;) {
        const machine::Address at = address + done, first = at / page_bytes * page_bytes;
        const auto count =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes - done, page_bytes - at % page_bytes));
        std::unique_ptr<Page>& page = pages_[at / page_bytes];
        if (!page) {
            page = std::make_unique<Page>();
            for (std::uint64_t i = 0; i < page_bytes; ++i) (*page)[i] = Origin::memory(first + i);
        }
        std::copy_n(from + done, count, page->begin() + static_cast<std::ptrdiff_t>(at % page_bytes));
        done += count;
    }
}

}  // namespace tilepath::check
