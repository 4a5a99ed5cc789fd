#include "machine/tensor_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace tilepath::machine {
namespace {

constexpr std::uint32_t unit = TensorMemory::fewest_columns;
constexpr std::uint32_t poison = 0xA5A5A5A5;  // what a cell holds before anyone writes it

}  // namespace

void TensorMemory::reset() {
    cells_.assign(std::size_t{lanes} * columns, poison);
    seen_.clear();
    unseen_.reset();
    for (auto& slabs : written_) slabs.fill(0);
    sizes_.fill(0);
    permit_ = true;
}

void TensorMemory::set_unseen(std::uint32_t first, std::uint32_t count) {
    if (!seen_.empty())
        for (std::uint32_t column = first; column < first + count; ++column) unseen_.set(column);
}

bool TensorMemory::unseen(std::uint32_t first, std::uint32_t count) const {
    for (std::uint32_t column = first; column < first + count; ++column)
        if (unseen_.test(column)) return true;
    return false;
}

void TensorMemory::show() {
    for (std::uint32_t i = 0; unseen_.any() && i < columns; ++i)
        if (unseen_.test(i)) std::copy_n(column(i), lanes, own_image(i));
    unseen_.reset();
}

TensorMemoryError TensorMemory::check_allocation(std::uint32_t count) const {
    if (count < fewest_columns || count > columns || !std::has_single_bit(count)) return TensorMemoryError::columns;
    return permit_ ? TensorMemoryError::none : TensorMemoryError::no_permit;
}

std::optional<std::uint32_t> TensorMemory::allocate(std::uint32_t count) {
    const std::size_t wanted = count / unit;
    std::size_t free = 0;  // units, up to here
    for (std::size_t at = 0; at < sizes_.size();) {
        if (sizes_[at] != 0) {
            at += sizes_[at] / unit;
            free = 0;
            continue;
        }
        ++at;
        if (++free < wanted) continue;
        sizes_[at - wanted] = static_cast<std::uint16_t>(count);
        return static_cast<std::uint32_t>(at - wanted) * unit;
    }
    return std::nullopt;
}

TensorMemoryError TensorMemory::deallocate(std::uint32_t first, std::uint32_t count) {
    if (count < fewest_columns || count > columns || !std::has_single_bit(count)) return TensorMemoryError::columns;
    if (first % unit != 0 || first >= columns || sizes_[first / unit] != count) return TensorMemoryError::not_allocated;
    sizes_[first / unit] = 0;
    // What is left there is nobody's any more.
    for (std::uint32_t column = first; column < first + count; ++column) written_[column].fill(0);
    return TensorMemoryError::none;
}

bool TensorMemory::allocated(std::uint32_t first, std::uint32_t count) const {
    if (first >= columns || count > columns - first) return false;
    std::uint32_t end = 0;  // of the allocations up to here, without a gap from `first` on
    for (std::uint32_t at = 0; at < columns; at += unit) {
        const std::uint32_t size = sizes_[at / unit];
        if (size == 0) continue;
        if (at <= std::max(first, end) && at + size > first) end = at + size;
    }
    return end >= first + count;
}

bool TensorMemory::any_allocated() const {
    return std::ranges::any_of(sizes_, [](std::uint16_t size) { return size != 0; });
}

std::string TensorMemory::describe_allocations() const {
    std::string out;
    for (std::size_t at = 0; at < sizes_.size(); ++at)
        if (const std::uint32_t size = sizes_[at]; size != 0)
            out += fmt::format("{}{}-{}", out.empty() ? "columns " : ", ", at * unit, at * unit + size - 1);
    return out;
}

}  // namespace tilepath::machine
