// SPDX-License-Identifier: BSD-3-Clause
// The targets of the training rows. A kind of targets has key(row), which depends on the target
// alone, and same(row, row).
#pragma once

#include "base/hash.hpp"
#include "base/types.hpp"

namespace co2 {

// The labels of all training rows; in bytes where there are at most 256 classes. They may lie in an
// array of the caller's, which another thread could change after it was checked: so every label is
// limited to the classes again when it is read.
class Labels {
   public:
    Labels(std::span<const std::uint8_t> bytes, std::size_t n_classes)
        : bytes_(bytes), last_(static_cast<std::uint32_t>(n_classes - 1)) {}
    Labels(std::span<const Label> labels, std::size_t n_classes)
        : labels_(labels), last_(static_cast<std::uint32_t>(n_classes - 1)) {}

    std::size_t size() const { return bytes_.size() + labels_.size(); }
    std::uint64_t key(std::size_t row) const { return static_cast<std::uint64_t>((*this)[row]); }
    bool same(std::size_t a, std::size_t b) const { return (*this)[a] == (*this)[b]; }
    Label operator[](std::size_t row) const {
        const auto y = labels_.empty() ? bytes_[row] : static_cast<std::uint32_t>(labels_[row]);
        return static_cast<Label>(std::min(y, last_));
    }

   private:
    std::span<const std::uint8_t> bytes_;
    std::span<const Label> labels_;  // empty if there are bytes
    std::uint32_t last_;
};

// The numbers to predict of all training rows: one or several each.
class Values {
   public:
    Values(std::span<const float> all, std::size_t n_outputs) : all_(all), k_(n_outputs) {}

    std::size_t size() const { return all_.size() / k_; }
    std::size_t outputs() const { return k_; }
    std::span<const float> operator[](std::size_t row) const { return all_.subspan(row * k_, k_); }
    std::uint64_t key(std::size_t row) const {
        return hash_bytes(all_.data() + row * k_, k_ * sizeof(float));
    }
    bool same(std::size_t a, std::size_t b) const {
        return std::ranges::equal((*this)[a], (*this)[b]);
    }

   private:
    std::span<const float> all_;  // rows x outputs
    std::size_t k_;
};

}  // namespace co2
