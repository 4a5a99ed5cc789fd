// program/: a kernel as micro-operations over virtual registers, in basic blocks; liveness, register slots, verifier, printer.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "number/format.h"

namespace tilepath::program {

enum class TypeKind : std::uint8_t { predicate, bits, unsigned_, signed_, floating };

enum class DataType : std::uint8_t {
    none,
#define TILEPATH_TYPE(identifier, kind, bits, elements) identifier,
#include "program/types.inc"
#undef TILEPATH_TYPE
};

struct TypeTraits {
    std::string_view name;
    TypeKind kind;
    int bits;
    int elements;
};

const TypeTraits& traits(DataType type);
std::optional<DataType> type_named(std::string_view name);

inline int bits(DataType type) { return traits(type).bits; }
/// Bytes in memory; sub-byte types take one.
inline int bytes(DataType type) { return (traits(type).bits + 7) / 8; }
/// The width that a register of this type has in the frame: predicates are masks, nothing else is narrower than 32 bits.
inline int register_bits(DataType type) { return type == DataType::pred ? 1 : bits(type) <= 32 ? 32 : bits(type); }
inline bool is_float(DataType type) { return traits(type).kind == TypeKind::floating; }
inline bool is_signed(DataType type) { return traits(type).kind == TypeKind::signed_; }

/// The format of one element of a floating or integer type; nothing for bit types and predicates.
std::optional<number::Format> format_of(DataType type);

/// Where an address points.
enum class Space : std::uint8_t { generic, global, shared, shared_cluster, local, param, constant };
std::string_view name(Space space);

}  // namespace tilepath::program
