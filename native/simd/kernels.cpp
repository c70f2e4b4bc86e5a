// SPDX-License-Identifier: BSD-3-Clause
// This file is compiled once per instruction set. It must not instantiate inline functions of the
// standard library: the linker could keep the AVX-512 copy of one for every caller.
#include "simd/kernels.hpp"

#define CO2_CONCAT_(a, b) a##b
#define CO2_CONCAT(a, b) CO2_CONCAT_(a, b)
#define CO2_STRING_(a) #a
#define CO2_STRING(a) CO2_STRING_(a)

namespace co2 {
namespace {

#if defined(__AVX512F__)
constexpr int kRegisters = 1;
#elif defined(__AVX__)
constexpr int kRegisters = 2;
#else
constexpr int kRegisters = 4;
#endif
constexpr int kWidth = 16 / kRegisters;

typedef float Register __attribute__((vector_size(kWidth * 4)));
typedef std::int32_t IntRegister __attribute__((vector_size(kWidth * 4)));
typedef float Quad __attribute__((vector_size(16)));

// Sixteen floats in as many registers as the machine needs for them.
struct Lanes {
    Register part[kRegisters];
};

inline __attribute__((always_inline)) Lanes load(const float* x) {
    Lanes out;
    __builtin_memcpy(&out, x, sizeof out);
    return out;
}

inline __attribute__((always_inline)) void store(float* x, const Lanes& v) {
    __builtin_memcpy(x, &v, sizeof v);
}

inline __attribute__((always_inline)) Lanes load(const std::uint8_t* x) {
    typedef std::uint8_t Bytes __attribute__((vector_size(kWidth)));
    Lanes out;
    for (int r = 0; r < kRegisters; ++r) {
        Bytes bytes;
        __builtin_memcpy(&bytes, x + r * kWidth, sizeof bytes);
        out.part[r] =
            __builtin_convertvector(__builtin_convertvector(bytes, IntRegister), Register);
    }
    return out;
}

template <class T>
inline __attribute__((always_inline)) Lanes load_tail(const T* x, std::size_t n) {
    alignas(64) T padded[16] = {};
    for (std::size_t j = 0; j < n; ++j) padded[j] = x[j];
    return load(padded);
}

inline __attribute__((always_inline)) Lanes fill(float value) {
    Lanes out;
    for (int r = 0; r < kRegisters; ++r) out.part[r] = Register{} + value;
    return out;
}

inline __attribute__((always_inline)) Lanes operator+(Lanes a, const Lanes& b) {
    for (int r = 0; r < kRegisters; ++r) a.part[r] += b.part[r];
    return a;
}

inline __attribute__((always_inline)) Lanes operator-(Lanes a, const Lanes& b) {
    for (int r = 0; r < kRegisters; ++r) a.part[r] -= b.part[r];
    return a;
}

inline __attribute__((always_inline)) Lanes operator*(Lanes a, const Lanes& b) {
    for (int r = 0; r < kRegisters; ++r) a.part[r] *= b.part[r];
    return a;
}

// Lanes l, l+4, l+8, l+12 added as (l + (l+8)) + ((l+4) + (l+12)): the fixed order of every level.
inline __attribute__((always_inline)) Quad fold_to_quad(const Lanes& v) {
    Quad q[4];
    __builtin_memcpy(q, &v, sizeof v);
    return (q[0] + q[2]) + (q[1] + q[3]);
}

inline __attribute__((always_inline)) float sum(const Lanes& v) {
    const Quad q = fold_to_quad(v);
    return (q[0] + q[2]) + (q[1] + q[3]);
}

// sum() of four values at once: a 4 x 4 transposition, then the same additions.
inline __attribute__((always_inline)) Quad sum4(const Lanes& a, const Lanes& b, const Lanes& c,
                                                const Lanes& d) {
    const Quad qa = fold_to_quad(a), qb = fold_to_quad(b), qc = fold_to_quad(c),
               qd = fold_to_quad(d);
    const Quad ab_low = __builtin_shufflevector(qa, qb, 0, 4, 1, 5);
    const Quad ab_high = __builtin_shufflevector(qa, qb, 2, 6, 3, 7);
    const Quad cd_low = __builtin_shufflevector(qc, qd, 0, 4, 1, 5);
    const Quad cd_high = __builtin_shufflevector(qc, qd, 2, 6, 3, 7);
    const Quad ab = ab_low + ab_high;  // a0+a2, b0+b2, a1+a3, b1+b3
    const Quad cd = cd_low + cd_high;
    return __builtin_shufflevector(ab, cd, 0, 1, 4, 5) +
           __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
}

template <class T>
inline __attribute__((always_inline)) float dot(const T* x, const float* w, std::size_t p) {
    Lanes total = fill(0.0f);
    std::size_t j = 0;
    for (; j + 16 <= p; j += 16) total = total + load(x + j) * load(w + j);
    if (j < p) total = total + load_tail(x + j, p - j) * load_tail(w + j, p - j);
    return sum(total);
}

float dot_f32(const float* x, const float* w, std::size_t p) { return dot(x, w, p); }
float dot_u8(const std::uint8_t* x, const float* w, std::size_t p) { return dot(x, w, p); }

// Four rows share each load of w and one transposed sum of lanes.
void scores(const float* rows, std::size_t stride, std::size_t n, const float* w, float bias,
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

void accumulate(const float* rows, std::size_t stride, const std::int32_t* ids, const float* a,
                std::size_t n, float* g) {
    std::size_t t = 0;
    for (; t + 4 <= n; t += 4) {
        const float* r0 = rows + static_cast<std::size_t>(ids[t]) * stride;
        const float* r1 = rows + static_cast<std::size_t>(ids[t + 1]) * stride;
        const float* r2 = rows + static_cast<std::size_t>(ids[t + 2]) * stride;
        const float* r3 = rows + static_cast<std::size_t>(ids[t + 3]) * stride;
        const Lanes a0 = fill(a[t]), a1 = fill(a[t + 1]), a2 = fill(a[t + 2]), a3 = fill(a[t + 3]);
        for (std::size_t j = 0; j < stride; j += 16)
            store(g + j, load(g + j) + ((load(r0 + j) * a0 + load(r1 + j) * a1) +
                                        (load(r2 + j) * a2 + load(r3 + j) * a3)));
    }
    for (; t < n; ++t) {
        const float* row = rows + static_cast<std::size_t>(ids[t]) * stride;
        const Lanes factor = fill(a[t]);
        for (std::size_t j = 0; j < stride; j += 16)
            store(g + j, load(g + j) + load(row + j) * factor);
    }
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

template <class T>
inline __attribute__((always_inline)) void standardise(const T* x, const FeatureMap& map,
                                                       std::size_t p, float* out) {
    const float *mean = map.mean, *centre = map.centre, *scale = map.scale;
    if (map.low == nullptr) {
        for (std::size_t j = 0; j < p; ++j) {
            const float value = static_cast<float>(x[j]);
            out[j] = ((value == value ? value : mean[j]) - centre[j]) * scale[j];
        }
        return;
    }
    const float *low = map.low, *high = map.high;
    for (std::size_t j = 0; j < p; ++j) {
        float value = static_cast<float>(x[j]);
        value = value == value ? value : mean[j];
        value = value < low[j] ? low[j] : value;
        value = value > high[j] ? high[j] : value;
        out[j] = (value - centre[j]) * scale[j];
    }
}

void standardise_f32(const float* x, const FeatureMap& map, std::size_t p, float* out) {
    standardise(x, map, p, out);
}

void standardise_u8(const std::uint8_t* x, const FeatureMap& map, std::size_t p, float* out) {
    standardise(x, map, p, out);
}

// x log2 x, with 0 at 0. log2 of the mantissa by a polynomial of degree 7 on [1, 2), largest
// error 3e-7: the start of a node needs no more, and unlike libm's it is the same everywhere.
inline __attribute__((always_inline)) Lanes x_log2_x(const Lanes& x) {
    Lanes out;
    for (int r = 0; r < kRegisters; ++r) {
        IntRegister bits;
        __builtin_memcpy(&bits, &x.part[r], sizeof bits);
        const Register exponent = __builtin_convertvector((bits >> 23) - 127, Register);
        const IntRegister mantissa_bits = (bits & 0x007fffff) | 0x3f800000;
        Register m;
        __builtin_memcpy(&m, &mantissa_bits, sizeof m);
        const Register t = m - 1.0f;
        Register y = Register{} + 0.015529897f;
        y = y * t + -0.079557665f;
        y = y * t + 0.19429424f;
        y = y * t + -0.32590193f;
        y = y * t + 0.47355339f;
        y = y * t + -0.72058547f;
        y = y * t + 1.4426678f;
        out.part[r] = x.part[r] * (exponent + y * t);
    }
    return out;
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

void weighted_gram(const float* rows, std::size_t stride, std::size_t n, const float* c,
                   float* out) {
    for (std::size_t j = 0; j < stride; ++j) {
        for (std::size_t block = 0; block <= j; block += 16) {
            Lanes total = fill(0.0f);
            for (std::size_t i = 0; i < n; ++i)
                total = total + load(rows + i * stride + block) * fill(c[i] * rows[i * stride + j]);
            store(out + j * stride + block, total);
        }
    }
}

bool solve_spd(float* a, std::size_t stride, std::size_t n, float* b) {
    // Right-looking: column k is scaled, then subtracted from the rows below it. The update runs
    // along rows, which vectorises; its order of additions is the same for every width.
    for (std::size_t k = 0; k < n; ++k) {
        float* pivot_row = a + k * stride;
        const float pivot = pivot_row[k];
        if (!(pivot > 0.0f)) return false;
        const float inverse = 1.0f / pivot;
        // The lower triangle of column k is kept in row k, so that the inner loop is contiguous.
        for (std::size_t i = k + 1; i < n; ++i) pivot_row[i] = a[i * stride + k];
        for (std::size_t i = k + 1; i < n; ++i) {
            const float factor = pivot_row[i] * inverse;
            float* row = a + i * stride;
            for (std::size_t j = k + 1; j <= i; ++j) row[j] -= factor * pivot_row[j];
            b[i] -= factor * b[k];
        }
    }
    for (std::size_t k = n; k-- > 0;) {
        const float* pivot_row = a + k * stride;
        float value = b[k];
        for (std::size_t i = k + 1; i < n; ++i) value -= pivot_row[i] * b[i];
        b[k] = value / pivot_row[k];
    }
    return true;
}

}  // namespace

extern const Kernels CO2_CONCAT(kernels_, CO2_ISA);
const Kernels CO2_CONCAT(kernels_, CO2_ISA) = {
    CO2_STRING(CO2_ISA), dot_f32,       dot_u8,        scores,
    accumulate,          momentum_step, scale,         standardise_f32,
    standardise_u8,      entropy_scan,  weighted_gram, solve_spd,
};

}  // namespace co2
