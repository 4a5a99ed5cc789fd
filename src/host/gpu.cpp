// A job on a real GPU: libcuda is loaded when it is asked for, never linked, so that tilepath needs no CUDA.
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstring>
#include <memory>

#include "host/job.h"

namespace tilepath::host {
namespace {

// The driver API's own types, as far as they are used: handles are pointers, CUdeviceptr 64 bits.
using Status = int;
using Handle = void*;
using DevicePointer = unsigned long long;

// CUlaunchAttribute and CUlaunchConfig, with the one attribute that is used.
struct alignas(8) LaunchAttribute {
    int id = 4;  // CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
    int padding = 0;
    unsigned cluster[16] = {};  // the union of all attributes' values: 64 bytes
};
struct LaunchConfig {
    unsigned grid[3], block[3], dynamic_shared_bytes = 0;
    Handle stream = nullptr;
    LaunchAttribute* attributes = nullptr;
    unsigned attribute_count = 0;
};

/// The functions of libcuda that a job needs.
struct Driver {
    Status (*init)(unsigned) = nullptr;
    Status (*device_get)(int*, int) = nullptr;
    Status (*retain_context)(Handle*, int) = nullptr;
    Status (*set_context)(Handle) = nullptr;
    Status (*error_text)(Status, const char**) = nullptr;
    Status (*load)(Handle*, const void*, unsigned, int*, void**) = nullptr;
    Status (*function)(Handle*, Handle, const char*) = nullptr;
    Status (*global)(DevicePointer*, std::size_t*, Handle, const char*) = nullptr;
    Status (*allocate)(DevicePointer*, std::size_t) = nullptr;
    Status (*release)(DevicePointer) = nullptr;
    Status (*to_device)(DevicePointer, const void*, std::size_t) = nullptr;
    Status (*to_host)(void*, DevicePointer, std::size_t) = nullptr;
    Status (*set_attribute)(Handle, int, int) = nullptr;
    Status (*launch)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void**,
                     void**) = nullptr;
    Status (*synchronize)() = nullptr;
    Status (*unload)(Handle) = nullptr;
    // Of CUDA 11.8 and 12 on; null in older drivers.
    Status (*launch_ex)(const LaunchConfig*, Handle, void**, void**) = nullptr;
    Status (*encode_tiled)(void*, int, unsigned, void*, const std::uint64_t*, const std::uint64_t*,
                           const std::uint32_t*, const std::uint32_t*, int, int, int, int) = nullptr;
    Status (*encode_im2col)(void*, int, unsigned, void*, const std::uint64_t*, const std::uint64_t*, const int*,
                            const int*, std::uint32_t, std::uint32_t, const std::uint32_t*, int, int, int,
                            int) = nullptr;
    Status (*encode_im2col_wide)(void*, int, unsigned, void*, const std::uint64_t*, const std::uint64_t*, int, int,
                                 std::uint32_t, std::uint32_t, const std::uint32_t*, int, int, int, int, int) = nullptr;

    std::string text(Status status) const {
        const char* words = nullptr;
        if (!error_text || error_text(status, &words) != 0 || !words) words = "unknown error";
        return fmt::format("{} ({})", words, status);
    }
};

Result<Driver> load_driver() {
    void* library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library)
        return fail("--device gpu needs an NVIDIA driver: libcuda.so.1 was not found",
                    "run without --device gpu to use this CPU");
    Driver driver;
    bool complete = true;
    auto get = [&](auto& function, const char* name) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
        complete = complete && function;
    };
    get(driver.init, "cuInit"), get(driver.device_get, "cuDeviceGet");
    get(driver.retain_context, "cuDevicePrimaryCtxRetain"), get(driver.set_context, "cuCtxSetCurrent");
    get(driver.error_text, "cuGetErrorString"), get(driver.load, "cuModuleLoadDataEx");
    get(driver.function, "cuModuleGetFunction"), get(driver.global, "cuModuleGetGlobal_v2");
    get(driver.allocate, "cuMemAlloc_v2"), get(driver.release, "cuMemFree_v2");
    get(driver.to_device, "cuMemcpyHtoD_v2"), get(driver.to_host, "cuMemcpyDtoH_v2");
    get(driver.set_attribute, "cuFuncSetAttribute"), get(driver.launch, "cuLaunchKernel");
    get(driver.synchronize, "cuCtxSynchronize"), get(driver.unload, "cuModuleUnload");
    const bool has_all = complete;
    get(driver.encode_tiled, "cuTensorMapEncodeTiled"), get(driver.encode_im2col, "cuTensorMapEncodeIm2col");
    get(driver.encode_im2col_wide, "cuTensorMapEncodeIm2colWide"), get(driver.launch_ex, "cuLaunchKernelEx");
    complete = has_all;
    if (!complete) return fail("libcuda.so.1 lacks functions of CUDA 11", "update the NVIDIA driver");
    return driver;
}

