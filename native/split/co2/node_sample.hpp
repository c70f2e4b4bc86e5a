// SPDX-License-Identifier: BSD-3-Clause
// The rows of a node that its optimisation sees: a random sample of limited size, gathered in the
// form that suits them.
#pragma once

#include "base/random.hpp"
#include "rows/columns.hpp"
#include "rows/sample.hpp"

namespace co2 {

template <RowKind Rows>
class NodeSample {
   public:
    static constexpr bool kSparse = ListedRows<Rows>;

    // Sparse rows become dense if they are fewer than `few`.
    NodeSample(const Rows& rows, const Standardisation& standardisation, std::int64_t max_rows,
               std::int64_t few)
        : rows_(rows), standardisation_(standardisation),
          most_(most_rows(rows, static_cast<std::size_t>(max_rows))),
          few_(static_cast<std::size_t>(few)),
          bytes_suit_(standardisation.offered.empty() && ByteSample::suits(standardisation)) {}

    // Draws one row from each of equal stretches of the node's rows, and shuffles them.
    void draw(std::span<const RowId> ids, Random& random) {
        pick(ids, random);
        for (std::size_t i = drawn_.size(); i > 1; --i)
            std::swap(drawn_[i - 1], drawn_[random.below(static_cast<std::uint32_t>(i))]);
    }

    // The same, but if there are fewer than `many` rows all are taken, in their order.
    void draw_if_many(std::span<const RowId> ids, std::size_t many, Random& random) {
        if (ids.size() < many)
            drawn_.assign(ids.begin(), ids.end());
        else
            draw(ids, random);
    }

    // May be put into another order before they are gathered.
    std::vector<RowId>& drawn() { return drawn_; }

    // Calls f with the drawn rows as a DenseSample or a SparseSample.
    template <class F>
    auto gather(F&& f) {
        if constexpr (kSparse) {
            columns_.find(rows_, drawn_, standardisation_);
            if (!dense_suits()) {
                sparse_.gather(rows_, drawn_, standardisation_, columns_.columns(),
                               columns_.local());
                return f(sparse_);
            }
            dense_.gather(rows_, drawn_, standardisation_, columns_.columns(), columns_.local());
        } else if (standardisation_.offered.empty()) {
            dense_.gather(rows_, drawn_, standardisation_);
        } else {
            dense_.gather(rows_, drawn_, standardisation_, standardisation_.offered);
        }
        return f(dense_);
    }

    // The same, but bytes stay bytes in a ByteSample if that suits them.
    template <class F>
    auto gather_bytes(F&& f) {
        if constexpr (ByteRows<Rows>) {
            if (bytes_suit_) {
                bytes_.gather(rows_, drawn_, standardisation_);
                return f(bytes_);
            }
        }
        return gather(f);
    }

    DenseSample& dense() { return dense_; }

   private:
    // Wide rows are fewer than max_rows, so that the block of a sample stays below 16 MB, but no
    // fewer than a thousand. Listed rows are stored without their zeros.
    static std::size_t most_rows(const Rows& rows, std::size_t most) {
        constexpr std::size_t cells = std::size_t{1} << 22, enough = 1000;
        if constexpr (kSparse) return most;
        return std::min(most, std::max(enough, cells / std::max(rows.features(), kLanes)));
    }

    void pick(std::span<const RowId> ids, Random& random) {
        const std::size_t n = ids.size(), m = std::min(n, most_);
        drawn_.resize(m);
        for (std::size_t i = 0; i < m; ++i) {
            const std::size_t begin = n * i / m, end = n * (i + 1) / m;
            const auto width = static_cast<std::uint32_t>(end - begin);
            drawn_[i] = ids[begin + (width > 1 ? random.below(width) : 0)];
        }
    }

    // Whether a dense block of the columns that occur is not much larger than the stored elements,
    // or small anyway.
    bool dense_suits() const {
        const std::size_t cells = drawn_.size() * columns_.columns().size();
        return cells <= 4 * columns_.stored() || drawn_.size() < few_;
    }

    const Rows& rows_;
    const Standardisation& standardisation_;
    std::size_t most_, few_;
    bool bytes_suit_;  // see ByteSample

    std::vector<RowId> drawn_;
    OccurringColumns columns_;  // of sparse rows
    DenseSample dense_;
    ByteSample bytes_;
    SparseSample sparse_;
};

}  // namespace co2
