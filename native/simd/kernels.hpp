// SPDX-License-Identifier: BSD-3-Clause
// The inner loops, compiled once per instruction set (see CMakeLists.txt) and chosen at run time.
//
// Every level gives the same bits: a sum runs in 16 lanes (element j goes to lane j % 16) that are
// added in a fixed order at the end, and no multiply-add is fused. A level only decides how many
// machine registers hold the 16 lanes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace co2 {

inline constexpr std::size_t kLanes = 16;
inline constexpr std::size_t kMaxBins = 64;

inline constexpr std::size_t round_up_to_lanes(std::size_t n) {
    return (n + kLanes - 1) / kLanes * kLanes;
}

// out_j = (clip(x_j) - centre_j) * scale_j, where NaN counts as mean_j and clip() limits to
// [low_j, high_j] unless `low` is null. One number per feature each.
struct FeatureMap {
    const float *mean, *centre, *scale, *low, *high;
};

struct Kernels {
    const char* name;

    // sum_j x_j w_j over p elements; x and w need no alignment.
    float (*dot_f32)(const float* x, const float* w, std::size_t p);
    float (*dot_u8)(const std::uint8_t* x, const float* w, std::size_t p);

    // z_i = bias + <row i, w> for n rows of a block; stride is a multiple of 16, padding is zero.
    void (*scores)(const float* rows, std::size_t stride, std::size_t n, const float* w, float bias,
                   float* z);

    // g += sum_t a_t * row[ids_t].
    void (*accumulate)(const float* rows, std::size_t stride, const std::int32_t* ids,
                       const float* a, std::size_t n, float* g);

    // One step of gradient descent with momentum: v = momentum v + rate g; w += v; returns |w|^2.
    float (*momentum_step)(float* w, float* v, const float* g, float momentum, float rate,
                           std::size_t stride);

    // x *= factor.
    void (*scale)(float* x, float factor, std::size_t stride);

    // See FeatureMap.
    void (*standardise_f32)(const float* x, const FeatureMap& map, std::size_t p, float* out);
    void (*standardise_u8)(const std::uint8_t* x, const FeatureMap& map, std::size_t p, float* out);

    // Quality of every boundary of a histogram. hist[c * kMaxBins + b] is the weight of class c in
    // bin b (made cumulative in place); gain[b] = sum over the two sides of
    // sum_c n_c log2 n_c - n log2 n when bins <= b go left. Bins is a multiple of 16.
    void (*entropy_scan)(float* hist, std::size_t classes, std::size_t bins, float* gain);

    // The lower triangle of out (stride x stride, row-major) = sum_i c_i row_i row_i^T.
    void (*weighted_gram)(const float* rows, std::size_t stride, std::size_t n, const float* c,
                          float* out);

    // In-place Cholesky solve of the symmetric positive definite n x n system a x = b (a is
    // row-major with the given stride, its lower triangle is read and destroyed; b becomes x).
    // Returns false if a pivot is not positive.
    bool (*solve_spd)(float* a, std::size_t stride, std::size_t n, float* b);
};

// The kernels in use: the widest level of this machine unless CO2FOREST_ISA names another one.
const Kernels& kernels();

// Level "baseline", "avx2" or "avx512"; null if unknown or not supported by this machine.
const Kernels* find_kernels(const char* name);

// Selects a level for the whole process; false if it is not supported. For tests.
bool select_kernels(const char* name);

}  // namespace co2
