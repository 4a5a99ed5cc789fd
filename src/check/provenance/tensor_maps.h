#pragma once
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "atom/tcgen05_mma.h"
#include "check/provenance/tensor_shadow.h"
#include "program/function.h"

namespace tilepath::check {

/// Where in Tensor Memory a bit lies, relative to the operand's address.
struct TensorPlace {
    std::uint32_t part = 0;  ///< CTA of the pair
    std::uint32_t lane = 0, column = 0, bit = 0;
    std::uint32_t windows = 0;  ///< of a scale factor: mask of the warps' windows, in each of which it has to lie
};

/// What atom/ says of tcgen05's operations, prepared once for each.
class TensorMaps {
  public:
    struct Multiply {
        atom::Tcgen05Mma atom;
        bool transpose_a = false, transpose_b = false;
        std::shared_ptr<TensorTileMap> d;
        std::vector<TensorPlace> a;                 ///< in Tensor Memory, row-major in (m, stored k)
        std::vector<TensorPlace> scale_a, scale_b;  ///< the first of each factor's places, by (row, factor)
        int factors = 0;
        int bits_a = 16, bits_b = 16;             ///< of an element in shared memory
        bool padded_a = false, padded_b = false;  ///< 16 elements to every 16 bytes
        int a_bits = 16;                          ///< of an element of A in Tensor Memory

        /// What a descriptor describes in each CTA. `transposed`: were the operand of the other major-ness.
        std::optional<atom::SharedOperand> shared(bool of_a, std::uint64_t descriptor, bool transposed, int ctas) const;
    };
    /// Null for what is not followed: sparse products, descriptors that are wrong.
    const Multiply* multiply(const program::Tcgen05Mma& what, std::uint32_t instruction);

    /// tcgen05.ld and st: (lane, column) of each byte of each register, relative to the address; column −1: none.
    struct Transfer {
        struct Source {
            std::int16_t lane = 0, column = -1;
            std::uint8_t byte = 0;
        };
        std::vector<Source> sources;  ///< by (register, lane, byte)
        int registers = 0;
        bool whole_words = false;  ///< each word of a register is one cell
        const Source& at(int reg, int lane, int byte) const {
            return sources[static_cast<std::size_t>((reg * 32 + lane) * 4 + byte)];
        }
    };
    const Transfer* transfer(const program::TmemTransfer& what, bool store);

    /// tcgen05.cp of plain bytes: from where in shared memory (relative to the start less its phase) each byte comes,
    /// and to which cells it goes.
    struct Copy {
        struct Byte {
            std::uint32_t from = 0;
            std::uint16_t column = 0;
            std::uint8_t byte = 0;
            std::vector<std::uint8_t> lanes;
        };
        std::vector<Byte> bytes;
    };
    const Copy* copy(const program::TmemCopy& what, std::uint64_t descriptor);
    static std::uint32_t base(std::uint64_t descriptor);

  private:
    struct KnownMultiply {
        program::Tcgen05Mma what;
        std::uint32_t instruction = 0;
        std::optional<Multiply> map;
    };
    struct KnownTransfer {
        program::TmemTransfer what;
        bool store = false;
        std::optional<Transfer> map;
    };
    struct KnownCopy {
        program::TmemCopy what;
        std::uint64_t key = 0;
        std::optional<Copy> map;
    };
    struct KnownTile {
        atom::DataPath path{};
        int m = 0, n = 0, cta_group = 1, element_bytes = 4;
        std::shared_ptr<TensorTileMap> map;
    };
    /// One map for all products of a shape: what tells whether two of them add to the same accumulator.
    std::shared_ptr<TensorTileMap> tile_of(const atom::Tcgen05Mma& mma);

    std::list<KnownMultiply> multiplies_;
    std::list<KnownTile> tiles_;
    std::list<KnownTransfer> transfers_;
    std::list<KnownCopy> copies_;
};

}  // namespace tilepath::check
