// SPDX-License-Identifier: BSD-3-Clause
// The losses of numbers that there are; registry.cpp lists them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace co2 {

struct LossTraits;
class ValueLoss;

// The place of a loss in the list of registry.cpp. Python knows each by the name in its traits.
enum class ValueLossKind : std::int32_t {};

struct ValueLossParams {
    ValueLossKind kind{};     // the first one: the squared loss
    double level = 0.5;       // LossTraits::level says which parameter of Python it is
    std::vector<float> cost;  // outputs x outputs: the cost of deciding for the second where the
                              // first is true; in [0, 1]
};

std::span<const LossTraits* const> all_losses();  // by kind

// Both throw std::invalid_argument if there is no such loss; the second also if a parameter does
// not suit it.
const LossTraits& traits_of(ValueLossKind kind);
std::unique_ptr<const ValueLoss> make_value_loss(const ValueLossParams& params,
                                                 std::size_t n_outputs);

}  // namespace co2
