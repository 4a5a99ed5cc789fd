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

/// From what it held to words of its own.
void ShadowRow::begin() {
    constexpr int lanes = 32;
    if (words_.empty()) words_.resize(lanes, {});
    words_.fill({});
    if (sums_)
        for (int lane = 0; lane < lanes; ++lane) words_.set(static_cast<std::size_t>(lane), sums_->word(reg_, lane));
    sums_.reset();
    held_ = true;
}

std::vector<ShadowRow>& RegisterShadow::rows(const machine::Registers& registers) {
    if (registers.rows != last_) {
        last_ = registers.rows;
        last_frame_ = &frames_[registers.rows];
    }
    if (last_frame_->number != registers.frame) {
        for (ShadowRow& row : last_frame_->rows) row.forget();
        last_frame_->number = registers.frame;
    }
    return last_frame_->rows;
}

void MemoryShadow::read_local(Thread thread, machine::Address address, std::uint32_t bytes, Origin* out) const {
    std::fill_n(out, bytes, Origin{});
    const auto found = local_.find(thread);
    if (found == local_.end()) return;
    for (std::uint32_t i = 0; i < bytes; ++i)
        if (const auto byte = found->second.find(address + i); byte != found->second.end()) out[i] = byte->second;
}

void MemoryShadow::write_local(Thread thread, machine::Address address, std::uint32_t bytes, const Origin* from) {
    auto& memory = local_[thread];
    for (std::uint32_t i = 0; i < bytes; ++i) memory[address + i] = from[i];
}

void MemoryShadow::leave_local(std::uint32_t cta) {
    local_.erase(local_.lower_bound({cta, 0, 0}), local_.lower_bound({cta + 1, 0, 0}));
}

const MemoryShadow::Shared* MemoryShadow::find(Cta cta) const {
    if (last_ == nullptr || last_cta_ != cta) {
        const auto found = shared_.find(cta);
        if (found == shared_.end()) return nullptr;
        last_cta_ = cta, last_ = &found->second;
    }
    return last_;
}

const Words& MemoryShadow::shared(Cta cta) const {
    static const Words nothing;
    const Shared* const found = find(cta);
    return found == nullptr ? nothing : found->words;
}

std::uint64_t MemoryShadow::version(Cta cta) const {
    const Shared* const found = find(cta);
    return found == nullptr ? 0 : found->version;
}

void MemoryShadow::leave(Cta cta) {
    if (find(cta) == nullptr) return;
    std::size_t now = 0;
    for (const auto& [each, shared] : shared_) now += shared.words.bytes();
    most_shared_bytes_ = std::max(most_shared_bytes_, now);
    shared_.erase(cta);
    last_ = nullptr;
}

std::size_t MemoryShadow::global_bytes() const {
    std::size_t out = 0;
    for (const auto& [number, page] : pages_) out += page.bytes();
    return out;
}

/// To be written up to there.
Words& MemoryShadow::changed(Cta cta, std::uint32_t end) {
    Shared* to = const_cast<Shared*>(find(cta));
    if (to == nullptr) to = &shared_[cta];
    if (to->words.size() * 4 < end) to->words.resize((end + 3) / 4, PackedWord::from(Origin::unwritten()));
    ++to->version;
    return to->words;
}

const Words* MemoryShadow::find_page(machine::Address address) const {
    const std::uint64_t number = address / page_bytes;
    if (number != last_page_) {
        const auto found = pages_.find(number);
        last_page_ = number, last_words_ = found == pages_.end() ? nullptr : &found->second;
    }
    return last_words_;
}

/// To be written.
Words& MemoryShadow::page(machine::Address address) {
    Words& page = pages_[address / page_bytes];
    if (page.empty()) {
        last_page_ = ~std::uint64_t{0};
        page.resize(page_bytes / 4, {});
        const machine::Address first = address / page_bytes * page_bytes;
        for (std::uint64_t i = 0; i < page_bytes; i += 4) page.set(i / 4, PackedWord::from(Origin::memory(first + i)));
    }
    return page;
}

