#include "api/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "api/report.h"
#include "check/provenance/product_of.h"
#include "host/job.h"

namespace tilepath {
namespace {

/// A matrix as a launch file's buffer, and what its dimensions are.
struct Described {
    host::Buffer buffer;
    host::GemmTable::Operand operand;
};

Result<Described> describe(const std::string& role, const GemmMatrix& matrix) {
    Described out;
    const auto dtype = host::dtype_named(matrix.dtype);
    if (!dtype) return fail(fmt::format("gemm.{}: '{}' is no dtype", role, matrix.dtype));
    if (matrix.index.size() != matrix.shape.size() ||
        (!matrix.strides.empty() && matrix.strides.size() != matrix.shape.size()))
        return fail(fmt::format("gemm.{}: expected as many indices, and strides, as its {} dimensions", role,
                                matrix.shape.size()));
    out.buffer.name = out.operand.buffer = out.operand.role = role;
    std::ranges::transform(out.buffer.name, out.buffer.name.begin(),
                           [](char c) { return static_cast<char>(std::toupper(c)); });
    out.operand.buffer = out.buffer.name;
    out.buffer.dtype = *dtype, out.buffer.shape = matrix.shape;
    for (const std::string& text : matrix.index) {
        const auto index = host::parse_index(text);
        if (!index)
            return fail(fmt::format("gemm.{}: '{}' is no index", role, text),
                        "an index is m, n, k, another name for a batch, or one of them divided: \"k/32\"");
        out.operand.index.push_back(*index);
    }
    for (const std::string_view name : host::needed_indices(role))
        if (std::ranges::count(out.operand.index, name, &host::GemmTable::Index::name) != 1)
            return fail(fmt::format("gemm.{}: expected '{}' once among its indices", role, name));
    constexpr std::int64_t most = std::int64_t{1} << 32;
    std::int64_t elements = 1;
    for (const std::int64_t n : matrix.shape) {
        if (n < 1 || n > most / elements)
            return fail(fmt::format("gemm.{}: expected 1 to {} elements in each dimension and in all, found {}", role,
                                    most, n));
        elements *= n;
    }
    std::uint64_t extent = static_cast<std::uint64_t>(elements);
    if (!matrix.strides.empty()) {
        extent = 0;
        for (std::int64_t i = 0; i < elements; ++i) {
            std::int64_t at = 0, rest = i;
            for (std::size_t d = matrix.shape.size(); d-- > 0; rest /= matrix.shape[d])
                at += rest % matrix.shape[d] * matrix.strides[d];
            if (at < 0 || at > most) return fail(fmt::format("gemm.{}: its strides lead out of memory", role));
            out.buffer.positions.push_back(static_cast<std::uint64_t>(at));
            extent = std::max(extent, static_cast<std::uint64_t>(at) + 1);
        }
    }
    out.buffer.bytes.resize(host::bytes_of(out.buffer.dtype, extent));
    return out;
}

}  // namespace

Finding public_finding(const check::Finding& from) {
    Finding out;
    out.check = from.check, out.message = from.message, out.advice = from.advice, out.facts = from.facts;
    out.place = public_place(from.place);
    if (from.other) out.other = public_place(*from.other);
    out.times = from.times;
    out.note = from.severity == check::Severity::note;
    return out;
}

Result<check::Product> product_of(const Gemm& gemm, const Bytes& bytes) {
    host::Job job;
    job.gemm.emplace();
    std::vector<machine::Address> addresses;
    std::map<std::string, std::int64_t> extents;
    const auto add = [&](const std::string& role, const GemmMatrix& matrix) -> Result<void> {
        auto described = describe(role, matrix);
        if (!described) return std::unexpected(described.error());
        if (auto there = bytes(matrix.at, described->buffer.bytes.size()); !there)
            return std::unexpected(there.error());
        for (std::size_t d = 0; d < matrix.shape.size(); ++d) {
            const auto& [name, divisor] = described->operand.index[d];
            if (divisor != 1) continue;
            const auto [known, fresh] = extents.try_emplace(name, matrix.shape[d]);
            if (!fresh && known->second != matrix.shape[d])
                return fail(fmt::format("gemm.{}: expected {} of '{}', as another matrix has, found {}", role,
                                        known->second, name, matrix.shape[d]));
        }
        addresses.push_back(matrix.at.address);
        job.gemm->operands.push_back(std::move(described->operand));
        job.buffers.push_back(std::move(described->buffer));
        return {};
    };
    const std::pair<const char*, const GemmMatrix*> matrices[] = {{"d", &gemm.d},
                                                                  {"a", &gemm.a},
                                                                  {"b", &gemm.b},
                                                                  {"c", gemm.c ? &*gemm.c : nullptr},
                                                                  {"sfa", gemm.sfa ? &*gemm.sfa : nullptr},
                                                                  {"sfb", gemm.sfb ? &*gemm.sfb : nullptr}};
    for (const auto& [role, matrix] : matrices)
        if (matrix != nullptr)
            if (auto added = add(role, *matrix); !added) return std::unexpected(added.error());
    auto product = check::product_of(job, addresses);
    if (!product)
        return fail("gemm: more rows than the check can number",
                    "batch times m, and batch times n, must be below 1048576");
    return std::move(*product);
}

std::string to_string(const Finding& finding) {
    std::string out = fmt::format("{} ({}): {}\n  in {}, {}:{}: {}\n", finding.note ? "note" : "finding", finding.check,
                                  finding.message, finding.place.function, finding.place.file, finding.place.line,
                                  finding.place.instruction);
    for (const std::string& fact : finding.facts) out += "  " + fact + "\n";
    if (!finding.advice.empty()) out += "  change: " + finding.advice + "\n";
    return out;
}

bool CheckedLaunch::clean() const { return report.ok() && std::ranges::all_of(findings, &Finding::note); }

}  // namespace tilepath
