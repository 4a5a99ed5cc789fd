#include <tilepath/tilepath.h>

#include <iostream>

int main() {
    const auto module = tilepath::Module::read("saxpy.ptx").value();
    auto gpu = tilepath::Gpu::create("sm_80").value();
    std::vector<float> x(1000, 2.0f), y(1000, 1.0f);
    const auto x_pointer = gpu.allocate(4000, "x").value(), y_pointer = gpu.allocate(4000, "y").value();
    gpu.copy_in(x_pointer, x).value();
    gpu.copy_in(y_pointer, y).value();
    const auto report = gpu.launch(module, "saxpy", {.grid = {4}, .block = {256}}, {1000, 3.0f, x_pointer, y_pointer}).value();
    gpu.copy_out(y, y_pointer).value();
    std::cout << to_string(report) << "y[999] = " << y[999] << "\n";
    return report.ok() ? 0 : 1;
}
