#include "number/engine_scales.h"

#include <array>
#include <limits>

#include "base/assert.h"

namespace tilepath::number::engine {
namespace {

struct Scale {
    std::int32_t exponent = 0, significand = 0;
    bool nan = false;
};
using ScaleTable = std::array<Scale, 256>;

ScaleTable make_table(Format format) {
    ScaleTable table;
    for (std::size_t bits = 0; bits < table.size(); ++bits) {
        const Decoded scale = decode(bits, format);
        table[bits] = {scale.exponent, std::int32_t(scale.significand), scale.kind == Class::nan};
    }
    return table;
}

const ScaleTable& table_of(Format format) {
    static const ScaleTable ue8m0 = make_table(Format::ue8m0), ue4m3 = make_table(Format::ue4m3);
    TILEPATH_ASSERT(format == Format::ue8m0 || format == Format::ue4m3, "no format of block scales");
    return format == Format::ue8m0 ? ue8m0 : ue4m3;
}

}  // namespace

bool any_nan(const ScaleRows& from) {
    const ScaleTable& table = table_of(from.format);
    bool nan = false;
    for (int row = 0; row < from.rows; ++row)
        for (int i = 0; i < from.per_row; ++i)
            nan |= table[from.scales.data[row * from.scales.row_stride_bytes + i]].nan;
    return nan;
}

bool fill_fp4_scales(const ScaleRows& from, int groups_per_scale, int groups, int block, int words, std::int32_t* out) {
    const ScaleTable& table = table_of(from.format);
    bool nan = false;
    for (int group = 0; group < groups; ++group, out += words * block) {
        const int index = group / groups_per_scale;
        for (int row = 0; row < block; ++row) {
            Scale scale;  // of zero
            if (row < from.rows && index < from.per_row)
                scale = table[from.scales.data[row * from.scales.row_stride_bytes + index]];
            if (scale.significand == 0) out[fp4_word::nonzero * block + row] = 0;
            out[fp4_word::significand * block + row] = scale.significand << 16 | scale.significand;
            out[fp4_word::exponent * block + row] = scale.nan ? fp4_nan : scale.exponent;
            nan |= scale.nan;
        }
    }
    return nan;
}

void fill_exponents(const ScaleRows& from, int group, int block, std::int32_t* exponents, float* values) {
    const ScaleTable& table = table_of(from.format);
    for (int i = 0; i < from.per_row; ++i)
        for (int row = 0; row < block; ++row) {
            Scale scale;
            if (row < from.rows) scale = table[from.scales.data[row * from.scales.row_stride_bytes + i]];
            exponents[i * block + row] = scale.exponent;
            if (!scale.nan) continue;
            for (int k = i * group; k < (i + 1) * group; ++k)
                values[k * block + row] = std::numeric_limits<float>::quiet_NaN();
        }
}

}  // namespace tilepath::number::engine
