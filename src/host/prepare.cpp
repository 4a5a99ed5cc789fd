// From a launch file to a Job: its module is read, entries lowered, parameters packed, buffers filled.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "host/launch_file.h"
#include "host/module.h"
#include "host/pack.h"
#include "isa/build.h"
#include "ptx/read.h"

namespace tilepath::host {
namespace {

class Preparer {
  public:
    explicit Preparer(const LaunchFile& file) : file_(file) {}

    Result<Job> run(const std::string& arch) {
        const std::string& asked = arch.empty() ? file_.arch : arch;
        if (!asked.empty()) find_device(asked, arch.empty() ? file_.arch_place : std::nullopt);
        if (has_error(diagnostics_) || !read_module(asked)) return std::unexpected(std::move(diagnostics_));
        job_.ptx = module_->source;
        job_.arch = asked.empty() ? std::string(module_->architecture()) : asked;
        if (asked.empty()) find_device(job_.arch, file_.module_place);
        if (!device_) return std::unexpected(std::move(diagnostics_));
        for (const BufferTable& table : file_.buffers) add_buffer(table);
        for (const TensorMapTable& table : file_.tensor_maps) add_tensor_map(table);
        for (const LaunchTable& table : file_.launches) add_launch(table);
        if (!job_.launches.empty())
            for (const BufferTable& table : file_.symbols) add_symbol(table, *job_.launches.front().program);
        if (file_.gemm) check_gemm(*file_.gemm);
        if (has_error(diagnostics_)) return std::unexpected(std::move(diagnostics_));
        job_.gemm = file_.gemm;
        return std::move(job_);
    }

  private:
    void find_device(const std::string& name, const std::optional<Place>& place) {
        if (auto device = machine::device_named(name)) device_ = *device;
        else absorb(device.error(), place);
    }

    bool read_module(const std::string& arch) {
        ModuleRequest request{resolve(file_.module), file_.module, arch, {}, file_.nvcc_flags};
        for (const LaunchTable& launch : file_.launches)
            if (!launch.entry.empty()) request.entries.push_back(launch.entry);
        auto text = read_module_text(request);
        if (!text) return absorb(text.error(), file_.module_place);
        auto module = ptx::read(std::move(text->ptx));
        if (!module) return absorb(module.error());
        job_.module_note = std::move(text->note);
        module_.emplace(std::move(*module));
        return true;
    }

    std::string resolve(const std::string& path) const {
        std::filesystem::path given(path);
        return given.is_absolute() || file_.folder.empty() ? path : (std::filesystem::path(file_.folder) / given).string();
    }

    /// `place`: of those that have none.
    bool absorb(Diagnostics from, const std::optional<Place>& place = {}) {
        for (Diagnostic& diagnostic : from) {
            if (!diagnostic.place) diagnostic.place = place;
            diagnostics_.push_back(std::move(diagnostic));
        }
        return false;
    }

    void error(const Place& place, std::string message, std::string note = {}) {
        absorb(fail_at(place, std::move(message), std::move(note)).error());
    }

    void fill(const BufferTable& table, Buffer& buffer) {
        auto with_path = [&](Contents contents) {
            if (contents.kind == Contents::Kind::file) contents.text = resolve(contents.text);
            return contents;
        };
        const std::uint8_t between = table.init.kind == Contents::Kind::zero ? 0 : 0xA5;
        if (auto bytes = make_contents(with_path(table.init), buffer, between)) buffer.bytes = std::move(*bytes);
        else absorb(bytes.error());
        if (table.expect) {
            if (auto bytes = make_contents(with_path(*table.expect), buffer, 0)) buffer.expected = std::move(*bytes);
            else absorb(bytes.error());
        }
        if (!buffer.save.empty()) buffer.save = resolve(buffer.save);
    }

    void add_buffer(const BufferTable& table) {
        Buffer buffer = table.buffer;
        fill(table, buffer);
        job_.buffers.push_back(std::move(buffer));
    }

    /// Its buffers are there and have a dimension for each index.
    void check_gemm(const GemmTable& table) {
        for (const GemmTable::Operand& operand : table.operands) {
            const auto found = std::ranges::find(job_.buffers, operand.buffer, &Buffer::name);
            if (found == job_.buffers.end()) {
                error(*operand.place, fmt::format("gemm.{}: there is no [buffer.{}]", operand.role, operand.buffer));
            } else if (found->shape.size() != operand.index.size()) {
                error(*operand.place, fmt::format("gemm.{}: expected {} indices, one for each dimension of '{}', found {}",
                                                  operand.role, found->shape.size(), operand.buffer, operand.index.size()));
            }
        }
    }

