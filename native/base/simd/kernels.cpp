// SPDX-License-Identifier: BSD-3-Clause
// This file is compiled once per instruction set. It must not instantiate inline functions of the
// standard library: the linker could keep the AVX-512 copy of one for every caller.
#include "base/simd/kernels.hpp"

#include "base/simd/lanes.hpp"

#define CO2_CONCAT_(a, b) a##b
#define CO2_CONCAT(a, b) CO2_CONCAT_(a, b)
#define CO2_STRING_(a) #a
#define CO2_STRING(a) CO2_STRING_(a)

namespace co2 {
namespace {

// The products of two vectors, added in 16 lanes. The last p % 16 elements are read with those in
// front of them, which lie in the same vector, and keep the lanes that they have there (see
// lane_of() in rows/projection.hpp).
template <class T, class W>
inline __attribute__((always_inline)) Lanes products(const T* x, const W* w, std::size_t p) {
    if (p < 16) return load_tail(x, p) * load_tail(w, p);
    Lanes total = fill(0.0f);
    std::size_t j = 0;
    for (; j + 16 <= p; j += 16) total = total + load(x + j) * load(w + j);
    if (j < p) total = total + keep_last(load(x + p - 16), p - j) * load(w + p - 16);
    return total;
}

float dot_f32(const float* x, const float* w, std::size_t p) { return sum(products(x, w, p)); }

// Rows lie anywhere in memory, so long ones are asked for in advance. Short ones the processor
// finds in time by itself.
constexpr std::size_t kAhead = 4;

inline __attribute__((always_inline)) void prefetch(const void* address, std::size_t bytes) {
    if (bytes < 256) return;
    const char* line = static_cast<const char*>(address);
    for (std::size_t b = 0; b < bytes; b += 64) __builtin_prefetch(line + b);
}

template <class T>
inline __attribute__((always_inline)) void dots(const T* const* x, const Bfloat16* const* w,
                                                std::size_t p, std::size_t n, float* z) {
    for (std::size_t i = 0; i < n; ++i) {
        if (i + kAhead < n) {
            prefetch(x[i + kAhead], p * sizeof(T));
            prefetch(w[i + kAhead], p * sizeof(Bfloat16));
        }
        z[i] = sum(products(x[i], w[i], p));
    }
}

void dots_f32(const float* const* x, const Bfloat16* const* w, std::size_t p, std::size_t n,
              float* z) {
    dots(x, w, p, n, z);
}

void dots_u8(const std::uint8_t* const* x, const Bfloat16* const* w, std::size_t p, std::size_t n,
             float* z) {
    dots(x, w, p, n, z);
}

// Four rows share each load of w.
template <class T>
inline __attribute__((always_inline)) void project(const T* x, std::size_t p,
                                                   const std::int32_t* ids, std::size_t n,
                                                   const Bfloat16* w, float* z) {
    const auto row = [&](std::size_t i) { return x + static_cast<std::size_t>(ids[i]) * p; };
    const std::size_t whole = p / 16 * 16, rest = p - whole;
    std::size_t i = 0;
    for (; i + 4 <= n && p >= 16; i += 4) {
        for (std::size_t t = i + kAhead; t < i + 4 + kAhead && t < n; ++t)
            prefetch(row(t), p * sizeof(T));
        const T *r0 = row(i), *r1 = row(i + 1), *r2 = row(i + 2), *r3 = row(i + 3);
        Lanes a = fill(0.0f), b = a, c = a, d = a;
        for (std::size_t j = 0; j < whole; j += 16) {
            const Lanes weight = load(w + j);
            a = a + load(r0 + j) * weight;
            b = b + load(r1 + j) * weight;
            c = c + load(r2 + j) * weight;
            d = d + load(r3 + j) * weight;
        }
        if (rest > 0) {
            const Lanes weight = load(w + p - 16);
            a = a + keep_last(load(r0 + p - 16), rest) * weight;
            b = b + keep_last(load(r1 + p - 16), rest) * weight;
            c = c + keep_last(load(r2 + p - 16), rest) * weight;
            d = d + keep_last(load(r3 + p - 16), rest) * weight;
        }
        const Quad sums = sum4(a, b, c, d);
        __builtin_memcpy(z + i, &sums, sizeof sums);
    }
    for (; i < n; ++i) z[i] = sum(products(row(i), w, p));
}

void project_f32(const float* x, std::size_t p, const std::int32_t* ids, std::size_t n,
                 const Bfloat16* w, float* z) {
    project(x, p, ids, n, w, z);
}

void project_u8(const std::uint8_t* x, std::size_t p, const std::int32_t* ids, std::size_t n,
                const Bfloat16* w, float* z) {
    project(x, p, ids, n, w, z);
}

// Four rows share each load of w and one transposed sum of lanes.
void scores_f32(const float* rows, std::size_t stride, std::size_t n, const float* w, float bias,
                float* z) {
    std::size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        const float* row = rows + i * stride;
        Lanes a = fill(0.0f), b = a, c = a, d = a;
        for (std::size_t j = 0; j < stride; j += 16) {
            const Lanes weight = load(w + j);
            a = a + load(row + j) * weight;
            b = b + load(row + stride + j) * weight;
            c = c + load(row + 2 * stride + j) * weight;
            d = d + load(row + 3 * stride + j) * weight;
        }
        const Quad total = sum4(a, b, c, d) + bias;
        __builtin_memcpy(z + i, &total, sizeof total);
    }
    for (; i < n; ++i) {
        Lanes total = fill(0.0f);
        for (std::size_t j = 0; j < stride; j += 16)
            total = total + load(rows + i * stride + j) * load(w + j);
        z[i] = sum(total) + bias;
    }
}

Quantised quantise(const float* w, const float* scale, std::size_t stride, float* u,
                   std::int16_t* out) {
    Lanes total = fill(0.0f), most = total;
    for (std::size_t j = 0; j < stride; j += 16) {
        const Lanes v = load(w + j) * load(scale + j);
        store(u + j, v);
        for (int r = 0; r < kRegisters; ++r) {
            const Register size = v.part[r] < 0.0f ? -v.part[r] : v.part[r];
            total.part[r] += size;
            most.part[r] = size > most.part[r] ? size : most.part[r];
        }
    }
    const float top = largest(most);
    // 255 sum_j |out_j| < 2^31, so that no sum of products overflows: each may be rounded up by
    // half.
    const float rounding = 0.5f * static_cast<float>(stride);
    const float most_units = rounding < 4e5f ? 8e6f : 8.4e6f - rounding;
    const float size = sum(total), by_size = 32767.0f / top, by_sum = most_units / size;
    const float factor = by_size < by_sum ? by_size : by_sum;
    if (!(factor > 0.0f && factor < 1e30f)) {
        for (std::size_t j = 0; j < stride; ++j) out[j] = 0;
        return {0.0f, size};
    }
    for (std::size_t j = 0; j < stride; ++j) {
        const float v = u[j] * factor;
        out[j] =
            static_cast<std::int16_t>(static_cast<std::int32_t>(v + (v < 0.0f ? -0.5f : 0.5f)));
    }
    return {1.0f / factor, size};
}

#if defined(__AVX2__)
// sum_j x_j w_j over `stride` elements, in four parts.
inline __attribute__((always_inline)) __m128i dot_bytes(const std::uint8_t* x,
                                                        const std::int16_t* w, std::size_t stride) {
#if defined(__AVX512BW__)
    __m512i wide = _mm512_setzero_si512();
    for (std::size_t j = 0; j < stride; j += 32) {
        const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + j));
        wide = _mm512_add_epi32(
            wide, _mm512_madd_epi16(_mm512_cvtepu8_epi16(bytes), _mm512_loadu_si512(w + j)));
    }
    const __m256i total =
        _mm256_add_epi32(_mm512_castsi512_si256(wide), _mm512_extracti64x4_epi64(wide, 1));
