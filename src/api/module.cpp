#include "api/module.h"

#include "host/module.h"
#include "isa/build.h"
#include "ptx/read.h"

namespace tilepath {

Result<Module> Module::read(const std::string& path, const ModuleOptions& options) {
    host::ModuleRequest request{path, path, options.arch, {}, options.nvcc_flags};
    if (!options.entry.empty()) request.entries = {options.entry};
    auto text = host::read_module_text(request);
    if (!text) return std::unexpected(text.error());
    auto module = ptx::read(std::move(text->ptx));
    if (!module) return std::unexpected(module.error());
    return Module(std::make_shared<State>(std::move(*module)));
}

Result<Module> Module::parse(std::string text, std::string name) {
    auto module = ptx::read(Source(std::move(name), std::move(text)));
    if (!module) return std::unexpected(module.error());
    return Module(std::make_shared<State>(std::move(*module)));
}

const std::string& Module::name() const { return state_->name; }

std::string Module::target() const { return std::string(state_->module.architecture()); }

std::vector<std::string> Module::entries() const {
    std::vector<std::string> out;
    for (const ptx::Function& function : state_->module.functions)
        if (function.kind == ptx::FunctionKind::entry && function.has_body)
            out.emplace_back(state_->module.name(function.name));
    return out;
}

Result<std::vector<Parameter>> Module::parameters(std::string_view entry) const {
    auto program = state_->program(entry);
    if (!program) return std::unexpected(program.error());
    std::vector<Parameter> out;
    for (const program::FrameVariable& parameter : (*program)->functions.front().parameters)
        out.push_back({parameter.name, std::string(program::traits(parameter.element).name), parameter.bytes,
                       parameter.alignment});
    return out;
}

Result<std::shared_ptr<const program::Program>> Module::State::program(std::string_view entry) const {
    const std::lock_guard lock(mutex_);
    if (auto found = programs_.find(entry); found != programs_.end()) return found->second;
    auto built = isa::build(module, entry);
    if (!built) return std::unexpected(built.error());
    auto shared = std::make_shared<const program::Program>(std::move(*built));
    programs_.emplace(entry, shared);
    return shared;
}

}  // namespace tilepath
