#include "exec/survey.h"

#include <algorithm>

// Compiled for several vector units and chosen when the program starts. Sanitizers do not work in the choosers.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define TILEPATH_VECTOR_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define TILEPATH_VECTOR_CLONES
#endif

namespace tilepath::exec {
namespace {
constexpr int lanes = 32;
}

TILEPATH_VECTOR_CLONES
Survey survey(const std::uint64_t* addresses, std::uint64_t stride) {
    // Device and window addresses lie below 2^63; what lies above is out of bounds in every space, and its bits say so.
    std::int64_t least = static_cast<std::int64_t>(addresses[0]), greatest = least;
    std::uint64_t bits = 0, wrong = 0;
    for (int i = 0; i < lanes; ++i) {
        const auto address = static_cast<std::int64_t>(addresses[i]);
        least = address < least ? address : least;
        greatest = address > greatest ? address : greatest;
        bits |= addresses[i];
        wrong |= addresses[i] ^ (addresses[0] + static_cast<std::uint64_t>(i) * stride);
    }
    return {static_cast<std::uint64_t>(least), static_cast<std::uint64_t>(greatest), bits, wrong == 0};
}

TILEPATH_VECTOR_CLONES
bool are_consecutive(const std::uint64_t* addresses, std::uint64_t stride) {
    std::uint64_t wrong = 0;
    for (int i = 0; i < lanes; ++i) wrong |= addresses[i] ^ (addresses[0] + static_cast<std::uint64_t>(i) * stride);
    return wrong == 0;
}

TILEPATH_VECTOR_CLONES
bool are_consecutive(const std::uint32_t* addresses, std::uint32_t stride) {
    std::uint32_t wrong = 0;
    for (int i = 0; i < lanes; ++i) wrong |= addresses[i] ^ (addresses[0] + static_cast<std::uint32_t>(i) * stride);
    return wrong == 0;
}

TILEPATH_VECTOR_CLONES
void add_offset(const std::uint64_t* base, std::int64_t offset, std::uint64_t* out) {
    for (int i = 0; i < lanes; ++i) out[i] = base[i] + static_cast<std::uint64_t>(offset);
}

TILEPATH_VECTOR_CLONES
void add_offset(const std::uint32_t* base, std::int64_t offset, std::uint64_t* out) {
    for (int i = 0; i < lanes; ++i) out[i] = static_cast<std::uint32_t>(base[i] + static_cast<std::uint32_t>(offset));
}

}  // namespace tilepath::exec
