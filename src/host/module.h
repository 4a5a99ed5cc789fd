#pragma once
#include <string>
#include <vector>

#include "base/result.h"
#include "base/source.h"
#include "fatbin/fatbin.h"

namespace tilepath::host {

/// A module, and which of the texts in it is wanted.
struct ModuleRequest {
    std::string path;                       ///< to open
    std::string name;                       ///< what messages call it
    std::string arch = {};                  ///< the device it is to run on; empty: any that there is
    std::vector<std::string> entries = {};  ///< kernels that it must have
    std::vector<std::string> nvcc_flags = {};
};

struct ModuleText {
    Source ptx;
    std::string note;  ///< where the text comes from, if it is not the file as it is
};

/// The PTX of a file: PTX as it is; a .cu file compiled by nvcc; of an executable, library, object file or fatbin the
/// text with the highest target that the device runs.
Result<ModuleText> read_module_text(const ModuleRequest& request);

/// Which of the PTX images suits the request; an error that tells what there is. Indices into `images`.
Result<std::size_t> choose_image(const std::vector<fatbin::Image>& images, const ModuleRequest& request);
/// What to call the PTX at that index: FILE.NUMBER.TARGET.ptx, its number counted from 1 among the PTX.
std::string image_file_name(const std::vector<fatbin::Image>& images, std::size_t index, const std::string& file);
/// What a file without PTX holds, and what to do.
std::unexpected<Diagnostics> no_ptx(const std::vector<fatbin::Image>& images, const std::string& name);

/// Compiles a CUDA file to PTX for a device, with line numbers, by the nvcc of CUDA_HOME, PATH or /usr/local/cuda.
Result<std::string> compile_cuda(const std::string& path, const std::string& arch,
                                 const std::vector<std::string>& flags);

}  // namespace tilepath::host