// CUjit_option: the log of the driver's compiler.
constexpr int jit_error_log = 5, jit_error_log_bytes = 6;
// CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
constexpr int attribute_dynamic_shared = 8;
// CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
constexpr int attribute_large_clusters = 14;

class Session {
  public:
    Session(const Job& job, const Driver& driver) : job_(job), driver_(driver) {}
    ~Session() {
        for (DevicePointer pointer : owned_) driver_.release(pointer);
        if (module_) driver_.unload(module_);
    }

    Result<Outcome> run() {
        if (!begin() || !load() || !place() || !encode_maps()) return std::unexpected(std::move(errors_));
        Outcome outcome;
        for (const Launch& one : job_.launches) {
            if (!launch(one)) return std::unexpected(std::move(errors_));
            outcome.reports.emplace_back();
        }
        for (std::size_t i = 0; i < job_.buffers.size(); ++i) {
            std::vector<std::uint8_t> bytes(job_.buffers[i].bytes.size());
            if (!bytes.empty() &&
                !ok(driver_.to_host(bytes.data(), pointers_[i], bytes.size()), "read back " + job_.buffers[i].name))
                return std::unexpected(std::move(errors_));
            outcome.buffers.push_back(std::move(bytes));
        }
        return outcome;
    }

  private:
    bool ok(Status status, const std::string& what) {
        if (status == 0) return true;
        errors_ = fail(fmt::format("the GPU could not {}: {}", what, driver_.text(status))).error();
        return false;
    }

    bool begin() {
        int device = 0;
        Handle context = nullptr;
        return ok(driver_.init(0), "start") && ok(driver_.device_get(&device, 0), "be found") &&
               ok(driver_.retain_context(&context, device), "give a context") &&
               ok(driver_.set_context(context), "set its context");
    }

    bool load() {
        std::string log(16384, '\0');
        int options[] = {jit_error_log, jit_error_log_bytes};
        void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
        const std::string text(job_.ptx->text());
        Status status = driver_.load(&module_, text.c_str(), 2, options, values);
        if (!ok(status, "compile " + job_.ptx->name())) {
            if (log[0]) errors_.front().notes.push_back(log.c_str());
            return false;
        }
        return true;
    }

    bool place() {
        for (const Buffer& buffer : job_.buffers) {
            DevicePointer pointer = 0;
            std::size_t size = buffer.bytes.size();
            if (buffer.symbol) {
                if (!ok(driver_.global(&pointer, &size, module_, buffer.name.c_str()),
                        "find the variable " + buffer.name))
                    return false;
            } else {
                if (!ok(driver_.allocate(&pointer, std::max<std::size_t>(1, size)), "allocate " + buffer.name))
                    return false;
                owned_.push_back(pointer);
            }
            pointers_.push_back(pointer);
            if (!buffer.bytes.empty() &&
                !ok(driver_.to_device(pointer, buffer.bytes.data(), buffer.bytes.size()), "fill " + buffer.name))
                return false;
        }
        return true;
    }

    /// Each tensor map as the driver encodes it, now that buffers have addresses.
    bool encode_maps() {
        for (const TensorMap& each : job_.tensor_maps) {
            machine::TensorMap map = each.map;
            map.address = pointers_[each.buffer] + static_cast<std::uint64_t>(each.offset);
            Diagnostics broken = machine::broken_rules(map);
            if (!broken.empty() || !driver_.encode_tiled || !driver_.encode_im2col) {
                errors_ = broken.empty()
                              ? fail("libcuda.so.1 has no tensor maps", "update the NVIDIA driver to CUDA 12").error()
                              : std::move(broken);
                return false;
            }
            EncodedMap& out = maps_.emplace_back();
            void* const address = reinterpret_cast<void*>(static_cast<std::uintptr_t>(map.address));
            const int type = static_cast<int>(map.type), interleave = static_cast<int>(map.interleave);
            const int swizzle = *layout::traits(map.swizzle).tensor_map, promotion = map.l2_promotion,
                      fill = map.nan_fill ? 1 : 0;
            const bool wide = map.walk > machine::ImageWalk::im2col;
            if (wide && !driver_.encode_im2col_wide) {
                errors_ = fail(fmt::format("libcuda.so.1 has no tensor maps of mode {}", name(map.walk)),
                               "update the NVIDIA driver to CUDA 12.8")
                              .error();
                return false;
            }
            const Status status =
                map.tiled() ? driver_.encode_tiled(out.bytes, type, map.rank, address, map.dims.data(),
                                                   map.strides.data(), map.box.data(), map.element_strides.data(),
                                                   interleave, swizzle, promotion, fill)
                : wide      ? driver_.encode_im2col_wide(
                                  out.bytes, type, map.rank, address, map.dims.data(), map.strides.data(), map.lower[0],
                                  map.upper[0], map.channels_per_pixel, map.pixels_per_column, map.element_strides.data(),
                                  interleave, map.walk == machine::ImageWalk::im2col_w_128 ? 1 : 0, swizzle, promotion, fill)
                       : driver_.encode_im2col(out.bytes, type, map.rank, address, map.dims.data(), map.strides.data(),
                                               map.lower.data(), map.upper.data(), map.channels_per_pixel,
                                               map.pixels_per_column, map.element_strides.data(), interleave, swizzle,
                                               promotion, fill);
            if (!ok(status, "encode the tensor map " + each.name)) return false;
        }
        return true;
    }

