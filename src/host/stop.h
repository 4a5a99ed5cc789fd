#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "exec/stop.h"
#include "host/job.h"

namespace tilepath::host {

/// Where a run is to stop, and what to show there.
struct StopRequest {
    std::string at;  ///< LINE of the PTX, or FILE:LINE of it or of the source that it was compiled from
    std::vector<std::string>
        show;  ///< %r1, %r1:f32, shared:0x400+64, global:ADDRESS+BYTES, BUFFER[OFFSET]+BYTES:f16, local:0+16
    std::optional<std::uint32_t> warp;  ///< of a CTA; otherwise the first that comes
    std::vector<std::uint32_t> cta;     ///< its coordinates, x first; empty: any
    std::uint64_t count = 1;            ///< the hit that counts
};

/// A thing to show: a register, or bytes of memory.
struct ShowItem {
    std::string text;                     ///< as it was asked for
    std::string name;                     ///< a register, or a buffer, or empty
    std::optional<program::Space> space;  ///< of memory; nothing: a register
    std::uint64_t address = 0, bytes = 0;
    std::string address_register;  ///< the address is in it, in the first lane
    std::optional<DType> type;
};
Result<ShowItem> parse_show_item(const std::string& text);

/// What the warp looked like, and how to run until then.
class Stop : public exec::Breakpoint {
  public:
    /// Changes the job so that registers keep what was written last. Unknown registers, buffers and lines are errors.
    static Result<std::unique_ptr<Stop>> create(Job& job, const StopRequest& request);

    bool reached(const exec::StoppedWarp& warp) override;
    bool has_stopped() const { return !text_.empty(); }
    const std::string& text() const { return text_; }
    /// Why it never came to that: for a run that ended.
    std::unexpected<Diagnostics> not_reached() const;

  private:
    Stop(const Job& job, StopRequest request, std::vector<ShowItem> items)
        : job_(job), request_(std::move(request)), items_(std::move(items)) {}
    Result<void> find_operations();
    Result<void> check_items() const;

    const Job& job_;
    StopRequest request_;
    std::vector<ShowItem> items_;
    std::vector<const program::Function*> functions_;  ///< in which the line lies
    std::uint64_t hits_ = 0, others_ = 0;              ///< by the warps that count, and by others
    std::string text_;
};

}  // namespace tilepath::host