#else
    __m256i total = _mm256_setzero_si256();
    for (std::size_t j = 0; j < stride; j += 16) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(x + j));
        const __m256i weight = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(w + j));
        total = _mm256_add_epi32(total, _mm256_madd_epi16(_mm256_cvtepu8_epi16(bytes), weight));
    }
#endif
    return _mm_add_epi32(_mm256_castsi256_si128(total), _mm256_extracti128_si256(total, 1));
}

void scores_u8(const std::uint8_t* rows, std::size_t stride, std::size_t n, const std::int16_t* w,
               float unit, float bias, float* z) {
    // The sums of four rows at once; a last group of fewer repeats its last row.
    for (std::size_t i = 0; i < n; i += 4) {
        __m128i part[4];
        for (std::size_t t = 0; t < 4; ++t)
            part[t] = dot_bytes(rows + (i + t < n ? i + t : n - 1) * stride, w, stride);
        const __m128i sums =
            _mm_hadd_epi32(_mm_hadd_epi32(part[0], part[1]), _mm_hadd_epi32(part[2], part[3]));
        const Quad total = _mm_cvtepi32_ps(sums) * (Quad{} + unit) + bias;
        __builtin_memcpy(z + i, &total, (n - i < 4 ? n - i : 4) * sizeof(float));
    }
}
#else
void scores_u8(const std::uint8_t* rows, std::size_t stride, std::size_t n, const std::int16_t* w,
               float unit, float bias, float* z) {
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint8_t* x = rows + i * stride;
        std::int32_t total = 0;
        for (std::size_t j = 0; j < stride; ++j) total += x[j] * w[j];
        z[i] = static_cast<float>(total) * unit + bias;
    }
}
#endif

