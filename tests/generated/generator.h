#pragma once
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "generated/program.h"

namespace tilepath::generated {

inline constexpr std::uint32_t counter_bytes = 8 * std::size(counters);

/// Writes one program: program.cpp what every one has, the other files its statements.
class Generator {
  public:
    Generator(const Instructions& instructions, Choices& choices, bool wild)
        : all_(instructions), choices_(choices), wild_(wild) {}

    Kernel run();

  private:
    /// What is known where a statement stands.
    struct Scope {
        bool together = false;  ///< all lanes of each warp are here
        bool cta = false;       ///< so are all threads of the CTA
        bool cluster = false;   ///< and of its cluster
        bool memory = true;     ///< the kernel's own addresses are at hand
        int depth = 0;
    };

    template <class... Values>
    void line(fmt::format_string<Values...> text, Values&&... values) {
        out_ += fmt::format("    {};\n", fmt::format(text, std::forward<Values>(values)...));
    }
    void label(const std::string& name) { out_ += name + ":\n"; }
    std::string fresh(std::string_view what) { return fmt::format("{}{}", what, names_++); }
    std::string any(char kind);
    std::string guard();

    std::string header() const;

    std::string registers() const;

    /// A function of a word and a double word, whose other registers come from both.
    std::string function(unsigned index);

    /// h, x and p from r and q.
    void set_small_registers();

    void prologue();

    void epilogue();

    void statements(unsigned count, Scope scope);

    void statement(Scope scope);

    void plain();
    void warp();

    void memory();
    /// Near a place that is the kernel's, or anywhere at all.
    std::string anywhere(bool narrow);
    /// Forms whose `.global` may be left out mean global memory all the same.
    static bool only_generic(const isa::Instance& instance) { return instance.form->modifier("global") < 0; }
    template <class Within>
    std::string generic_address(const isa::Instance& instance, Within within) {
        switch (choices_.below(instance.form->opcode.starts_with("prefetch") ? 1 : 3)) {
            case 0: return fmt::format("[own+{}]", within(slot_bytes));
            case 1: return fmt::format("[generic_shared+{}]", within(shared_slot_bytes));
            default:
                return fmt::format("[{}+{}]", instance.form->opcode == "ld" ? "generic_local" : "generic_shared",
                                   within(local_bytes));
        }
    }

    /// Rows that other lanes write: nobody writes while they are read, nor reads while they are written.
    void matrix();

    /// What a neighbour in the CTA has in its slot, between two barriers.
    void exchange();
    std::string barrier();

    /// What a neighbour's CTA in the cluster has in its slot, or an asynchronous store into the own one from there.
    void cluster_exchange();
    void cluster_barrier();

    /// An mbarrier for one phase of the whole CTA; in half of them each thread's copy arrives for it.
    void shared_barrier();

    void copy();

    /// Copies into the thread's own slot, which it leaves alone until they are waited for. Two copies to one place may
    /// land in either order, so each group is waited for before the next.
    void asynchronous_copy(Scope scope);

    void count();

    void special_register();

    void carry_chain();

    void pack();

    void call();

    void branch(Scope scope);

    /// All of a CTA go one way.
    void uniform_branch(Scope scope);

    /// A counted loop: of as many turns for all, or of each lane's own number, perhaps left early.
    void loop(Scope scope);

    void table(Scope scope);

    const Instructions& all_;
    Choices& choices_;
    std::string out_;
    std::uint32_t threads_ = 32, cluster_ = 1;
    bool ragged_ = false, wild_ = false;
    unsigned functions_ = 0, callable_ = 0, function_ = 0, names_ = 0;
    bool by_register_[4] = {};
};

}  // namespace tilepath::generated
