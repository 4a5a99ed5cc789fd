#pragma once
// Programs of asynchronous copies, barriers in memory, clusters, warpgroups and Tensor Memory. Each is a row of steps
// that end with all threads of the cluster together, what they have begun having landed; so there is no race. A wild
// one has operands spoilt, waits and fences left out, and instructions of any form amid them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "generated/program.h"
#include "generated/tile_forms.h"

namespace tilepath::generated {

inline constexpr std::uint32_t tile_bytes = 32768;

class Tiles {
  public:
    Tiles(const TileForms& forms, Choices& choices, bool wild) : forms_(forms), choices_(choices), wild_(wild) {}

    Kernel run();

  private:
    /// Operands by the names of their slots.
    using Slots = std::map<std::string_view, std::string, std::less<>>;

    template <class... Values>
    void line(fmt::format_string<Values...> text, Values&&... values) {
        out_ += fmt::format("    {};\n", fmt::format(text, std::forward<Values>(values)...));
    }
    /// A line that a wild program may lack.
    template <class... Values>
    void step(fmt::format_string<Values...> text, Values&&... values) {
        if (!spoils(20)) line(text, std::forward<Values>(values)...);
    }
    bool spoils(std::uint32_t one_in) { return wild_ && choices_.one_in(one_in * calm_); }
    /// The value, or in a wild program something else.
    std::uint64_t number(std::uint64_t value);
    std::string fresh(std::string_view what) { return fmt::format("{}{}", what, names_++); }
    /// The instruction with these operands and any registers for the rest; `guard` with its blank, or empty. `count`:
    /// of its operands; at least those that it must have.
    static constexpr std::size_t any_count = ~std::size_t{0};
    void instruction(std::string_view guard, const isa::Instance& instance, const Slots& slots, std::size_t count = 0);
    std::string values(std::size_t count) const;  ///< `{v0, v1, …}`

    // What every program begins and ends with.
    std::string header(const Kernel& kernel) const;
    void prologue(const Kernel& kernel);
    void fill();
    void claim_next();
    void epilogue(const Kernel& kernel);
    void step_of_any_kind();

    // Where threads meet.
    void meet();
    void begin_barrier(std::uint32_t count, unsigned index = 0);
    void wait(unsigned parity, unsigned index = 0);
    void end_barrier(unsigned index = 0);
    void publish();  ///< what threads wrote, to the asynchronous proxy
    void digest(std::size_t count);

    void barrier_phases();
    void remote_arrivals();
    void remote_stores();
    void bulk_load();
    void bulk_to_neighbour();
    void bulk_store();
    void tensor_load();
    void tensor_store(bool reduces);
    void change_map();
    void zero_shared();
    void warpgroup_product();
    void change_registers();

    // Tensor Memory.
    void allocate();
    void free();
    void fill_cells();
    void meet_at_cells();
    void transfer(bool store);
    void copy_cells();
    void shift_cells();
    void product();
    bool product_of(const isa::Instance& instance);
    void commit();
    std::string group() const { return fmt::format("cta_group::{}", group_); }
    std::string cells(std::string_view name, std::uint32_t lane, std::uint32_t column);

    void any_form();
    std::string anywhere(const isa::Instance& instance, const isa::OperandSlot& slot, const std::string& text);

    Kernel::Map any_map(bool of_slots, bool reduces);

    const TileForms& forms_;
    Choices& choices_;
    const bool wild_;
    std::string out_;
    std::uint32_t threads_ = 128, cluster_ = 1, columns_ = 0, group_ = 1;
    std::uint32_t calm_ = 1;  ///< of a wild program: how much less is spoilt in it
    bool claims_ = false;     ///< CTAs go on with the work of others: clusterlaunchcontrol
    unsigned names_ = 0, registers_ = 0;
    std::vector<Kernel::Map> maps_;
    std::string_view reduction_;
};

Kernel generate_tiles(const TileForms& forms, Choices& choices, bool wild = false);

}  // namespace tilepath::generated