#if defined(__AVX2__)
void project_quantised(const std::uint8_t* x, std::size_t p, const std::int32_t* ids, std::size_t n,
                       const std::int16_t* w, float unit, float* z) {
    const std::size_t whole = p / 16 * 16, wide = p / 32 * 32;
    const auto row = [&](std::size_t i) { return x + static_cast<std::size_t>(ids[i]) * p; };
    // Sixteen products, added in pairs.
    const auto block = [&](const std::uint8_t* bytes, const std::int16_t* weight) {
        const __m128i b = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
        return _mm256_madd_epi16(_mm256_cvtepu8_epi16(b),
                                 _mm256_loadu_si256(reinterpret_cast<const __m256i*>(weight)));
    };
    for (std::size_t i = 0; i < n; ++i) {
        if (i + kAhead < n) prefetch(row(i + kAhead), p);
        const std::uint8_t* r = row(i);
        __m128i part = dot_bytes(r, w, wide);
        __m256i rest = _mm256_setzero_si256();
        if (wide < whole) rest = block(r + wide, w + wide);
        if (whole < p) rest = _mm256_add_epi32(rest, block(r + p - 16, w + whole));
        part = _mm_add_epi32(
            part, _mm_add_epi32(_mm256_castsi256_si128(rest), _mm256_extracti128_si256(rest, 1)));
        part = _mm_hadd_epi32(part, part);
        part = _mm_hadd_epi32(part, part);
        z[i] = static_cast<float>(_mm_cvtsi128_si32(part)) * unit;
    }
}
#else
void project_quantised(const std::uint8_t* x, std::size_t p, const std::int32_t* ids, std::size_t n,
                       const std::int16_t* w, float unit, float* z) {
    const std::size_t whole = p / 16 * 16;
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint8_t* row = x + static_cast<std::size_t>(ids[i]) * p;
        std::int32_t total = 0;
        for (std::size_t j = 0; j < whole; ++j) total += row[j] * w[j];
        for (std::size_t j = 0; j < 16 && whole < p; ++j) total += row[p - 16 + j] * w[whole + j];
        z[i] = static_cast<float>(total) * unit;
    }
}
#endif

// The 16 elements of a run that meet the block of weights at j: the last ones of the run overlap
// with those before, for which the weights are zero.
inline __attribute__((always_inline)) std::size_t block_begin(std::size_t j, std::size_t run) {
    return j + 16 <= run ? j : run - 16;
}

#if defined(__AVX2__)
inline __attribute__((always_inline)) __m256i load_16(const std::uint8_t* x) {
    return _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x)));
}
inline __attribute__((always_inline)) __m256i load_16(const std::int16_t* x) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x));
}

