#include "program/op.h"

#include <iterator>

namespace tilepath::program {
namespace {

constexpr int V = -1;

constexpr std::string_view printed(std::string_view enumerator) {
    // and_, or_, … carry an underscore only because C++ reserves the word.
    return enumerator.ends_with('_') ? enumerator.substr(0, enumerator.size() - 1) : enumerator;
}

constexpr OpTraits table[] = {
#define TILEPATH_OP(name, destinations, sources, scope, memory, flow) \
    {printed(#name), destinations, sources, Scope::scope, MemoryEffect::memory, DataFlow::flow},
#include "program/ops.inc"
#undef TILEPATH_OP
};

}  // namespace

const OpTraits& traits(Op op) { return table[static_cast<int>(op)]; }
int op_count() { return static_cast<int>(std::size(table)); }

}  // namespace tilepath::program
