#include "host/tensor_map_table.h"

#include <fmt/format.h>

namespace tilepath::host {
namespace {

using machine::Interleave;
using machine::TensorMap;

class TensorMapReader {
  public:
    TensorMapReader(TomlTable& table, TensorMapTable& out) : table_(table), out_(out), map_(out.map) {}

    void read() {
        out_.buffer = needed_text("buffer", "the buffer that holds the tensor");
        out_.offset = table_.integer("offset", 0, std::int64_t{1} << 40).value_or(0);
        read_type();
        const auto dims = numbers("dims", 1, std::int64_t{1} << 32, {});
        if (!dims) return;
        map_.rank = static_cast<std::uint32_t>(dims->size());
        if (map_.rank < 1 || map_.rank > TensorMap::most_dimensions) {
            table_.error(*table_.find("dims"), fmt::format("expected 1 to 5 dimensions, found {}", map_.rank));
            return;
        }
        std::copy(dims->begin(), dims->end(), map_.dims.begin());
        if (map_.rank > 1 || table_.has("strides"))
            fill(map_.strides, numbers("strides", 0, std::int64_t{1} << 50, map_.rank - 1));
        if (table_.has("element_strides"))
            fill(map_.element_strides, numbers("element_strides", 0, 1 << 20, map_.rank));
        read_choices();
        if (const auto mode = table_.choice("mode", {"tiled", "im2col", "im2col_w", "im2col_w_128"}))
            map_.walk = static_cast<machine::ImageWalk>(*mode);
        if (!map_.tiled())
            read_im2col();
        else
            fill(map_.box, numbers("box", 0, 1 << 20, map_.rank));
        table_.finish();
        if (!complete_) return;
        TensorMap placed = map_;
        placed.address = static_cast<std::uint64_t>(out_.offset);
        for (const Diagnostic& broken : machine::broken_rules(placed))
            table_.error(fmt::format("{}: {}", table_.name(), broken.message));
    }

  private:
    std::string needed_text(std::string_view key, std::string_view what) {
        if (auto text = table_.text(key)) return *text;
        if (!table_.has(key)) table_.error(fmt::format("{}: expected '{}', {}", table_.name(), key, what));
        complete_ = false;
        return {};
    }

    void read_type() {
        const std::string name =
            needed_text("dtype", "the type of the tensor's elements: one of " + machine::tensor_type_names());
        if (name.empty()) return;
        if (const auto type = machine::tensor_type_named(name)) {
            map_.type = *type;
            return;
        }
        complete_ = false;
        table_.error(*table_.find("dtype"), fmt::format("tensor maps have no dtype '{}'", name),
                     "expected one of: " + machine::tensor_type_names() + "; 8-bit numbers are u8");
    }

    /// `count`: how many there must be.
    std::optional<std::vector<std::int64_t>> numbers(std::string_view key, std::int64_t least, std::int64_t most,
                                                     std::optional<std::size_t> count) {
        auto values = table_.integers(key, least, most);
        if (!values && !table_.has(key))
            table_.error(fmt::format("{}: expected '{}'{}", table_.name(), key,
                                     count ? fmt::format(", {} integers", *count) : ""));
        if (values && count && values->size() != *count) {
            table_.error(*table_.find(key),
                         fmt::format("expected {} integers in '{}', found {}", *count, key, values->size()));
            values.reset();
        }
        complete_ = complete_ && values;
        return values;
    }

    template <class Numbers>
    void fill(Numbers& out, const std::optional<std::vector<std::int64_t>>& values) {
        for (std::size_t i = 0; values && i < values->size(); ++i)
            out[i] = static_cast<typename Numbers::value_type>((*values)[i]);
    }

    void read_choices() {
        if (auto name = table_.text("swizzle")) {
            const auto mode = layout::swizzle_mode_named(*name);
            if (mode && layout::traits(*mode).tensor_map) {
                map_.swizzle = *mode;
            } else {
                std::string names;
                for (const layout::SwizzleTraits& row : layout::all_swizzle_modes())
                    if (row.tensor_map) names += fmt::format("{}{}", names.empty() ? "" : ", ", row.name);
                table_.error(*table_.find("swizzle"), fmt::format("tensor maps have no swizzle '{}'", *name),
                             "expected one of: " + names);
                complete_ = false;
            }
        }
        if (const auto interleave = table_.choice("interleave", {"none", "16B", "32B"}))
            map_.interleave = static_cast<Interleave>(*interleave);
        if (const auto fill = table_.choice("oob", {"zero", "nan"})) map_.nan_fill = *fill == 1;
        if (const auto bytes = table_.choice("l2_promotion", {"none", "64B", "128B", "256B"}))
            map_.l2_promotion = static_cast<std::uint8_t>(*bytes);
    }

    void read_im2col() {
        if (map_.rank < 3) {
            table_.error(*table_.find("dims"), fmt::format("expected 3 to 5 dimensions with mode = \"{}\", found {}",
                                                           name(map_.walk), map_.rank));
            complete_ = false;
            return;
        }
        constexpr std::int64_t most = 1 << 20;
        const std::size_t corners = map_.walk == machine::ImageWalk::im2col ? map_.rank - 2 : 1;
        fill(map_.lower, numbers("lower_corner", -most, most, corners));
        fill(map_.upper, numbers("upper_corner", -most, most, corners));
        const auto one = [&](std::string_view key, std::uint32_t& out) {
            const auto value = table_.integer(key, 0, most);
            if (!value && !table_.has(key))
                table_.error(
                    fmt::format("{}: expected '{}', as mode = \"{}\" asks for", table_.name(), key, name(map_.walk)));
            complete_ = complete_ && value;
            out = static_cast<std::uint32_t>(value.value_or(1));
        };
        one("channels_per_pixel", map_.channels_per_pixel);
        if (map_.walk != machine::ImageWalk::im2col_w_128 || table_.has("pixels_per_column"))
            one("pixels_per_column", map_.pixels_per_column);
    }

    TomlTable& table_;
    TensorMapTable& out_;
    TensorMap& map_;
    bool complete_ = true;  ///< so that the rules can be judged
};

}  // namespace

TensorMapTable read_tensor_map(const std::string& name, TomlTable& table) {
    TensorMapTable out;
    out.name = name;
    out.place = table.place();
    TensorMapReader(table, out).read();
    return out;
}

}  // namespace tilepath::host
