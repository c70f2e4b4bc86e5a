// SPDX-License-Identifier: BSD-3-Clause
// Random candidate features of a node.
#pragma once

#include <optional>
#include <utility>

#include "base/random.hpp"
#include "rows/rows.hpp"
#include "rows/standardisation.hpp"

namespace co2 {

// The features that are not constant in all training rows.
inline std::vector<Feature> usable_features(const Standardisation& standardisation) {
    std::vector<Feature> out;
    for (std::size_t j = 0; j < standardisation.scale.size(); ++j)
        if (standardisation.scale[j] != 0.0f) out.push_back(static_cast<Feature>(j));
    return out;
}

// All features, to be drawn one after the other without repeats.
class FeatureDraw {
   public:
    explicit FeatureDraw(std::vector<Feature> features) : features_(std::move(features)) {}

    // Undoes what the last node did, so that what a node draws does not depend on the nodes before
    // it. To sort the features would take longer than all else in a small node.
    void restart(Random random) {
        for (; !swaps_.empty(); swaps_.pop_back())
            std::swap(features_[swaps_.size() - 1], features_[swaps_.back()]);
        random_ = random;
    }

    std::optional<Feature> next() {
        const std::size_t t = swaps_.size();
        if (t == features_.size()) return std::nullopt;
        const std::size_t other =
            t + random_.below(static_cast<std::uint32_t>(features_.size() - t));
        swaps_.push_back(other);
        std::swap(features_[t], features_[other]);
        return features_[t];
    }

   private:
    std::vector<Feature> features_;
    Random random_{0};
    std::vector<std::size_t> swaps_;  // what each drawn feature was exchanged with
};

}  // namespace co2
