#pragma once
#include "host/launch_file.h"
#include "host/toml_table.h"

namespace tilepath::host {

/// Reads the `[buffer.NAME]` and `[symbol.NAME]` of one launch file, which share the memory of this machine.
class BufferReader {
  public:
    BufferReader(Diagnostics& diagnostics, std::uint64_t most_bytes)
        : diagnostics_(diagnostics), bytes_left_(most_bytes), most_bytes_(most_bytes) {}

    BufferTable read(const std::string& name, TomlTable& table, bool symbol);

  private:
    /// Takes bytes of what the buffers may hold together; false, with an error, when there are not as many left.
    bool take(TomlTable& table, std::uint64_t bytes);
    /// Where the elements lie, and how many bytes that takes; gives the elements that it spans.
    std::uint64_t place_elements(TomlTable& table, Buffer& buffer);
    std::uint64_t positions_from_strides(TomlTable& table, const std::vector<std::int64_t>& strides, Buffer& buffer,
                                         std::uint64_t elements);
    std::uint64_t positions_from_layout(TomlTable& table, const std::string& notation, Buffer& buffer,
                                        std::uint64_t elements);

    Diagnostics& diagnostics_;
    std::uint64_t bytes_left_, most_bytes_;
};

}  // namespace tilepath::host
