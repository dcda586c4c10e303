// Columns of a table that must not wrap at a terminal's edge.
#pragma once

#include <cstddef>
#include <vector>

#include "cli/console.h"

namespace forelock::cli {

// Takes from the widest columns until all of them, with the gaps between them, have room in `columns`, or are so narrow
// that they say nothing.
void fit_columns(std::vector<std::size_t>& widths, std::size_t columns);

// The same for the terminal behind stdout; elsewhere nothing is cut.
void fit_columns(std::vector<std::size_t>& widths, const Console& console);

}  // namespace forelock::cli
