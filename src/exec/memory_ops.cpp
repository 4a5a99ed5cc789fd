#include <array>
#include <cstring>

#include "exec/executor.h"

namespace tilepath::exec {
namespace {

struct Wide128 {
    std::uint64_t low, high;
};

template <class T>
T read(const std::uint8_t* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

/// Calls visit(lane) for the active lanes.
template <class Visit>
void each_lane(LaneMask active, Visit visit) {
    if (active == all_lanes) {
        for (int lane = 0; lane < warp_lanes; ++lane) visit(lane);
    } else {
        for (LaneMask left = active; left != 0; left &= left - 1) visit(std::countr_zero(left));
    }
}

/// One element of the vector into one register of all active lanes. `Memory` may be signed: it extends.
template <class Memory, class Register>
void load_element(const Lanes& lanes, std::uint32_t at, std::uint32_t stride, Register* to, LaneMask active) {
    switch (lanes.pattern) {
        case Lanes::Pattern::uniform: {
            const auto value = static_cast<Register>(read<Memory>(lanes.base + at));
            if (active == all_lanes)
                std::fill_n(to, warp_lanes, value);
            else
                each_lane(active, [&](int lane) { to[lane] = value; });
            return;
        }
        case Lanes::Pattern::consecutive:
            if (sizeof(Memory) == sizeof(Register) && stride == sizeof(Memory)) {
                std::memcpy(to, lanes.base + at, sizeof(Register) * warp_lanes);
                return;
            }
            for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
                to[lane] = static_cast<Register>(read<Memory>(lanes.base + at + lane * stride));
            return;
        case Lanes::Pattern::scattered:
            each_lane(active, [&](int lane) { to[lane] = static_cast<Register>(read<Memory>(lanes.host[lane] + at)); });
            return;
    }
}

template <class Register>
void load_as(const Lanes& lanes, std::uint32_t at, std::uint32_t stride, int bytes, bool is_signed, Register* to,
             LaneMask active) {
    switch (bytes) {
        case 1:
            return is_signed ? load_element<std::int8_t>(lanes, at, stride, to, active)
                             : load_element<std::uint8_t>(lanes, at, stride, to, active);
        case 2:
            return is_signed ? load_element<std::int16_t>(lanes, at, stride, to, active)
                             : load_element<std::uint16_t>(lanes, at, stride, to, active);
        case 4:
            return is_signed ? load_element<std::int32_t>(lanes, at, stride, to, active)
                             : load_element<std::uint32_t>(lanes, at, stride, to, active);
        default: return load_element<std::uint64_t>(lanes, at, stride, to, active);
    }
}

template <class Memory, class Register>
void store_element(const Lanes& lanes, std::uint32_t at, std::uint32_t stride, const Register* from, LaneMask active) {
    const auto write = [](std::uint8_t* to, Register value) {
        const auto narrow = static_cast<Memory>(value);
        std::memcpy(to, &narrow, sizeof narrow);
    };
    switch (lanes.pattern) {
        case Lanes::Pattern::uniform:  // the last lane's value stays
            return write(lanes.base + at, from[31 - std::countl_zero(active)]);
        case Lanes::Pattern::consecutive:
            if (sizeof(Memory) == sizeof(Register) && stride == sizeof(Memory)) {
                std::memcpy(lanes.base + at, from, sizeof(Register) * warp_lanes);
                return;
            }
            for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) write(lanes.base + at + lane * stride, from[lane]);
            return;
        case Lanes::Pattern::scattered:
            each_lane(active, [&](int lane) { write(lanes.host[lane] + at, from[lane]); });
            return;
    }
}

template <class Register>
void store_as(const Lanes& lanes, std::uint32_t at, std::uint32_t stride, int bytes, const Register* from,
              LaneMask active) {
    switch (bytes) {
        case 1: return store_element<std::uint8_t>(lanes, at, stride, from, active);
        case 2: return store_element<std::uint16_t>(lanes, at, stride, from, active);
        case 4: return store_element<std::uint32_t>(lanes, at, stride, from, active);
        default: return store_element<std::uint64_t>(lanes, at, stride, from, active);
    }
}

}  // namespace

Step Executor::load(Context& c) {
    const Code& code = c.code;
    if (observer_ == nullptr) {
        if (const std::uint8_t* const from = consecutive_elements(c, machine::Access::Kind::read)) {
            std::memcpy(&c.rows[code.d], from, std::size_t{code.element_bytes} * warp_lanes);
            return Step::next;
        }
    }
    const std::uint32_t bytes = std::uint32_t{code.element_bytes} * code.vector;
    Lanes lanes;
    if (!resolve(c, machine::Access::Kind::read, bytes, lanes)) return Step::fault;
    if (observer_ != nullptr) observe_access(c, machine::Access::Kind::read, bytes, lanes);
    const bool is_signed = code.is_signed;
    if (code.element_bytes == 16) lanes.fill_host(bytes);
    for (std::uint32_t i = 0; i < code.vector; ++i) {
        Row* const to = &c.rows[code.places[i]];
        const std::uint32_t at = i * code.element_bytes;
        if (code.element_bytes == 16) {
            auto* const wide = reinterpret_cast<Wide128*>(to);
            each_lane(c.active, [&](int lane) { wide[lane] = read<Wide128>(lanes.host[lane] + at); });
        } else if (code.register_bytes == 8) {
            load_as(lanes, at, bytes, code.element_bytes, is_signed, reinterpret_cast<std::uint64_t*>(to), c.active);
        } else {
            load_as(lanes, at, bytes, code.element_bytes, is_signed, to->lane, c.active);
            if (code.register_bits == 16 && is_signed) each_lane(c.active, [&](int lane) { to->lane[lane] &= 0xFFFF; });
        }
    }
    return Step::next;
}

Step Executor::store(Context& c) {
    const Code& code = c.code;
    if (observer_ == nullptr) {
        if (std::uint8_t* const to = consecutive_elements(c, machine::Access::Kind::write)) {
            if (launch_.stale && code.space == program::Space::global)
                before_global_write(reinterpret_cast<std::uintptr_t>(to), code.element_bytes * warp_lanes);
            std::memcpy(to, &c.rows[code.b], std::size_t{code.element_bytes} * warp_lanes);
            wrote();
            return Step::next;
        }
    }
    const std::uint32_t bytes = std::uint32_t{code.element_bytes} * code.vector;
    Lanes lanes;
    if (!resolve(c, machine::Access::Kind::write, bytes, lanes)) return Step::fault;
    if (observer_ != nullptr) observe_access(c, machine::Access::Kind::write, bytes, lanes);
    if (launch_.stale) before_global_write(c, bytes, lanes);
    if (code.element_bytes == 16) lanes.fill_host(bytes);
    const bool local = lanes.mixed || lanes.space == program::Space::local;
    std::array<std::uint8_t, warp_lanes * 32> before;
    if (local) {
        lanes.fill_host(bytes);
        for (std::size_t lane = 0; lane < warp_lanes; ++lane) std::memcpy(&before[lane * 32], lanes.host[lane], bytes);
    }
    for (std::uint32_t i = 0; i < code.vector; ++i) {
        const Row* const from = &c.rows[code.places[1 + i]];
        const std::uint32_t at = i * code.element_bytes;
        if (code.element_bytes == 16) {
            const auto* const wide = reinterpret_cast<const Wide128*>(from);
            each_lane(c.active, [&](int lane) { std::memcpy(lanes.host[lane] + at, &wide[lane], 16); });
        } else if (code.register_bytes == 8) {
            store_as(lanes, at, bytes, code.element_bytes, reinterpret_cast<const std::uint64_t*>(from), c.active);
        } else {
            store_as(lanes, at, bytes, code.element_bytes, from->lane, c.active);
        }
    }
    // Stores to local memory change nothing for other warps; unoptimised loops that only poll store what was there.
    for (std::size_t lane = 0; local && lane < warp_lanes; ++lane)
        if (std::memcmp(&before[lane * 32], lanes.host[lane], bytes) != 0) ++c.warp.local_changes;
    if (lanes.mixed || !local) wrote();
    return Step::next;
}

}  // namespace tilepath::exec
