#pragma once
#include <functional>
#include <memory>
#include <optional>

#include "atom/shared_operand.h"
#include "check/finding.h"
#include "check/per_instruction.h"
#include "check/provenance/matrix_maps.h"
#include "check/provenance/moves.h"
#include "check/provenance/operand_check.h"
#include "check/provenance/product_listener.h"
#include "check/provenance/shadow.h"
#include "check/provenance/tensor_maps.h"
#include "check/provenance/tensor_shadow.h"
#include "check/provenance/tile_reads.h"
#include "layout/swizzle.h"

namespace tilepath::check {

/// Every element lies where the instruction reads it. Each byte of shared memory and of registers knows which element
/// of which buffer it came from; each matrix instruction's operands are compared with what the product needs, and D at
/// the end.
class Provenance : public Check {
  public:
    Provenance();
    ~Provenance() override;

    /// What the kernel is to compute; without it only what nobody has written is told.
    void set_product(Product product) {
        product_ = std::move(product);
        for (ProductMatrix& matrix : product_->matrices) matrix.find_rows();
    }
    const Product* product() const { return product_ ? &*product_ : nullptr; }
    void listen(ProductListener& listener) { listener_ = &listener; }
    const MemoryShadow& memory() const { return memory_; }
    /// What element these bytes of an origin are.
    OperandCell cell(const Origin* bytes, int width, int nibble) const;

    void access(const machine::Access& event) override;
    void executed(const machine::Executed& event) override;
    void multiply(const machine::Multiply& event) override;
    void launch_begins(const program::Function&) override { footprints_.clear(); }
    void copy_landed(const machine::Copy& event) override;
    void bulk_landed(const machine::BulkCopy& event) override;
    void tensor_issued(const machine::TensorOperation& event) override;
    void tensor_landed(const machine::TensorOperation& event) override;
    void tensor_allocation(const machine::TensorAllocation& event) override {
        if (event.allocated) tensor_.allocated({event.site.cluster, event.site.rank}, event.column, event.columns);
    }
    void cta_ends(const machine::CtaEvent& event) override {
        memory_.leave({event.cluster, event.rank});
        tensor_.leave({event.cluster, event.rank});
        memory_.leave_local(event.cta);
    }
    bool wants_operations() const override { return true; }
    std::vector<Finding> findings(const program::Programs& programs) override;

    /// Of shadow memory, at most so far.
    std::size_t shadow_bytes() const { return memory_.shared_bytes() + memory_.global_bytes() + tensor_.bytes(); }

    /// Matrix instructions whose operands were proven right, wrong, and neither.
    struct Counts {
        std::uint64_t proven = 0, disproven = 0, unknown = 0;
    };
    const Counts& counts() const { return counts_; }
    /// Elements of D, counted by findings(): proven, wrong, and of unknown origin.
    const Counts& results() const { return results_; }
    /// The same for each part of D, at most 32 by 32 parts.
    struct ResultMap {
        std::uint32_t rows = 0, columns = 0;            ///< parts
        std::uint32_t part_rows = 1, part_columns = 1;  ///< elements
        std::vector<Counts> parts;                      ///< row-major
    };
    const ResultMap& result_map() const { return result_map_; }

    /// How tensor cores and TMA stores read shared memory.
    const TileReads& tile_reads() const { return tile_reads_; }

  private:
    struct Tally : InstructionTally {
        Severity severity = Severity::finding;
        bool of_result = false;  ///< about D, not about an operand
        std::string message, advice;
        std::vector<std::string> facts;
    };
    /// How a piece of shared memory was written by TMA: to be compared with how a descriptor reads it.
    struct Box {
        MemoryShadow::Cta cta;
        std::uint32_t begin = 0, end = 0;
        layout::SwizzleMode swizzle{};
        std::uint32_t row_bytes = 0, element_bytes = 1;
        machine::Address tensor = 0;  ///< where the tensor begins
        Origin first;                 ///< of what it has written: to see whether it is still there
        machine::EventSite site;
    };
    /// An operand in shared memory as an instruction reads it, for those who explain it.
    struct SharedView {
        const char* name = "";  ///< A, B
        DescriptorKind kind{};
        MemoryShadow::Cta cta;
        std::uint64_t descriptor = 0;
        atom::SharedOperand shape;
        const OperandCells& cells;
        const std::vector<std::uint32_t>& rows;  ///< what they should be
        const std::vector<std::uint32_t>& each_k;
        int first_row = 0;  ///< of the cells in what the descriptor describes
    };

    /// How an operand in shared memory is read. `box`, `swizzle`: as if TMA had written that box with this swizzle.
    struct Reading {
        std::uint64_t descriptor = 0;
        bool transposed = false;
        const Box* box = nullptr;
        layout::SwizzleMode swizzle{};
    };

