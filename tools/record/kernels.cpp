// Records what a GPU makes of the kernels of tests/vectors/kernels.
//
//     kernels ptx FILE                 the cases of a recording, all of one target, as one PTX module, on standard
//     output kernels record MODULE FILE RAW   runs them; MODULE is that PTX, or what ptxas made of it. The recording,
//     results
//                                      anew, on standard output; every result into RAW, words as the cases have them,
//                                      of memory what changed (exclusive or)
//
// Needs cuda.h and, when it runs, libcuda.
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <new>

#include "../../tests/exec/recorded_case.h"
#include "driver.h"
#include "tensor_map.h"

using namespace tilepath::recorded;

namespace {

using driver::must;

std::string entry_name(std::size_t index) { return "k" + std::to_string(index); }

class DeviceWords {
  public:
    explicit DeviceWords(const std::vector<std::uint32_t>& words) : bytes_(words.size() * 4) {
        must(cuMemAlloc(&address_, bytes_ + 16), "cuMemAlloc");
        if (bytes_ != 0) must(cuMemcpyHtoD(address_, words.data(), bytes_), "copy in");
    }
    DeviceWords(const DeviceWords&) = delete;
    ~DeviceWords() { cuMemFree(address_); }
    void read(std::vector<std::uint32_t>& words) const {
        if (bytes_ != 0) must(cuMemcpyDtoH(words.data(), address_, bytes_), "copy out");
    }
    CUdeviceptr address() const { return address_; }

  private:
    CUdeviceptr address_ = 0;
    std::size_t bytes_;
};

/// The tensor maps of all rows, 128 bytes each, as a parameter has them. Nothing if the driver refuses one.
std::vector<CUtensorMap> maps_of(const Case& each, const TensorMap& map, CUdeviceptr memory) {
    std::vector<CUtensorMap> maps(each.rows);
    for (std::uint32_t row = 0; row < each.rows; ++row) {
        const CUdeviceptr at = memory + std::uint64_t(row) * each.memory_bytes() + each.shared_bytes + map.at;
        if (const CUresult result = encode(maps[row], map, at); result != CUDA_SUCCESS) {
            std::fprintf(stderr, "%s: refused (%d): %s\n", each.name.c_str(), result, to_string(map).c_str());
            return {};
        }
    }
    return maps;
}

/// False if the driver refuses a tensor map.
bool run(CUfunction function, Case& each, Buffers& buffers) {
    const DeviceWords in(buffers.in), out(buffers.out), memory(buffers.memory);
    CUdeviceptr addresses[] = {in.address(), out.address(), memory.address()};
    std::vector<void*> arguments{&addresses[0], &addresses[1], &addresses[2]};
    std::vector<std::vector<CUtensorMap>> maps;
    for (const TensorMap& map : each.tensor_maps) {
        maps.push_back(maps_of(each, map, memory.address()));
        if (maps.back().empty()) return false;
    }
    for (auto& each_row : maps) arguments.push_back(each_row.data());
    if (each.ctas_of_cluster() > 8)
        must(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1), each.name);
    const unsigned layers = each.cluster[1] * each.cluster[2];
    must(cuLaunchKernel(function, each.rows / layers, each.cluster[1], each.cluster[2], each.threads, 1, 1, 0, nullptr,
                        arguments.data(), nullptr),
         each.name);
    if (const CUresult result = cuCtxSynchronize(); result != CUDA_SUCCESS) {
        const char* name = nullptr;
        cuGetErrorName(result, &name);
        each.fault = name;
        return true;
    }
    out.read(buffers.out);
    memory.read(buffers.memory);
    return true;
}

std::vector<Case> cases_in(const char* file) {
    std::ifstream from(file);
    if (!from) std::fprintf(stderr, "%s: cannot be read\n", file), std::exit(2);
    return read_cases(from);
}

std::string bytes_of(const char* file) {
    std::ifstream from(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(from), {}};
}

/// Cases from `done` on, until one ends with a fault, which leaves the device unusable for this process.
void record_some(const std::string& image, std::vector<Case>& cases, volatile std::size_t& done, const char* raw_file) {
    std::ofstream raw(raw_file, std::ios::binary | std::ios::app);
    driver::use_first_device();
    CUmodule module;
    must(cuModuleLoadData(&module, image.c_str()), "cuModuleLoadData");
    while (done < cases.size()) {
        Case& each = cases[done];
        CUfunction function;
        must(cuModuleGetFunction(&function, module, entry_name(done).c_str()), each.name);
        Buffers buffers = buffers_of(each);
        const std::vector<std::uint32_t> before = buffers.memory;
        const bool has_results = run(function, each, buffers);
        done = done + 1;
        if (!has_results) continue;
        if (each.fault.empty()) take_results(each, buffers);
        write_case(std::cout, each);
        std::cout.flush();
        if (!each.fault.empty()) break;
        for (std::size_t i = 0; i < before.size(); ++i) buffers.memory[i] ^= before[i];
        for (const auto* words : {&buffers.out, &buffers.memory})
            raw.write(reinterpret_cast<const char*>(words->data()), std::streamsize(words->size() * 4));
    }
}

/// Each process records up to its first fault. One that gets nowhere for half a minute is ended, its case left out.
void record(const char* module_file, const char* file, const char* raw_file) {
    const std::string image = bytes_of(module_file);
    std::vector<Case> cases = cases_in(file);
    void* shared = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    volatile std::size_t& done = *new (shared) std::size_t(0);
    std::ofstream(raw_file, std::ios::binary | std::ios::trunc);
    while (done < cases.size()) {
        const std::size_t begun = done;
        const pid_t child = fork();
        if (child == 0) {
            record_some(image, cases, done, raw_file);
            std::cout.flush();
            _exit(0);
        }
        std::size_t seen = done;
        int status = 0;
        for (int waited = 0; waitpid(child, &status, WNOHANG) == 0; usleep(10'000))
            if (done != seen) {
                seen = done, waited = 0;
            } else if (++waited == 3000) {
                std::fprintf(stderr, "%s: no result\n", cases[done].name.c_str());
                done = done + 1;
                kill(child, SIGKILL);
            }
        if (done == begun) {
            std::fprintf(stderr, "%s: cannot be recorded\n", cases[done].name.c_str());
            done = done + 1;
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    if (what == "ptx" && argc == 3) {
        const std::vector<Case> cases = cases_in(argv[2]);
        std::cout << module_head(cases.empty() ? "sm_90" : cases[0].target);
        std::size_t index = 0;
        for (const Case& each : cases) std::cout << entry_text(each, entry_name(index++));
    } else if (what == "record" && argc == 5) {
        record(argv[2], argv[3], argv[4]);
    } else {
        return std::fprintf(stderr, "kernels ptx FILE | kernels record MODULE FILE RAW\n"), 2;
    }
    return 0;
}
