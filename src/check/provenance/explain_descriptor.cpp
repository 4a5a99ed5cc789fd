// A wgmma whose operands are wrong: how its descriptors read what was written, and which single field would put it
// right.
#include <fmt/format.h>

#include "atom/matrix_descriptor.h"
#include "check/provenance/matrix_maps.h"
#include "check/provenance/provenance.h"

namespace tilepath::check {
namespace {

struct Change {
    std::string text;
    std::uint64_t descriptor = 0;
    bool transposed = false;  ///< read in the other major-ness
};

/// Descriptors that differ from this one in a single field, the likeliest first.
std::vector<Change> single_changes(std::uint64_t bits) {
    const atom::MatrixDescriptor is = atom::decode_matrix_descriptor(bits);
    std::vector<Change> out;
    const auto add = [&](std::string text, const atom::MatrixDescriptor& changed) {
        const auto encoded = atom::encode(changed);
        if (encoded && *encoded != bits) out.push_back({std::move(text), *encoded, false});
    };
    using enum layout::SwizzleMode;
    for (const layout::SwizzleMode mode : {none, b32, b64, b128}) {
        atom::MatrixDescriptor with = is;
        with.swizzle = mode;
        add(fmt::format("swizzle {} in place of {}", layout::traits(mode).name, layout::traits(is.swizzle).name), with);
    }
    atom::MatrixDescriptor with = is;
    std::swap(with.leading_bytes, with.stride_bytes);
    add(fmt::format("leading and stride offsets exchanged: LBO {}, SBO {} bytes", with.leading_bytes,
                    with.stride_bytes),
        with);
    constexpr std::uint32_t field_unit = 16;
    if (is.stride_bytes / field_unit != 0) {
        with = is;
        with.stride_bytes = is.stride_bytes / field_unit;
        add(fmt::format("SBO {} bytes: {} was written in bytes, the field counts 16", with.stride_bytes,
                        is.stride_bytes),
            with);
        with.leading_bytes = is.leading_bytes / field_unit;
        add(fmt::format("LBO {} and SBO {} bytes: they were written in bytes, the fields count 16", with.leading_bytes,
                        with.stride_bytes),
            with);
    }
    for (std::uint32_t bytes = 16; bytes <= 16384; bytes *= 2) {
        with = is;
        with.stride_bytes = bytes;
        add(fmt::format("SBO {} bytes in place of {}", bytes, is.stride_bytes), with);
        with = is;
        with.leading_bytes = bytes;
        add(fmt::format("LBO {} bytes in place of {}", bytes, is.leading_bytes), with);
    }
    out.push_back({"the other major-ness (the transposition of this operand)", bits, true});
    for (int phase = 0; phase < 8; ++phase) {
        with = is;
        with.base_offset = phase;
        add(fmt::format("base offset {} in place of {}", phase, is.base_offset), with);
    }
    for (const std::uint32_t step : {16u, 32u, 64u, 128u, 256u, 512u, 1024u, 2048u, 4096u, 8192u}) {
        with = is;
        with.start_bytes = is.start_bytes + step;
        add(fmt::format("a start address {} bytes further", step), with);
        if (is.start_bytes < step) continue;
        with.start_bytes = is.start_bytes - step;
        add(fmt::format("a start address {} bytes before", step), with);
    }
    return out;
}

std::string words(std::uint64_t descriptor) {
    const atom::MatrixDescriptor is = atom::decode_matrix_descriptor(descriptor);
    return fmt::format("start {:#x}, LBO {}, SBO {}, base offset {}, swizzle {}", is.start_bytes, is.leading_bytes,
                       is.stride_bytes, is.base_offset, layout::traits(is.swizzle).name);
}

}  // namespace

void Provenance::explain_shared(const machine::Multiply& event, const OperandCells& a, const OperandCells& b,
                                CheckedProduct& checked, Tally& tally) {
    const program::Mma& mma = *event.mma;
    if (!mma.warpgroup) {
        tally.advice =
            "compare the addresses that the lanes give (ldmatrix, or loads) with what `tilepath show` says of this "
            "instruction";
        return;
    }
    const MatrixMaps::Multiply& map = *maps_->multiply(mma);
    const MemoryShadow::Cta cta{event.site.cluster, event.site.rank};
    const int rows = mma.m / 4, warp = static_cast<int>(event.site.warp % 4);
    for (const bool of_a : {true, false}) {
        if (!(of_a ? checked.wrong_a && !mma.a_in_registers : checked.wrong_b)) continue;
        const std::uint64_t descriptor = of_a ? event.a : event.b;
        const atom::MatrixDescriptor is = atom::decode_matrix_descriptor(descriptor);
        tally.facts.push_back(fmt::format("{}'s descriptor reads: {}", of_a ? "A" : "B", words(descriptor)));
        const Box* const box = box_at(cta, is.start_bytes);
        if (box != nullptr) {
            tally.facts.push_back(fmt::format("TMA wrote that tile at {:#x} with swizzle {}", box->begin,
                                              layout::traits(box->swizzle).name));
            if (box->swizzle != is.swizzle)
                tally.message =
                    fmt::format("TMA wrote {}'s tile with swizzle {}, the descriptor reads it with {}",
                                of_a ? "A" : "B", layout::traits(box->swizzle).name, layout::traits(is.swizzle).name);
        }
        // Whether the operand would be one of rows m (or columns n) with the ks of the other.
        const auto right = [&](OperandCells read) {
            if (of_a) read = read.part(warp * rows, rows);
            const OperandCells& other = of_a ? b : a;
            const bool other_wrong = of_a ? checked.wrong_b : checked.wrong_a;
            const CheckedProduct again = of_a ? check_operands(read, other_wrong ? read : other, nullptr, nullptr)
                                              : check_operands(other_wrong ? read : other, read, nullptr, nullptr);
            // An operand that is compared with itself has rows of one kind in both places: only its own matter.
            const bool wrong = of_a ? again.wrong_a : again.wrong_b;
            return !wrong && again.verdict != CheckedProduct::Verdict::unknown &&
                   again.ks.end - again.ks.begin == static_cast<std::uint32_t>(mma.k);
        };
        const std::string found = [&]() -> std::string {
            for (const Change& change : single_changes(descriptor)) {
                program::Mma as = mma;
                if (change.transposed) (of_a ? as.a_column_major : as.b_row_major) ^= true;
                if (right(shared_cells(event.site, change.descriptor, map.shape(as, of_a, change.descriptor))))
                    return "its descriptor: " + change.text;
            }
            for (const layout::SwizzleTraits& mode : layout::all_swizzle_modes())
                if (box != nullptr && mode.mode != box->swizzle && mode.tensor_map &&
                    right(shared_cells(event.site, descriptor, map.shape(mma, of_a, descriptor), box, mode.mode)))
                    return fmt::format("its tensor map: swizzle {} in place of {}", mode.name,
                                       layout::traits(box->swizzle).name);
            return {};
        }();
        tally.advice +=
            fmt::format("{}{}: {}", tally.advice.empty() ? "" : "; ", of_a ? "A" : "B",
                        found.empty() ? "no single field makes it right" : "one field makes it right, " + found);
    }
}

const Provenance::Box* Provenance::box_at(MemoryShadow::Cta cta, std::uint32_t shared) const {
    for (auto box = boxes_.rbegin(); box != boxes_.rend(); ++box)
        if (box->cta == cta && shared >= box->begin && shared < box->end) return &*box;
    return nullptr;
}

}  // namespace tilepath::check
