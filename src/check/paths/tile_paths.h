#pragma once
#include <list>
#include <map>
#include <set>
#include <vector>

#include "check/paths/writers.h"
#include "check/provenance/matrix_maps.h"
#include "check/provenance/provenance.h"

namespace tilepath::check {

/// Follows the ways of tiles beside the provenance of their elements; of each matrix instruction keeps one execution,
/// the first that is wrong, else the first.
class TilePaths : public machine::Observer, public ProductListener {
  public:
    explicit TilePaths(Provenance& provenance) : provenance_(provenance) { provenance.listen(*this); }

    void access(const machine::Access& event) override;
    void executed(const machine::Executed& event) override;
    void copy_landed(const machine::Copy& event) override;
    void bulk_landed(const machine::BulkCopy& event) override;
    void tensor_issued(const machine::TensorOperation& event) override;
    void tensor_landed(const machine::TensorOperation& event) override;
    void cta_ends(const machine::CtaEvent& event) override { writers_.leave({event.cluster, event.rank}); }
    bool wants_operations() const override { return true; }
    void multiplied(const machine::Multiply& event, const OperandCells& a, const OperandCells& b,
                    const CheckedProduct& checked) override;
    void multiplied(const machine::TensorOperation& event, const TensorMaps::Multiply& map, const OperandCells& a,
                    const OperandCells& b, const CheckedProduct& checked) override;

    /// Of like instructions one; the wrong ones first, then in the order of their first execution.
    std::vector<TilePath> paths(const program::Programs& programs) const;

  private:
    using Cta = MemoryShadow::Cta;
    /// Where an element of an operand was read: in shared memory of a CTA, or not there.
    struct Read {
        static constexpr std::int64_t elsewhere = -1;
        std::int64_t address = elsewhere;
        Cta cta;
    };
    struct Operand {
        OperandPath path;
        Ways::Id way = 0;
    };
    struct Known {
        machine::EventSite site;  ///< only its function and operation
        std::uint64_t order = 0, proven = 0, disproven = 0, unknown = 0;
        bool wrong = false;
        bool empty = false;  ///< an operand without an element: all of it lies outside
        std::string name;
        Operand a, b;
    };

    Known* to_fill(const machine::EventSite& site, const OperandCells& a, const OperandCells& b,
                   const CheckedProduct& checked);
    Operand operand_of(const char* name, const OperandCells& cells, const CheckedProduct& checked, bool of_a,
                       int element_bits, const std::vector<Read>& reads) const;
    void draw_shared(OperandPath& path, const std::vector<Piece>& expected, const std::vector<Piece>& pieces,
                     int element_bits, const std::vector<Read>& reads) const;
    std::vector<Read> reads_of_fragment(const machine::Multiply& event, const MatrixMaps::Multiply& map, bool of_a,
                                        Ways::Id& way);
    std::vector<Read> reads_of_descriptor(Cta cta, DescriptorKind kind, std::uint64_t descriptor,
                                          const atom::SharedOperand& shape, int first_row, int rows);
    void load(const WarpRegisters& r, const machine::Executed& event);
    void store(const WarpRegisters& r, const machine::Executed& event);
    void compute(const WarpRegisters& r, const machine::Executed& event);
    Ways::Id way_of_sources(const WarpRegisters& r, const machine::Registers& registers, int first);
    void write_shared(Cta cta, std::uint32_t begin, std::uint32_t bytes, Ways::Id way);
    void wrote_global(machine::Address address, Ways::Id way);
    PathStep step_of(const program::Programs& programs, const Ways::Way& way) const;

    Provenance& provenance_;
    Writers writers_;
    mutable MatrixMaps maps_;
    std::vector<ShadowRow> no_origins_;
    LaneAddresses lanes_;
    struct {
        const program::MicroOp* op = nullptr;
        std::uint32_t cta = 0, warp = 0;
    } last_access_;
    std::map<const program::MicroOp*, Known> known_;
    std::set<Ways::Id> results_;  ///< ways on which elements of D were written
};

}  // namespace tilepath::check
