#pragma once
#include <tilepath/layout.h>

#include "layout/composed.h"

namespace tilepath {

struct Layout::State {
    layout::ComposedLayout layout;
};

Layout public_layout(layout::ComposedLayout layout);

}  // namespace tilepath
