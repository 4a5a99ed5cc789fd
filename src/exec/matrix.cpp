// ldmatrix, stmatrix, movmatrix.
#include <bit>
#include <cstring>

#include "exec/executor.h"
#include "exec/matrix_plan.h"

namespace tilepath::exec {

/// The rows that the address lanes name, 16 bytes each.
bool Executor::matrix_rows(Context& c, machine::Access::Kind kind, Lanes& rows) {
    constexpr std::uint32_t row_bytes = 16;
    Context addressing{c.warp, c.group, c.frame, c.rows, c.predicates, c.code, c.active & c.code.matrix->address_lanes};
    if (addressing.active == 0) {
        fail(c, FaultKind::diverged, c.active, "the lanes whose addresses are needed have exited");
        return false;
    }
    if (!resolve(addressing, kind, row_bytes, rows)) return false;
    for (LaneMask left = addressing.active; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        const program::Space space = rows.mixed ? rows.spaces[lane] : rows.space;
        if (space == program::Space::shared) continue;
        fail_access(c, FaultKind::out_of_bounds, kind, lane, {space, rows.address[lane]}, row_bytes,
                    "the rows of a matrix lie in shared memory");
        return false;
    }
    if (observer_ != nullptr) observe_access(addressing, kind, row_bytes, rows);
    rows.fill_host(row_bytes);
    return true;
}

Step Executor::load_matrix(Context& c) {
    if (!gather(c)) return Step::stop;
    Lanes rows;
    if (!matrix_rows(c, machine::Access::Kind::read, rows)) return Step::fault;
    if (!c.code.matrix->fields.empty()) return load_fields(c, rows);
    const MatrixPiece* piece = c.code.matrix->pieces.data();
    for (std::uint32_t reg = 0; reg < c.code.vector; ++reg) {
        Row& to = c.row(c.code.places[reg]);
        for (int lane = 0; lane < warp_lanes; ++lane, piece += 2) {
            std::uint16_t half[2];
            std::memcpy(&half[0], rows.host[piece[0].lane] + piece[0].byte, 2);
            std::memcpy(&half[1], rows.host[piece[1].lane] + piece[1].byte, 2);
            if (c.active >> lane & 1) to.lane[lane] = half[0] | std::uint32_t{half[1]} << 16;
        }
    }
    return Step::next;
}

Step Executor::store_matrix(Context& c) {
    if (!gather(c)) return Step::stop;
    Lanes rows;
    if (!matrix_rows(c, machine::Access::Kind::write, rows)) return Step::fault;
    if (!c.code.matrix->fields.empty()) return store_fields(c, rows);
    const MatrixPiece* piece = c.code.matrix->pieces.data();
    for (std::uint32_t reg = 0; reg < c.code.vector; ++reg) {
        const Row& from = c.row(c.source(static_cast<int>(1 + reg)));
        for (int lane = 0; lane < warp_lanes; ++lane) {
            for (int half = 0; half < 2; ++half, ++piece) {
                const auto value = static_cast<std::uint16_t>(from.lane[lane] >> 16 * half);
                if (c.active >> lane & 1) std::memcpy(rows.host[piece->lane] + piece->byte, &value, 2);
            }
        }
    }
    wrote();
    return Step::next;
}

/// Elements of 8, 6 and 4 bits, each widened with zeros to a byte of a register.
Step Executor::load_fields(Context& c, const Lanes& rows) {
    const MatrixPlan& plan = *c.code.matrix;
    const MatrixField* field = plan.fields.data();
    for (int reg = 0; reg < plan.registers; ++reg) {
        Row& to = c.row(c.code.places[reg]);
        for (int lane = 0; lane < warp_lanes; ++lane) {
            std::uint32_t word = 0;
            for (int i = 0; i < 4; ++i, ++field) {
                const std::uint8_t* const from = rows.host[field->lane] + field->bit / 8;
                // A 6-bit element may end in the next byte, which is still in the row's 16.
                const std::uint32_t both =
                    from[0] | (field->bit % 8 + plan.field_bits > 8 ? std::uint32_t{from[1]} << 8 : 0);
                word |= (both >> field->bit % 8 & ((1u << plan.field_bits) - 1)) << 8 * i;
            }
            if (c.active >> lane & 1) to.lane[lane] = word;
        }
    }
    return Step::next;
}

Step Executor::store_fields(Context& c, const Lanes& rows) {
    const MatrixPlan& plan = *c.code.matrix;
    const MatrixField* field = plan.fields.data();
    for (int reg = 0; reg < plan.registers; ++reg) {
        const Row& from = c.row(c.source(1 + reg));
        for (int lane = 0; lane < warp_lanes; ++lane)
            for (int i = 0; i < 4; ++i, ++field)
                if (c.active >> lane & 1)
                    rows.host[field->lane][field->bit / 8] = static_cast<std::uint8_t>(from.lane[lane] >> 8 * i);
    }
    wrote();
    return Step::next;
}

Step Executor::move_matrix(Context& c) {
    if (!gather(c)) return Step::stop;
    const Row from = c.row(c.code.a);
    Row& to = c.row(c.code.d);
    const MatrixPiece* move = c.code.matrix->moves.data();
    for (int lane = 0; lane < warp_lanes; ++lane, move += 2) {
        const auto half = [&](const MatrixPiece& piece) { return from.lane[piece.lane] >> 8 * piece.byte & 0xFFFF; };
        if (c.active >> lane & 1) to.lane[lane] = half(move[0]) | half(move[1]) << 16;
    }
    return Step::next;
}

}  // namespace tilepath::exec
