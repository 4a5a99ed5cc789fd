#pragma once
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "atom/fragment.h"
#include "check/provenance/origin.h"
#include "machine/events.h"

namespace tilepath::check {

/// The sums in a warp's accumulators, held once for all their registers: they change with every matrix multiply.
struct Sums {
    std::vector<std::uint32_t> m, n;  ///< of D's rows and columns in the instruction
    std::uint32_t ks = 0;
    const atom::HeldElements* held = nullptr;
    int columns = 0, element_bytes = 4, first_lane = 0;

    Word word(int reg, int lane) const;
};

/// The origins of one 32-bit register of all lanes.
class ShadowRow {
  public:
    bool held() const { return bytes_ != nullptr || sums_ != nullptr; }
    Word word(int lane) const;
    void set(int lane, const Word& word);
    void set_sums(std::shared_ptr<Sums> sums, int reg) {
        bytes_.reset(), sums_ = std::move(sums), reg_ = reg;
        ++changes_;
    }
    const std::shared_ptr<Sums>& sums() const { return sums_; }
    int sums_register() const { return reg_; }
    void forget() { bytes_.reset(), sums_.reset(), ++changes_; }
    /// How often it has changed: what was read of it stays true until then.
    std::uint64_t changes() const { return changes_; }

  private:
    std::unique_ptr<std::array<Word, 32>> bytes_;
    std::shared_ptr<Sums> sums_;
    int reg_ = 0;
    std::uint64_t changes_ = 0;
};

/// The registers of all warps that run, by call.
class RegisterShadow {
  public:
    std::vector<ShadowRow>& rows(const machine::Registers& registers);

  private:
    struct Frame {
        std::uint64_t number = 0;
        std::vector<ShadowRow> rows;
    };
    std::unordered_map<const void*, Frame> frames_;  ///< memory of frames is used again
    const void* last_ = nullptr;
    Frame* last_frame_ = nullptr;
};

/// Shared and global memory. Global memory that nobody has written comes from itself.
class MemoryShadow {
  public:
    struct Cta {
        std::uint64_t cluster = 0;
        std::uint32_t rank = 0;
        auto operator<=>(const Cta&) const = default;
    };

    void read_shared(Cta cta, std::uint32_t offset, std::uint32_t bytes, Origin* out) const;
    void write_shared(Cta cta, std::uint32_t offset, std::uint32_t bytes, const Origin* from);
    void read_global(machine::Address address, std::uint32_t bytes, Origin* out) const;
    void write_global(machine::Address address, std::uint32_t bytes, const Origin* from);
    /// All of a CTA's shared memory that was ever written.
    const std::vector<Origin>& shared(Cta cta) const;
    /// Changes when that CTA's shared memory does.
    std::uint64_t version(Cta cta) const;
    void leave(Cta cta) { shared_.erase(cta); }

  private:
    struct Shared {
        std::vector<Origin> bytes;
        std::uint64_t version = 0;
    };
    static constexpr std::uint64_t page_bytes = 4096;
    using Page = std::array<Origin, page_bytes>;
    std::map<Cta, Shared> shared_;
    std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
};

}  // namespace tilepath::check