    void load(const WarpRegisters& registers, const machine::EventSite& site);
    void store(const WarpRegisters& registers, const machine::EventSite& site);
    void reduce(const WarpRegisters& registers, const machine::EventSite& site);
    void load_matrix(const WarpRegisters& registers, const machine::EventSite& site);
    void store_matrix(const WarpRegisters& registers, const machine::EventSite& site);
    void move_matrix(const WarpRegisters& registers);
    void read(const machine::EventSite& site, program::Space space, machine::Address address, std::uint32_t bytes,
              Origin* out, int lane = -1);
    /// The same of words, at multiples of four bytes.
    void read_words(const machine::EventSite& site, program::Space space, machine::Address address, std::uint32_t words,
                    Words& to, std::size_t at);
    void write(const machine::EventSite& site, program::Space space, machine::Address address, std::uint32_t bytes,
               const Origin* from, int lane = -1);
    void tell_unwritten(const machine::EventSite& site, program::Space space, machine::Address address);
    void write_words(const machine::EventSite& site, program::Space space, machine::Address address,
                     std::uint32_t words, const Words& from);
    void load_tile(const WarpRegisters& registers, const machine::EventSite& site);
    void store_tile(const WarpRegisters& registers, const machine::EventSite& site);
    void check_written(const machine::EventSite& site, machine::Address address, std::uint32_t bytes,
                       const Origin* from);
    void add_into(machine::Address address, std::uint32_t bytes, const Origin* from);
    void box_landed(const machine::BulkCopy& event);
    const LaneAddresses* addresses(const machine::EventSite& site) const;

    OperandCells fragment_cells(const WarpRegisters& registers, const std::vector<atom::ElementPlace>& places, int rows,
                                int columns, bool by_columns, int bits, int first_operand, int warp) const;
    struct KnownFragment;
    /// An operand of mma, or what it was when these registers were last looked at: it serves several of them.
    KnownFragment& fragment_of_mma(const WarpRegisters& registers, const MatrixMaps::Multiply& map,
                                   const program::Mma& mma, bool of_b);
    const RegularOperand& regular_operand(MemoryShadow::Cta cta, DescriptorKind kind, bool of_b,
                                          std::uint64_t descriptor, const atom::SharedOperand& shape);
    std::shared_ptr<Sums> sums_before(const WarpRegisters& registers, const machine::Multiply& event,
                                      const MatrixMaps::Multiply& map, bool& replaces) const;
    bool multiply_regular(const machine::Multiply& event, const RegularRows& a, const RegularRows& b, int first_row);
    void add_product(const machine::Multiply& event, const WarpRegisters& registers, const CheckedProduct& checked,
                     const std::shared_ptr<Sums>& before, bool replaces, int first_row);
    OperandCells shared_cells(MemoryShadow::Cta cta, DescriptorKind kind, const Reading& reading,
                              const atom::SharedOperand& shape) const;
    const Box* box_at(MemoryShadow::Cta cta, std::uint32_t shared) const;
    void forget_tensor(const machine::TensorOperation& event,
                       std::optional<machine::TensorCells::Role> only = std::nullopt);
    void transfer_tensor(const machine::TensorOperation& event, bool store);
    void copy_tensor(const machine::TensorOperation& event);
    bool accumulator_lost(const std::vector<MemoryShadow::Cta>& ctas, const machine::TensorCells& d) const;
    void multiply_tensor(const machine::TensorOperation& event);
    std::optional<CheckedProduct> regular_tensor_product(const std::vector<MemoryShadow::Cta>& ctas,
                                                         const TensorMaps::Multiply& map,
                                                         const machine::TensorOperation& event,
                                                         const TensorSums* before);
    OperandCells tensor_operand(const std::vector<MemoryShadow::Cta>& ctas, const TensorMaps::Multiply& map, bool of_a,
                                const Reading& reading) const;
    OperandCells tensor_operand_a(const std::vector<MemoryShadow::Cta>& ctas, const TensorMaps::Multiply& map,
                                  const machine::TensorCells& cells) const;
    std::vector<std::string> check_factors(const std::vector<MemoryShadow::Cta>& ctas, const TensorMaps::Multiply& map,
                                           bool of_b, const machine::TensorCells& cells,
                                           const CheckedProduct& checked) const;
    std::string judge_factors(const machine::TensorOperation& event, const std::vector<MemoryShadow::Cta>& ctas,
                              const TensorMaps::Multiply& map, CheckedProduct& checked);
    static bool accumulators_lost(const WarpRegisters& registers, const program::Mma& mma,
                                  const MatrixMaps::Multiply& map);
    void multiply_checked(const machine::Multiply& event, const OperandCells& a, const OperandCells& b, int first_row);
    OperandCells spread(const WarpRegisters& registers, const MatrixMaps::Multiply& map, const program::Mma& mma,
                        const OperandCells& stored, int metadata_source, int first_row) const;
    void check_selected_factors(const WarpRegisters& registers, const MatrixMaps::Multiply& map,
                                const program::Mma& mma, CheckedProduct& checked) const;
    void count(const CheckedProduct& checked);
    KSets::Added add_ks(const machine::EventSite& site, std::uint32_t before, const CheckedProduct& checked);
    bool all_written(MemoryShadow::Cta cta, DescriptorKind kind, std::uint64_t descriptor,
                     const atom::SharedOperand& shape) const;
    void check_without_product(const machine::Multiply& event);
    void check_without_product(const machine::TensorOperation& event, const std::vector<MemoryShadow::Cta>& ctas,
                               const TensorMaps::Multiply& map);
    /// The operand of a descriptor, or of the other major-ness; nothing if it describes none.
    using ShapeOf = std::function<std::optional<atom::SharedOperand>(std::uint64_t descriptor, bool transposed)>;
    void check_tile(const machine::EventSite& site, const char* name, DescriptorKind kind, MemoryShadow::Cta cta,
                    std::uint64_t descriptor, const ShapeOf& shape_of);
    void check_mixed(const machine::EventSite& site, const char* name, DescriptorKind kind, MemoryShadow::Cta cta,
                     std::uint64_t descriptor, const atom::SharedOperand& shape, const Box& box);
    void check_pattern(const machine::EventSite& site, const char* name, DescriptorKind kind, MemoryShadow::Cta cta,
                       std::uint64_t descriptor, const ShapeOf& shape_of);
    bool reads_a_matrix(DescriptorKind kind, MemoryShadow::Cta cta, std::uint64_t descriptor,
                        const atom::SharedOperand& shape);
    void explain_shared(const machine::Multiply& event, const OperandCells& a, const OperandCells& b,
                        const CheckedProduct& checked, Tally& tally);
    void explain_operand(const SharedView& view, const std::function<bool(const Reading&)>& right, Tally& tally);
    void show_side_by_side(const SharedView& view, const Box* box, Tally& tally);
    void note_lanes(const WarpRegisters& registers, const machine::EventSite& site);
    void explain_fragment(const machine::Multiply& event, const OperandCells& a, const OperandCells& b,
                          const CheckedProduct& checked, Tally& tally);
    void note_strays(const machine::EventSite& site, const OperandCells& a, const OperandCells& b,
                     const CheckedProduct& checked);
    void tell(const machine::EventSite& site, std::string message, std::vector<std::string> facts,
              std::string advice = {});
    bool in_place(const Origin& origin, ProductMatrix::Place place) const;
    void check_result(const program::Programs& programs, bool misplaced, std::vector<Finding>& out);
    void tell_uncovered(const program::Programs& programs, const std::vector<std::uint8_t>& covered,
                        std::vector<Finding>& out) const;

