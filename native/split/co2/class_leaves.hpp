// SPDX-License-Identifier: BSD-3-Clause
// The two leaves of a stump for classes, as the node optimiser asks for them.
#pragma once

#include "loss/log_loss.hpp"
#include "split/co2/batches.hpp"
#include "split/co2/params.hpp"

namespace co2 {

// Labels and weights of a sample, over the classes that occur in the node.
struct NodeTargets {
    std::vector<std::int32_t> label;  // local class of each sampled row, in [0, classes)
    std::vector<float> weight;        // of each sampled row, > 0
    std::size_t classes = 0;
};

class ClassLeaves {
   public:
    // left and right: the class weights of the two sides of the start. Any order of rows will do;
    // it is fast if the rows of a batch are grouped by class. The targets must outlive this.
    void start(const NodeTargets& targets, std::span<const double> left,
               std::span<const double> right, const Co2Params& params) {
        targets_ = &targets;
        params_ = &params;
        leaves_.start(left, right, params.smoothing);
        charged_.resize(2 * leaves_.stride());
        find_runs(Batches(targets.label.size(), params.batch_size));
    }

    std::span<const float> weights() const { return targets_->weight; }

    // The loss of a row in a leaf.
    double loss(std::size_t side, std::size_t i) const {
        return leaves_.loss(side, static_cast<std::size_t>(targets_->label[i]));
    }

    // Charges each row of a batch to the arm of the bound that is active at its projection z, and
    // collects the rows for which that is not the frozen side.
    void charge(std::size_t batch, std::size_t begin, const float* z, const float* frozen,
                Violators& out) {
        std::fill(charged_.begin(), charged_.end(), 0.0f);
        const float* row_weight = targets_->weight.data();
        std::int32_t* rows = out.rows.data();
        float* violation = out.violation.data();
        std::size_t n_violators = 0, i = begin;
        batch_weight_ = 0.0f;
        for (std::size_t r = first_run_[batch]; r < first_run_[batch + 1]; ++r) {
            const Run& run = runs_[r];
            const float gap = leaves_.gap()[run.label];
            float charged_right = 0.0f;
            // Arithmetic instead of branches, which the processor could not predict.
            for (const std::size_t last = run.end; i < last; ++i) {
                const bool right = z[i] > gap;
                charged_right += static_cast<float>(right) * row_weight[i];
                rows[n_violators] = static_cast<std::int32_t>(i - begin);
                violation[n_violators] = frozen[i];  // (1 + s) x or -(1 - s) x
                n_violators += right != (frozen[i] > 0.0f);
            }
            charged_[run.label] += run.weight - charged_right;
            charged_[leaves_.stride() + run.label] += charged_right;
            batch_weight_ += run.weight;
        }
        out.count = n_violators;
        out.batch_weight = batch_weight_;
    }

    // A step on the rows charged last.
    void step(double rate) {
        leaves_.step(charged_, batch_weight_, static_cast<float>(params_->momentum),
                     static_cast<float>(params_->rate_leaves * rate));
    }

   private:
    // Neighbouring rows of one batch and one class.
    struct Run {
        std::size_t end;  // one past its last row
        std::size_t label;
        float weight;
    };

    void find_runs(const Batches& batches) {
        runs_.clear();
        first_run_.clear();
        for (std::size_t batch = 0; batch < batches.count; ++batch) {
            first_run_.push_back(runs_.size());
            for (std::size_t i = batches.begin(batch); i < batches.begin(batch + 1); ++i) {
                const auto label = static_cast<std::size_t>(targets_->label[i]);
                if (runs_.size() == first_run_.back() || runs_.back().label != label)
                    runs_.push_back({i, label, 0.0f});
                runs_.back().end = i + 1;
                runs_.back().weight += targets_->weight[i];
            }
        }
        first_run_.push_back(runs_.size());
    }

    const NodeTargets* targets_ = nullptr;
    const Co2Params* params_ = nullptr;
    LogLossLeaves leaves_;
    AlignedFloats charged_;               // 2 x stride of the leaves
    float batch_weight_ = 0.0f;           // of the rows charged
    std::vector<Run> runs_;               // of all batches, in order
    std::vector<std::size_t> first_run_;  // of each batch, and one past the last
};

}  // namespace co2
