// Any TOML text as a launch file: it is read and prepared (the module lowered, parameters packed, buffers filled), but
// not run. Whatever files it names, it gets the same three.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/assert.h"
#include "host/compare.h"
#include "host/launch_file.h"
#include "host/npy.h"

using namespace tilepath;

namespace {

constexpr std::uint64_t most_bytes = 8 << 20;

/// A folder with a module whose entries take every kind of parameter, a raw file and an array.
std::string make_folder() {
    char path[] = "/tmp/tilepath_fuzz_XXXXXX";
    TILEPATH_ASSERT(mkdtemp(path), "a temporary folder");
    const std::string folder = path;
    const std::string module = R"(.version 8.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 counter = 5;
.visible .const .align 8 .f64 factors[2] = {0d4000000000000000, 0d3FE0000000000000};
.visible .global .align 4 .b8 scratch[16];
.visible .entry a(.param .u64 out, .param .u8 p1, .param .s16 p2, .param .b32 p3, .param .f32 p4, .param .f64 p6,
    .param .align 8 .b8 p7[24]) .maxntid 64, 1, 1 { ret; }
.visible .entry b(.param .u64 .ptr .global p) { .reg .b32 %r; .reg .b64 %a; .shared .b8 s[64];
    mov.b64 %a, counter; ld.u32 %r, [%a]; mov.b64 %a, factors; mov.b64 %a, scratch; st.shared.b32 [s], %r; exit; }
.visible .entry c() { exit; }
)";
    const std::vector<std::uint8_t> raw(64, 3);
    const bool written = host::write_bytes(folder + "/m.ptx", {module.begin(), module.end()}) &&
                         host::write_bytes(folder + "/raw", raw) &&
                         host::write_npy(folder + "/a.npy", *host::dtype_named("f32"), {4, 4}, raw);
    TILEPATH_ASSERT(written, "files for the launches");
    return folder;
}

void name_our_files(host::Contents& contents, const std::string& folder) {
    if (contents.kind == host::Contents::Kind::file)
        contents.text = folder + (contents.text.ends_with(".npy") ? "/a.npy" : "/raw");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const std::string folder = make_folder();
    const std::string text(reinterpret_cast<const char*>(data), size);
    auto file = host::read_launch_text(folder + "/fuzz.toml", text, most_bytes);
    if (!file) {
        TILEPATH_ASSERT(!to_string(file.error()).empty(), "a refusal says why");
        return 0;
    }
    file->module = "m.ptx";
    for (auto* tables : {&file->buffers, &file->symbols})
        for (host::BufferTable& table : *tables) {
            name_our_files(table.init, folder);
            if (table.expect) name_our_files(*table.expect, folder);
        }
    const auto job = host::prepare(*file);
    if (!job) {
        TILEPATH_ASSERT(!to_string(job.error()).empty(), "a refusal says why");
        return 0;
    }
    for (const host::Buffer& buffer : job->buffers)
        if (buffer.expected) to_string(buffer, host::compare(buffer, buffer.bytes, *buffer.expected));
    for (const host::Launch& launch : job->launches)
        for (const auto& address : launch.addresses)
            TILEPATH_ASSERT(address.offset + 8 <= launch.parameters.size(), "addresses lie in the parameters");
    return 0;
}
