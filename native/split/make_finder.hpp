// SPDX-License-Identifier: BSD-3-Clause
// The finder that belongs to some parameters.
#pragma once

#include <memory>

#include "rows/rows.hpp"
#include "split/node.hpp"
#include "split/splits.hpp"

namespace co2 {

// Throws std::invalid_argument if it does not exist for the loss.
template <RowKind Rows, LossKind Loss>
std::unique_ptr<SplitFinder<Loss>> make_finder(const Rows& rows,
                                               const Standardisation& standardisation,
                                               const Loss& loss, const SplitParams& params);

}  // namespace co2
