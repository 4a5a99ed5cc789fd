#include "isa/special_registers.h"

#include <charconv>
#include <unordered_map>

namespace tilepath::isa {
namespace {

using program::DataType;
using program::SpecialRegister;

constexpr SpecialRegisterTraits table[] = {
#define TILEPATH_SPECIAL(text, id, index, type) {text, SpecialRegister::id, index, DataType::type},
#include "isa/special_registers.inc"
#undef TILEPATH_SPECIAL
};

std::optional<int> number_after(std::string_view text, std::string_view prefix, int limit) {
    if (!text.starts_with(prefix)) return {};
    std::string_view digits = text.substr(prefix.size());
    int number = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc{} || end != digits.data() + digits.size() || number < 0 || number >= limit) return {};
    return number;
}

}  // namespace

std::optional<SpecialRegisterTraits> special_register_named(std::string_view text) {
    static const auto by_text = [] {
        std::unordered_map<std::string_view, const SpecialRegisterTraits*> map;
        for (const SpecialRegisterTraits& row : table) map.emplace(row.text, &row);
        return map;
    }();
    if (auto found = by_text.find(text); found != by_text.end()) return *found->second;
    if (auto n = number_after(text, "%envreg", 32)) return SpecialRegisterTraits{text, SpecialRegister::envreg, *n, DataType::b32};
    if (text.ends_with("_64"))
        if (auto n = number_after(text.substr(0, text.size() - 3), "%pm", 8))
            return SpecialRegisterTraits{text, SpecialRegister::pm64, *n, DataType::u64};
    if (auto n = number_after(text, "%pm", 8)) return SpecialRegisterTraits{text, SpecialRegister::pm, *n, DataType::u32};
    return {};
}

}  // namespace tilepath::isa
