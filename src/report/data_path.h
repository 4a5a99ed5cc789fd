// report/: what a run did, told to people and machines.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "machine/events.h"
#include "program/function.h"

namespace tilepath::report {

/// Counts what moved which way: a consumer of the machine's events.
class DataPathCounter : public machine::Observer {
  public:
    explicit DataPathCounter(const program::Program& program) : program_(program) {}

    void access(const machine::Access& event) override;
    void copy_issued(const machine::Copy& event) override;
    void bulk_issued(const machine::BulkCopy& event) override;
    void multiply(const machine::Multiply& event) override;
    void tensor_issued(const machine::TensorOperation& event) override;

    /// One instruction form, as the PTX writes it, on one path.
    struct Row {
        std::string path;         ///< "global → shared"
        std::string instruction;  ///< "cp.async.cg.shared.global"
        std::uint64_t times = 0;  ///< executions by a warp
        std::uint64_t bytes = 0;  ///< useful bytes: those that lanes asked for
        std::uint64_t flop = 0;   ///< two for each multiply-add
    };
    /// In the order of the data's way.
    std::vector<Row> rows() const;

    std::uint64_t global_bytes() const { return global_read_ + global_written_; }
    std::uint64_t global_read() const { return global_read_; }
    std::uint64_t global_written() const { return global_written_; }
    std::uint64_t shared_read() const { return shared_read_; }
    std::uint64_t shared_written() const { return shared_written_; }
    std::uint64_t flop() const { return flop_; }

  private:
    void tensor_multiply(const machine::TensorOperation& event);
    Row& row(int order, const char* path, const machine::EventSite& site);

    const program::Program& program_;
    struct Key {
        int order;
        std::string instruction;
        auto operator<=>(const Key&) const = default;
    };
    std::map<Key, Row> rows_;
    std::map<std::pair<const program::MicroOp*, int>, Row*> by_op_;
    const program::MicroOp* last_copy_ = nullptr;
    std::uint32_t last_copy_warp_ = ~0u, last_copy_cta_ = ~0u, last_copy_lane_ = 0;
    std::uint64_t global_read_ = 0, global_written_ = 0, shared_read_ = 0, shared_written_ = 0, flop_ = 0;
};

/// `ldmatrix.sync.aligned.m8n8.x4.shared.b16`: the instruction's head in the PTX, without guard and operands.
std::string instruction_head(const program::Program& program, const program::Function& function,
                             const program::MicroOp& op);

/// The rows as a table, then bytes and FLOP by memory and the FLOP per byte.
std::string to_string(const DataPathCounter& counter);

/// `12.5 KiB`.
std::string bytes_text(std::uint64_t bytes);

}  // namespace tilepath::report
