// SPDX-License-Identifier: BSD-3-Clause
// What boosting asks of a loss: the targets and weights that the next tree is grown on, the values
// of its leaves, and how good scores are. Scores are rows x outputs, for all rows of the data.
#pragma once

#include <cmath>

#include "loss/log_loss.hpp"
#include "loss/values_loss.hpp"
#include "train/boost.hpp"

namespace co2 {

// For numbers. A tree is grown by the squared loss on Newton's steps, -gradient / curvature, with
// the curvature in the weight. A loss without curvature has steps of minus the gradient, and its
// leaves are its own best ones of the rows' residuals.
class ValueObjective {
   public:
    using Loss = ValuesLoss;

    ValueObjective(const Values& y, Weights weight, const BoostParams& params, std::size_t k)
        : y_(y), weight_(weight), params_(params), k_(k), loss_(make_value_loss(params.loss, k)),
          traits_(traits_of(params.loss.kind)), step_(y.size() * k), step_weight_(y.size()), g_(k),
          h_(k) {}

    Loss tree_loss() const {
        return {Values(step_, k_), k_, make_value_loss(ValueLossParams{}, k_)};
    }
    Values tree_targets() const { return {step_, k_}; }
    Weights tree_weights() const { return Weights(step_weight_); }

    std::vector<double> start(std::span<const RowId> ids) {
        std::vector<double> theta(k_);
        if (loss_->of_means()) {
            std::vector<double> mean(k_, 0.0);
            double total = 0.0;
            for (const RowId id : ids) {
                const auto row = static_cast<std::size_t>(id);
                const auto w = static_cast<double>(weight_[row]);
                total += w;
                for (std::size_t t = 0; t < k_; ++t) mean[t] += w * y_[row][t];
            }
            for (double& m : mean) m /= total;
            loss_->leaf_of_mean(mean, theta);
        } else {
            gather(ids, {});
            loss_->leaf_of_rows(residual_, residual_weight_, theta);
        }
        return theta;
    }

    // Prepares the next tree.
    BoostLoss refresh(std::span<const RowId> ids, std::span<const double> scores) {
        double sum = 0.0, total = 0.0;
        for (const RowId id : ids) {
            const auto row = static_cast<std::size_t>(id);
            const std::span<const double> theta = scores.subspan(row * k_, k_);
            const auto w = static_cast<double>(weight_[row]);
            total += w;
            sum += w * loss_->value(theta, y_[row]);
            loss_->gradient(theta, y_[row], g_);
            const double h = mean_curvature(theta, row);
            step_weight_[row] = static_cast<float>(w * h);
            for (std::size_t t = 0; t < k_; ++t)
                step_[row * k_ + t] = static_cast<float>(-g_[t] / h);
        }
        return {sum / total, 0.0};
    }

    BoostLoss loss(std::span<const RowId> ids, std::span<const double> scores) {
        double sum = 0.0, total = 0.0;
        for (const RowId id : ids) {
            const auto row = static_cast<std::size_t>(id);
            const auto w = static_cast<double>(weight_[row]);
            total += w;
            sum += w * loss_->value(scores.subspan(row * k_, k_), y_[row]);
        }
        return {sum / total, 0.0};
    }

    // The best value of a leaf with these rows, before shrinkage.
    void leaf(std::span<const RowId> ids, std::span<const double> scores, std::span<double> value) {
        if (!loss_->of_means()) return leaf_of_residuals(ids, scores, value);
        gradient_.assign(k_, 0.0);
        curvature_.assign(k_, 0.0);
        for (const RowId id : ids) {
            const auto row = static_cast<std::size_t>(id);
            const std::span<const double> theta = scores.subspan(row * k_, k_);
            const auto w = static_cast<double>(weight_[row]);
            loss_->gradient(theta, y_[row], g_);
            loss_->curvature(theta, y_[row], h_);
            for (std::size_t t = 0; t < k_; ++t) {
                gradient_[t] += w * g_[t];
                curvature_[t] += w * h_[t];
            }
        }
        // l2 counts in rows, and a row has this curvature.
        const double unit = traits_.curvature.value_or(1.0);
        for (std::size_t t = 0; t < k_; ++t) {
            const double below = curvature_[t] + unit * params_.l2;
            const double step = below > 0.0 ? -gradient_[t] / below : 0.0;
            value[t] = std::clamp(step, -traits_.longest_step, traits_.longest_step);
        }
    }

   private:
    static constexpr double kLeastCurvature = 1e-6;

    double mean_curvature(std::span<const double> theta, std::size_t row) {
        if (traits_.curvature) return *traits_.curvature;
        loss_->curvature(theta, y_[row], h_);
        double sum = 0.0;
        for (const double h : h_) sum += h;
        return std::max(sum / static_cast<double>(k_), kLeastCurvature);
    }

