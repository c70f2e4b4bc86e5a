// SPDX-License-Identifier: BSD-3-Clause
#include "rows/windows/block_sums.hpp"

#include <limits>

namespace co2 {
namespace {

// More than what a bound loses to rounding in float32.
constexpr float kUp = 1.0f + 1e-4f;

}  // namespace

BlockSums::BlockSums(const WindowImages<std::uint8_t>& images, std::size_t image, std::size_t first,
                     std::size_t last)
    : channels_(images.channels()), blocks_((images.window() + kBlock - 1) / kBlock),
      run_(round_up_to_lanes(blocks_ * channels_)) {
    const auto [data, height, width] = images[image];
    const std::size_t rows = last - first, columns = images.centre_columns(image);
    const std::size_t block_rows = rows + kBlock * (blocks_ - 1);
    const std::size_t block_columns = columns + kBlock * (blocks_ - 1);
    phase_ = (block_columns / kBlock + 1) * channels_;
    row_ = kBlock * phase_;
    sums_.assign(block_rows * row_ + run_, 0);
    begin_.reserve(rows * columns);
    for (std::size_t y = 0; y < rows; ++y)
        for (std::size_t x = 0; x < columns; ++x)
            begin_.push_back(static_cast<std::uint32_t>(place(y, x)));

    // |x - P x|^2 of a block: the sum of squares less the square of the sum, by the pixels.
    const auto pixels = static_cast<std::uint32_t>(kBlock * kBlock);
    std::vector<float> within(block_rows * block_columns);
    std::vector<std::uint32_t> sum(width * channels_), squares(width * channels_);
    for (std::size_t y = 0; y < block_rows; ++y) {
        std::fill(sum.begin(), sum.end(), 0);
        std::fill(squares.begin(), squares.end(), 0);
        for (std::size_t b = 0; b < kBlock; ++b) {
            const std::uint8_t* row =
                data + std::min(first + y + b, height - 1) * width * channels_;
            for (std::size_t j = 0; j < sum.size(); ++j) {
                const std::uint32_t x = row[j];
                sum[j] += x;
                squares[j] += x * x;
            }
        }
        for (std::size_t x = 0; x < block_columns; ++x) {
            std::int16_t* out = sums_.data() + place(y, x);
            std::uint64_t excess = 0;
            for (std::size_t c = 0; c < channels_; ++c) {
                std::uint32_t s = 0, q = 0;
                for (std::size_t b = 0; b < kBlock; ++b) {
                    const std::size_t j = std::min(x + b, width - 1) * channels_ + c;
                    s += sum[j];
                    q += squares[j];
                }
                out[c] = static_cast<std::int16_t>(s);
                excess += q * pixels - s * s;
            }
            within[y * block_columns + x] = static_cast<float>(excess) / static_cast<float>(pixels);
        }
    }

    std::vector<float> in_row(block_rows * columns, 0.0f);
    for (std::size_t y = 0; y < block_rows; ++y)
        for (std::size_t b = 0; b < blocks_; ++b)
            for (std::size_t x = 0; x < columns; ++x)
                in_row[y * columns + x] += within[y * block_columns + x + b * kBlock];
    rest_.assign(rows * columns, 0.0f);
    for (std::size_t y = 0; y < rows; ++y)
        for (std::size_t b = 0; b < blocks_; ++b)
            for (std::size_t x = 0; x < columns; ++x)
                rest_[y * columns + x] += in_row[(y + b * kBlock) * columns + x];
    for (float& r : rest_) r = std::sqrt(r) * kUp;
}

void BlockPlane::find_largest(std::span<const Bfloat16> weight) {
    constexpr Bfloat16 size = 0x7fff;  // without the sign, an order of whole numbers
    Bfloat16 largest = 0;
    for (const Bfloat16 w : weight) largest = std::max<Bfloat16>(largest, w & size);
    feature_ = 0;
    while ((weight[feature_] & size) != largest) ++feature_;
    weight_ = widen(weight[feature_]);
}

void BlockPlane::add_blocks(const WindowImages<std::uint8_t>& images, const BlockSums& sums) {
    constexpr std::size_t block = BlockSums::kBlock;
    const std::size_t run = images.run(), channels = images.channels();
    sum_.assign(sums.blocks() * sums.run(), 0.0f);
    row_.assign(sums.blocks() * block * channels, 0.0f);  // beyond the window nothing
    for (std::size_t b = 0; b < sums.blocks(); ++b) {
        std::fill_n(row_.begin(), run, 0.0f);
        for (std::size_t y = b * block; y < std::min((b + 1) * block, images.window()); ++y)
            for (std::size_t j = 0; j < run; ++j) row_[j] += weights_[y * run + j];
        float* out = sum_.data() + b * sums.run();
        const float* row = row_.data();
        for (std::size_t x = 0; x < sums.blocks(); ++x, row += block * channels, out += channels)
            for (std::size_t c = 0; c < channels; ++c)
                out[c] =
                    (row[c] + row[channels + c]) + (row[2 * channels + c] + row[3 * channels + c]);
    }
}

void BlockPlane::look_at(const HyperplaneView& h, const WindowImages<std::uint8_t>& images,
                         const BlockSums& sums) {
    find_largest(h.weight);
    weights_.resize(h.weight.size());
    for (std::size_t j = 0; j < weights_.size(); ++j) weights_[j] = widen(h.weight[j]);
    weights_[feature_] = 0.0f;
    add_blocks(images, sums);

    constexpr float pixels = BlockSums::kBlock * BlockSums::kBlock;
    const auto p = static_cast<float>(weights_.size());
    const float squares = kernels().dot_f32(weights_.data(), weights_.data(), weights_.size());
    const float of_means = kernels().dot_f32(sum_.data(), sum_.data(), sum_.size()) / pixels;
    // Rounding may leave less than nothing, but only by a small fraction of what is subtracted.
    rest_ = std::sqrt(std::max(0.0f, squares - of_means) + 1e-4f * squares) * kUp;

    // No sum of products overflows 32 bits: all sums of blocks together have at most this size.
    const float size = std::abs(weight_) + std::sqrt(p * squares) * kUp;
    float low, high;
    kernels().range(sum_.data(), sum_.size(), &low, &high);
    const float factor = std::min(32000.0f / std::max(high, -low), 1e9f / (255.0f * pixels * size));
    // Squares of weights that are too small vanish.
    const bool usable = factor > 0.0f && factor < 1e30f && squares > 1e-26f;
    unit_ = usable ? 1.0f / (factor * pixels) : 0.0f;
    quantised_.assign(sum_.size(), 0);
    for (std::size_t t = 0; usable && t < sum_.size(); ++t) {
        const float v = sum_[t] * factor;
        quantised_[t] =
            static_cast<std::int16_t>(static_cast<std::int32_t>(v + (v < 0.0f ? -0.5f : 0.5f)));
    }
    // Weights that all are zero, or too small or too large to tell, say nothing.
    rounding_ = usable ? 0.51f * unit_ * 255.0f * pixels * static_cast<float>(sum_.size()) +
                             255.0f * size * (p / 16.0f + 32.0f) * 0x1p-23f
                       : std::numeric_limits<float>::infinity();
}

}  // namespace co2
