// SPDX-License-Identifier: BSD-3-Clause
// The rows of one node, gathered once and standardised, as the node optimiser sees them.
//
// X itself is never copied: a sample holds at most `Co2Params::max_rows` rows. Floats are
// centred and scaled while they are gathered. Bytes stay bytes and sparse rows stay sparse although
// they are centred: with v = x * scale and m = mean * scale,
//   <w, v - m> = <w, v> - <w, m>,   sum_i a_i (v_i - m) = sum_i a_i v_i - (sum_i a_i) m,
// so the dense vector m enters once per batch, not once per row. (Floats would cancel in that form
// where a mean is much larger than the deviations from it; bytes are at most 255.)
#pragma once

#include <algorithm>
#include <limits>

#include "rows/channels.hpp"
#include "rows/rows.hpp"

namespace co2 {

// How many different bytes lie in a standardised range.
inline std::size_t byte_levels(float range, float scale) {
    return scale > 0.0f ? static_cast<std::size_t>(range / scale + 1.5f) : 1;
}

// Rows as a block of floats; also the form in which small sparse nodes are optimised.
class DenseSample {
   public:
    std::size_t count() const { return n_; }
    std::size_t stride() const { return stride_; }
    std::size_t width() const { return width_; }
    const float* row(std::size_t i) const { return block_.data() + i * stride_; }

    // The features of the columns; empty means all.
    std::span<const Feature> features() const { return columns_; }

    void scores(std::size_t begin, std::size_t n, const float* w, float bias, float* z) const {
        kernels().scores_f32(row(begin), stride_, n, w, bias, z);
    }

    // g = sum_t a_t row[begin + ids_t].
    void gradient(std::size_t begin, std::span<const std::int32_t> ids, const float* a,
                  std::span<float> g) const {
        std::fill(g.begin(), g.end(), 0.0f);
        kernels().accumulate_f32(row(begin), stride_, ids.data(), a, ids.size(), g.data());
    }

    double squared_length(std::size_t i) const {
        return static_cast<double>(kernels().dot_f32(row(i), row(i), stride_));
    }

    // What weights must be for scores(): rows that have no channel means need nothing.
    void prepare_weights(std::span<float>) const {}

    // Subtracts a row, stride() entries, from all rows.
    void subtract(std::span<const float> row) {
        for (std::size_t i = 0; i < n_; ++i)
            kernels().combine(-1.0f, row.data(), 1.0f, block_.data() + i * stride_, stride_);
    }

    // An upper limit of the number of different values in a range of column t.
    std::size_t levels(std::size_t t, float range) const {
        return whole_numbers_in_ == nullptr ? kMaxBins
                                            : byte_levels(range, whole_numbers_in_->scale[t]);
    }

    // Copies local column t of the first n rows.
    void column(std::size_t t, std::size_t n, float* out) const {
        for (std::size_t i = 0; i < n; ++i) out[i] = row(i)[t];
    }

    template <FullRows Rows>
    void gather(const Rows& rows, std::span<const RowId> ids, const Standardisation& s) {
        columns_.clear();
        const bool whole = sizeof(typename Rows::Element) == 1 && s.centred_channels == 0;
        whole_numbers_in_ = whole ? &s : nullptr;
        reshape(ids.size(), rows.features());
        rows.standardise(ids, s, stride_, block_.data());
    }

    // Some of the columns.
    template <FullRows Rows>
    void gather(const Rows& rows, std::span<const RowId> ids, const Standardisation& s,
                std::span<const Feature> columns) {
        columns_.assign(columns.begin(), columns.end());
        whole_numbers_in_ = nullptr;
        reshape(ids.size(), columns.size());
        whole_row_.resize(round_up_to_lanes(rows.features()));
        for (std::size_t i = 0; i < n_; ++i) {
            rows.standardise(ids.subspan(i, 1), s, whole_row_.size(), whole_row_.data());
            float* out = block_.data() + i * stride_;
            for (std::size_t t = 0; t < width_; ++t)
                out[t] = whole_row_[static_cast<std::size_t>(columns[t])];
            std::fill(out + width_, out + stride_, 0.0f);
        }
    }

    // Rows of a sparse matrix on the given columns; `local` maps a feature to its column or -1.
    template <ListedRows Rows>
    void gather(const Rows& rows, std::span<const RowId> ids, const Standardisation& s,
                std::span<const Feature> columns, std::span<const std::int32_t> local) {
        columns_.assign(columns.begin(), columns.end());
        whole_numbers_in_ = nullptr;
        reshape(ids.size(), columns.size());
        for (std::size_t i = 0; i < n_; ++i) {
            float* out = block_.data() + i * stride_;
            std::fill(out + width_, out + stride_, 0.0f);
            for (std::size_t t = 0; t < width_; ++t) {
                const auto j = static_cast<std::size_t>(columns[t]);
                out[t] = -s.centre[j] * s.scale[j];
            }
            rows.visit(static_cast<std::size_t>(ids[i]), [&](Feature j, float x) {
                const auto f = static_cast<std::size_t>(j);
                if (local[f] >= 0) out[local[f]] = (x - s.centre[f]) * s.scale[f];
            });
        }
    }

