// What every program of tiles begins and ends with, and the choice of steps.
#include "generated/tiles.h"

namespace tilepath::generated {

std::uint64_t Tiles::number(std::uint64_t value) {
    if (!spoils(16)) return value;
    switch (choices_.below(5)) {
        case 0: return value + 1;
        case 1: return value ^ 1ull << choices_.below(32);
        case 2: return value * 2;
        case 3: return 0;
        default: return choices_.bits() & 0xFFFFFFFF;
    }
}

std::string Tiles::values(std::size_t count) const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < count; ++i) names.push_back(fmt::format("v{}", i % 128));
    return fmt::format("{{{}}}", fmt::join(names, ", "));
}

void Tiles::instruction(std::string_view guard, const isa::Instance& instance, const Slots& slots, std::size_t count) {
    const isa::Form& form = *instance.form;
    if (count == any_count)
        count = form.least_operands + choices_.below(form.operands.size() - form.least_operands + 1);
    count = std::max(count, form.least_operands);
    std::vector<std::string> operands = operands_of(instance, count, choices_);
    for (std::size_t i = 0; i < operands.size(); ++i)
        if (const auto at = slots.find(form.operands[i].name); at != slots.end()) operands[i] = at->second;
    line("{}{} {}", guard, isa::head_of(instance), fmt::join(operands, ", "));
}

Kernel Tiles::run() {
    Kernel kernel;
    kernel.wild = wild_;
    calm_ = 1 + 4 * choices_.below(5);
    kernel.cluster = cluster_ = choices_.one_in(2) ? 2 : 1;
    kernel.block = threads_ = choices_.one_in(4) ? 256 : 128;
    kernel.grid = cluster_ * (1 + choices_.below(512 / threads_ / cluster_));
    if (forms_.has("tcgen05.alloc") && !choices_.one_in(4)) {
        columns_ = 64u << choices_.below(4);
        group_ = cluster_ == 2 && choices_.one_in(2) ? 2 : 1;
    }
    claims_ = forms_.has("clusterlaunchcontrol.try_cancel.async") && choices_.one_in(4);
    registers_ = forms_.has("setmaxnreg") && choices_.one_in(3) ? 128 : 0;
    constexpr std::string_view reductions[] = {"add", "min", "max", "and", "or", "xor"};
    reduction_ = choices_.among(reductions);
    for (const auto& [of_slots, reduces] : {std::pair(false, false), {false, false}, {true, false}, {true, true}})
        maps_.push_back(any_map(of_slots, reduces));
    kernel.maps = maps_;
    for (Kernel::Map& each : kernel.maps) {
        if (!wild_ || !choices_.one_in(4)) continue;
        machine::TensorMap& map = each.map;
        map.dims[choices_.below(5)] = number(choices_.bits());
        map.strides[choices_.below(4)] = choices_.bits() % (1ull << 41) / 16 * 16;
        map.element_strides[choices_.below(5)] = choices_.below(8);
        map.box[choices_.below(5)] = choices_.below(257);
        if (choices_.one_in(3)) map.rank = choices_.below(7);
    }
    prologue(kernel);
    for (unsigned left = 2 + choices_.below(8); left != 0; --left) step_of_any_kind();
    epilogue(kernel);
    kernel.text = header(kernel) + out_ + "}\n";
    return kernel;
}

std::string Tiles::header(const Kernel& kernel) const {
    std::string text = fmt::format(
        ".version 9.0\n.target {}\n.address_size 64\n"
        ".visible .entry k(.param .u64 input, .param .u64 slots, .param .u64 results, .param .u64 counters",
        forms_.target());
    for (std::size_t i = 0; i < kernel.maps.size(); ++i) text += fmt::format(", .param .align 64 .b8 m{}[128]", i);
    text += ")";
    if (registers_ != 0) text += fmt::format(" .maxnreg {}", registers_);
    return text + "\n{\n";
}

