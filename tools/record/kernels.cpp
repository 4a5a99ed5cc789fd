// Records what a GPU makes of the kernels of tests/vectors/kernels.
//
//     kernels ptx FILE                 the cases of a recording as one PTX module, on standard output
//     kernels record MODULE FILE RAW   runs them; MODULE is that PTX, or what ptxas made of it. The recording, results
//                                      anew, on standard output; every result into RAW, words as the cases have them
//
// Needs cuda.h and, when it runs, libcuda.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>

#include "../../tests/exec/recorded_case.h"
#include "driver.h"

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

void run(CUfunction function, const Case& each, Buffers& buffers) {
    const DeviceWords in(buffers.in), out(buffers.out), memory(buffers.memory);
    CUdeviceptr addresses[] = {in.address(), out.address(), memory.address()};
    void* arguments[] = {&addresses[0], &addresses[1], &addresses[2]};
    must(cuLaunchKernel(function, each.rows, 1, 1, each.threads, 1, 1, 0, nullptr, arguments, nullptr), each.name);
    must(cuCtxSynchronize(), each.name);
    out.read(buffers.out);
    memory.read(buffers.memory);
}

std::vector<Case> cases_in(const char* file) {
    std::ifstream from(file);
    if (!from) std::fprintf(stderr, "%s: cannot be read\n", file), std::exit(2);
    return read_cases(from);
}

void record(const char* module_file, const char* file, const char* raw_file) {
    std::ifstream from(module_file, std::ios::binary);
    std::string image{std::istreambuf_iterator<char>(from), {}};
    std::ofstream raw(raw_file, std::ios::binary);
    CUdevice device;
    CUcontext context;
    CUmodule module;
    must(cuInit(0), "cuInit");
    must(cuDeviceGet(&device, 0), "cuDeviceGet");
    must(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    must(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    must(cuModuleLoadData(&module, image.c_str()), module_file);
    std::size_t index = 0;
    for (Case& each : cases_in(file)) {
        CUfunction function;
        must(cuModuleGetFunction(&function, module, entry_name(index++).c_str()), each.name);
        Buffers buffers = buffers_of(each);
        run(function, each, buffers);
        take_results(each, buffers);
        write_case(std::cout, each);
        for (const auto* words : {&buffers.out, &buffers.memory})
            raw.write(reinterpret_cast<const char*>(words->data()), std::streamsize(words->size() * 4));
    }
}

}  // namespace

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    if (what == "ptx" && argc == 3) {
        std::cout << module_head();
        std::size_t index = 0;
        for (const Case& each : cases_in(argv[2])) std::cout << entry_text(each, entry_name(index++));
    } else if (what == "record" && argc == 5) {
        record(argv[2], argv[3], argv[4]);
    } else {
        return std::fprintf(stderr, "kernels ptx FILE | kernels record MODULE FILE RAW\n"), 2;
    }
    return 0;
}