void MemoryShadow::read_shared(Cta cta, std::uint32_t offset, std::uint32_t bytes, Origin* out) const {
    const Words& from = shared(cta);
    for (std::uint32_t i = 0; i < bytes; ++i)
        out[i] = offset + i < from.size() * 4 ? from.byte(offset + i) : Origin::unwritten();
}

void MemoryShadow::read_shared(Cta cta, std::uint32_t offset, std::uint32_t words, Words& to, std::size_t at) const {
    const Words& from = shared(cta);
    for (std::uint32_t i = 0; i < words; ++i)
        if (offset / 4 + i < from.size())
            to.take(at + i, from, offset / 4 + i);
        else
            to.set(at + i, PackedWord::from(Origin::unwritten()));
}

void MemoryShadow::write_shared(Cta cta, std::uint32_t offset, std::uint32_t bytes, const Origin* from) {
    changed(cta, offset + bytes).set_bytes(offset, bytes, from);
}

void MemoryShadow::write_shared(Cta cta, std::uint32_t offset, std::uint32_t words, const Words& from, std::size_t at) {
    Words& to = changed(cta, offset + words * 4);
    for (std::uint32_t i = 0; i < words; ++i) to.take(offset / 4 + i, from, at + i);
}

namespace {

/// In parts that lie in one page each: the address, where that is from the beginning, and the bytes.
template <class Visit>
void each_page(machine::Address address, std::uint32_t bytes, std::uint64_t page_bytes, Visit visit) {
    for (std::uint32_t done = 0; done < bytes;) {
        const machine::Address at = address + done;
        const auto count =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes - done, page_bytes - at % page_bytes));
        visit(at, done, count);
        done += count;
    }
}

}  // namespace

void MemoryShadow::read_global(machine::Address address, std::uint32_t bytes, Origin* out) const {
    each_page(address, bytes, page_bytes, [&](machine::Address at, std::uint32_t done, std::uint32_t count) {
        const Words* const page = find_page(at);
        for (std::uint32_t i = 0; i < count; ++i)
            out[done + i] = page == nullptr ? Origin::memory(at + i) : page->byte(at % page_bytes + i);
    });
}

void MemoryShadow::read_global(machine::Address address, std::uint32_t words, Words& to, std::size_t first) const {
    each_page(address, words * 4, page_bytes, [&](machine::Address at, std::uint32_t done, std::uint32_t count) {
        const Words* const page = find_page(at);
        for (std::uint32_t i = 0; i < count; i += 4)
            if (page == nullptr)
                to.set(first + (done + i) / 4, PackedWord::from(Origin::memory(at + i)));
            else
                to.take(first + (done + i) / 4, *page, (at % page_bytes + i) / 4);
    });
}

void MemoryShadow::copy_in(Cta cta, std::uint32_t offset, machine::Address source, std::uint32_t copied,
                           std::uint32_t bytes) {
    Words& to = changed(cta, offset + bytes);
    read_global(source, copied / 4, to, offset / 4);
    for (std::uint32_t at = copied; at < bytes; at += 4) to.set((offset + at) / 4, PackedWord::from(Origin::zero()));
}

void MemoryShadow::write_global(machine::Address address, std::uint32_t bytes, const Origin* from) {
    each_page(address, bytes, page_bytes, [&](machine::Address at, std::uint32_t done, std::uint32_t count) {
        page(at).set_bytes(at % page_bytes, count, from + done);
    });
}

void MemoryShadow::write_global(machine::Address address, std::uint32_t words, const Words& from, std::size_t first) {
    each_page(address, words * 4, page_bytes, [&](machine::Address at, std::uint32_t done, std::uint32_t count) {
        Words& to = page(at);
        for (std::uint32_t i = 0; i < count; i += 4) to.take((at % page_bytes + i) / 4, from, first + (done + i) / 4);
    });
}

}  // namespace tilepath::check
