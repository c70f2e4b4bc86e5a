// SPDX-License-Identifier: BSD-3-Clause
// The inner loops, compiled once per instruction set (see CMakeLists.txt) and chosen at run time.
//
// Every level gives the same bits: a sum runs in 16 lanes (whole blocks of 16 elements, then the
// rest at the end of the last lanes) that are added in a fixed order at the end, and no
// multiply-add is fused. A level only decides how many machine registers hold the 16 lanes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace co2 {

inline constexpr std::size_t kLanes = 16;
inline constexpr std::size_t kMaxBins = 64;

inline constexpr std::size_t round_up_to_lanes(std::size_t n) {
    return (n + kLanes - 1) / kLanes * kLanes;
}

// How the weights of a hyperplane are stored: a float32 without its lower half, which leaves eight
// significant bits and the range. Half the memory, and the validation errors of eight sets are the
// same within one percent (with five significant bits too).
using Bfloat16 = std::uint16_t;

// out_j = (clip(x_j) - centre_j) * scale_j, where NaN counts as mean_j and clip() limits to
// [low_j, high_j] unless these are null. One number per feature each.
struct FeatureMap {
    const float *mean, *centre, *scale, *low, *high;
};

// What quantise() has found.
struct Quantised {
    float unit;  // 0 if all weights are zero or too small to tell
    float size;  // sum of the absolute weights
};

struct Kernels {
    const char* name;

    // sum_j x_j w_j over p elements; x and w need no alignment.
    float (*dot_f32)(const float* x, const float* w, std::size_t p);

    // The same for n pairs of a vector and stored weights, z_i = <x_i, w_i>.
    void (*dots_f32)(const float* const* x, const Bfloat16* const* w, std::size_t p, std::size_t n,
                     float* z);
    void (*dots_u8)(const std::uint8_t* const* x, const Bfloat16* const* w, std::size_t p,
                    std::size_t n, float* z);

    // The same for rows of x (any number x p) with one w.
    void (*project_f32)(const float* x, std::size_t p, const std::int32_t* ids, std::size_t n,
                        const Bfloat16* w, float* z);
    void (*project_u8)(const std::uint8_t* x, std::size_t p, const std::int32_t* ids, std::size_t n,
                       const Bfloat16* w, float* z);

    // z_i = bias + <row i, w> for n rows of a block; stride is a multiple of 16, padding is zero.
    void (*scores_f32)(const float* rows, std::size_t stride, std::size_t n, const float* w,
                       float bias, float* z);

    // u = w * scale and its nearest multiple of a unit, out * unit ~ u, whose products with bytes
    // can be added in 32 bits. Stride is a multiple of 16.
    Quantised (*quantise)(const float* w, const float* scale, std::size_t stride, float* u,
                          std::int16_t* out);

    // z_i = bias + unit * <row i, w>; stride is a multiple of 32. Whole numbers take a third of the
    // instructions that floats do, and add up to the same sum in every order.
    void (*scores_u8)(const std::uint8_t* rows, std::size_t stride, std::size_t n,
                      const std::int16_t* w, float unit, float bias, float* z);

    // z_i = unit * <row ids_i, w> for rows of x (any number x p), p >= 16. The last p % 16 weights
    // stand at the end of a block of 16 of their own, behind zeros.
    void (*project_quantised)(const std::uint8_t* x, std::size_t p, const std::int32_t* ids,
                              std::size_t n, const std::int16_t* w, float unit, float* z);

    // z_i = unit * <window i, w>, where a window is `runs` pieces of `run` >= 16 bytes, `step`
    // bytes apart, the first at x_i. The weights of a run are padded to whole blocks of 16 as
    // above.
    void (*project_windows)(const std::uint8_t* const* x, std::size_t n, std::size_t step,
                            std::size_t runs, std::size_t run, const std::int16_t* w, float unit,
                            float* z);

    // The same for numbers of 16 bits, whose products with the weights can be added in 32 bits; run
    // is a multiple of 16.
    void (*project_sums)(const std::int16_t* const* x, std::size_t n, std::size_t step,
                         std::size_t runs, std::size_t run, const std::int16_t* w, float unit,
                         float* z);

    // g += sum_t a_t * row[ids_t].
    void (*accumulate_f32)(const float* rows, std::size_t stride, const std::int32_t* ids,
                           const float* a, std::size_t n, float* g);
    void (*accumulate_u8)(const std::uint8_t* rows, std::size_t stride, const std::int32_t* ids,
                          const float* a, std::size_t n, float* g);

    // One step of gradient descent with momentum: v = momentum v + rate g; w += v; returns |w|^2.
    float (*momentum_step)(float* w, float* v, const float* g, float momentum, float rate,
                           std::size_t stride);

    // x *= factor.
    void (*scale)(float* x, float factor, std::size_t stride);

    // The FeatureMap of n rows of x (n_rows x p), to rows of out; those are filled with zeros up to
    // p rounded up to 16.
    void (*standardise_f32)(const float* x, std::size_t n_rows, std::size_t p,
                            const std::int32_t* ids, std::size_t n, const FeatureMap& map,
                            std::size_t stride, float* out);
    void (*standardise_u8)(const std::uint8_t* x, std::size_t n_rows, std::size_t p,
                           const std::int32_t* ids, std::size_t n, const FeatureMap& map,
                           std::size_t stride, float* out);

    // The least and the largest of n > 0 numbers.
    void (*range)(const float* x, std::size_t n, float* low, float* high);

    // Whether n numbers between -2^22 and 2^22 are whole.
    bool (*all_whole)(const float* x, std::size_t n);

    // Quality of every boundary of a histogram. hist[c * kMaxBins + b] is the weight of class c in
    // bin b (made cumulative in place); gain[b] = sum over the two sides of
    // sum_c n_c log2 n_c - n log2 n when bins <= b go left. Bins is a multiple of 16.
    void (*entropy_scan)(float* hist, std::size_t classes, std::size_t bins, float* gain);

    // theta -= log sum_t exp(theta_t), and probability = exp(theta). An entry of -87 or less counts
    // (almost) nothing; stride is a multiple of 16.
    void (*normalise_log)(float* theta, std::size_t stride, float* probability);

    // The same for 16 rows of n numbers at once: number t of row l is theta[16 t + l].
    void (*softmax_of_rows)(float* theta, std::size_t n, float* probability);

    // y = a x + b y; stride is a multiple of 16.
    void (*combine)(float a, const float* x, float b, float* y, std::size_t stride);
};

// The kernels in use: the widest level of this machine unless CO2FOREST_ISA names another one.
const Kernels& kernels();

// Level "baseline", "avx2" or "avx512"; null if unknown or not supported by this machine.
const Kernels* find_kernels(const char* name);

// Selects a level for the whole process; false if it is not supported. For tests.
bool select_kernels(const char* name);

}  // namespace co2
