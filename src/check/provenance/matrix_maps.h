#pragma once
#include <array>
#include <list>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "atom/fragment.h"
#include "atom/mma_sp.h"
#include "atom/shared_operand.h"
#include "check/provenance/descriptor_view.h"
#include "check/provenance/regular_operand.h"
#include "program/function.h"

namespace tilepath::check {

/// What atom/ says of matrix instructions, prepared once for each.
struct MatrixMaps {
    /// ldmatrix and stmatrix: which byte of which address lane's row each register byte is.
    struct Transfer {
        struct Source {
            std::int8_t lane = 0, byte = -1;
        };
        std::vector<Source> sources;  ///< by (register, lane, byte)
        bool whole_words = true;      ///< each word of a register is one of a row
        const Source& at(int reg, int lane, int byte) const {
            return sources[static_cast<std::size_t>((reg * 32 + lane) * 4 + byte)];
        }
    };
    /// mma and wgmma.
    struct Multiply {
        std::vector<atom::ElementPlace> a, b;
        std::vector<ElementRun> runs_a, runs_b;  ///< of a warp's mma
        atom::HeldElements held_d;
        int a_registers = 0, b_registers = 0, c_registers = 0, d_registers = 0, bits_a = 16, bits_b = 16;
        /// A stores half of its columns; four bits of metadata of each row and chunk say which.
        struct Sparse {
            atom::Sparsity sparsity{};
            int chunk = 4;
            std::vector<atom::ElementPlace> metadata;  ///< by (row, chunk)
        };
        std::optional<Sparse> sparse;
        int a_columns(const program::Mma& mma) const { return sparse ? mma.k / 2 : mma.k; }
        /// Places of an operand's scale factors, by (row, factor), for each byte-id and thread-id; empty: not defined.
        std::array<std::vector<atom::ElementPlace>, 16> scales_a, scales_b;

        const std::vector<atom::ElementPlace>* scales(bool of_b, std::uint32_t byte_id, std::uint32_t thread_id) const {
            if (byte_id > 3 || thread_id > 3) return nullptr;
            const auto& places = (of_b ? scales_b : scales_a)[byte_id * 4 + thread_id];
            return places.empty() ? nullptr : &places;
        }

        /// The operand that a wgmma's descriptor describes.
        atom::SharedOperand shape(const program::Mma& mma, bool of_a, std::uint64_t descriptor) const;
    };

    const Transfer* transfer(const program::MicroOp& op);
    /// Null where no single map says it: several blocks.
    const Multiply* multiply(const program::Mma& mma);
    /// The bit of each element, row-major, from base(descriptor); null if the descriptor describes nothing.
    const std::vector<std::int32_t>* shared_places(DescriptorKind kind, std::uint64_t descriptor,
                                                   const atom::SharedOperand& shape);
    /// The same in runs; empty if the descriptor describes nothing, or if two of the elements are the same bits.
    const std::vector<ElementRun>& shared_runs(DescriptorKind kind, std::uint64_t descriptor,
                                               const atom::SharedOperand& shape);
    /// Whether two of its elements are the same bits.
    bool overlaps(DescriptorKind kind, std::uint64_t descriptor, const atom::SharedOperand& shape);
    static std::uint32_t base(std::uint64_t descriptor);

  private:
    std::map<const program::MicroOp*, std::optional<Transfer>> transfers_;
    std::unordered_map<const program::Mma*, const Multiply*> multiplies_;
    std::list<std::pair<program::Mma, std::optional<Multiply>>> made_;  ///< like instructions share one
    struct Places {
        DescriptorKind kind{};
        std::uint64_t key = 0;
        atom::SharedOperand shape;
        std::optional<std::vector<std::int32_t>> bits;
        std::vector<ElementRun> runs;
        bool overlap = false;
    };
    std::list<Places> places_;
};

}  // namespace tilepath::check
