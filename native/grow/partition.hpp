// SPDX-License-Identifier: BSD-3-Clause
// Partitions the row numbers of a node.
#pragma once

#include <algorithm>

#include "base/types.hpp"

namespace co2 {

// Moves the ids whose side is 1 behind the others and returns where they begin. Stable, so that the
// order of rows, and with it every sum, depends on the data alone.
//
// A buffer for all ids would be as large as they are. So blocks are partitioned through a small
// one, and then joined in pairs: what lies between their left and their right ids is rotated.
class StablePartition {
   public:
    std::size_t operator()(std::span<RowId> ids, const std::vector<bool>& sides) {
        return partition(ids, sides, 0, ids.size());
    }

   private:
    static constexpr std::size_t kBlock = std::size_t{1} << 15;

    std::size_t partition(std::span<RowId> ids, const std::vector<bool>& sides, std::size_t begin,
                          std::size_t end) {
        if (end - begin <= kBlock) return partition_block(ids, sides, begin, end);
        const std::size_t middle = begin + (end - begin) / 2;
        const std::size_t first = partition(ids, sides, begin, middle),
                          second = partition(ids, sides, middle, end);
        std::rotate(&ids[first], &ids[middle], ids.data() + second);
        return first + (second - middle);
    }

    std::size_t partition_block(std::span<RowId> ids, const std::vector<bool>& sides,
                                std::size_t begin, std::size_t end) {
        right_.clear();
        std::size_t left = begin;
        for (std::size_t i = begin; i < end; ++i) {
            if (sides[i])
                right_.push_back(ids[i]);
            else
                ids[left++] = ids[i];
        }
        std::copy(right_.begin(), right_.end(), ids.data() + left);
        return left;
    }

    std::vector<RowId> right_;
};

}  // namespace co2