    void add_tensor_map(const TensorMapTable& table) {
        std::string names;
        for (std::size_t i = 0; i < job_.buffers.size(); ++i) {
            if (job_.buffers[i].name == table.buffer) return job_.tensor_maps.push_back({table.name, i, table.offset, table.map});
            names += fmt::format("{}{}", names.empty() ? "" : ", ", job_.buffers[i].name);
        }
        error(table.place, fmt::format("there is no [buffer.{}]", table.buffer), names.empty() ? "" : "buffers: " + names);
    }

    /// A variable of the module: its size is the module's, its initial value too unless the file gives one.
    void add_symbol(const BufferTable& table, const program::Program& program) {
        Buffer buffer = table.buffer;
        const program::Variable* variable = nullptr;
        std::string names;
        for (const program::Variable& candidate : program.variables) {
            if (candidate.name == buffer.name) variable = &candidate;
            names += fmt::format("{}{}", names.empty() ? "" : ", ", candidate.name);
        }
        if (!variable)
            return error(table.place, fmt::format("the module has no .global or .const variable '{}'", buffer.name),
                         names.empty() ? "it has none" : "its variables: " + names);
        if (!table.has_dtype) buffer.dtype = symbol_dtype(variable->element);
        if (!table.has_shape) buffer.shape = {static_cast<std::int64_t>(variable->bytes * 8 / static_cast<std::uint64_t>(buffer.dtype.bits))};
        // With the module's dtype the bytes are others than the reader, which did not know it, reserved.
        const std::uint64_t described = bytes_of(buffer.dtype, table.has_shape ? table.extent : buffer.elements());
        if (described > variable->bytes)
            return error(table.place, fmt::format("'{}' has {} bytes in the module; the table describes {}", buffer.name, variable->bytes,
                                                  described));
        buffer.bytes.assign(variable->bytes, 0);
        std::copy(variable->initial.begin(), variable->initial.end(), buffer.bytes.begin());
        if (table.init.kind == Contents::Kind::poison) {
            std::vector<std::uint8_t> own = buffer.bytes;
            fill(table, buffer);
            buffer.bytes = std::move(own);
        } else {
            fill(table, buffer);
        }
        job_.buffers.push_back(std::move(buffer));
    }

    static DType symbol_dtype(program::DataType type) {
        if (auto found = dtype_named(program::traits(type).name)) return *found;
        return *dtype_named(fmt::format("u{}", program::bytes(type) * 8));
    }

    void add_launch(const LaunchTable& table) {
        auto program = isa::build(*module_, table.entry);
        if (!program) return (void)absorb(program.error(), table.entry_place ? table.entry_place : table.place);
        Launch launch;
        launch.program = std::make_shared<program::Program>(std::move(*program));
        launch.entry = launch.program->functions.front().name;
        launch.shape = table.shape;
        pack(table, launch);
        if (!has_error(diagnostics_))
            absorb(exec::check_launch(*launch.program, *device_, launch.shape, launch.parameters.size()), table.place);
        job_.launches.push_back(std::move(launch));
    }

    void pack(const LaunchTable& table, Launch& launch) {
        const std::vector<program::FrameVariable>& parameters = launch.program->functions.front().parameters;
        if (table.arguments.size() != parameters.size()) {
            std::vector<std::string> list;
            for (const program::FrameVariable& parameter : parameters) list.push_back(describe(parameter));
            return error(table.arguments.size() > parameters.size() ? table.arguments[parameters.size()].place : table.place,
                         fmt::format("'{}' has {} parameters, found {} [[arg]] tables", launch.entry, parameters.size(), table.arguments.size()),
                         list.empty() ? "it takes none" : fmt::format("its parameters: {}", fmt::join(list, ", ")));
        }
        for (std::size_t i = 0; i < parameters.size(); ++i)
            launch.parameters.resize(std::max<std::size_t>(launch.parameters.size(), parameters[i].offset + parameters[i].bytes));
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            auto packed = pack_argument(table.arguments[i], parameters[i], job_, launch);
            if (!packed) absorb(packed.error());
        }
    }

    const LaunchFile& file_;
    std::optional<ptx::Module> module_;
    std::optional<machine::Device> device_;
    Diagnostics diagnostics_;
    Job job_;
};

}  // namespace

Result<Job> prepare(const LaunchFile& file, const std::string& arch) { return Preparer(file).run(arch); }

}  // namespace tilepath::host