// Four windows share each load of the weights.
template <class T>
inline __attribute__((always_inline)) void project_runs(const T* const* x, std::size_t n,
                                                        std::size_t step, std::size_t runs,
                                                        std::size_t run, const std::int16_t* w,
                                                        float unit, float* z) {
    for (std::size_t i = 0; i < n; i += 4) {  // a last group of fewer repeats its last window
        const T* row[4];
        for (std::size_t t = 0; t < 4; ++t) row[t] = x[i + t < n ? i + t : n - 1];
        __m256i total[4] = {};
        const std::int16_t* weight = w;
        for (std::size_t r = 0; r < runs; ++r) {
            for (std::size_t j = 0; j < run; j += 16, weight += 16) {
                const std::size_t begin = block_begin(j, run);
                const __m256i v = load_16(weight);
                for (std::size_t t = 0; t < 4; ++t)
                    total[t] =
                        _mm256_add_epi32(total[t], _mm256_madd_epi16(load_16(row[t] + begin), v));
            }
            for (std::size_t t = 0; t < 4; ++t) row[t] += step;
        }
        __m128i half[4];
        for (std::size_t t = 0; t < 4; ++t)
            half[t] = _mm_add_epi32(_mm256_castsi256_si128(total[t]),
                                    _mm256_extracti128_si256(total[t], 1));
        const __m128i sums =
            _mm_hadd_epi32(_mm_hadd_epi32(half[0], half[1]), _mm_hadd_epi32(half[2], half[3]));
        const Quad out = _mm_cvtepi32_ps(sums) * (Quad{} + unit);
        __builtin_memcpy(z + i, &out, (n - i < 4 ? n - i : 4) * sizeof(float));
    }
}
#else
template <class T>
inline __attribute__((always_inline)) void project_runs(const T* const* x, std::size_t n,
                                                        std::size_t step, std::size_t runs,
                                                        std::size_t run, const std::int16_t* w,
                                                        float unit, float* z) {
    for (std::size_t i = 0; i < n; ++i) {
        std::int32_t total = 0;
        const std::int16_t* weight = w;
        for (std::size_t r = 0; r < runs; ++r)
            for (std::size_t j = 0; j < run; j += 16, weight += 16) {
                const T* block = x[i] + r * step + block_begin(j, run);
                for (std::size_t t = 0; t < 16; ++t) total += block[t] * weight[t];
            }
        z[i] = static_cast<float>(total) * unit;
    }
}
#endif

void project_windows(const std::uint8_t* const* x, std::size_t n, std::size_t step,
                     std::size_t runs, std::size_t run, const std::int16_t* w, float unit,
                     float* z) {
    project_runs(x, n, step, runs, run, w, unit, z);
}

void project_sums(const std::int16_t* const* x, std::size_t n, std::size_t step, std::size_t runs,
                  std::size_t run, const std::int16_t* w, float unit, float* z) {
    project_runs(x, n, step, runs, run, w, unit, z);
}

template <class T>
inline __attribute__((always_inline)) void accumulate(const T* rows, std::size_t stride,
                                                      const std::int32_t* ids, const float* a,
                                                      std::size_t n, float* g) {
    std::size_t t = 0;
    for (; t + 4 <= n; t += 4) {
        const T* r0 = rows + static_cast<std::size_t>(ids[t]) * stride;
        const T* r1 = rows + static_cast<std::size_t>(ids[t + 1]) * stride;
        const T* r2 = rows + static_cast<std::size_t>(ids[t + 2]) * stride;
        const T* r3 = rows + static_cast<std::size_t>(ids[t + 3]) * stride;
        const Lanes a0 = fill(a[t]), a1 = fill(a[t + 1]), a2 = fill(a[t + 2]), a3 = fill(a[t + 3]);
        for (std::size_t j = 0; j < stride; j += 16)
            store(g + j, load(g + j) + ((load(r0 + j) * a0 + load(r1 + j) * a1) +
                                        (load(r2 + j) * a2 + load(r3 + j) * a3)));
    }
    for (; t < n; ++t) {
        const T* row = rows + static_cast<std::size_t>(ids[t]) * stride;
        const Lanes factor = fill(a[t]);
        for (std::size_t j = 0; j < stride; j += 16)
            store(g + j, load(g + j) + load(row + j) * factor);
    }
}

void accumulate_f32(const float* rows, std::size_t stride, const std::int32_t* ids, const float* a,
                    std::size_t n, float* g) {
    accumulate(rows, stride, ids, a, n, g);
}

void accumulate_u8(const std::uint8_t* rows, std::size_t stride, const std::int32_t* ids,
                   const float* a, std::size_t n, float* g) {
    accumulate(rows, stride, ids, a, n, g);
}

