#include "check/provenance/product_of.h"

#include <algorithm>
#include <map>

namespace tilepath::check {
namespace {

using Role = ProductMatrix::Role;

ProductMatrix matrix_in(const host::Buffer& buffer, Role role, std::string name, machine::Address base) {
    ProductMatrix out;
    out.role = role, out.name = std::move(name), out.base = base;
    const auto bits = static_cast<std::uint32_t>(buffer.dtype.bits);
    out.unit_bytes = std::max(1u, bits / 8);
    out.elements_per_unit = bits < 8 ? 8 / bits : 1;
    out.element_bits = bits;
    out.units.resize(buffer.bytes.size() / out.unit_bytes);
    return out;
}

void place(ProductMatrix& matrix, std::uint64_t element, std::uint32_t row, std::uint32_t column) {
    const std::uint64_t unit_bits = std::uint64_t{matrix.unit_bytes} * 8;
    const std::uint64_t unit = element * matrix.element_bits / unit_bits;
    if (element != 0 && (element - 1) * matrix.element_bits / unit_bits == unit) return;  // another begins there
    if (unit < matrix.units.size()) matrix.units[unit] = {row, column};
}

Role role_named(std::string_view name) {
    if (name == "a") return Role::a;
    if (name == "b") return Role::b;
    if (name == "c") return Role::c;
    if (name == "d") return Role::d;
    return name == "sfa" ? Role::sfa : Role::sfb;
}

/// False if there is no product, or one with more rows than origins can number.
bool take_sizes(const std::map<std::string, std::int64_t>& extents, Product& out) {
    const auto extent = [&](const char* name) {
        const auto found = extents.find(name);
        return found == extents.end() ? 0 : static_cast<std::uint64_t>(found->second);
    };
    const std::uint64_t m = extent("m"), n = extent("n"), k = extent("k");
    std::uint64_t batch = 1;
    for (const auto& [name, size] : extents)
        if (name != "m" && name != "n" && name != "k")
            batch = std::min<std::uint64_t>(batch * static_cast<std::uint64_t>(size), Origin::most_rows);
    if (m == 0 || n == 0 || std::max(m, n) >= Origin::most_rows || k > ~0u ||
        batch * std::max(m, n) >= Origin::most_rows)
        return false;
    out.m = static_cast<std::uint32_t>(m), out.n = static_cast<std::uint32_t>(n);
    out.k = static_cast<std::uint32_t>(k), out.batch = static_cast<std::uint32_t>(batch);
    return true;
}

}  // namespace

Product product_of(const host::GemmJob& gemm, std::span<const machine::Address> addresses) {
    const host::GemmProduct& p = gemm.product;
    Product out;
    out.m = static_cast<std::uint32_t>(p.m), out.n = static_cast<std::uint32_t>(p.n);
    out.k = static_cast<std::uint32_t>(p.k), out.batch = static_cast<std::uint32_t>(p.batch);
    const auto add = [&](Role role, const char* name, std::size_t buffer, const host::GemmProduct::Matrix& at, int rows,
                         int columns) {
        ProductMatrix matrix = matrix_in(gemm.job.buffers[buffer], role, name, addresses[buffer]);
        for (int b = 0; b < p.batch; ++b)
            for (int row = 0; row < rows; ++row)
                for (int column = 0; column < columns; ++column)
                    place(matrix, static_cast<std::uint64_t>(at.at(b, row, column)),
                          static_cast<std::uint32_t>(b * rows + row), static_cast<std::uint32_t>(column));
        out.matrices.push_back(std::move(matrix));
    };
    add(Role::a, "A", 0, p.a, p.m, p.k);
    add(Role::b, "B", 1, p.b, p.n, p.k);
    add(Role::c, "C", 2, p.d, p.m, p.n);
    add(Role::d, "D", host::gemm_d, p.d, p.m, p.n);
    if (p.scale == kernels::BlockScale::none) return out;
    out.scale_block = static_cast<std::uint32_t>(kernels::scale_block(p.scale));
    const auto add_scales = [&](Role role, const char* name, const host::GemmProduct::Scales& at, int rows) {
        ProductMatrix matrix = matrix_in(gemm.job.buffers[at.buffer], role, name, addresses[at.buffer]);
        for (int b = 0; b < p.batch; ++b)
            for (int row = 0; row < rows; ++row)
                for (int block = 0; block < p.padded_k / static_cast<int>(out.scale_block); ++block)
                    place(matrix, at.at(b, row, block), static_cast<std::uint32_t>(b * rows + row),
                          static_cast<std::uint32_t>(block));
        out.matrices.push_back(std::move(matrix));
    };
    add_scales(Role::sfa, "SFA", p.scale_a, p.m);
    add_scales(Role::sfb, "SFB", p.scale_b, p.n);
    return out;
}

std::optional<Product> product_of(const host::Job& job, std::span<const machine::Address> addresses) {
    if (!job.gemm) return {};
    Product out;
    std::map<std::string, std::int64_t> extents;  // by index name
    const auto buffer_of = [&](const host::GemmTable::Operand& operand) {
        return static_cast<std::size_t>(std::ranges::find(job.buffers, operand.buffer, &host::Buffer::name) -
                                        job.buffers.begin());
    };
    for (const host::GemmTable::Operand& operand : job.gemm->operands) {
        const host::Buffer& buffer = job.buffers[buffer_of(operand)];
        for (std::size_t d = 0; d < operand.index.size(); ++d)
            if (operand.index[d].divisor == 1) extents[operand.index[d].name] = buffer.shape[d];
    }
    if (!take_sizes(extents, out)) return {};
    for (const host::GemmTable::Operand& operand : job.gemm->operands) {
        const std::size_t index = buffer_of(operand);
        const host::Buffer& buffer = job.buffers[index];
        ProductMatrix matrix = matrix_in(buffer, role_named(operand.role), operand.buffer, addresses[index]);
        for (const host::GemmTable::Index& each : operand.index)
            if (matrix.role == Role::a && each.name == "k") matrix.divisor = static_cast<std::uint32_t>(each.divisor);
        const bool of_n = matrix.role == Role::b || matrix.role == Role::sfb;
        const bool of_d = matrix.role == Role::c || matrix.role == Role::d;
        for (std::uint64_t element = 0; element < buffer.elements(); ++element) {
            std::uint64_t rest = element, row = 0, column = 0, batch = 0, batch_step = 1;
            for (std::size_t d = operand.index.size(); d-- > 0;) {
                const auto extent = static_cast<std::uint64_t>(buffer.shape[d]), at = rest % extent;
                rest /= extent;
                const std::string& name = operand.index[d].name;
                if (name == (of_n ? "n" : "m"))
                    row = at;
                else if (name == (of_d ? "n" : "k"))
                    column = at;
                else
                    batch += at * batch_step, batch_step *= extent;
            }
            place(matrix, buffer.position(element), static_cast<std::uint32_t>(batch * (of_n ? out.n : out.m) + row),
                  static_cast<std::uint32_t>(column));
        }
        out.matrices.push_back(std::move(matrix));
    }
    return out;
}

}  // namespace tilepath::check
