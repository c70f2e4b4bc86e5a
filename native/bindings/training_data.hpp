// SPDX-License-Identifier: BSD-3-Clause
// What all kinds of training take from Python, and how it is checked.
#pragma once

#include <cmath>
#include <stdexcept>

#include "bindings/interrupt.hpp"
#include "bindings/rows.hpp"
#include "loss/targets.hpp"
#include "loss/value_loss.hpp"

namespace co2 {

// Arrays of targets, as the core takes them; L: of a label, as in Labels.
template <class L>
Labels targets_of(const Array1<L>& label, std::size_t n_classes) {
    return {view(label), n_classes};
}
inline Values targets_of(const Array2<float>& values, std::size_t n_outputs) {
    check_aligned(values);
    return {{values.data(), values.shape(0) * values.shape(1)}, n_outputs};
}

template <class L>
void check_targets(const Array1<L>& label, std::int64_t n_classes, ValueLossKind) {
    for (const L y : view(label))
        if (y < 0 || y >= n_classes) throw std::invalid_argument("a label is out of range");
}
inline void check_targets(const Array2<float>& values, std::int64_t n_outputs, ValueLossKind kind) {
    if (n_outputs < 1 || static_cast<std::size_t>(n_outputs) != values.shape(1))
        throw std::invalid_argument("values must have one column per output");
    check_aligned(values);
    const LossTraits& traits = traits_of(kind);
    constexpr double farthest = 1e15;  // its square fits a float
    const double low = std::max(traits.lowest, -farthest),
                 high = std::min(traits.highest, farthest);
    for (std::size_t t = 0; t < values.shape(0) * values.shape(1); ++t)
        if (!(values.data()[t] >= low && values.data()[t] <= high))
            throw std::invalid_argument("values must be numbers up to 1e15 that suit the loss");
}

template <class Target>
void check_per_row(const RowsHandle& rows, const Target& target, std::span<const float> weight) {
    if (target.shape(0) != rows.count() || !(weight.empty() || weight.size() == rows.count()))
        throw std::invalid_argument("target and weight must have one entry per row");
}

inline void check_training(const RowsHandle& rows, std::span<const float> weight,
                           std::span<const float> mean) {
    if (rows.count() == 0 || rows.features() == 0)
        throw std::invalid_argument("training needs at least one row and one feature");
    if (!mean.empty() && mean.size() != rows.features())
        throw std::invalid_argument("mean must have one entry per feature");
    bool any = weight.empty();
    for (const float w : weight) {
        if (!(w >= 0.0f) || !std::isfinite(w))
            throw std::invalid_argument("weights must be finite and not negative");
        any = any || w > 0.0f;
    }
    if (!any) throw std::invalid_argument("at least one weight must be positive");
}

}  // namespace co2
