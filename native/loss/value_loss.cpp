// SPDX-License-Identifier: BSD-3-Clause
#include "loss/value_loss.hpp"

#include <stdexcept>

#include "loss/cost.hpp"
#include "loss/huber.hpp"
#include "loss/multilabel.hpp"
#include "loss/poisson.hpp"
#include "loss/quantile.hpp"
#include "loss/squared.hpp"

namespace co2 {

std::unique_ptr<const ValueLoss> make_value_loss(const ValueLossParams& params,
                                                 std::size_t n_outputs) {
    switch (params.kind) {
        case ValueLossKind::kSquared: return std::make_unique<SquaredLoss>();
        case ValueLossKind::kPoisson: return std::make_unique<PoissonLoss>();
        case ValueLossKind::kMultilabel: return std::make_unique<MultilabelLoss>();
        case ValueLossKind::kCost:
            if (params.cost.size() != n_outputs * n_outputs)
                throw std::invalid_argument("cost must have one entry per pair of classes");
            for (const float c : params.cost)
                if (!(c >= 0.0f && c <= 1.0f))
                    throw std::invalid_argument("costs must be in [0, 1]");
            return std::make_unique<CostLoss>(params.cost, n_outputs);
        case ValueLossKind::kHuber:
            if (!(params.level > 0.0) || !std::isfinite(params.level))
                throw std::invalid_argument("the distance of Huber's loss must be positive");
            return std::make_unique<HuberLoss>(HuberPoint{params.level});
        case ValueLossKind::kQuantile:
            if (!(params.level > 0.0 && params.level < 1.0))
                throw std::invalid_argument("the level of a quantile must be in (0, 1)");
            return std::make_unique<QuantileLoss>(QuantilePoint{params.level});
    }
    throw std::invalid_argument("unknown loss");
}

}  // namespace co2