void Tiles::prologue(const Kernel& kernel) {
    out_ += fmt::format(
        "    .reg .pred p<8>, pt<2>, one, first, lowest, issue, done; .reg .b8 c<4>; .reg .b16 h<12>;\n"
        "    .reg .b32 r<40>, v<128>, t<8>, tid, warp, cta, rank, other, tm, lanes, tiles, bars, sum;\n"
        "    .reg .b64 q<20>, w<4>, da, db, from, own, state; .reg .b64 map<{}>; .reg .b128 x<4>;\n"
        "    .shared .align 1024 .b8 tile_space[{}]; .shared .align 16 .b8 bar_space[64];\n"
        "    .shared .align 16 .b8 answer[16]; .shared .b32 allocated;\n",
        kernel.maps.size(), tile_bytes);
    line("mov.u32 tid, %tid.x");
    line("shr.u32 warp, tid, 5");
    line("mov.u32 cta, %ctaid.x");
    line("mov.u32 rank, %cluster_ctarank");
    line("xor.b32 other, rank, {}", cluster_ - 1);
    line("mov.u32 tiles, tile_space");
    line("mov.u32 bars, bar_space");
    line("setp.eq.u32 one, tid, 0");
    line("setp.lt.u32 lowest, warp, 4");
    line("setp.eq.u32 first, rank, 0");
    line("and.pred first, first, one");
    line("{}", group_ == 2 ? "and.pred issue, first, first" : "and.pred issue, one, one");
    for (std::size_t i = 0; i < kernel.maps.size(); ++i) {
        line("mov.b64 map{0}, m{0}", i);
        line("cvta.param.u64 map{0}, map{0}", i);
    }
    line("mov.u32 tm, 0");
    line("mov.u32 lanes, 0");
    if (columns_ != 0) allocate();
    if (claims_) out_ += "work:\n";
    fill();
}

/// Registers, shared memory and Tensor Memory of one CTA's work.
void Tiles::fill() {
    const std::string again = fresh("fill");
    line("ld.param.u64 from, [input]");
    line("mad.wide.u32 from, cta, 512, from");
    for (unsigned i = 0; i < 40; ++i) line("ld.global.b32 r{}, [from+{}]", i, 4 * i);
    for (unsigned i = 0; i < 20; ++i) line("ld.global.b64 q{}, [from+{}]", i, 160 + 8 * i);
    for (unsigned i = 0; i < 12; ++i) line("cvt.u16.u32 h{}, r{}", i, i);
    for (unsigned i = 0; i < 8; ++i) line("setp.lt.s32 p{}, r{}, r{}", i, i, i + 8);
    for (unsigned i = 0; i < 4; ++i) line("mov.b128 x{}, {{q{}, q{}}}", i, i, i + 4);
    for (unsigned i = 0; i < 128; ++i) line("add.u32 v{}, r{}, {}", i, i % 40, i);
    line("mov.u32 sum, 0");
    line("ld.param.u64 own, [slots]");
    line("mad.wide.u32 own, cta, 4096, own");
    line("add.u64 own, own, 32768");
    line("ld.param.u64 from, [input]");
    line("mad.lo.u32 t0, tid, 16, tiles");
    line("mad.lo.u32 t1, cta, 48, tid");
    line("mov.u32 t2, {}", tile_bytes / 16 / threads_);
    out_ += again + ":\n";
    line("shl.b32 t3, t1, 4");
    line("and.b32 t3, t3, {}", input_bytes - 16);
    line("cvt.u64.u32 w0, t3");
    line("add.u64 w0, w0, from");
    line("ld.global.v4.b32 {{t4, t5, t6, t7}}, [w0]");
    line("st.shared.v4.b32 [t0], {{t4, t5, t6, t7}}");
    line("add.u32 t0, t0, {}", 16 * threads_);
    line("add.u32 t1, t1, {}", threads_ + 3);
    line("sub.u32 t2, t2, 1");
    line("setp.ne.u32 pt0, t2, 0");
    line("@pt0 bra {}", again);
    if (columns_ != 0) fill_cells();
    meet();
}