float momentum_step(float* w, float* v, const float* g, float momentum, float rate,
                    std::size_t stride) {
    const Lanes m = fill(momentum), r = fill(rate);
    Lanes norm = fill(0.0f);
    for (std::size_t j = 0; j < stride; j += 16) {
        const Lanes velocity = load(v + j) * m + load(g + j) * r;
        const Lanes weight = load(w + j) + velocity;
        store(v + j, velocity);
        store(w + j, weight);
        norm = norm + weight * weight;
    }
    return sum(norm);
}

void scale(float* x, float factor, std::size_t stride) {
    const Lanes f = fill(factor);
    for (std::size_t j = 0; j < stride; j += 16) store(x + j, load(x + j) * f);
}

// The part of a FeatureMap for 16 features.
struct MapLanes {
    Lanes mean, centre, scale, low, high;

    inline __attribute__((always_inline)) Lanes operator()(const Lanes& x) const {
        Lanes out;
        for (int r = 0; r < kRegisters; ++r) {
            Register v = x.part[r] == x.part[r] ? x.part[r] : mean.part[r];
            v = v < low.part[r] ? low.part[r] : v;
            v = v > high.part[r] ? high.part[r] : v;
            out.part[r] = (v - centre.part[r]) * scale.part[r];
        }
        return out;
    }
};

template <class T>
inline __attribute__((always_inline)) void standardise(const T* x, std::size_t n_rows,
                                                       std::size_t p, const std::int32_t* ids,
                                                       std::size_t n, const FeatureMap& map,
                                                       std::size_t stride, float* out) {
    const std::size_t whole = p / 16 * 16, rest = p - whole;
    const Lanes no_limit = fill(__builtin_inff());
    const Lanes zero = fill(0.0f);
    // Beyond the last feature the scale is zero, and so is the result.
    const MapLanes tail = {load_tail(map.mean + whole, rest), load_tail(map.centre + whole, rest),
                           load_tail(map.scale + whole, rest),
                           map.low ? load_tail(map.low + whole, rest) : zero - no_limit,
                           map.high ? load_tail(map.high + whole, rest) : no_limit};
    for (std::size_t i = 0; i < n; ++i, out += stride) {
        const auto id = static_cast<std::size_t>(ids[i]);
        if (i + kAhead < n)
            prefetch(x + static_cast<std::size_t>(ids[i + kAhead]) * p, p * sizeof(T));
        const T* row = x + id * p;
        for (std::size_t j = 0; j < whole; j += 16) {
            const MapLanes part = {load(map.mean + j), load(map.centre + j), load(map.scale + j),
                                   map.low ? load(map.low + j) : zero - no_limit,
                                   map.high ? load(map.high + j) : no_limit};
            store(out + j, part(load(row + j)));
        }
        if (rest == 0) continue;
        // The elements after a row are those of the next one, as long as there is one.
        const bool inside = id * p + whole + 16 <= n_rows * p;
        store(out + whole, tail(inside ? load(row + whole) : load_tail(row + whole, rest)));
    }
}

void standardise_f32(const float* x, std::size_t n_rows, std::size_t p, const std::int32_t* ids,
                     std::size_t n, const FeatureMap& map, std::size_t stride, float* out) {
    standardise(x, n_rows, p, ids, n, map, stride, out);
}

void standardise_u8(const std::uint8_t* x, std::size_t n_rows, std::size_t p,
                    const std::int32_t* ids, std::size_t n, const FeatureMap& map,
                    std::size_t stride, float* out) {
    standardise(x, n_rows, p, ids, n, map, stride, out);
}

void entropy_scan(float* hist, std::size_t classes, std::size_t bins, float* gain) {
    alignas(64) float left[kMaxBins] = {};
    for (std::size_t b = 0; b < bins; ++b) gain[b] = 0.0f;
    float total = 0.0f;
    for (std::size_t c = 0; c < classes; ++c) {
        float* row = hist + c * kMaxBins;
        float running = 0.0f;
        for (std::size_t b = 0; b < bins; ++b) row[b] = running = running + row[b];
        total += running;
        const Lanes all = fill(running);
        for (std::size_t b = 0; b < bins; b += 16) {
            const Lanes mine = load(row + b);
            store(gain + b, load(gain + b) + (x_log2_x(mine) + x_log2_x(all - mine)));
            store(left + b, load(left + b) + mine);
        }
    }
    const Lanes all = fill(total);
    for (std::size_t b = 0; b < bins; b += 16) {
        const Lanes mine = load(left + b);
        store(gain + b, load(gain + b) - (x_log2_x(mine) + x_log2_x(all - mine)));
    }
}

