#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <tilepath/check.h>
#include <tilepath/diagnostic.h>
#include <tilepath/launch.h>
#include <tilepath/module.h>

namespace tilepath {

/// A GPU that this CPU plays: its memory, and launches on it. For one thread at a time; several Gpus are independent, and
/// a process may have eight.
class Gpu {
  public:
    /// `arch`: "sm_80", "sm_90a", …: whose limits and Tensor-Core arithmetic count. The error names what there is.
    static Result<Gpu> create(std::string_view arch);
    ~Gpu();
    Gpu(Gpu&&) noexcept;
    Gpu& operator=(Gpu&&) noexcept;

    /// Zeroed memory, aligned to 512 bytes; `name` is what faults call it.
    Result<DevicePointer> allocate(std::uint64_t bytes, std::string name = {});
    /// `pointer`: what allocate gave. All memory is released with the Gpu.
    Result<void> release(DevicePointer pointer);

    /// Copies bytes into memory and out of it; an error unless they lie within one allocation.
    Result<void> copy_in(DevicePointer to, std::span<const std::uint8_t> from);
    Result<void> copy_out(std::span<std::uint8_t> to, DevicePointer from) const;
    template <class T>
        requires std::is_trivially_copyable_v<T>
    Result<void> copy_in(DevicePointer to, const std::vector<T>& from) {
        return copy_in(to, std::span(reinterpret_cast<const std::uint8_t*>(from.data()), from.size() * sizeof(T)));
    }
    template <class T>
        requires std::is_trivially_copyable_v<T>
    Result<void> copy_out(std::vector<T>& to, DevicePointer from) const {
        return copy_out(std::span(reinterpret_cast<std::uint8_t*>(to.data()), to.size() * sizeof(T)), from);
    }

    /// The address of a `.global` or `.const` variable. A module's variables are made when this Gpu first meets it, and
    /// live as long as the Gpu.
    Result<DevicePointer> variable(const Module& module, std::string_view name);

    /// Runs a kernel to its end. `entry` may be empty when the module has one. Diagnostics tell of a launch that cannot
    /// begin: arguments that do not fit the parameters, a shape out of range, instructions that are not supported. What
    /// goes wrong while it runs is in the report; memory is then as the kernel left it.
    Result<LaunchReport> launch(const Module& module, std::string_view entry, const LaunchShape& shape,
                                const std::vector<Argument>& arguments, const LaunchOptions& options = {});

    /// The same with the checks on, several times slower: what is wrong with the kernel's data path, and, given what it
    /// computes, whether each element lies where it belongs. Diagnostics tell of a `gemm` that contradicts itself too.
    Result<CheckedLaunch> check(const Module& module, std::string_view entry, const LaunchShape& shape,
                                const std::vector<Argument>& arguments, const std::optional<Gemm>& gemm = {},
                                const LaunchOptions& options = {});

  private:
    struct State;
    explicit Gpu(std::unique_ptr<State> state);

    std::unique_ptr<State> state_;
};

}  // namespace tilepath
