#include "report/data_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "atom/instruction_descriptor.h"
#include "base/assert.h"

namespace tilepath::report {

using machine::Access;
using program::Space;

namespace {

/// How many lanes get each byte of a tcgen05.cp.
std::uint64_t copies_of(atom::TmemCopyShape shape) {
    switch (shape) {
        case atom::TmemCopyShape::s128x256b:
        case atom::TmemCopyShape::s128x128b:
        case atom::TmemCopyShape::s4x256b: return 1;
        case atom::TmemCopyShape::s64x128b_02_13:
        case atom::TmemCopyShape::s64x128b_01_23: return 2;
        case atom::TmemCopyShape::s32x128b: return 4;
    }
    return 1;
}

}  // namespace

std::string instruction_head(const program::Program& program, const program::Function& function, const program::MicroOp& op) {
    std::string_view text = program.source->text(function.instructions[op.instruction].span);
    if (text.starts_with('@')) text.remove_prefix(std::min(text.find_first_of(" \t"), text.size()));
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    return std::string(text.substr(0, text.find_first_of(" \t;")));
}

DataPathCounter::Row& DataPathCounter::row(int order, const char* path, const machine::EventSite& site) {
    Row*& known = by_op_[{site.op, order}];
    if (!known) {
        std::string head = instruction_head(program_, *site.function, *site.op);
        known = &rows_[{order, head}];
        known->path = path;
        known->instruction = head;
    }
    return *known;
}

void DataPathCounter::access(const Access& event) {
    const std::uint64_t bytes = std::uint64_t{event.bytes} * static_cast<unsigned>(std::popcount(event.site.lanes));
    const bool reads = event.kind != Access::Kind::write, writes = event.kind != Access::Kind::read;
    int order = 0;
    const char* path = "";
    switch (event.space) {
        case Space::global:
        case Space::constant:
            if (reads) global_read_ += bytes;
            if (writes) global_written_ += bytes;
            if (event.kind == Access::Kind::atomic) order = 70, path = "registers ↔ global";
            else if (reads) order = 20, path = "global → registers";
            else order = 80, path = "registers → global";
            break;
        case Space::shared:
        case Space::shared_cluster:
            if (reads) shared_read_ += bytes;
            if (writes) shared_written_ += bytes;
            if (event.kind == Access::Kind::atomic) order = 60, path = "registers ↔ shared";
            else if (reads) order = 40, path = "shared → registers";
            else if (event.site.op->op == program::Op::try_cancel) order = 35, path = "launcher → shared";
            else order = 30, path = "registers → shared";
            break;
        case Space::local:
            order = reads ? 65 : 64, path = reads ? "local → registers" : "registers → local";
            break;
        // Parameters and generic addresses (which never come here) are no part of the data's way.
        case Space::param:
        case Space::generic: return;
    }
    Row& counted = row(order, path, event.site);
    ++counted.times;
    counted.bytes += bytes;
}

void DataPathCounter::copy_issued(const machine::Copy& event) {
    Row& counted = row(10, "global → shared", event.site);
    // One event a lane; lanes ascend within one execution.
    const bool same = event.site.op == last_copy_ && event.site.warp == last_copy_warp_ && event.site.cta == last_copy_cta_ &&
                      event.lane > last_copy_lane_;
    if (!same) ++counted.times;
    last_copy_ = event.site.op, last_copy_warp_ = event.site.warp, last_copy_cta_ = event.site.cta, last_copy_lane_ = event.lane;
    counted.bytes += event.bytes;
    global_read_ += event.source_bytes;
    shared_written_ += event.bytes;
}

void DataPathCounter::bulk_issued(const machine::BulkCopy& event) {
    const program::Bulk& bulk = *event.bulk;
    if (bulk.prefetch) return;
    const bool from_global = bulk.source == Space::global, to_global = bulk.destination == Space::global;
    Row& counted = row(from_global ? 10 : to_global ? 81 : 35,
                       from_global  ? "global → shared"
                       : to_global ? "shared → global"
                                   : "shared → shared",
                       event.site);
    ++counted.times;
    // A multicast reads once and writes in every CTA.
    const std::uint64_t copies = from_global ? std::max(1, std::popcount(event.ctas)) : 1;
    counted.bytes += event.bytes * copies;
    (from_global ? global_read_ : shared_read_) += event.bytes;
    (to_global ? global_written_ : shared_written_) += event.bytes * copies;
}

void DataPathCounter::multiply(const machine::Multiply& event) {
    const program::Mma& mma = *event.mma;
    // A warpgroup's product is told by each of its four warps.
    const std::uint64_t warps = mma.warpgroup ? 4 : 1;
    const char* const path = mma.warpgroup ? "shared → Tensor Core" : "registers → Tensor Core";
    Row& counted = row(50, path, event.site);
    ++counted.times;
    const std::uint64_t m = static_cast<unsigned>(mma.m), n = static_cast<unsigned>(mma.n), k = static_cast<unsigned>(mma.k);
    const std::uint64_t flop = 2 * m * n * k / warps;
    counted.flop += flop;
    flop_ += flop;
    if (!mma.warpgroup) return;
    // Each warp reads its rows of A; B counts once for all four.
    const std::uint64_t stored_a = mma.a_in_registers ? 0 : m * (mma.sparse ? k / 2 : k);
    const std::uint64_t bits = static_cast<unsigned>(mma.a == program::DataType::tf32 ? 32 : program::bits(mma.a));
    const std::uint64_t bytes = (stored_a + n * k) * bits / 8 / warps;
    counted.bytes += bytes;
    shared_read_ += bytes;
}

void DataPathCounter::tensor_issued(const machine::TensorOperation& event) {
    using Kind = machine::TensorOperation::Kind;
    // Four bytes for each cell that is written, or read; of a copy each byte that shared memory gives counts once.
    const auto cell_bytes = [&](bool written) {
        std::uint64_t bytes = 0;
        for (const machine::TensorCells& cells : event.cells)
            for (const std::uint32_t lanes : cells.lanes)
                if (written ? cells.write : cells.read) bytes += std::uint64_t{4} * cells.columns * static_cast<unsigned>(std::popcount(lanes));
        return bytes;
    };
    switch (event.kind) {
        case Kind::multiply: return tensor_multiply(event);
        case Kind::copy: {
            Row& counted = row(36, "shared → Tensor Memory", event.site);
            const auto shape = event.site.function->tmem_copies[event.site.op->detail].shape;
            const std::uint64_t bytes = cell_bytes(true) / copies_of(shape);
            ++counted.times;
            counted.bytes += bytes;
            shared_read_ += bytes;
            return;
        }
        case Kind::load:
        case Kind::store: {
            const bool load = event.kind == Kind::load;
            Row& counted = row(load ? 60 : 45, load ? "Tensor Memory → registers" : "registers → Tensor Memory", event.site);
            ++counted.times;
            counted.bytes += cell_bytes(!load);
            return;
        }
        case Kind::shift:
        case Kind::commit: return;
    }
}

void DataPathCounter::tensor_multiply(const machine::TensorOperation& event) {
    const program::Tcgen05Mma& mma = event.site.function->tcgen05_mmas[event.site.op->detail];
    const atom::InstructionDescriptor found = atom::decode_instruction_descriptor(event.instruction, mma.kind);
    const atom::Tcgen05KindTraits& kind = atom::traits(mma.kind);
    const auto m = static_cast<std::uint64_t>(found.m), n = static_cast<std::uint64_t>(found.n);
    const auto k = static_cast<std::uint64_t>(found.k96 ? 96 : mma.sparse ? 2 * kind.k : kind.k);
    Row& counted = row(50, mma.a_in_tensor_memory ? "TMEM, shared → Tensor Core" : "shared → Tensor Core", event.site);
    ++counted.times;
    counted.flop += 2 * m * n * k;
    flop_ += 2 * m * n * k;
    // A kind reads 32 bytes of each row (k of 96: 48), half of a sparse A's logical ones.
    const std::uint64_t row_bytes = found.k96 ? 48 : 32;
    const std::uint64_t bytes = (mma.a_in_tensor_memory ? 0 : m * row_bytes) + n * row_bytes * (mma.sparse ? 2 : 1);
    counted.bytes += bytes;
    shared_read_ += bytes;
}

std::vector<DataPathCounter::Row> DataPathCounter::rows() const {
    std::vector<Row> out;
    for (const auto& [key, counted] : rows_) out.push_back(counted);
    return out;
}

std::string bytes_text(std::uint64_t bytes) {
    if (bytes < 10240) return fmt::format("{} B", bytes);
    if (bytes < (std::uint64_t{10} << 20)) return fmt::format("{:.1f} KiB", static_cast<double>(bytes) / 1024);
    if (bytes < (std::uint64_t{10} << 30)) return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
    return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1 << 30));
}

