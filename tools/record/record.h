// What the recorders share: checked CUDA calls, hexadecimal output, a portable random generator.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "../../kernels/inputs.h"

namespace record {

inline void must(cudaError_t error, const char* what) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    std::exit(1);
}

class File {
  public:
    File(const std::string& folder, const std::string& name) : file_(std::fopen((folder + "/" + name).c_str(), "w")) {
        if (file_ == nullptr) std::perror(name.c_str()), std::exit(1);
    }
    File(const File&) = delete;
    ~File() { std::fclose(file_); }
    FILE* get() const { return file_; }

  private:
    FILE* file_;
};

class Random {
  public:
    explicit Random(std::uint64_t seed) : seed_(seed) {}
    std::uint64_t bits() { return tilepath::kernels::input_bits(seed_, tilepath::kernels::InputOperand::a, index_++); }
    std::uint64_t below(std::uint64_t n) { return (bits() >> 32) * n >> 32; }
    bool one_in(std::uint64_t n) { return below(n) == 0; }

  private:
    std::uint64_t seed_, index_ = 0;
};

}  // namespace record
