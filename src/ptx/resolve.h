// Binds every name in a module to the symbol that it means there (PTX ISA 5.4.6, 6.4.4): registers and variables from
// their declaration to the end of their scope, labels in all of theirs, module symbols from their declaration on.
// Labels of debugging sections are not resolved: nothing reads them.
#pragma once
#include "ptx/errors.h"
#include "ptx/names.h"
#include "ptx/syntax.h"

namespace tilepath::ptx {

/// Fills Module::symbols, and `symbol` and `element` of every name that is used; reports names that are unknown or
/// declared twice.
void resolve(Module& module, const Names& names, Errors& errors);

}  // namespace tilepath::ptx
