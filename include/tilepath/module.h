#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tilepath/diagnostic.h>

namespace tilepath {

/// One parameter of a kernel, as its `.param` declares it.
struct Parameter {
    std::string name;
    std::string type;         ///< of an element: "u64", "f32", "b8"
    std::uint32_t bytes = 0;  ///< all elements
    std::uint32_t alignment = 1;
};

/// Which PTX of a file to read, where it holds several, and how to compile CUDA C++.
struct ModuleOptions {
    std::string arch = {};   ///< the device it is to run on: "sm_90"; empty: the highest target that there is
    std::string entry = {};  ///< a kernel that it must have
    std::vector<std::string> nvcc_flags = {};
};

/// A PTX module, read and its names resolved. A value that is cheap to copy; copies are the same module.
class Module {
  public:
    /// Reads a file: PTX; an executable, library, object file or fatbin with PTX in it; or CUDA C++ (.cu), which nvcc
    /// compiles where it is installed. The error lists everything that is wrong in it, each with its line and column.
    static Result<Module> read(const std::string& path, const ModuleOptions& options = {});
    /// The same from a text; `name` is what diagnostics and faults call it.
    static Result<Module> parse(std::string text, std::string name = "module.ptx");

    const std::string& name() const;
    /// What `.target` says: "sm_80".
    std::string target() const;
    /// The names of its kernels, in the order of the text.
    std::vector<std::string> entries() const;
    /// The parameters of a kernel, in order. `entry` may be empty when the module has one.
    Result<std::vector<Parameter>> parameters(std::string_view entry = {}) const;

    struct State;

  private:
    friend class Gpu;
    explicit Module(std::shared_ptr<const State> state) : state_(std::move(state)) {}

    std::shared_ptr<const State> state_;
};

}  // namespace tilepath
