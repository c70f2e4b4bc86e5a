// SPDX-License-Identifier: BSD-3-Clause
// Everything here takes a few bytes per row at most: keys are computed again instead of kept.
#include "train/duplicates.hpp"
#include "loss/instantiations.hpp"

#include <bit>
#include <map>
#include <numeric>

namespace co2 {
namespace {

// A number that depends only on the row's features, its target and the seed.
template <TableKind Rows, class Targets>
std::uint64_t row_key(const Rows& rows, const Targets& target, std::size_t i,
                      std::uint64_t seed = 0) {
    return mix(rows.hash(i) + derive_key(seed, target.key(i)));
}

// Tells rows that may have a duplicate from those that have none, with two bits for each of eight
// places per row. If all rows differ, about one in nine is suspected. A table of all rows would
// take four times the memory, and most of its entries would miss the cache.
class Suspects {
   public:
    explicit Suspects(std::size_t n_rows)
        : seen_(std::bit_ceil(8 * n_rows)), repeated_(seen_.size()) {}

    void add(std::uint64_t key) {
        const std::size_t place = place_of(key);
        if (!seen_[place]) {
            seen_[place] = true;
            return;
        }
        count_ += repeated_[place] ? 1 : 2;
        repeated_[place] = true;
    }

    bool contain(std::uint64_t key) const { return repeated_[place_of(key)]; }
    std::size_t count() const { return count_; }

   private:
    std::size_t place_of(std::uint64_t key) const { return key & (seen_.size() - 1); }

    std::vector<bool> seen_, repeated_;
    std::size_t count_ = 0;  // added keys that it contains
};

}  // namespace

template <TableKind Rows, class Targets>
DistinctRows find_distinct(const Rows& rows, const Targets& target, Weights weight,
                           const Watch& watch) {
    const std::size_t n = rows.count();
    Suspects suspects(n);
    for (std::size_t i = 0; i < n; ++i) {
        watch_row(watch, i);
        suspects.add(row_key(rows, target, i));
    }
    // Open addressing, at most half full.
    constexpr RowId none = -1;
    std::vector<RowId> table(std::bit_ceil(2 * suspects.count() + 1), none);
    const std::size_t mask = table.size() - 1;
    const auto first_duplicate = [&](std::size_t i, std::uint64_t key) {
        // Other bits than those that made it a suspect, which have much in common.
        std::size_t place = std::rotl(key, 32) & mask;
        for (; table[place] != none; place = (place + 1) & mask) {
            const auto other = static_cast<std::size_t>(table[place]);
            if (target.same(other, i) && rows.same(other, i)) return other;
        }
        table[place] = static_cast<RowId>(i);
        return i;
    };

    // Typical are the distinct rows whose keys are below this fraction of the largest possible key.
    double distinct = 0.0;
    const auto fraction = [&] { return std::min(1.0, 1000.0 / std::max(1.0, distinct)); };
    const auto below_fraction = [&](std::uint64_t key) {
        return static_cast<double>(key) * 0x1p-64 <= fraction();
    };
    std::vector<std::pair<std::uint64_t, RowId>> low_keys;
    DistinctRows out;
    for (std::size_t i = 0; i < n; ++i) {
        watch_row(watch, i);
        const std::uint64_t key = row_key(rows, target, i);
        const std::size_t first = suspects.contain(key) ? first_duplicate(i, key) : i;
        if (first != i) {
            if (out.first.empty()) {
                out.first.resize(n);
                std::iota(out.first.begin(), out.first.end(), RowId{0});
            }
            out.first[i] = static_cast<RowId>(first);
        } else if (weight[i] > 0.0f) {
            distinct += 1.0;
            if (below_fraction(key)) low_keys.emplace_back(key, static_cast<RowId>(i));
        }
    }
    for (const auto& [key, row] : low_keys)
        if (below_fraction(key)) out.typical.push_back(row);
    return out;
}

template <TableKind Rows, class Targets>
KeySample sample_by_key(const Rows& rows, const Targets& target, Weights weight, std::uint64_t seed,
                        std::size_t most, const Watch& watch) {
    struct Group {
        std::size_t first;
        double weight = 0.0;
    };
    std::map<std::uint64_t, Group> smallest;
    if (most == 0) return {};
    for (std::size_t i = 0; i < rows.count(); ++i) {
        watch_row(watch, i);
        if (!(weight[i] > 0.0f)) continue;
        const std::uint64_t key = row_key(rows, target, i, seed);
        if (smallest.size() == most && key > smallest.rbegin()->first) continue;
        const auto group = smallest.try_emplace(key, Group{i}).first;
        group->second.weight += static_cast<double>(weight[i]);
        if (smallest.size() > most) smallest.erase(std::prev(smallest.end()));
    }
    KeySample out;
    for (const auto& [key, group] : smallest) {
        out.row.push_back(static_cast<std::int64_t>(group.first));
        out.weight.push_back(static_cast<float>(group.weight));
    }
    return out;
}

#define INSTANTIATE(Rows, Targets)                                                           \
    template DistinctRows find_distinct(const Rows&, const Targets&, Weights, const Watch&); \
    template KeySample sample_by_key(const Rows&, const Targets&, Weights, std::uint64_t,    \
                                     std::size_t, const Watch&);
CO2_TABLES_AND_TARGETS

}  // namespace co2
