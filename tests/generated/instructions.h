#pragma once
// Instructions to generate programs from: every form of src/isa/, with words that its family accepts.
#include <map>
#include <string>
#include <vector>

#include "generated/choices.h"
#include "isa/instances.h"

namespace tilepath::generated {

/// How many registers of each kind a generated function has: p predicates, h 16 bits, r 32, q 64, x 128.
inline constexpr std::pair<char, unsigned> register_counts[] = {{'p', 8}, {'h', 12}, {'r', 40}, {'q', 20}, {'x', 4}};

/// Holds what sparse multiplies may have for metadata.
inline constexpr std::string_view metadata = "t0";

/// What a program can do with an instruction.
enum class Role : std::uint8_t {
    plain,   ///< computes on a lane's own registers
    warp,    ///< needs all lanes of the warp
    memory,  ///< reads or writes at one address of a lane's own
    matrix,  ///< reads or writes memory with all lanes of the warp
    none     ///< written by a pattern of its own, or left out: why stands in role_of()
};
Role role_of(const isa::Form& form);

/// Instances that bind and lower for a target, by role and opcode.
class Instructions {
  public:
    explicit Instructions(const std::string& target);
    const std::string& target() const { return target_; }
    /// An instance of the role: every opcode is as likely.
    const isa::Instance& choose(Role role, Choices& choices) const;
    std::size_t opcodes(Role role) const { return by_role_[std::size_t(role)].size(); }
    bool accepts(const std::string& line) const;

  private:
    std::string target_;
    std::vector<std::vector<isa::Instance>> by_role_[4];  ///< by opcode
};

/// The instance as a line, without its semicolon: registers chosen anew, a few sources replaced by immediates.
/// `address` stands in place of every address, or is empty.
std::string line_of(const isa::Instance& instance, const Instructions& all, Choices& choices,
                    const std::string& address = {});

/// The first `count` operands as the form writes them, registers chosen anew. Vectors of more registers than there are
/// of a kind stay as they are.
std::vector<std::string> operands_of(const isa::Instance& instance, std::size_t count, Choices& choices);

/// Bytes that a load, store or atomic moves at each lane's address.
unsigned access_bytes(const isa::Instance& instance);
/// The word that a modifier of the instance took; empty: none.
std::string_view word_of(const isa::Instance& instance, std::string_view modifier);
bool has_word(const isa::Instance& instance, std::string_view word);

}  // namespace tilepath::generated