    std::optional<Product> product_;
    ProductListener* listener_ = nullptr;
    KSets sets_;
    RegisterShadow registers_;
    Footprints footprints_;
    MemoryShadow memory_;
    Words lane_words_;  ///< that a lane stores
    struct {
        const program::MicroOp* op = nullptr;
        std::uint32_t cta = 0, warp = 0;
        LaneAddresses lanes;
    } last_access_;
    /// Of a wmma.load or wmma.store, which has one access for each piece of each register, in this order.
    struct Piece {
        std::uint32_t bytes = 0;
        LaneAddresses lanes;
    };
    std::vector<Piece> pieces_;
    std::unique_ptr<MatrixMaps> maps_;
    TensorMaps tensor_maps_;
    TensorShadow tensor_;
    std::vector<Box> boxes_;
    TileReads tile_reads_;
    /// B of the wgmma that was checked last: the four warps of a warpgroup share it.
    mutable struct {
        MemoryShadow::Cta cta;
        std::uint64_t descriptor = 0, version = ~std::uint64_t{0};
        const program::Mma* mma = nullptr;
        OperandCells cells;
    } shared_b_;
    struct KnownFragment {
        static constexpr int most_registers = 8;
        std::uint64_t frame = 0;
        const MatrixMaps::Multiply* map = nullptr;
        std::array<std::pair<std::uint32_t, std::uint64_t>, most_registers>
            registers{};  ///< their places, and how often they had changed
        RegularOperand regular;
        std::optional<OperandCells> cells;  ///< when they have been asked for
    };
    struct KnownOperand {
        MemoryShadow::Cta cta;
        DescriptorKind kind{};
        std::uint64_t descriptor = 0, version = ~std::uint64_t{0};
        atom::SharedOperand shape;
        RegularOperand regular;
    };
    std::array<std::array<KnownOperand, 64>, 2> operands_;    ///< A and B in shared memory
    std::array<std::array<KnownFragment, 64>, 2> fragments_;  ///< of A, of B
    PerInstruction<Tally> tallies_;
    PerInstruction<Tally> lanes_;       ///< addresses of Tensor Memory without the warp's lanes
    PerInstruction<Tally> strays_;      ///< suspects, if D is written to wrong places
    PerInstruction<Tally> multiplies_;  ///< matrix instructions that were executed
    Counts counts_, results_;
    ResultMap result_map_;
};

}  // namespace tilepath::check
