#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/contents.h"
#include "host/job.h"

namespace tilepath::host {

/// One parameter of a launch, as a launch file gives it.
struct Argument {
    enum class Kind : std::uint8_t { buffer, value, bytes, fields, tensormap };
    struct Field;
    Kind kind = Kind::value;
    std::string buffer;            ///< buffer, tensormap: its name
    std::int64_t addend = 0;       ///< buffer: bytes added to its address
    std::optional<std::int64_t> integer;
    std::optional<double> number;
    std::string text;              ///< value: "0x…"; bytes: hexadecimal
    std::uint32_t size = 0;        ///< fields: bytes of the struct
    std::vector<Field> fields;
    Place place;
};
struct Argument::Field {
    std::uint32_t at = 0;
    std::string type;  ///< of a value: a PTX type
    Argument argument;
};

struct LaunchTable {
    std::string entry;  ///< empty: the module's only one
    std::optional<Place> entry_place;
    exec::LaunchShape shape;
    std::vector<Argument> arguments;
    Place place;
};

struct BufferTable {
    Buffer buffer;  ///< name, dtype, shape, positions, size; bytes and expected not yet filled
    bool has_shape = false, has_dtype = false;
    std::uint64_t extent = 1;  ///< elements that it spans, those between them included
    Contents init;
    std::optional<Contents> expect;
    Place place;
};

/// `[tensormap.NAME]`: the arguments of cuTensorMapEncodeTiled or cuTensorMapEncodeIm2col.
struct TensorMapTable {
    std::string name, buffer;
    std::int64_t offset = 0;  ///< bytes from the buffer's begin to the tensor's
    machine::TensorMap map;
    Place place;
};

/// A launch file as it stands, its paths relative to the file's folder.
struct LaunchFile {
    std::string folder;
    std::string module;
    std::vector<std::string> nvcc_flags;  ///< for a module in CUDA C++
    std::string arch;                     ///< empty: the module's .target
    std::optional<Place> module_place, arch_place;
    std::vector<LaunchTable> launches;
    std::vector<BufferTable> buffers, symbols;
    std::vector<TensorMapTable> tensor_maps;
    std::optional<GemmTable> gemm;
};

/// What this machine has, of which its buffers take: device memory is the process' memory.
std::uint64_t physical_memory_bytes();

/// Reads the TOML; every fault in it is reported. Buffers that together take more than `most_bytes` are one.
Result<LaunchFile> read_launch_file(const std::string& path);
Result<LaunchFile> read_launch_text(const std::string& path, const std::string& text,
                                    std::uint64_t most_bytes = physical_memory_bytes());

/// Reads the module, lowers the entries, packs parameters and fills buffers. `arch` overrides the file's.
Result<Job> prepare(const LaunchFile& file, const std::string& arch = {});

/// A launch file to fill in for an entry of a PTX module: its parameters by name and type, and a buffer for each pointer.
Result<std::string> launch_file_template(const std::string& module_path, const std::string& entry);

}  // namespace tilepath::host
