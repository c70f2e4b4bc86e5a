// SPDX-License-Identifier: BSD-3-Clause
// Windows seen through blocks of 4 x 4 pixels, to tell on which side of a hyperplane they lie
// without reading them.
//
// Let P replace every pixel by the mean of its block, which is an orthogonal projection. Then
//   <w, x> = <P w, P x> + <w - P w, x - P x>,
// where the first term needs a number for each block, and the second is at most |w - P w| |x - P x|
// in size (Cauchy and Schwarz). Pixels are like their neighbours, and so are most weights. The
// exception is the weight of the node's axis-aligned start, which is often much larger than all
// others and is multiplied apart. With 1/16 of the products this decides 82 % of all tests on the
// faces of FASSEG, in half of the time. (Blocks of 8 x 8 before it, or of 2 x 2 after it, do not
// pay for their bookkeeping.)
#pragma once

#include <cmath>

#include "rows/hyperplane.hpp"
#include "rows/windows/images.hpp"

namespace co2 {

// The blocks of all windows of some rows of an image. Windows whose size is no multiple of the
// block's are seen with a few more pixels, to which no hyperplane gives a weight; the edge of the
// image is repeated where it has none.
class BlockSums {
   public:
    static constexpr std::size_t kBlock = 4;

    // Whether a window has enough pixels to be worth it, and sums of products, and places of sums
    // in this number of rows, stay below 32 bits.
    static bool suit(const WindowImages<std::uint8_t>& images, std::size_t image,
                     std::size_t rows) {
        const std::size_t with_margin = images.step(image) + 8 * images.channels();
        return images.features() >= 512 && images.features() <= std::size_t{1} << 20 &&
               rows + images.window() + 8 <= (std::size_t{1} << 32) / with_margin;
    }

    // Covers the windows whose centres lie in the rows [first, last) of centres. Windows are
    // numbered from the first of these rows on.
    BlockSums(const WindowImages<std::uint8_t>& images, std::size_t image, std::size_t first,
              std::size_t last);

    std::size_t blocks() const { return blocks_; }      // in a row of a window
    std::size_t run() const { return run_; }            // sums of them, with padding
    std::size_t step() const { return kBlock * row_; }  // from one row of blocks to the next

    // The sums of a window, in blocks() runs that are step() apart.
    const std::int16_t* sums(std::size_t window) const { return sums_.data() + begin_[window]; }

    // An upper limit of |x - P x| of a window.
    float rest(std::size_t window) const { return rest_[window]; }

   private:
    std::size_t place(std::size_t row, std::size_t column) const {
        return row * row_ + column % kBlock * phase_ + column / kBlock * channels_;
    }

    std::size_t channels_, blocks_, run_;
    std::size_t phase_ = 0, row_ = 0;   // sums from one phase, and from one row, to the next
    std::vector<std::int16_t> sums_;    // row, phase of the column, column, channel
    std::vector<std::uint32_t> begin_;  // of each window's sums
    std::vector<float> rest_;           // of each window
};

// A hyperplane seen through the same blocks.
class BlockPlane {
   public:
    // Keeps the largest weight apart and turns the others into a whole number for each block.
    void look_at(const HyperplaneView& h, const WindowImages<std::uint8_t>& images,
                 const BlockSums& sums);

    std::size_t feature() const { return feature_; }  // with the largest weight
    float weight() const { return weight_; }
    const std::int16_t* quantised() const { return quantised_.data(); }
    float unit() const { return unit_; }

    // How far a projection may be from the one with floats, for windows with this rest().
    float margin(float rest) const { return rounding_ + rest_ * rest; }

   private:
    void find_largest(std::span<const Bfloat16> weight);
    void add_blocks(const WindowImages<std::uint8_t>& images, const BlockSums& sums);

    std::size_t feature_ = 0;
    float weight_ = 0.0f, unit_ = 0.0f, rest_ = 0.0f, rounding_ = 0.0f;
    AlignedFloats weights_, row_, sum_;
    std::vector<std::int16_t> quantised_;
};

}  // namespace co2
