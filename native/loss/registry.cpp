// SPDX-License-Identifier: BSD-3-Clause
// The list of losses of numbers. A new loss is one file like the others, and its place here.
#include "loss/registry.hpp"

#include <array>

#include "loss/cost.hpp"
#include "loss/huber.hpp"
#include "loss/multilabel.hpp"
#include "loss/poisson.hpp"
#include "loss/quantile.hpp"
#include "loss/squared.hpp"

namespace co2 {
namespace {

using Made = std::unique_ptr<const ValueLoss>;

template <class... Losses>
struct List {
    static constexpr std::array<const LossTraits*, sizeof...(Losses)> traits{&Losses::kTraits...};

    static Made make(const ValueLossParams& params, std::size_t n_outputs) {
        constexpr std::array<Made (*)(const ValueLossParams&, std::size_t), sizeof...(Losses)>
            makers{[](const ValueLossParams& p, std::size_t n) -> Made {
                return std::make_unique<Losses>(p, n);
            }...};
        return makers[static_cast<std::size_t>(params.kind)](params, n_outputs);
    }
};

// The first is what trees of boosting are grown with.
using All = List<SquaredLoss, PoissonLoss, MultilabelLoss, CostLoss, HuberLoss, QuantileLoss>;

}  // namespace

std::span<const LossTraits* const> all_losses() { return All::traits; }

const LossTraits& traits_of(ValueLossKind kind) {
    const auto place = static_cast<std::size_t>(kind);
    if (place >= All::traits.size()) throw std::invalid_argument("unknown loss");
    return *All::traits[place];
}

Made make_value_loss(const ValueLossParams& params, std::size_t n_outputs) {
    traits_of(params.kind);
    return All::make(params, n_outputs);
}

}  // namespace co2