    bool launch(const Launch& one) {
        Handle function = nullptr;
        if (!ok(driver_.function(&function, module_, one.entry.c_str()), "find the entry " + one.entry)) return false;
        std::vector<std::uint8_t> bytes = one.parameters;
        for (const Launch::BufferAddress& patch : one.addresses) {
            const std::uint64_t address = pointers_[patch.buffer] + static_cast<std::uint64_t>(patch.addend);
            std::memcpy(bytes.data() + patch.offset, &address, sizeof address);
        }
        for (const Launch::TensorMapPlace& place : one.tensor_maps)
            std::memcpy(bytes.data() + place.offset, maps_[place.map].bytes, machine::TensorMap::bytes);
        std::vector<void*> parameters;
        for (const program::FrameVariable& parameter : one.program->functions.front().parameters)
            parameters.push_back(bytes.data() + parameter.offset);
        const exec::LaunchShape& shape = one.shape;
        if (shape.dynamic_shared_bytes > 48 * 1024 - one.program->shared_bytes &&
            !ok(driver_.set_attribute(function, attribute_dynamic_shared, static_cast<int>(shape.dynamic_shared_bytes)),
                fmt::format("give {} bytes of shared memory", shape.dynamic_shared_bytes)))
            return false;
        if (shape.cluster.count() > 1)
            return launch_clusters(function, one, parameters) && ok(driver_.synchronize(), "finish " + one.entry);
        return ok(driver_.launch(function, shape.grid.x, shape.grid.y, shape.grid.z, shape.block.x, shape.block.y,
                                 shape.block.z, shape.dynamic_shared_bytes, nullptr, parameters.data(), nullptr),
                  "launch " + one.entry) &&
               ok(driver_.synchronize(), "finish " + one.entry);
    }

    bool launch_clusters(Handle function, const Launch& one, std::vector<void*>& parameters) {
        if (driver_.launch_ex == nullptr) {
            errors_ = fail("libcuda.so.1 launches no clusters", "update the NVIDIA driver to CUDA 12").error();
            return false;
        }
        const exec::LaunchShape& shape = one.shape;
        constexpr std::uint64_t portable = 8;
        if (shape.cluster.count() > portable && !ok(driver_.set_attribute(function, attribute_large_clusters, 1),
                                                    fmt::format("allow clusters of {}", shape.cluster.count())))
            return false;
        LaunchAttribute attribute;
        attribute.cluster[0] = shape.cluster.x, attribute.cluster[1] = shape.cluster.y,
        attribute.cluster[2] = shape.cluster.z;
        LaunchConfig config{{shape.grid.x, shape.grid.y, shape.grid.z}, {shape.block.x, shape.block.y, shape.block.z}};
        config.dynamic_shared_bytes = shape.dynamic_shared_bytes;
        config.attributes = &attribute;
        config.attribute_count = 1;
        return ok(driver_.launch_ex(&config, function, parameters.data(), nullptr), "launch " + one.entry);
    }

    const Job& job_;
    const Driver& driver_;
    Handle module_ = nullptr;
    std::vector<DevicePointer> pointers_, owned_;
    struct alignas(machine::TensorMap::alignment) EncodedMap {
        std::uint8_t bytes[machine::TensorMap::bytes] = {};
    };
    std::vector<EncodedMap> maps_;
    Diagnostics errors_;
};

}  // namespace

Result<Outcome> run_on_gpu(const Job& job) {
    auto driver = load_driver();
    if (!driver) return std::unexpected(driver.error());
    return Session(job, *driver).run();
}

}  // namespace tilepath::host
