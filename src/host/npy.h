#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/dtype.h"

namespace tilepath::host {

/// An array as numpy writes it, row-major.
struct NpyArray {
    char kind = 'f';  ///< numpy's: f, i, u, b (bool), V (raw bytes, as ml_dtypes writes bf16 and fp8)
    int bytes = 4;    ///< of an element
    std::vector<std::int64_t> shape;
    std::vector<std::uint8_t> data;  ///< row-major, little-endian
};

Result<NpyArray> read_npy(const std::string& path);
/// The same of a file's bytes; `path` is what errors call it.
Result<NpyArray> read_npy_bytes(const std::string& path, std::span<const std::uint8_t> bytes);
/// Types that numpy lacks are written as unsigned integers or raw bytes of their size.
Result<void> write_npy(const std::string& path, const DType& dtype, const std::vector<std::int64_t>& shape,
                       const std::vector<std::uint8_t>& data);

/// A whole file.
Result<std::vector<std::uint8_t>> read_bytes(const std::string& path);
Result<void> write_bytes(const std::string& path, const std::vector<std::uint8_t>& data);

}  // namespace tilepath::host
