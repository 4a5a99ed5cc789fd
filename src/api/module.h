// api/: what include/tilepath declares, over the folders that do it.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <tilepath/module.h>

#include "program/function.h"
#include "ptx/syntax.h"

namespace tilepath {

struct Module::State {
    explicit State(ptx::Module from) : module(std::move(from)), name(module.source->name()) {}

    /// The entry, lowered: the same Program every time.
    Result<std::shared_ptr<const program::Program>> program(std::string_view entry) const;

    const ptx::Module module;
    const std::string name;

  private:
    mutable std::mutex mutex_;
    mutable std::map<std::string, std::shared_ptr<const program::Program>, std::less<>> programs_;
};

}  // namespace tilepath
