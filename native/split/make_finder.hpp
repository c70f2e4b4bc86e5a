// SPDX-License-Identifier: BSD-3-Clause
// The finder that belongs to some parameters.
#pragma once

#include <memory>

#include "rows/binned.hpp"
#include "rows/rows.hpp"
#include "split/node.hpp"
#include "split/splits.hpp"

namespace co2 {

// Throws std::invalid_argument if it does not exist for the loss. `binned` has the features that
// the finder may use, or is null.
template <RowKind Rows, LossKind Loss>
std::unique_ptr<SplitFinder<Loss>> make_finder(const Rows& rows,
                                               const Standardisation& standardisation,
                                               const Loss& loss, const SplitParams& params,
                                               const BinnedColumns* binned = nullptr);

}  // namespace co2