   private:
    void reshape(std::size_t n, std::size_t width) {
        n_ = n;
        width_ = width;
        stride_ = round_up_to_lanes(width);
        if (block_.size() < n * stride_) block_.resize(n * stride_);
    }

    std::size_t n_ = 0, width_ = 0, stride_ = 0;
    AlignedFloats block_;                                // n x stride, zero beyond width
    AlignedFloats whole_row_;                            // of which some columns are kept
    std::vector<Feature> columns_;                       // features of the columns; empty means all
    const Standardisation* whole_numbers_in_ = nullptr;  // what bytes were standardised by
};

// Rows of bytes as they are, and weights as 16-bit whole numbers. On MNIST the rows of a node take
// a quarter of the memory of floats, and a tree takes half the time.
class ByteSample {
   public:
    // With few features, floats are faster (Letter). If the features differ too much in scale, 16
    // bits are not enough for all weights at once; 256 is the ratio between a pixel and a 0-1
    // feature of the same relative spread.
    static bool suits(const Standardisation& s) {
        float low = std::numeric_limits<float>::infinity(), high = 0.0f;
        for (const float scale : s.scale)
            if (scale > 0.0f) {
                low = std::min(low, scale);
                high = std::max(high, scale);
            }
        return s.scale.size() >= 64 && s.low.empty() && high <= 256.0f * low;
    }

    std::size_t count() const { return n_; }
    std::size_t stride() const { return stride_; }
    std::size_t width() const { return width_; }
    std::span<const Feature> features() const { return {}; }

    void scores(std::size_t begin, std::size_t n, const float* w, float bias, float* z) const {
        const float unit =
            kernels().quantise(w, scale_.data(), stride_, scaled_.data(), quantised_.data()).unit;
        const float offset = bias - kernels().dot_f32(scaled_.data(), centre_.data(), stride_);
        kernels().scores_u8(row(begin), stride_, n, quantised_.data(), unit, offset, z);
    }

    void gradient(std::size_t begin, std::span<const std::int32_t> ids, const float* a,
                  std::span<float> g) const {
        std::fill(g.begin(), g.end(), 0.0f);
        kernels().accumulate_u8(row(begin), stride_, ids.data(), a, ids.size(), g.data());
        float total = 0.0f;
        for (std::size_t t = 0; t < ids.size(); ++t) total += a[t];
        for (std::size_t t = 0; t < stride_; ++t) g[t] = (g[t] - total * centre_[t]) * scale_[t];
        prepare_weights(g);
    }

    // Rows keep the means of their channels; so weights must not see them.
    void prepare_weights(std::span<float> w) const {
        if (channels_ > 0) centre_channels(w.first(width_), channels_);
    }

    std::size_t levels(std::size_t t, float range) const {
        return channels_ > 0 ? kMaxBins : byte_levels(range, scale_[t]);
    }

    void column(std::size_t t, std::size_t n, float* out) const {
        for (std::size_t i = 0; i < n; ++i)
            out[i] = (static_cast<float>(row(i)[t]) - centre_[t]) * scale_[t];
        if (channels_ == 0) return;
        const float* mean = channel_mean_.data() + t % channels_ * n_;
        for (std::size_t i = 0; i < n; ++i) out[i] -= mean[i];
    }

    template <ByteRows Rows>
    void gather(const Rows& rows, std::span<const RowId> ids, const Standardisation& s) {
        n_ = ids.size();
        if (width_ != rows.features()) prepare(rows.features(), s);
        if (block_.size() < n_ * stride_) block_.resize(n_ * stride_, 0);
        for (std::size_t i = 0; i < n_; ++i) {
            constexpr std::size_t ahead = 8;
            if (i + ahead < n_) rows.prefetch(static_cast<std::size_t>(ids[i + ahead]));
            rows.copy(static_cast<std::size_t>(ids[i]), block_.data() + i * stride_);
        }
        find_channel_means();
    }

   private:
    const std::uint8_t* row(std::size_t i) const { return block_.data() + i * stride_; }

    void find_channel_means() {
        channel_mean_.resize(channels_ * n_);
        for (std::size_t c = 0; c < channels_; ++c) {
            average_.assign(stride_, 0.0f);
            for (std::size_t t = c; t < width_; t += channels_)
                average_[t] = static_cast<float>(channels_) / static_cast<float>(width_);
            scores(0, n_, average_.data(), 0.0f, channel_mean_.data() + c * n_);
        }
    }

    void prepare(std::size_t width, const Standardisation& s) {
        width_ = width;
        channels_ = s.centred_channels;
        stride_ = (width + 31) / 32 * 32;
        for (auto* v : {&centre_, &scale_, &scaled_}) v->assign(stride_, 0.0f);
        quantised_.assign(stride_, 0);
        std::copy_n(s.centre.begin(), width, centre_.begin());
        std::copy_n(s.scale.begin(), width, scale_.begin());
    }

