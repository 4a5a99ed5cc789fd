// --show: what it may ask for.
#include <fmt/format.h>

#include <charconv>

#include "host/stop.h"

namespace tilepath::host {
namespace {

std::optional<std::uint64_t> number(std::string_view text) {
    const bool hex = text.starts_with("0x") || text.starts_with("0X");
    if (hex) text.remove_prefix(2);
    std::uint64_t value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
    if (error != std::errc{} || end != text.data() + text.size()) return {};
    return value;
}

constexpr std::string_view forms =
    "a register: %r1, %r1:f32; memory: shared:0x400+64, local:0+16, param:0+8, global:0x7f0000000000+64, BUFFER+64, "
    "BUFFER[128]+64:f16";
constexpr std::uint64_t most_bytes = 1 << 16;

std::optional<program::Space> space_named(std::string_view word) {
    if (word == "shared") return program::Space::shared;
    if (word == "global") return program::Space::global;
    if (word == "local") return program::Space::local;
    if (word == "param") return program::Space::param;
    return {};
}

}  // namespace

Result<ShowItem> parse_show_item(const std::string& text) {
    ShowItem item;
    item.text = text;
    std::string_view rest = text;
    auto wrong = [&](std::string what) {
        return fail(fmt::format("--show {}: {}", text, what), fmt::format("expected {}", forms));
    };
    if (const std::size_t colon = rest.find(':'); colon != std::string_view::npos && !rest.starts_with('%')) {
        item.space = space_named(rest.substr(0, colon));
        if (item.space) rest.remove_prefix(colon + 1);
    }
    if (const std::size_t colon = rest.rfind(':'); colon != std::string_view::npos) {
        item.type = dtype_named(rest.substr(colon + 1));
        if (!item.type)
            return wrong(fmt::format("'{}' is no dtype; there are {}", rest.substr(colon + 1), dtype_names()));
        rest = rest.substr(0, colon);
    }
    const std::size_t plus = rest.rfind('+');
    if (!item.space && plus == std::string_view::npos && rest.find('[') == std::string_view::npos) {
        if (rest.empty()) return wrong("found nothing");
        item.name = rest;  // a register
        return item;
    }
    if (plus == std::string_view::npos) return wrong("how many bytes? write +64 behind the address");
    auto bytes = number(rest.substr(plus + 1));
    if (!bytes || *bytes == 0 || *bytes > most_bytes)
        return wrong(fmt::format("expected 1 to {} bytes behind the +", most_bytes));
    item.bytes = *bytes;
    rest = rest.substr(0, plus);
    if (auto address = number(rest); address && item.space) {
        item.address = *address;
    } else if (rest.starts_with('%') && item.space) {
        item.address_register = rest;
    } else if (!item.space || item.space == program::Space::global) {
        item.space = program::Space::global;
        if (const std::size_t open = rest.find('['); open != std::string_view::npos) {
            auto offset = rest.ends_with(']') ? number(rest.substr(open + 1, rest.size() - open - 2)) : std::nullopt;
            if (!offset) return wrong("expected the buffer's byte between [ and ]");
            item.address = *offset;
            rest = rest.substr(0, open);
        }
        item.name = rest;
    } else {
        return wrong(fmt::format("'{}' is no address", rest));
    }
    return item;
}

}  // namespace tilepath::host
