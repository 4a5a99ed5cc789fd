// Any text: every notation's reader must end, with a layout or with errors that have places; and what is written of a
// layout must read back to the same one.
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "layout/cute.h"
#include "layout/linear.h"
#include "layout/notation.h"
#include "layout/table.h"

using namespace tilepath;

namespace {

template <class Value, class Parse>
void round_trip(const Result<Value>& value, Parse parse) {
    if (!value) {
        TILEPATH_ASSERT(!to_string(value.error()).empty(), "a refusal says why");
        return;
    }
    const auto again = parse(to_string(*value), "again");
    TILEPATH_ASSERT(again, "what is written can be read");
    TILEPATH_ASSERT(*again == *value, "what is written is the same layout");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    const auto plain = layout::parse_layout(text);
    const auto composed = layout::parse_composed(text);
    const auto linear = layout::parse_linear(text);
    const auto cute = layout::parse_cute(text);
    round_trip(plain, layout::parse_layout);
    round_trip(composed, layout::parse_composed);
    round_trip(linear, layout::parse_linear);
    round_trip(cute, layout::parse_layout);
    if (plain) TILEPATH_ASSERT(composed && *composed == layout::ComposedLayout(*plain), "the two readers agree");
    if (composed && composed->size() <= 4096 && composed->layout().replicas() <= 64) {
        for (std::int64_t element = 0; element < composed->size(); ++element)
            TILEPATH_ASSERT(!composed->at(element).empty(), "every element lies somewhere");
        if (const auto text_of_cute = layout::to_cute(*composed)) {
            const auto back = layout::parse_composed(*text_of_cute);
            TILEPATH_ASSERT(back, "CuTe's notation can be read");
            const auto same = layout::equal(*back, *composed);
            TILEPATH_ASSERT(!same || *same, "CuTe's notation is the same layout");
        }
        if (const auto bits = layout::LinearLayout::from(*composed)) {
            const auto back = bits->to_layout();
            TILEPATH_ASSERT(!back || back->size() == composed->size(), "as many elements");
        }
    }
    return 0;
}