    std::size_t n_ = 0, width_ = 0, stride_ = 0;
    std::size_t channels_ = 0;         // whose means the rows are to lose
    std::vector<float> channel_mean_;  // channels x n, standardised
    AlignedFloats average_;            // weights that give such a mean
    std::vector<std::uint8_t, LineAllocator<std::uint8_t>> block_;  // n x stride, zero beyond width
    AlignedFloats centre_, scale_;                                  // stride entries
    mutable AlignedFloats scaled_;                                  // work space of scores()
    mutable std::vector<std::int16_t, LineAllocator<std::int16_t>> quantised_;  // the same
};

// Rows of a sparse matrix on the columns that occur among them.
class SparseSample {
   public:
    void prepare_weights(std::span<float>) const {}

    std::size_t count() const { return begin_.size() - 1; }
    std::size_t stride() const { return round_up_to_lanes(columns_.size()); }
    std::size_t width() const { return columns_.size(); }
    std::span<const Feature> features() const { return columns_; }

    void scores(std::size_t begin, std::size_t n, const float* w, float bias, float* z) const {
        const float offset = bias - kernels().dot_f32(w, centre_.data(), width());
        for (std::size_t i = 0; i < n; ++i) {
            float sum = 0.0f;
            for (std::size_t t = begin_[begin + i]; t < begin_[begin + i + 1]; ++t)
                sum += w[column_[t]] * value_[t];
            z[i] = sum + offset;
        }
    }

    void gradient(std::size_t begin, std::span<const std::int32_t> ids, const float* a,
                  std::span<float> g) const {
        float total = 0.0f;
        for (std::size_t t = 0; t < ids.size(); ++t) total += a[t];
        for (std::size_t t = 0; t < width(); ++t) g[t] = -total * centre_[t];
        std::fill(g.begin() + static_cast<std::ptrdiff_t>(width()), g.end(), 0.0f);
        for (std::size_t t = 0; t < ids.size(); ++t) {
            const std::size_t i = begin + static_cast<std::size_t>(ids[t]);
            for (std::size_t e = begin_[i]; e < begin_[i + 1]; ++e)
                g[static_cast<std::size_t>(column_[e])] += a[t] * value_[e];
        }
    }

    void subtract(std::span<const float> row) {
        for (std::size_t t = 0; t < width(); ++t) centre_[t] += row[t];
    }

    double squared_length(std::size_t i) const {
        double square =
            static_cast<double>(kernels().dot_f32(centre_.data(), centre_.data(), width()));
        for (std::size_t e = begin_[i]; e < begin_[i + 1]; ++e) {
            const double v = value_[e], c = centre_[static_cast<std::size_t>(column_[e])];
            square += v * (v - 2.0 * c);
        }
        return square;
    }

    std::size_t levels(std::size_t, float) const { return kMaxBins; }

    void column(std::size_t t, std::size_t n, float* out) const {
        std::fill_n(out, n, -centre_[t]);
        for (std::size_t e = column_begin_[t]; e < column_begin_[t + 1] && row_[e] < n; ++e)
            out[row_[e]] += row_value_[e];
    }

    template <ListedRows Rows>
    void gather(const Rows& rows, std::span<const RowId> ids, const Standardisation& s,
                std::span<const Feature> columns, std::span<const std::int32_t> local) {
        columns_.assign(columns.begin(), columns.end());
        centre_.resize(columns.size());
        for (std::size_t t = 0; t < columns.size(); ++t) {
            const auto j = static_cast<std::size_t>(columns[t]);
            centre_[t] = s.centre[j] * s.scale[j];
        }
        begin_.assign(1, 0);
        column_.clear();
        value_.clear();
        for (const RowId id : ids) {
            rows.visit(static_cast<std::size_t>(id), [&](Feature j, float x) {
                const auto f = static_cast<std::size_t>(j);
                if (local[f] < 0) return;
                column_.push_back(local[f]);
                value_.push_back(x * s.scale[f]);
            });
            begin_.push_back(column_.size());
        }
        transpose();
    }

   private:
    // A copy ordered by columns, which the axis-aligned start asks for.
    void transpose() {
        column_begin_.assign(width() + 1, 0);
        for (const std::int32_t t : column_) ++column_begin_[static_cast<std::size_t>(t) + 1];
        for (std::size_t t = 0; t < width(); ++t) column_begin_[t + 1] += column_begin_[t];
        row_.resize(column_.size());
        row_value_.resize(column_.size());
        next_ = column_begin_;
        for (std::size_t i = 0; i < count(); ++i)
            for (std::size_t e = begin_[i]; e < begin_[i + 1]; ++e) {
                const std::size_t place = next_[static_cast<std::size_t>(column_[e])]++;
                row_[place] = i;
                row_value_[place] = value_[e];
            }
    }

    std::vector<std::size_t> begin_ = {0};  // count() + 1 offsets into column_ and value_
    std::vector<std::int32_t> column_;      // local, increasing within a row
    std::vector<float> value_;              // scaled, not centred
    AlignedFloats centre_;                  // centre * scale of each local column
    std::vector<std::size_t> column_begin_, row_, next_;  // the same elements by columns
    std::vector<float> row_value_;
    std::vector<Feature> columns_;  // increasing
};

}  // namespace co2
