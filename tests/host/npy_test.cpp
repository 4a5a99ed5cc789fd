// The .npy format as numpy's documentation gives it (numpy.lib.format, versions 1.0 to 3.0); bytes are written by hand.
#include "host/npy.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/diagnostic.h"

namespace tilepath::host {
namespace {

std::string temporary(const std::string& name) { return testing::TempDir() + "tilepath_" + name; }

std::vector<std::uint8_t> npy(std::string_view header, std::vector<std::uint8_t> data, int version = 1) {
    std::vector<std::uint8_t> out = {0x93, 'N', 'U', 'M', 'P', 'Y', static_cast<std::uint8_t>(version), 0};
    const std::size_t length = header.size();
    for (int i = 0; i < (version >= 2 ? 4 : 2); ++i) out.push_back(static_cast<std::uint8_t>(length >> (8 * i)));
    out.insert(out.end(), header.begin(), header.end());
    out.insert(out.end(), data.begin(), data.end());
    return out;
}

Result<NpyArray> read(const std::vector<std::uint8_t>& bytes) {
    const std::string path = temporary("array.npy");
    EXPECT_TRUE(write_bytes(path, bytes));
    return read_npy(path);
}

std::string error_of(const std::vector<std::uint8_t>& bytes) {
    const auto array = read(bytes);
    return array ? "no error" : array.error().front().message;
}

TEST(Npy, ReadsWhatNumpyWrites) {
    const auto matrix = read(npy("{'descr': '<f2', 'fortran_order': False, 'shape': (2, 3), }   \n", std::vector<std::uint8_t>(12, 7)));
    ASSERT_TRUE(matrix) << to_string(matrix.error());
    EXPECT_EQ(matrix->kind, 'f');
    EXPECT_EQ(matrix->bytes, 2);
    EXPECT_EQ(matrix->shape, (std::vector<std::int64_t>{2, 3}));
    EXPECT_EQ(matrix->data, std::vector<std::uint8_t>(12, 7));
    const auto vector = read(npy("{'descr': '|i1', 'fortran_order': False, 'shape': (3,), }\n", {1, 2, 3}, 2));
    ASSERT_TRUE(vector) << to_string(vector.error());
    EXPECT_EQ(vector->shape, std::vector<std::int64_t>{3});
    const auto scalar = read(npy("{'descr': '<u8', 'fortran_order': False, 'shape': (), }\n", std::vector<std::uint8_t>(8, 1)));
    ASSERT_TRUE(scalar) << to_string(scalar.error());
    EXPECT_TRUE(scalar->shape.empty());
    // bfloat16 of ml_dtypes is written as raw bytes.
    const auto raw = read(npy("{'descr': '<V2', 'fortran_order': False, 'shape': (1,), }\n", {1, 2}, 3));
    ASSERT_TRUE(raw) << to_string(raw.error());
    EXPECT_EQ(raw->kind, 'V');
    const auto empty = read(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (0, 5), }\n", {}));
    ASSERT_TRUE(empty) << to_string(empty.error());
    EXPECT_TRUE(empty->data.empty());
}

TEST(Npy, WritesWhatItReads) {
    const std::string path = temporary("written.npy");
    ASSERT_TRUE(write_npy(path, *dtype_named("s16"), {2, 2}, {1, 0, 2, 0, 3, 0, 255, 255}));
    const auto bytes = read_bytes(path);
    ASSERT_TRUE(bytes);
    // The header fills whole multiples of 64 bytes and ends with a newline; the data follows.
    EXPECT_EQ(bytes->size() % 64, 8u);
    const std::string text(bytes->begin() + 10, bytes->end() - 8);
    EXPECT_TRUE(text.starts_with("{'descr': '<i2', 'fortran_order': False, 'shape': (2, 2), }")) << text;
    EXPECT_EQ(text.back(), '\n');
    EXPECT_EQ((*bytes)[8] + 256 * (*bytes)[9], static_cast<int>(text.size()));
    const auto back = read_npy(path);
    ASSERT_TRUE(back) << to_string(back.error());
    EXPECT_EQ(back->kind, 'i');
    EXPECT_EQ(back->data, (std::vector<std::uint8_t>{1, 0, 2, 0, 3, 0, 255, 255}));

    for (auto [name, descr] : {std::pair{"u8", "'|u1'"}, {"s8", "'|i1'"}, {"f16", "'<f2'"}, {"f64", "'<f8'"}, {"tf32", "'<f4'"},
                               {"bf16", "'<u2'"}, {"e4m3", "'|u1'"}, {"u64", "'<u8'"}}) {
        const DType dtype = *dtype_named(name);
        ASSERT_TRUE(write_npy(path, dtype, {1}, std::vector<std::uint8_t>(static_cast<std::size_t>(dtype.bits / 8))));
        const auto written = *read_bytes(path);
        EXPECT_NE(std::string(written.begin(), written.end()).find(descr), std::string::npos) << name;
        EXPECT_NE(std::string(written.begin(), written.end()).find("'shape': (1,)"), std::string::npos) << name;
        ASSERT_TRUE(read_npy(path)) << name;
    }
}

TEST(Npy, SaysWhatIsWrong) {
    const std::vector<std::uint8_t> one(4, 0);
    EXPECT_NE(error_of({}).find("it does not begin as one"), std::string::npos);
    EXPECT_NE(error_of({'P', 'K', 3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0}).find("it does not begin as one"), std::string::npos);
    EXPECT_NE(error_of(npy("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }\n", one)).find("big-endian"), std::string::npos);
    EXPECT_NE(error_of(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (1,), }\n", one)).find("order='C'"), std::string::npos);
    EXPECT_NE(error_of(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", one)).find("needs 8 bytes of data, it has 4"),
              std::string::npos);
    EXPECT_NE(error_of(npy("{'descr': '<c16', 'fortran_order': False, 'shape': (1,), }\n", one)).find("size from 1 to 8"),
              std::string::npos);
    EXPECT_NE(error_of(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }\n", one)).find("no simple type"),
              std::string::npos);
    EXPECT_NE(error_of(npy("{'shape': (1,), }\n", one)).find("no simple type"), std::string::npos);
    EXPECT_NE(error_of(npy("{'descr': '<f4', 'fortran_order': False, }\n", one)).find("no 'shape'"), std::string::npos);
    EXPECT_NE(error_of(npy("{'descr': '<f4', 'shape': (1099511627776, 1099511627776), }\n", one)).find("shape"), std::string::npos);
    auto cut = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }\n", {});
    cut.resize(30);
    EXPECT_NE(error_of(cut).find("its header is cut off"), std::string::npos);
    // Whatever a header holds, reading it ends well: every truncation and every single changed byte.
    const auto good = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }\n", one);
    for (std::size_t i = 0; i < good.size(); ++i) {
        EXPECT_FALSE(read(std::vector<std::uint8_t>(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(i)))) << i;
        auto changed = good;
        for (std::uint8_t value : {0, 0x27, 0x28, 0x39, 0xFF}) {
            changed[i] = value;
            (void)read(changed);
        }
    }
}

TEST(Npy, FilesThatCannotBeRead) {
    EXPECT_NE(read_bytes("/no/such/file").error().front().message.find("cannot read /no/such/file: No such file"), std::string::npos);
    EXPECT_NE(read_bytes(testing::TempDir()).error().front().message.find("it is a directory"), std::string::npos);
    EXPECT_NE(write_bytes("/no/such/file", {1}).error().front().message.find("cannot write /no/such/file: No such file"), std::string::npos);
}

}  // namespace
}  // namespace tilepath::host
