// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "forest/forest.hpp"

namespace co2 {

// Share of each feature in the decrease of impurity: per tree the decreases of its nodes, each
// divided among the features of its hyperplane by |weight| * spread; normalised, then averaged over
// trees.
std::vector<double> feature_importances(const Forest& forest);

}  // namespace co2
