// SPDX-License-Identifier: BSD-3-Clause
// Mini-batches of the node optimiser, and what it learns from one.
#pragma once

#include "base/types.hpp"

namespace co2 {

// Consecutive stretches of a sample's rows, of equal size up to one row.
struct Batches {
    Batches(std::size_t n_rows, std::int64_t size)
        : rows(n_rows),
          count((n_rows + static_cast<std::size_t>(size) - 1) / static_cast<std::size_t>(size)) {}

    std::size_t begin(std::size_t batch) const { return rows * batch / count; }
    std::size_t next(std::size_t batch) const { return batch + 1 == count ? 0 : batch + 1; }

    std::size_t rows, count;
};

// The rows of a batch that violate their margin (the word is that of support vector machines):
// those whose gradient is not zero.
struct Violators {
    std::vector<std::int32_t> rows;  // relative to the batch's first; `count` of them
    AlignedFloats violation;         // minus the gradient with respect to the projection
    std::size_t count = 0;
    float batch_weight = 0.0f;  // of all its rows
};

}  // namespace co2