void Tiles::step_of_any_kind() {
    if (wild_ && choices_.one_in(2 + calm_)) return any_form();
    const unsigned kind = choices_.below(20);
    if (columns_ != 0 && kind < 10) {
        if (kind < 4) return product();
        if (kind < 6) return copy_cells();
        if (kind < 7 && forms_.has("tcgen05.shift")) return shift_cells();
        return transfer(kind < 9);
    }
    if (forms_.has("wgmma.mma_async.sync") && kind < 5) return warpgroup_product();
    if (kind == 10) return barrier_phases();
    if (kind == 11 && cluster_ == 2) return choices_.one_in(2) ? remote_arrivals() : remote_stores();
    if (kind == 12) return bulk_load();
    if (kind == 13 && cluster_ == 2) return bulk_to_neighbour();
    if (kind == 14) return bulk_store();
    if (kind == 15 && forms_.has("st.bulk")) return zero_shared();
    if (kind == 16 && registers_ != 0) return change_registers();
    if (kind == 17 && wild_ && forms_.has("tensormap.replace.tile")) return change_map();
    if (kind < 18) return tensor_load();
    tensor_store(kind == 18);
}

/// The next CTA whose work is to be done: the own work's end, or the work of one that has been cancelled.
void Tiles::claim_next() {
    begin_barrier(1);
    const bool everyone = cluster_ == 2;
    line("@one mbarrier.arrive.expect_tx.shared.b64 state, [bars], 16");
    if (everyone) meet();
    line("@{} clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes{}.b128 [answer], [bars]",
         everyone ? "first" : "one", everyone ? ".multicast::cluster::all" : "");
    wait(0);
    line("ld.shared.b128 x0, [answer]");
    line("clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 done, x0");
    line("@done clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 cta, x0");
    line("@done add.u32 cta, cta, rank");
    step("fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster");
    end_barrier();
    line("@done bra work");
}

void Tiles::epilogue(const Kernel& kernel) {
    if (columns_ != 0) {
        // What cells hold, a word for each lane.
        const std::string again = fresh("cells"), end = fresh("over");
        line("@!lowest bra {}", end);
        line("mov.u32 t0, {}", columns_ / 16);
        line("mov.u32 t1, lanes");
        out_ += again + ":\n";
        line("tcgen05.ld.sync.aligned.32x32b.x16.b32 {}, [t1]", values(16));
        line("tcgen05.wait::ld.sync.aligned");
        digest(16);
        line("add.u32 t1, t1, 16");
        line("sub.u32 t0, t0, 1");
        line("setp.ne.u32 pt0, t0, 0");
        line("@pt0 bra {}", again);
        out_ += end + ":\n";
    }
    line("ld.param.u64 w0, [results]");
    line("mad.lo.u32 t0, cta, {}, tid", kernel.block);
    line("mad.wide.u32 w0, t0, {}, w0", result_bytes);
    line("st.global.b32 [w0], sum");
    for (unsigned i = 0; i < 32; ++i) line("st.global.b32 [w0+{}], r{}", 4 + 4 * i, i);
    for (unsigned i = 0; i < 8; ++i) line("st.global.b64 [w0+{}], q{}", 136 + 8 * i, i);
    line("mad.lo.u32 t0, tid, 16, tiles");
    for (unsigned i = 0; i < tile_bytes / 16 / threads_; ++i) {
        line("ld.shared.v4.b32 {{t4, t5, t6, t7}}, [t0+{}]", i * 16 * threads_);
        line("st.global.v4.b32 [w0+{}], {{t4, t5, t6, t7}}", 208 + 16 * i);
    }
    meet();
    if (claims_) claim_next();
    if (columns_ != 0) free();
    line("ret");
}

Kernel generate_tiles(const TileForms& forms, Choices& choices, bool wild) { return Tiles(forms, choices, wild).run(); }

}  // namespace tilepath::generated