    // Residuals, or targets if there are no scores yet.
    void gather(std::span<const RowId> ids, std::span<const double> scores) {
        residual_.resize(ids.size() * k_);
        residual_weight_.resize(ids.size());
        for (std::size_t i = 0; i < ids.size(); ++i) {
            const auto row = static_cast<std::size_t>(ids[i]);
            residual_weight_[i] = weight_[row];
            for (std::size_t t = 0; t < k_; ++t)
                residual_[i * k_ + t] =
                    static_cast<float>(y_[row][t] - (scores.empty() ? 0.0 : scores[row * k_ + t]));
        }
    }

    void leaf_of_residuals(std::span<const RowId> ids, std::span<const double> scores,
                           std::span<double> value) {
        gather(ids, scores);
        loss_->leaf_of_rows(residual_, residual_weight_, value);
        double total = 0.0;
        for (const float w : residual_weight_) total += static_cast<double>(w);
        for (double& v : value) v *= total / (total + params_.l2);
    }

    Values y_;
    Weights weight_;
    const BoostParams& params_;
    std::size_t k_;
    std::unique_ptr<const ValueLoss> loss_;
    const LossTraits& traits_;
    std::vector<float> step_, step_weight_;  // of all rows: what a tree is grown on
    std::vector<double> g_, h_, gradient_, curvature_;
    std::vector<float> residual_, residual_weight_;
};

// For labels: the log loss of the softmax of the scores, whose Newton steps are the values of
// leaves. How trees are grown is for those that derive from it.
class SoftmaxObjective {
   public:
    SoftmaxObjective(const Labels& y, Weights weight, const BoostParams& params, std::size_t k)
        : y_(y), weight_(weight), params_(params), k_(k), probability_(y.size() * k),
          log_(kRows * k), some_(kRows * k) {}

    Weights tree_weights() const { return Weights(tree_weight_); }

    // Logarithms of the classes' fractions, less their mean.
    std::vector<double> start(std::span<const RowId> ids) const {
        std::vector<double> part(k_, 0.0);
        double total = 0.0, mean = 0.0;
        for (const RowId id : ids) {
            const auto row = static_cast<std::size_t>(id);
            part[static_cast<std::size_t>(y_[row])] += static_cast<double>(weight_[row]);
            total += static_cast<double>(weight_[row]);
        }
        for (double& p : part) {
            p = std::log(std::max(p / total, kLeastPart));
            mean += p / static_cast<double>(k_);
        }
        for (double& p : part) p -= mean;
        return part;
    }

    // The fraction of wrong labels, and the log loss.
    BoostLoss loss(std::span<const RowId> ids, std::span<const double> scores) {
        double wrong = 0.0, log_loss = 0.0, total = 0.0;
        for (std::size_t begin = 0; begin < ids.size(); begin += kRows) {
            const auto some = ids.subspan(begin, std::min(kRows, ids.size() - begin));
            for (std::size_t i = 0; i < some.size(); ++i) {
                const auto row = static_cast<std::size_t>(some[i]);
                const std::span<const double> f = scores.subspan(row * k_, k_);
                const auto best = std::max_element(f.begin(), f.end());
                if (best - f.begin() != static_cast<std::ptrdiff_t>(y_[row]))
                    wrong += static_cast<double>(weight_[row]);
                for (std::size_t t = 0; t < k_; ++t)
                    log_[kRows * t + i] = static_cast<float>(f[t] - *best);
            }
            kernels().softmax_of_rows(log_.data(), k_, some_.data());
            for (std::size_t i = 0; i < some.size(); ++i) {
                const auto row = static_cast<std::size_t>(some[i]);
                const auto y = static_cast<std::size_t>(y_[row]);
                const auto w = static_cast<double>(weight_[row]);
                log_loss -= w * static_cast<double>(log_[kRows * y + i]);
                total += w;
                for (std::size_t t = 0; t < k_; ++t)
                    probability_[row * k_ + t] = some_[kRows * t + i];
            }
        }
        return {wrong / total, log_loss / total};
    }

    void leaf(std::span<const RowId> ids, std::span<const double>, std::span<double> value) {
        curvature_.assign(k_, params_.l2);
        std::fill(value.begin(), value.end(), 0.0);
        for (const RowId id : ids) {
            const auto row = static_cast<std::size_t>(id);
            const float* p = probability_.data() + row * k_;
            const auto w = static_cast<double>(weight_[row]);
            value[static_cast<std::size_t>(y_[row])] += w;
            for (std::size_t t = 0; t < k_; ++t) {
                const auto pt = static_cast<double>(p[t]);
                value[t] -= w * pt;
                curvature_[t] += w * pt * (1.0 - pt);
            }
        }
        // Scores may be shifted together, which is one freedom less than there are classes.
        const double freedom = static_cast<double>(k_ - 1) / static_cast<double>(k_);
        for (std::size_t t = 0; t < k_; ++t)
            value[t] = std::clamp(freedom * value[t] / std::max(curvature_[t], kLeastCurvature),
                                  -longest(), longest());
    }

