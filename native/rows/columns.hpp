// SPDX-License-Identifier: BSD-3-Clause
// The columns that occur in some rows of a sparse matrix.
#pragma once

#include "rows/rows.hpp"

namespace co2 {

class OccurringColumns {
   public:
    // Features that no split may use are left out.
    template <ListedRows Rows>
    void find(const Rows& rows, std::span<const RowId> ids, const Standardisation& s) {
        for (const Feature j : columns_) local_[static_cast<std::size_t>(j)] = -1;
        local_.resize(rows.features(), -1);
        columns_.clear();
        stored_ = 0;
        for (const RowId id : ids)
            rows.visit(static_cast<std::size_t>(id), [&](Feature j, float) {
                ++stored_;
                auto& local = local_[static_cast<std::size_t>(j)];
                if (local >= 0 || s.scale[static_cast<std::size_t>(j)] == 0.0f) return;
                local = 0;
                columns_.push_back(j);
            });
        std::sort(columns_.begin(), columns_.end());
        for (std::size_t t = 0; t < columns_.size(); ++t)
            local_[static_cast<std::size_t>(columns_[t])] = static_cast<std::int32_t>(t);
    }

    std::span<const Feature> columns() const { return columns_; }   // increasing
    std::span<const std::int32_t> local() const { return local_; }  // the inverse; -1 elsewhere
    std::size_t stored() const { return stored_; }                  // elements of the rows

   private:
    std::vector<Feature> columns_;
    std::vector<std::int32_t> local_;
    std::size_t stored_ = 0;
};

}  // namespace co2
