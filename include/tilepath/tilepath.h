// tilepath: runs NVIDIA PTX kernels on an ordinary CPU, with the Tensor Cores modelled to the bit.
//
// Nothing here throws: what can be wrong with the input comes back as Diagnostics in a Result, what a running kernel does
// wrong as data in a LaunchReport. A fault of tilepath itself ends the process with exit status 4.
#pragma once
#include <tilepath/atom.h>        // which lane holds which element of a tensor instruction's operands
#include <tilepath/check.h>       // what the checks find in a launch
#include <tilepath/diagnostic.h>  // Diagnostic, Result
#include <tilepath/gpu.h>         // Gpu: memory and launches
#include <tilepath/launch.h>      // what a launch takes and what it reports
#include <tilepath/layout.h>      // layouts: parse, print, evaluate, compare
#include <tilepath/module.h>      // PTX modules
#include <tilepath/number.h>      // number formats, and the dot product of a device's Tensor Cores
#include <tilepath/tensor_map.h>  // tensors for TMA copies