   protected:
    std::size_t n_rows() const { return y_.size(); }
    double probability(std::size_t row, std::size_t t) const {
        return static_cast<double>(probability_[row * k_ + t]);
    }

    Labels y_;
    Weights weight_;
    const BoostParams& params_;
    std::size_t k_;
    std::vector<float> tree_weight_;  // of all rows

   private:
    static constexpr std::size_t kRows = 16;  // that a kernel takes at once
    static constexpr double kLeastPart = 1e-9, kLeastCurvature = 1e-12;

    // The step of a class as rare as all others, which is their number, and a little more. Longer
    // ones come from rows that are almost sure, whose curvature tells nothing; with no
    // l2_regularization they would make scores of millions.
    double longest() const { return static_cast<double>(k_) + 4.0; }

    std::vector<float> probability_;  // rows x classes
    AlignedFloats log_, some_;        // classes x 16: scores and probabilities of some rows
    std::vector<double> curvature_;
};

// A tree is grown on the labels themselves, by the finder and loss of a forest of classes, with
// more weight on rows that the scores get wrong. Right for clean labels, such as letters.
class LabelObjective : public SoftmaxObjective {
   public:
    using Loss = LogLoss;

    LabelObjective(const Labels& y, Weights weight, const BoostParams& params, std::size_t k)
        : SoftmaxObjective(y, weight, params, k) {
        tree_weight_.resize(n_rows());
    }

    Loss tree_loss() const { return {y_, k_}; }
    Labels tree_targets() const { return y_; }

    BoostLoss refresh(std::span<const RowId> ids, std::span<const double> scores) {
        const BoostLoss out = loss(ids, scores);
        double wrong = 0.0, total = 0.0;
        for (const RowId id : ids) {
            const auto row = static_cast<std::size_t>(id);
            const auto w = static_cast<double>(weight_[row]);
            wrong += w * doubt(row);
            total += w;
        }
        const double mean = std::max(wrong / total, 1e-30);
        for (const RowId id : ids) {
            const auto row = static_cast<std::size_t>(id);
            const double factor = params_.floor + (1.0 - params_.floor) * doubt(row) / mean;
            tree_weight_[row] = static_cast<float>(static_cast<double>(weight_[row]) * factor);
        }
        return out;
    }

   private:
    double doubt(std::size_t row) const {
        return std::max(0.0, 1.0 - probability(row, static_cast<std::size_t>(y_[row])));
    }
};

// A tree is grown by the squared loss on Newton's steps of the scores, as other libraries do it;
// one tree for all classes. Of two classes the second one's step says all.
class GradientObjective : public SoftmaxObjective {
   public:
    using Loss = ValuesLoss;

    GradientObjective(const Labels& y, Weights weight, const BoostParams& params, std::size_t k)
        : SoftmaxObjective(y, weight, params, k), width_(k == 2 ? 1 : k), step_(n_rows() * width_) {
        tree_weight_.resize(n_rows());
    }

    Loss tree_loss() const {
        return {tree_targets(), width_, make_value_loss(ValueLossParams{}, width_)};
    }
    Values tree_targets() const { return {step_, width_}; }

    BoostLoss refresh(std::span<const RowId> ids, std::span<const double> scores) {
        const BoostLoss out = loss(ids, scores);
        const std::size_t first = k_ - width_;
        for (const RowId id : ids) {
            const auto row = static_cast<std::size_t>(id);
            double curvature = 0.0;
            for (std::size_t t = 0; t < width_; ++t) {
                const double p = probability(row, first + t);
                curvature += p * (1.0 - p);
            }
            curvature = std::max(curvature / static_cast<double>(width_), kLeastCurvature);
            tree_weight_[row] = static_cast<float>(static_cast<double>(weight_[row]) * curvature);
            for (std::size_t t = 0; t < width_; ++t) {
                const double truth = static_cast<std::size_t>(y_[row]) == first + t ? 1.0 : 0.0;
                step_[row * width_ + t] =
                    static_cast<float>((truth - probability(row, first + t)) / curvature);
            }
        }
        return out;
    }

    // The log loss.
    BoostLoss loss(std::span<const RowId> ids, std::span<const double> scores) {
        const double log_loss = SoftmaxObjective::loss(ids, scores).second;
        return {log_loss, log_loss};
    }

   private:
    static constexpr double kLeastCurvature = 1e-6;

    std::size_t width_;        // numbers of a step
    std::vector<float> step_;  // rows x width: what a tree is grown on
};

}  // namespace co2
