// Operands of tcgen05.mma in shared memory, read through their descriptors.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "atom/tcgen05_paths.h"
#include "exec/tcgen05_plan.h"

namespace tilepath::exec {
namespace {

constexpr int chunk_bytes = 16;
/// Every swizzle's pattern repeats within it, so that the phase of the start is all that matters of it.
constexpr std::uint64_t pattern_bytes = 1024, start_field = 0x3FFF, phase_field = pattern_bytes / 16 - 1,
                        address_mode = 1ull << 52;

std::uint32_t table_base(std::uint64_t descriptor) {
    return static_cast<std::uint32_t>(descriptor & start_field & ~phase_field) * 16;
}

Result<void> errors_of(const atom::Tcgen05Descriptor& fields, const atom::SharedOperand& operand) {
    Diagnostics errors = atom::validate(fields, operand);
    std::erase_if(errors, [](const Diagnostic& each) { return each.severity != Severity::error; });
    if (!errors.empty()) return std::unexpected(std::move(errors));
    return {};
}

/// Chunks of one part, by (outer, chunk of inner), at the place of the whole operand's.
Result<void> add_part(const atom::OperandPart& part, std::uint64_t descriptor, int base_offset, int per_chunk,
                      Tcgen05Shared& out) {
    const auto layout = atom::operand_layout(part.operand);
    if (!layout) return std::unexpected(layout.error());
    const std::int64_t start = std::int64_t{part.start_bytes} - table_base(descriptor);
    const int k = part.operand.k, outer = out.mn_major ? k : part.operand.mn;
    const int inner = (out.mn_major ? part.operand.mn : k) / per_chunk;
    for (int i = 0; i < outer; ++i) {
        for (int j = 0; j < inner; ++j) {
            const int row = out.mn_major ? j * per_chunk : i, column = out.mn_major ? i : j * per_chunk;
            const auto offset =
                static_cast<std::uint64_t>(layout->base(std::int64_t{row} * k + column)[layout::Axis::m]);
            // The swizzle takes the absolute address: its low bits are those of the start's phase.
            const std::uint64_t phase = part.start_bytes % pattern_bytes;
            const auto at = static_cast<std::int64_t>(atom::operand_address(part.operand, phase, base_offset, offset));
            const int place = i * out.row_chunks + (out.mn_major ? 0 : part.first_k / per_chunk) + j;
            out.chunks[static_cast<std::size_t>(place)] =
                static_cast<std::int32_t>(at + start - static_cast<std::int64_t>(phase));
        }
    }
    return {};
}

void find_range(Tcgen05Shared& shared, int per_chunk) {
    bool first = true;
    const auto take = [&](int chunk) {
        const std::int32_t at = shared.chunks[static_cast<std::size_t>(chunk)];
        shared.least = first ? at : std::min(shared.least, at);
        shared.most = first ? at : std::max(shared.most, at);
        first = false;
    };
    if (!shared.mn_major) {
        for (int row = shared.first_row; row < shared.first_row + shared.rows; ++row)
            for (int j = 0; j < shared.row_chunks; ++j) take(row * shared.row_chunks + j);
        return;
    }
    for (int k = 0; k < shared.k; ++k)
        for (int row = shared.first_row / per_chunk; row * per_chunk < shared.first_row + shared.rows; ++row)
            take(k * shared.row_chunks + row);
}

/// 16 elements of 4 or 6 bits, packed from the chunk's first byte on, a byte each.
void unpack(Tcgen05Shared::Form form, const std::uint8_t* chunk, std::uint8_t* out) {
    const int bits = form == Tcgen05Shared::Form::padded4 ? 4 : 6;
    for (int i = 0; i < 16; ++i) {
        const int at = i * bits / 8;
        out[i] = static_cast<std::uint8_t>((chunk[at] | chunk[at + 1] << 8) >> i * bits % 8 & ((1 << bits) - 1));
    }
}

template <class Element>
void copy_transposed(const Tcgen05Shared& shared, const std::uint8_t* base, int begin, int count, std::uint8_t* out,
                     std::size_t stride) {
    constexpr int per_chunk = chunk_bytes / static_cast<int>(sizeof(Element));
    const int end = begin + count;
    for (int k = 0; k < shared.k; ++k) {
        const std::int32_t* const from = shared.chunks.data() + static_cast<std::ptrdiff_t>(k) * shared.row_chunks;
        for (int chunk = begin / per_chunk; chunk * per_chunk < end; ++chunk) {
            Element elements[per_chunk];
            std::memcpy(elements, base + from[chunk], chunk_bytes);
            const int first = std::max(chunk * per_chunk, begin);
            for (int row = first; row < std::min((chunk + 1) * per_chunk, end); ++row)
                std::memcpy(out + static_cast<std::size_t>(row - begin) * stride +
                                static_cast<std::size_t>(k) * sizeof(Element),
                            &elements[row - chunk * per_chunk], sizeof(Element));
        }
    }
}

}  // namespace

std::uint64_t without_start(std::uint64_t descriptor) {
    return (descriptor & address_mode) != 0 ? descriptor : descriptor & ~(start_field & ~phase_field);
}

void Tcgen05Shared::copy(const std::uint8_t* shared, std::uint64_t descriptor, int begin, int count, std::uint8_t* out,
                         std::size_t stride) const {
    const std::uint8_t* const base = shared + table_base(descriptor);
    begin += first_row;
    if (mn_major) {
        if (element_bytes == 1) return copy_transposed<std::uint8_t>(*this, base, begin, count, out, stride);
        if (element_bytes == 2) return copy_transposed<std::uint16_t>(*this, base, begin, count, out, stride);
        return copy_transposed<std::uint32_t>(*this, base, begin, count, out, stride);
    }
    const std::int32_t* from = chunks.data() + static_cast<std::ptrdiff_t>(begin) * row_chunks;
    for (int row = 0; row < count; ++row, out += stride, from += row_chunks)
        for (int j = 0; j < row_chunks; ++j) {
            if (form == Form::packed)
                std::memcpy(out + j * chunk_bytes, base + from[j], chunk_bytes);
            else
                unpack(form, base + from[j], out + j * chunk_bytes);
        }
}

Result<Tcgen05Shared> tcgen05_shared(const atom::Tcgen05Mma& mma, bool is_b, std::uint64_t descriptor, bool mn_major,
                                     int column_shift) {
    const atom::Tcgen05Descriptor fields = atom::decode_tcgen05_descriptor(descriptor);
    const number::Format format = is_b ? mma.types.b : mma.types.a;
    const atom::OperandMajor major = mn_major ? atom::OperandMajor::mn : atom::OperandMajor::k;
    const auto mode = fields.swizzle();
    if (!mode)
        return fail(fmt::format("swizzle bits {} are no mode", fields.swizzle_bits), "modes are 0, 1, 2, 4 and 6");
    if (auto ok = atom::check_shared_operand(mma.kind, format, major, *mode); !ok) return std::unexpected(ok.error());
    const int bits = mma.kind == atom::Tcgen05Kind::tf32 ? 32 : number::traits(format).bits;
    const bool padded = bits < 8 && atom::traits(mma.kind).container_bits == 8;
    const int per_chunk = padded ? 16 : chunk_bytes * 8 / bits;

    Tcgen05Shared shared;
    shared.mn_major = mn_major;
    if (padded) shared.form = bits == 4 ? Tcgen05Shared::Form::padded4 : Tcgen05Shared::Form::padded6;
    shared.rows = is_b ? mma.shape.n / mma.cta_group : mma.rows_per_cta();
    shared.first_row = column_shift;
    shared.k = is_b ? mma.shape.k : mma.stored_k();
    shared.element_bytes = std::max(1, bits / 8);
    // MN-major, the last row of the swizzle may be one that the product reads in part (recorded on an H200 for wgmma).
    const int unit = mn_major ? std::max(8, layout::traits(*mode).span_bytes * 8 / bits) : 8;
    const int rows = (shared.first_row + shared.rows + unit - 1) / unit * unit;
    const auto parts = atom::described_parts(fields, major, bits, rows, shared.k, padded);
    if (!parts) return std::unexpected(parts.error());
    atom::SharedOperand whole = parts->front().operand;
    whole.k = shared.k;
    whole.mn = unit;  // rules of the descriptor, not of each row
    if (auto ok = errors_of(fields, whole); !ok) return std::unexpected(ok.error());
    shared.row_chunks = (mn_major ? rows : shared.k) / per_chunk;
    shared.chunks.resize(static_cast<std::size_t>((mn_major ? shared.k : rows) * shared.row_chunks));
    for (const atom::OperandPart& part : *parts)
        if (auto ok = add_part(part, descriptor, fields.base_offset, per_chunk, shared); !ok)
            return std::unexpected(ok.error());
    find_range(shared, per_chunk);
    return shared;
}

}  // namespace tilepath::exec
