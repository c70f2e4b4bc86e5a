// SPDX-License-Identifier: BSD-3-Clause
// Oblique splits after Menze, Kelm, Splitthoff, Koethe, Hamprecht (2011): a regularised linear
// discriminant on q random features, and the threshold of the highest information gain. The classes
// of a node are put into two groups at random; the direction is
//   (S + shrinkage * v * I)^-1 (m_1 - m_0),
// with the groups' means m, their common covariance S and its mean variance v. A ridge regression
// on the groups has the same direction: its matrix differs by a multiple of (m_1 - m_0)(m_1 -
// m_0)^T, which only changes the length of the solution.
#pragma once

#include <algorithm>
#include <cmath>

#include "loss/log_loss.hpp"
#include "split/axis.hpp"
#include "split/linear/cholesky.hpp"
#include "split/oblique.hpp"

namespace co2 {

template <RowKind Rows>
class DiscriminantFinder;

struct DiscriminantParams {
    std::int64_t max_features = 1;  // random features of the hyperplane
    double shrinkage = 0.1;         // added to the variances, in units of their mean

    static constexpr const char* kName = "DiscriminantParams";
    template <class Field>
    static void for_each(Field&& field) {
        field("max_features", &DiscriminantParams::max_features);
        field("shrinkage", &DiscriminantParams::shrinkage);
    }
    template <RowKind Rows, LossKind Loss>
        requires TableKind<Rows> && std::same_as<Loss, LogLoss>
    using Finder = DiscriminantFinder<Rows>;
};

template <RowKind Rows>
class DiscriminantFinder final : public SplitFinder<LogLoss> {
   public:
    using Node = SplitFinder<LogLoss>::Node;

    DiscriminantFinder(const Rows& rows, const Standardisation& standardisation,
                       const LogLoss& loss, const DiscriminantParams& params)
        : rows_(rows), standardisation_(standardisation), params_(params),
          draw_(usable_features(standardisation)), axis_(rows, standardisation),
          threshold_(rows, standardisation), scan_(loss.scan()) {}

    std::optional<FoundSplit> find(const Node& node) override {
        Random random(node.key);
        scan_.gather(node.ids, node.target, node.weight, node.stop);
        group_classes(random);
        draw_features(Random(derive_key(node.key, 2)));
        measure(node);
        if (solve(node.stop)) {
            if (auto found = threshold_.find(node, features_, direction_, scan_))
                return FoundSplit{std::move(found->plane)};
        }
        // The drawn features do not tell the groups apart.
        const auto axis = axis_.find(node, params_.max_features, random, scan_);
        if (!axis) return std::nullopt;
        return FoundSplit{axis->plane()};
    }

   private:
    // Tosses a coin for each class. The last class changes sides if a group would be empty.
    void group_classes(Random& random) {
        group_.resize(scan_.classes());
        std::size_t ones = 0;
        for (auto& group : group_) ones += group = random.below(2);
        if (ones == 0 || ones == group_.size()) group_.back() ^= 1;
    }

    void draw_features(Random random) {
        features_.clear();
        draw_.restart(random);
        const auto most = static_cast<std::size_t>(params_.max_features);
        while (features_.size() < most) {
            const auto feature = draw_.next();
            if (!feature) break;
            features_.push_back(*feature);
        }
        std::sort(features_.begin(), features_.end());
    }

    // Means and common covariance of the groups, row by row (Welford), so that a large mean
    // of all rows does no harm.
    void measure(const Node& node) {
        const std::size_t q = features_.size();
        for (auto& mean : mean_) mean.assign(q, 0.0);
        covariance_.clear();
        covariance_.reserve(q * q);
        for (std::size_t a = 0; a < q; ++a) {  // with many features these are gigabytes
            throw_if(node.stop);
            covariance_.resize(covariance_.size() + q, 0.0);
        }
        before_.resize(q);
        after_.resize(q);
        double weight[2] = {0.0, 0.0};
        for (std::size_t i = 0; i < node.ids.size(); ++i) {
            throw_if(node.stop);
            const std::size_t g = group_[static_cast<std::size_t>(scan_.label(i))];
            const double w = scan_.weight(i);
            weight[g] += w;
            for (std::size_t t = 0; t < q; ++t) {
                const double x = standardised(node.ids[i], features_[t]);
                before_[t] = x - mean_[g][t];
                mean_[g][t] += before_[t] * w / weight[g];
                after_[t] = (x - mean_[g][t]) * w;
            }
            for (std::size_t a = 0; a < q; ++a) {
                throw_if(node.stop, a);
                for (std::size_t b = 0; b <= a; ++b)
                    covariance_[a * q + b] += before_[a] * after_[b];
            }
        }
        for (std::size_t a = 0; a < q; ++a) {
            throw_if(node.stop);
            for (std::size_t b = 0; b <= a; ++b) covariance_[a * q + b] /= weight[0] + weight[1];
        }
    }

    double standardised(RowId id, Feature feature) const {
        const auto j = static_cast<std::size_t>(feature);
        const double x = rows_.value(static_cast<std::size_t>(id), feature);
        return (x - static_cast<double>(standardisation_.centre[j])) *
               static_cast<double>(standardisation_.scale[j]);
    }

    // Solves by a Cholesky decomposition in place. False if there is no direction.
    bool solve(const std::atomic<bool>& stop) {
        const std::size_t q = features_.size();
        double mean_variance = 0.0;
        for (std::size_t t = 0; t < q; ++t)
            mean_variance += covariance_[t * q + t] / static_cast<double>(q);
        // If the groups do not vary at all, their means are as good as a discriminant.
        const double ridge = mean_variance > 0.0 ? params_.shrinkage * mean_variance : 1.0;
        for (std::size_t a = 0; a < q; ++a) covariance_[a * q + a] += ridge;
        if (!factorise(covariance_, q, stop)) return false;
        std::vector<double>& x = before_;
        for (std::size_t a = 0; a < q; ++a) x[a] = mean_[1][a] - mean_[0][a];
        substitute(covariance_, q, x, stop);
        double largest = 0.0;
        for (const double w : x) largest = std::max(largest, std::abs(w));
        if (!(largest > 0.0) || !std::isfinite(largest)) return false;
        direction_.resize(q);
        for (std::size_t t = 0; t < q; ++t) direction_[t] = static_cast<float>(x[t] / largest);
        return true;
    }

    const Rows& rows_;
    const Standardisation& standardisation_;
    DiscriminantParams params_;
    FeatureDraw draw_;

    // State of the node that find() saw last.
    std::vector<std::uint32_t> group_;  // of each class, 0 or 1
    std::vector<Feature> features_;     // drawn, increasing
    std::vector<double> mean_[2];       // of each feature in each group
    std::vector<double> covariance_;    // q x q, the lower half; then its Cholesky factor
    std::vector<float> direction_;

    // Work space.
    std::vector<double> before_, after_;
    ExactAxisSearch<Rows, LogLoss> axis_;
    ObliqueThreshold<Rows, LogLossScan> threshold_;
    LogLossScan scan_;
};

}  // namespace co2
