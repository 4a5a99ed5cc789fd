// tcgen05.cp and tcgen05.shift: PTX ISA 9.7.16.9.
#include "atom/tmem_copy.h"
#include "base/assert.h"
#include "isa/tensor_memory.h"

namespace tilepath::isa {
namespace {

void copy(Lowering& to, const Bound& in) {
    program::TmemCopy copy;
    copy.cta_group = cta_group(in);
    const auto shape = atom::tmem_copy_named(in.word("shape"), in.word("multicast"));
    TILEPATH_ASSERT(shape, "a form of tcgen05.cp with a shape that atom/ does not know");
    copy.shape = *shape;
    copy.data = in.word("src_fmt") == "b6x16_p32"   ? atom::MatrixData::b6x16_p32
                : in.word("src_fmt") == "b4x16_p64" ? atom::MatrixData::b4x16_p64
                                                    : atom::MatrixData::b8;
    const Address address = tensor_address(to, in["taddr"]);
    const Operand descriptor = to.read(in["s_desc"], DataType::u64);
    MicroOp& out = to.emit(Op::tcgen05_cp, DataType::none, {}, {address.base, descriptor});
    out.space = Space::shared;
    out.immediate = address.offset;
    out.variant = static_cast<std::uint8_t>(copy.cta_group);
    out.detail = static_cast<std::uint32_t>(to.out().tmem_copies.size());
    to.out().tmem_copies.push_back(copy);
}

void shift(Lowering& to, const Bound& in) {
    const Address address = tensor_address(to, in["taddr"]);
    MicroOp& out = to.emit(Op::tcgen05_shift, DataType::none, {}, {address.base});
    out.immediate = address.offset;
    out.variant = static_cast<std::uint8_t>(cta_group(in));
}

/// With or without a widening of 4- and 6-bit elements to bytes.
Family copies(bool widens) {
    Family family{.manual = "9.7.16.9.2", .forms = {}, .lower = copy, .evidence = Evidence::Kind::model};
    if (widens) family.inferred = "where a byte holds the bits of an element: as kind::mxf8f6f4 has A in Tensor Memory";
    auto add = [&](std::string_view shape, std::string_view multicast) {
        FormText form{keep(fmt::format("tcgen05.cp.group.shape{}{} [taddr], s_desc:b64",
                                       multicast.empty() ? "" : ".multicast", widens ? ".dst_fmt.src_fmt" : "")),
                      {cta_groups, shape},
                      tensor_memory};
        if (!multicast.empty()) form.words.push_back(multicast);
        if (widens) form.words.insert(form.words.end(), {"dst_fmt: b8x16", "src_fmt: b6x16_p32 b4x16_p64"});
        family.forms.push_back(std::move(form));
    };
    add("shape: 128x256b 4x256b 128x128b", "");
    add("shape: 64x128b", "multicast: warpx2::02_13 warpx2::01_23");
    add("shape: 32x128b", "multicast: warpx4");
    return family;
}

}  // namespace

std::vector<Family> tcgen05_copy_families() {
    return {copies(false),
            copies(true),
            {.manual = "9.7.16.9.3",
             .forms = {{"tcgen05.shift.group.down [taddr]",
                        {cta_groups},
                        since(8, 6, 100, Suffix::tensor_memory_specific)}},
             .lower = shift,
             .inferred = "lane i from i + 1 in all four windows of 32 lanes, as measured on a B200 with lane 0; "
                         "another lane is where it "
                         "begins"}};
}

}  // namespace tilepath::isa
