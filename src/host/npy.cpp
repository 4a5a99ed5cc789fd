#include "host/npy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <filesystem>
#include <fstream>

namespace tilepath::host {
namespace {

/// The text behind `'key':` in the header's dictionary.
std::string_view value_of(std::string_view header, std::string_view key) {
    std::size_t at = header.find(fmt::format("'{}'", key));
    if (at == std::string_view::npos) return {};
    at = header.find(':', at);
    const std::size_t begin = at == std::string_view::npos ? at : header.find_first_not_of(' ', at + 1);
    return begin == std::string_view::npos ? std::string_view{} : header.substr(begin);
}

}  // namespace

Result<std::vector<std::uint8_t>> read_bytes(const std::string& path) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) return fail(fmt::format("cannot read {}: it is a directory", path));
    std::ifstream in(path, std::ios::binary);
    if (!in) return fail(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
    return std::vector<std::uint8_t>{std::istreambuf_iterator<char>(in), {}};
}

Result<void> write_bytes(const std::string& path, const std::vector<std::uint8_t>& data) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(data.data()), static_cast<std::streamsize>(data.size()));
    out.close();
    if (!out) return fail(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
    return {};
}

Result<NpyArray> read_npy(const std::string& path) {
    auto bytes = read_bytes(path);
    if (!bytes) return std::unexpected(bytes.error());
    return read_npy_bytes(path, *bytes);
}

Result<NpyArray> read_npy_bytes(const std::string& path, std::span<const std::uint8_t> bytes) {
    auto wrong = [&](std::string_view what) { return fail(fmt::format("{} is not a .npy file that tilepath reads: {}", path, what)); };
    if (bytes.size() < 12 || std::memcmp(bytes.data(), "\x93NUMPY", 6) != 0) return wrong("it does not begin as one");
    const bool long_length = bytes[6] >= 2;
    std::uint32_t length = 0;
    std::memcpy(&length, bytes.data() + 8, long_length ? 4 : 2);
    const std::size_t begin = long_length ? 12 : 10;
    if (begin + length > bytes.size()) return wrong("its header is cut off");
    std::string_view header(reinterpret_cast<const char*>(bytes.data()) + begin, length);

    NpyArray out;
    std::string_view descr = value_of(header, "descr");
    if (descr.size() < 5 || descr[0] != '\'') return wrong("its 'descr' is no simple type");
    if (descr[1] == '>') return wrong("its elements are big-endian; save it with little-endian ones");
    out.kind = descr[2];
    out.bytes = std::atoi(std::string(descr.substr(3, descr.find('\'', 1) - 3)).c_str());
    if (out.bytes < 1 || out.bytes > 8) return wrong("its elements have no size from 1 to 8 bytes");
    if (value_of(header, "fortran_order").starts_with("True")) return wrong("it is in Fortran order; save it with order='C'");
    std::string_view shape = value_of(header, "shape");
    if (!shape.starts_with('(')) return wrong("its header has no 'shape'");
    constexpr std::uint64_t most = std::uint64_t{1} << 40;
    std::uint64_t count = 1;
    for (std::size_t at = 1; at < shape.size() && shape[at] != ')';) {
        if (!std::isdigit(static_cast<unsigned char>(shape[at]))) {
            ++at;
            continue;
        }
        std::int64_t extent = 0;
        while (at < shape.size() && std::isdigit(static_cast<unsigned char>(shape[at])) && extent < (std::int64_t{1} << 40))
            extent = extent * 10 + (shape[at++] - '0');
        if (extent != 0 && count > most / static_cast<std::uint64_t>(extent)) return wrong("its shape is larger than any file");
        out.shape.push_back(extent);
        count *= static_cast<std::uint64_t>(extent);
    }
    out.data.assign(bytes.begin() + static_cast<std::ptrdiff_t>(begin + length), bytes.end());
    if (out.data.size() != count * static_cast<std::uint64_t>(out.bytes))
        return wrong(fmt::format("its shape needs {} bytes of data, it has {}", count * static_cast<std::uint64_t>(out.bytes), out.data.size()));
    return out;
}

Result<void> write_npy(const std::string& path, const DType& dtype, const std::vector<std::int64_t>& shape,
                       const std::vector<std::uint8_t>& data) {
    using number::Format;
    const bool known = dtype.kind != DType::Kind::floating || dtype.format == Format::f64 || dtype.format == Format::f32 ||
                       dtype.format == Format::tf32 || dtype.format == Format::f16;
    char kind = !known ? 'u' : dtype.kind == DType::Kind::floating ? 'f' : dtype.kind == DType::Kind::signed_ ? 'i' : 'u';
    std::string header = fmt::format("{{'descr': '{}{}{}', 'fortran_order': False, 'shape': ({}{}), }}", dtype.bits == 8 ? '|' : '<',
                                     kind, dtype.bits / 8, fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
    header.append(63 - (10 + header.size()) % 64, ' ') += '\n';
    std::vector<std::uint8_t> out{0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, static_cast<std::uint8_t>(header.size()),
                                  static_cast<std::uint8_t>(header.size() >> 8)};
    out.insert(out.end(), header.begin(), header.end());
    out.insert(out.end(), data.begin(), data.end());
    return write_bytes(path, out);
}

}  // namespace tilepath::host
