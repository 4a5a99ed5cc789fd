// The README's example, as a project that only has the installed package compiles it. readme.inc: its lines but for the
// #include.
#include <tilepath/tilepath.h>

#include <cstdio>

int main() {
#include "readme.inc"
    std::printf("y[999] = %g\n", static_cast<double>(y[999]));
    return report.ok() && y == std::vector<float>(1000, 4.0f) ? 0 : 1;
}