std::string to_string(const DataPathCounter& counter) {
    std::string out;
    std::size_t width = 11;
    for (const DataPathCounter::Row& row : counter.rows()) width = std::max(width, row.instruction.size());
    // The arrows take three bytes and one column: pad by columns.
    auto padded = [](std::string_view text, std::size_t columns) {
        std::size_t shown = 0;
        for (char c : text) shown += (c & 0xC0) != 0x80;
        return std::string(text) + std::string(columns > shown ? columns - shown : 0, ' ');
    };
    out += fmt::format("  {} {} {:>12} {:>12} {:>14}\n", padded("path", 24), padded("instruction", width), "warps", "bytes", "FLOP");
    for (const DataPathCounter::Row& row : counter.rows())
        out += fmt::format("  {} {} {:>12} {:>12} {:>14}\n", padded(row.path, 24), padded(row.instruction, width), row.times,
                           row.bytes ? bytes_text(row.bytes) : "", row.flop ? fmt::format("{}", row.flop) : "");
    out += fmt::format("  global memory: {} read, {} written; shared memory: {} written, {} read\n", bytes_text(counter.global_read()),
                       bytes_text(counter.global_written()), bytes_text(counter.shared_written()), bytes_text(counter.shared_read()));
    if (counter.flop() && counter.global_bytes())
        out += fmt::format("  {} FLOP: {:.1f} per byte of global memory, {:.1f} per byte read from shared memory\n", counter.flop(),
                           static_cast<double>(counter.flop()) / static_cast<double>(counter.global_bytes()),
                           counter.shared_read() ? static_cast<double>(counter.flop()) / static_cast<double>(counter.shared_read()) : 0.0);
    return out;
}

}  // namespace tilepath::report
