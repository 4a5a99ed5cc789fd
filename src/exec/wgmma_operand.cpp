// Operands of wgmma in shared memory, read through their descriptors.
#include <algorithm>
#include <cstring>
#include <memory>

#include "atom/matrix_descriptor.h"
#include "exec/warpgroup.h"

namespace tilepath::exec {
namespace {

constexpr int chunk_bytes = 16;
/// Every swizzle's pattern repeats within it, so that the phase of the start is all that matters of it.
constexpr std::uint32_t pattern_bytes = 1024;
constexpr std::uint64_t start_field = 0x3FFF, phase_field = pattern_bytes / 16 - 1;

/// Chunks lie whole: 16 bytes along k or, MN-major, along the rows, and no swizzle moves less.
OperandTable make_table(std::uint64_t descriptor, const OperandShape& shape) {
    const atom::MatrixDescriptor fields = atom::decode_matrix_descriptor(descriptor);
    const atom::OperandMajor major = shape.mn_major ? atom::OperandMajor::mn : atom::OperandMajor::k;
    const int k = shape.row_bytes * 8 / shape.bits, per_chunk = chunk_bytes * 8 / shape.bits;
    // MN-major, the last row of the swizzle may be one that the product reads in part (recorded on an H200).
    const int unit = shape.mn_major ? layout::traits(fields.swizzle).span_bytes * 8 / shape.bits : 1;
    const int rows = (shape.rows + unit - 1) / unit * unit;
    const atom::SharedOperand operand = atom::described(fields, major, shape.bits, rows, k);
    OperandTable table;
    const auto layout = atom::operand_layout(operand);
    if (!layout) {
        table.error = layout.error().front().message;
        return table;
    }
    const std::uint64_t phase = fields.start_bytes % pattern_bytes;
    const int outer = shape.mn_major ? k : shape.rows, inner = (shape.mn_major ? shape.rows : k) / per_chunk;
    for (int i = 0; i < outer; ++i) {
        for (int j = 0; j < inner; ++j) {
            const int row = shape.mn_major ? j * per_chunk : i, column = shape.mn_major ? i : j * per_chunk;
            const auto offset =
                static_cast<std::uint64_t>(layout->base(static_cast<std::int64_t>(row) * k + column)[layout::Axis::m]);
            table.chunks.push_back(
                static_cast<std::int32_t>(atom::operand_address(operand, phase, fields.base_offset, offset)));
        }
    }
    std::vector<std::int32_t> sorted = table.chunks;
    std::ranges::sort(sorted);
    table.least = sorted.front();
    table.most = sorted.back();
    for (const std::int32_t chunk : sorted) {
        machine::Run* const last = table.runs.empty() ? nullptr : &table.runs.back();
        const std::int32_t end = last == nullptr ? 0 : last->offset + static_cast<std::int32_t>(last->bytes);
        if (last != nullptr && chunk <= end)
            last->bytes += static_cast<std::uint32_t>(chunk + chunk_bytes - end);
        else
            table.runs.push_back({chunk, chunk_bytes});
    }
    return table;
}

template <int chunks>
void copy_rows(const std::int32_t* from, const std::uint8_t* base, int rows, std::uint8_t* out, std::size_t stride) {
    for (int row = 0; row < rows; ++row, out += stride, from += chunks)
        for (int j = 0; j < chunks; ++j) std::memcpy(out + j * chunk_bytes, base + from[j], chunk_bytes);
}

/// 16-bit elements that lie along the rows.
void copy_transposed(const OperandTable& table, const OperandShape& shape, const std::uint8_t* base, int first_row,
                     int rows, std::uint8_t* out, std::size_t stride) {
    constexpr int per_chunk = chunk_bytes / 2;
    const int all_chunks = shape.rows / per_chunk;
    for (int k = 0; k < shape.row_bytes / 2; ++k) {
        const std::int32_t* const from = table.chunks.data() + k * all_chunks + first_row / per_chunk;
        for (int j = 0; j < rows / per_chunk; ++j) {
            std::uint16_t elements[per_chunk];
            std::memcpy(elements, base + from[j], chunk_bytes);
            std::uint8_t* const to = out + static_cast<std::size_t>(j * per_chunk) * stride + 2 * k;
            for (int i = 0; i < per_chunk; ++i)
                std::memcpy(to + static_cast<std::size_t>(i) * stride, &elements[i], sizeof elements[i]);
        }
    }
}

}  // namespace

std::uint32_t table_base(std::uint64_t descriptor) {
    return static_cast<std::uint32_t>(descriptor & start_field & ~phase_field) * 16;
}

const OperandTable& OperandTables::find(std::uint64_t descriptor, const OperandShape& shape) {
    const std::uint64_t key = descriptor & ~(start_field & ~phase_field);
    const auto fits = [&](const std::unique_ptr<Entry>& each) { return each->key == key && each->shape == shape; };
    if (last_ < entries_.size() && fits(entries_[last_])) return entries_[last_]->table;
    auto found = std::ranges::find_if(entries_, fits);
    if (found == entries_.end()) {
        constexpr std::size_t most = 256;
        if (entries_.size() == most) entries_.clear();
        entries_.push_back(std::make_unique<Entry>(key, shape, make_table(descriptor, shape)));
        found = entries_.end() - 1;
    }
    last_ = static_cast<std::size_t>(found - entries_.begin());
    return (*found)->table;
}

void copy_operand(const OperandTable& table, const OperandShape& shape, const std::uint8_t* shared,
                  std::uint64_t descriptor, int first_row, int rows, std::uint8_t* out, std::size_t stride) {
    const std::uint8_t* const base = shared + table_base(descriptor);
    if (shape.mn_major) return copy_transposed(table, shape, base, first_row, rows, out, stride);
    const int chunks = shape.row_bytes / chunk_bytes;
    const std::int32_t* const from = table.chunks.data() + first_row * chunks;
    if (chunks == 2)
        copy_rows<2>(from, base, rows, out, stride);
    else
        copy_rows<4>(from, base, rows, out, stride);  // B of a sparse product
}

}  // namespace tilepath::exec
