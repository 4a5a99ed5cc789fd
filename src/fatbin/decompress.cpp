#include <fmt/format.h>
#include <lz4.h>
#include <zstd.h>

#include <limits>

#include "fatbin/parts.h"

namespace tilepath::fatbin {

Result<std::string> decompress(Compression how, Bytes bytes, std::uint64_t size, const Reading& reading) {
    const std::string_view method = how == Compression::lz4 ? "LZ4" : "zstd";
    // Neither gives more than this of a byte: LZ4 by its format, zstd by far of what nvcc writes. It keeps a few
    // hostile bytes from asking for all of the memory.
    const std::uint64_t most = bytes.size() * (how == Compression::lz4 ? std::uint64_t{255} : std::uint64_t{65536});
    if (size > most || size > static_cast<std::uint64_t>(std::numeric_limits<int>::max()))
        return fail(fmt::format("{}: {} bytes compressed with {} claim to be {} bytes, more than can be", reading.name,
                                bytes.size(), method, size),
                    "the file is damaged: build it again");
    if (!reading.take(size)) return too_much(reading);
    std::string out(static_cast<std::size_t>(size), '\0');
    std::uint64_t given = 0;
    bool good = false;
    if (how == Compression::lz4) {
        const int status = LZ4_decompress_safe(reinterpret_cast<const char*>(bytes.data()), out.data(),
                                               static_cast<int>(bytes.size()), static_cast<int>(size));
        good = status >= 0, given = good ? static_cast<std::uint64_t>(status) : 0;
    } else {
        const std::size_t status = ZSTD_decompress(out.data(), out.size(), bytes.data(), bytes.size());
        good = !ZSTD_isError(status), given = good ? status : 0;
    }
    if (!good || given != size)
        return fail(
            fmt::format("{}: an entry compressed with {} is damaged: {}", reading.name, method,
                        good ? fmt::format("it gives {} bytes, not {}", given, size) : "it cannot be decompressed"),
            "build the file again, or compile with nvcc --no-compress");
    return out;
}

}  // namespace tilepath::fatbin