void normalise_log(float* theta, std::size_t stride, float* probability) {
    Lanes total = fill(0.0f);
    for (std::size_t j = 0; j < stride; j += 16) {
        const Lanes e = exponential(load(theta + j));
        store(probability + j, e);
        total = total + e;
    }
    const Lanes all = fill(sum(total)), inverse = fill(1.0f) / all;
    const Lanes log_sum = log2(all) * fill(0.693147181f);
    for (std::size_t j = 0; j < stride; j += 16) {
        store(probability + j, load(probability + j) * inverse);
        store(theta + j, load(theta + j) - log_sum);
    }
}

void softmax_of_rows(float* theta, std::size_t n, float* probability) {
    Lanes total = fill(0.0f);
    for (std::size_t j = 0; j < 16 * n; j += 16) {
        const Lanes e = exponential(load(theta + j));
        store(probability + j, e);
        total = total + e;
    }
    const Lanes inverse = fill(1.0f) / total, log_sum = log2(total) * fill(0.693147181f);
    for (std::size_t j = 0; j < 16 * n; j += 16) {
        store(probability + j, load(probability + j) * inverse);
        store(theta + j, load(theta + j) - log_sum);
    }
}

void range(const float* x, std::size_t n, float* low, float* high) {
    std::size_t i = 0;
    float least = x[0], most = x[0];
    if (n >= 32) {
        Lanes lows = load(x), highs = lows;
        for (i = 16; i + 16 <= n; i += 16) {
            const Lanes v = load(x + i);
            for (int r = 0; r < kRegisters; ++r) {
                lows.part[r] = v.part[r] < lows.part[r] ? v.part[r] : lows.part[r];
                highs.part[r] = v.part[r] > highs.part[r] ? v.part[r] : highs.part[r];
            }
        }
        least = -largest(fill(0.0f) - lows);
        most = largest(highs);
    }
    for (; i < n; ++i) {
        least = x[i] < least ? x[i] : least;
        most = x[i] > most ? x[i] : most;
    }
    *low = least;
    *high = most;
}

bool all_whole(const float* x, std::size_t n) {
    constexpr float rounds = 0x1.8p23f;  // what is added to it loses its fraction
    std::size_t i = 0;
    float most = 0.0f;
    if (n >= 16) {
        const Lanes by = fill(rounds);
        Lanes fractions = fill(0.0f);
        for (; i + 16 <= n; i += 16) {
            const Lanes v = load(x + i), fraction = v - (v + by - by);
            for (int r = 0; r < kRegisters; ++r)
                fractions.part[r] =
                    fraction.part[r] != 0.0f ? fill(1.0f).part[r] : fractions.part[r];
        }
        most = largest(fractions);
    }
    for (; i < n; ++i) most = x[i] - (x[i] + rounds - rounds) != 0.0f ? 1.0f : most;
    return most == 0.0f;
}

void combine(float a, const float* x, float b, float* y, std::size_t stride) {
    const Lanes times_x = fill(a), times_y = fill(b);
    for (std::size_t j = 0; j < stride; j += 16)
        store(y + j, load(x + j) * times_x + load(y + j) * times_y);
}

}  // namespace

extern const Kernels CO2_CONCAT(kernels_, CO2_ISA);
const Kernels CO2_CONCAT(kernels_, CO2_ISA) = {
    CO2_STRING(CO2_ISA), dot_f32,           dots_f32,        dots_u8,
    project_f32,         project_u8,        scores_f32,      quantise,
    scores_u8,           project_quantised, project_windows, project_sums,
    accumulate_f32,      accumulate_u8,     momentum_step,   scale,
    standardise_f32,     standardise_u8,    range,           all_whole,
    entropy_scan,        normalise_log,     softmax_of_rows, combine,
};

}  // namespace co2
