#pragma once
// What fills the registers of recorded kernels: a function of the case's name, row, thread and the kind of value.
#include <cstdint>
#include <string>

namespace tilepath::recorded {

struct Value {
    std::uint64_t low = 0, high = 0;
};

/// Values of one thread, in the order of the case's inputs. Kinds:
///
///     u8 s8 b8 … b128        integers: raw bits, small, near powers of two and extremes, near the value before
///     f16 bf16 f32 f64 e4m3 e5m2 tf32   raw bits, special values, ends of the exponents, short fractions, moderate
///                            values, and the value before with another sign or one step off
///     pred                   0 or 1
///     TYPExN                 N elements in one register, the first lowest
///     TYPE/dot               operands of a sum, by row mod 8: moderate; any finite; wide exponents; moderate with a
///     few
///                            special values; subnormal and tiny; small integers; four magnitudes that cancel; raw bits
///     TYPE/small             integers from -3 to 3, as a float
///     TYPE/ordered           finite and not zero
///     all                    the number of the thread among all rows
///     lane                   the thread
///     const:HEX below:N choose:HEX,HEX…   the same for all; at random less than N; one of the list
///     row:HEX,HEX…           one of the list, the same for a whole row
///     pairs24 one12          metadata of mma.sp: any two of four, one of two
class Generator {
  public:
    Generator(const std::string& seed, std::uint32_t row, std::uint32_t thread);
    Value next(const std::string& kind);
    /// 128 bits of elements.
    Value vector(const std::string& kind);

  private:
    std::uint64_t bits();
    std::uint64_t below(std::uint64_t n) { return (bits() >> 32) * n >> 32; }
    std::uint64_t integer(int width);
    std::uint64_t element(const std::string& type, const std::string& style);
    Value elements(const std::string& type, const std::string& style, int count);

    std::uint32_t row_, thread_;
    std::uint64_t seed_, state_, before_ = 0;
};

/// Bits of one element of a type: `bf16`, `u8`; 0 if there is no such type.
int bits_of_type(const std::string& type);

}  // namespace tilepath::recorded
