// SPDX-License-Identifier: BSD-3-Clause
// Images whose windows are rows. They lie in the caller's arrays, which are only read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace co2 {

// height x width x channels elements, one after the other.
template <class T>
struct Image {
    const T* data;
    std::size_t height, width;
};

// A window, by the pixel in its upper left corner.
struct Place {
    std::uint32_t image, pixel;
};

// Images with one number of channels, none smaller than the window. The features of a window are
// its elements in order: row by row, pixel by pixel, channel by channel.
template <class T>
class WindowImages {
   public:
    WindowImages(std::vector<Image<T>> images, std::size_t window, std::size_t channels)
        : images_(std::move(images)), window_(window), channels_(channels) {
        for (std::size_t j = 0; j < features(); ++j)
            part_.push_back(
                {static_cast<std::uint32_t>(j / run()), static_cast<std::uint32_t>(j % run())});
    }

    std::size_t count() const { return images_.size(); }
    std::size_t window() const { return window_; }
    std::size_t channels() const { return channels_; }
    std::size_t features() const { return window_ * window_ * channels_; }
    const Image<T>& operator[](std::size_t image) const { return images_[image]; }

    // Centres of windows: how many rows of an image have some, and how many there are in a row.
    std::size_t centre_rows(std::size_t image) const { return images_[image].height - window_ + 1; }
    std::size_t centre_columns(std::size_t image) const {
        return images_[image].width - window_ + 1;
    }

    // A window is `window()` runs of run() elements, which lie step() apart.
    std::size_t run() const { return window_ * channels_; }
    std::size_t step(std::size_t image) const { return images_[image].width * channels_; }

    const T* corner(Place place) const {
        return images_[place.image].data + place.pixel * channels_;
    }

    // How far behind the corner of a window a feature lies.
    std::size_t offset(std::size_t image, std::size_t feature) const {
        return part_[feature].row * step(image) + part_[feature].within;
    }

    T element(Place place, std::size_t feature) const {
        return corner(place)[offset(place.image, feature)];
    }

   private:
    struct Part {
        std::uint32_t row, within;
    };

    std::vector<Image<T>> images_;
    std::size_t window_, channels_;
    std::vector<Part> part_;  // of each feature; a division for each element read would take longer
};

}  // namespace co2
