// SPDX-License-Identifier: BSD-3-Clause
// Refines a grown tree as a whole; refine.cpp says how.
#pragma once

#include "grow/grow.hpp"
#include "grow/refine/params.hpp"
#include "rows/standardisation.hpp"

namespace co2 {

// `sample` are the rows that the tree was grown on; their order changes.
template <RowKind Rows, LossKind Loss>
void refine_tree(Tree<Loss>& tree, TreeRows<typename Loss::Targets>& sample, const Rows& rows,
                 const Standardisation& standardisation, const Loss& loss, const GrowParams& grow,
                 const RefineParams& params, std::uint64_t key, const std::atomic<bool>& stop);

}  // namespace co2
