#include <tilepath/gpu.h>

#include <fmt/format.h>

#include <cstring>
#include <map>

#include "api/arguments.h"
#include "api/check.h"
#include "api/module.h"
#include "api/report.h"
#include "check/provenance/provenance.h"
#include "exec/launch.h"

namespace tilepath {

struct Gpu::State {
    machine::Device device;
    std::unique_ptr<machine::DeviceMemory> memory;
    std::map<std::shared_ptr<const Module::State>, exec::ModuleImage> images = {};
    unsigned unnamed = 0;

    /// The module's variables, made when it is first met.
    Result<const exec::ModuleImage*> image(const std::shared_ptr<const Module::State>& module, const program::Program& program) {
        if (auto found = images.find(module); found != images.end()) return &found->second;
        auto loaded = exec::load_variables(program, *memory);
        if (!loaded) return std::unexpected(loaded.error());
        return &images.emplace(module, std::move(*loaded)).first->second;
    }

    Result<exec::LaunchReport> run(const Module& module, const program::Program& program, const LaunchShape& shape,
                                   const std::vector<Argument>& arguments, const exec::LaunchOptions& options);

    /// Where a device pointer points in this process, for `size` bytes within one allocation.
    Result<std::uint8_t*> bytes(DevicePointer pointer, std::size_t size) const {
        const auto range = memory->find(pointer.address);
        if (range && size <= range->end - pointer.address)
            return reinterpret_cast<std::uint8_t*>(static_cast<std::uintptr_t>(pointer.address));
        if (size == 0) return nullptr;
        const auto nearest = memory->nearest(pointer.address);
        return fail(fmt::format("expected {} bytes of one allocation at {:#x}, found {}", size, pointer.address,
                                range ? fmt::format("only {} up to its end", range->end - pointer.address) : "no allocation there"),
                    nearest ? fmt::format("the nearest is '{}', {} bytes at {:#x}", nearest->name,
                                          nearest->range.end - nearest->range.begin, nearest->range.begin)
                            : "nothing is allocated");
    }
};

Gpu::Gpu(std::unique_ptr<State> state) : state_(std::move(state)) {}
Gpu::~Gpu() = default;
Gpu::Gpu(Gpu&&) noexcept = default;
Gpu& Gpu::operator=(Gpu&&) noexcept = default;

Result<Gpu> Gpu::create(std::string_view arch) {
    auto device = machine::device_named(arch);
    if (!device) return std::unexpected(device.error());
    auto memory = machine::DeviceMemory::create();
    if (!memory) return std::unexpected(memory.error());
    return Gpu(std::make_unique<State>(*device, std::move(*memory)));
}

Result<DevicePointer> Gpu::allocate(std::uint64_t bytes, std::string name) {
    if (name.empty()) name = fmt::format("allocation {}", state_->unnamed++);
    auto address = state_->memory->allocate(bytes, std::move(name));
    if (!address) return std::unexpected(address.error());
    return DevicePointer{*address};
}

Result<void> Gpu::release(DevicePointer pointer) { return state_->memory->release(pointer.address); }

Result<void> Gpu::copy_in(DevicePointer to, std::span<const std::uint8_t> from) {
    auto bytes = state_->bytes(to, from.size());
    if (!bytes) return std::unexpected(bytes.error());
    if (!from.empty()) std::memcpy(*bytes, from.data(), from.size());
    return {};
}

Result<void> Gpu::copy_out(std::span<std::uint8_t> to, DevicePointer from) const {
    auto bytes = state_->bytes(from, to.size());
    if (!bytes) return std::unexpected(bytes.error());
    if (!to.empty()) std::memcpy(to.data(), *bytes, to.size());
    return {};
}

Result<DevicePointer> Gpu::variable(const Module& module, std::string_view name) {
    const std::vector<std::string> entries = module.entries();
    auto program = module.state_->program(entries.empty() ? "" : entries.front());
    if (!program) return std::unexpected(program.error());
    auto image = state_->image(module.state_, **program);
    if (!image) return std::unexpected(image.error());
    std::string names;
    for (std::size_t i = 0; i < (*program)->variables.size(); ++i) {
        if ((*program)->variables[i].name == name) return DevicePointer{(*image)->variables[i]};
        names += fmt::format("{}{}", names.empty() ? "" : ", ", (*program)->variables[i].name);
    }
    return fail(fmt::format("the module {} has no .global or .const variable '{}'", module.name(), name),
                names.empty() ? "it has none" : "its variables: " + names);
}

namespace {

machine::Dim3 dim3(const Dim3& value) { return {value.x, value.y, value.z}; }

exec::LaunchOptions internal_options(const LaunchOptions& options) {
    exec::LaunchOptions out;
    out.seed = options.seed;
    switch (options.copies) {
        case CopyPolicy::eager: out.copies = machine::CopyPolicy::eager; break;
        case CopyPolicy::late: out.copies = machine::CopyPolicy::late; break;
        case CopyPolicy::random: out.copies = machine::CopyPolicy::random; break;
    }
    out.threads = options.threads;
    out.timeout = options.timeout;
    out.first_cta = options.first_cta;
    out.cta_count = options.cta_count;
    out.print = options.print;
    return out;
}

}  // namespace

Result<exec::LaunchReport> Gpu::State::run(const Module& module, const program::Program& program, const LaunchShape& shape,
                                           const std::vector<Argument>& arguments, const exec::LaunchOptions& options) {
    auto parameters = pack_arguments(program.functions.front(), arguments);
    if (!parameters) return std::unexpected(parameters.error());
    auto found = image(module.state_, program);
    if (!found) return std::unexpected(found.error());
    return exec::launch(program, device, *memory, **found,
                        {dim3(shape.grid), dim3(shape.block), dim3(shape.cluster), shape.dynamic_shared_bytes}, *parameters, options);
}

Result<LaunchReport> Gpu::launch(const Module& module, std::string_view entry, const LaunchShape& shape,
                                 const std::vector<Argument>& arguments, const LaunchOptions& options) {
    auto program = module.state_->program(entry);
    if (!program) return std::unexpected(program.error());
    auto report = state_->run(module, **program, shape, arguments, internal_options(options));
    if (!report) return std::unexpected(report.error());
    return public_report(*report);
}

Result<CheckedLaunch> Gpu::check(const Module& module, std::string_view entry, const LaunchShape& shape,
                                 const std::vector<Argument>& arguments, const std::optional<Gemm>& gemm,
                                 const LaunchOptions& options) {
    auto program = module.state_->program(entry);
    if (!program) return std::unexpected(program.error());
    check::Checks checks;
    if (gemm) {
        auto product = product_of(*gemm, [this](DevicePointer pointer, std::uint64_t bytes) { return state_->bytes(pointer, bytes); });
        if (!product) return std::unexpected(product.error());
        checks.expect(std::move(*product));
    }
    exec::LaunchOptions how = internal_options(options);
    how.observer = &checks;
    auto report = state_->run(module, **program, shape, arguments, how);
    if (!report) return std::unexpected(report.error());
    CheckedLaunch out;
    out.report = public_report(*report);
    for (const check::Finding& each : checks.findings(**program)) out.findings.push_back(public_finding(each));
    const auto proof = [](const check::Provenance::Counts& counts) {
        return CheckedLaunch::Proof{counts.proven, counts.disproven, counts.unknown};
    };
    out.operands = proof(checks.provenance().counts()), out.elements = proof(checks.provenance().results());
    return out;
}

}  // namespace tilepath
