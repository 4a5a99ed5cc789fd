// `tilepath init`: a launch file to fill in.
#include <fmt/format.h>

#include <filesystem>

#include "host/launch_file.h"
#include "host/module.h"
#include "host/pack.h"
#include "isa/build.h"
#include "ptx/read.h"

namespace tilepath::host {
namespace {

/// Whether a parameter looks like an address: 64 bits, and `.ptr` or the type that compilers give pointers.
bool is_pointer(const ptx::Variable& variable) {
    return variable.dimensions.count == 0 && (variable.type == ptx::Type::u64 || variable.type == ptx::Type::b64) &&
           (variable.pointer || variable.type == ptx::Type::u64);
}

/// As a basic string of TOML holds it.
std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out += '"';
}

std::string block_size(const program::LaunchBounds& bounds) {
    const std::uint32_t* size = bounds.required_threads[0] ? bounds.required_threads : bounds.max_threads;
    if (!size[0]) return "[128, 1, 1]             # threads of a CTA";
    return fmt::format("[{}, {}, {}]            # {} says so", size[0], size[1], size[2],
                       bounds.required_threads[0] ? ".reqntid" : ".maxntid");
}

}  // namespace

Result<std::string> launch_file_template(const std::string& module_path, const std::string& entry) {
    ModuleRequest request{module_path, module_path};
    if (!entry.empty()) request.entries = {entry};
    auto text = read_module_text(request);
    if (!text) return std::unexpected(text.error());
    auto module = ptx::read(std::move(text->ptx));
    if (!module) return std::unexpected(module.error());
    auto program = isa::build(*module, entry);
    if (!program) return std::unexpected(program.error());
    const program::Function& function = program->functions.front();
    const ptx::Function& syntax = module->functions[module->function_named(function.name)];

    std::string out = fmt::format("module = {}\nentry  = \"{}\"\narch   = \"{}\"\ngrid   = [1, 1, 1]               # CTAs\nblock  = {}\n",
                                  quoted(std::filesystem::path(module_path).filename().string()), function.name, program->target,
                                  block_size(program->bounds));
    out += fmt::format("dynamic_shared_bytes = 0         # besides {} static bytes\n", program->shared_bytes);
    std::string buffers;
    std::span<const ptx::Variable> variables = module->variables_in(syntax.parameters);
    for (std::size_t i = 0; i < variables.size(); ++i) {
        const program::FrameVariable& parameter = function.parameters[i];
        out += fmt::format("\n[[arg]]                          # {}\n", describe(parameter));
        if (is_pointer(variables[i])) {
            out += fmt::format("buffer = \"p{}\"\n", i);
            buffers += fmt::format("\n[buffer.p{}]\ndtype = \"f32\"\nshape = [1024]                   # row-major\n"
                                   "init  = {{ zero = true }}         # or random = \"normal\", file = \"a.npy\", hex, value, iota\n",
                                   i);
        } else if (parameter.bytes > 8) {
            out += fmt::format("size = {}\nfields = []                      # {{ at = 0, buffer = \"p0\" }}, {{ at = 8, type = \"u32\", value = 1 }}\n",
                               parameter.bytes);
        } else {
            out += program::is_float(parameter.element) ? "value = 1.0\n" : "value = 0\n";
        }
    }
    return out + buffers;
}

}  // namespace tilepath::host
