// SPDX-License-Identifier: BSD-3-Clause
// Sixteen floats, in as many registers as the machine needs for them, and what kernels.cpp does
// with them. Only for that file, which is compiled once per instruction set: hence the unnamed
// namespace, and functions that are always inlined.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/simd/kernels.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // of gcc 12 about its own AVX-512 header
#endif

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

// Register by register: gcc 12 copies 64 bytes in pieces of 16 through the stack, from where they
// cannot be forwarded to a load of 32 (AVX2 took five times as long on USPS).
inline __attribute__((always_inline)) Lanes load(const float* x) {
    Lanes out;
    for (int r = 0; r < kRegisters; ++r)
        __builtin_memcpy(&out.part[r], x + r * kWidth, sizeof(Register));
    return out;
}

inline __attribute__((always_inline)) void store(float* x, const Lanes& v) {
    for (int r = 0; r < kRegisters; ++r)
        __builtin_memcpy(x + r * kWidth, &v.part[r], sizeof(Register));
}

// Intrinsics, because gcc 12 takes __builtin_convertvector of bytes apart into scalars: the rows of
// MNIST took three times as long.
inline __attribute__((always_inline)) Lanes load(const std::uint8_t* x) {
    Lanes out;
#if defined(__AVX512F__)
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(x));
    out.part[0] = _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(bytes));
#elif defined(__AVX2__)
    for (int r = 0; r < 2; ++r) {
        const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(x + 8 * r));
        out.part[r] = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes));
    }
#elif defined(__SSE2__)
    const __m128i zero = _mm_setzero_si128();
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(x));
    const __m128i low = _mm_unpacklo_epi8(bytes, zero), high = _mm_unpackhi_epi8(bytes, zero);
    out.part[0] = _mm_cvtepi32_ps(_mm_unpacklo_epi16(low, zero));
    out.part[1] = _mm_cvtepi32_ps(_mm_unpackhi_epi16(low, zero));
    out.part[2] = _mm_cvtepi32_ps(_mm_unpacklo_epi16(high, zero));
    out.part[3] = _mm_cvtepi32_ps(_mm_unpackhi_epi16(high, zero));
#else
    for (int r = 0; r < kRegisters; ++r)
        for (int l = 0; l < kWidth; ++l) out.part[r][l] = static_cast<float>(x[r * kWidth + l]);
#endif
    return out;
}

inline __attribute__((always_inline)) Lanes load(const Bfloat16* x) {
    Lanes out;
#if defined(__AVX512F__)
    const __m256i halves = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x));
    out.part[0] = _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
#elif defined(__AVX2__)
    for (int r = 0; r < 2; ++r) {
        const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(x + 8 * r));
        out.part[r] = _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
    }
#elif defined(__SSE2__)
    const __m128i zero = _mm_setzero_si128();
    for (int r = 0; r < 4; r += 2) {
        const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(x + 4 * r));
        out.part[r] = _mm_castsi128_ps(_mm_unpacklo_epi16(zero, halves));
        out.part[r + 1] = _mm_castsi128_ps(_mm_unpackhi_epi16(zero, halves));
    }
#else
    for (int r = 0; r < kRegisters; ++r)
        for (int l = 0; l < kWidth; ++l) {
            const std::uint32_t bits = static_cast<std::uint32_t>(x[r * kWidth + l]) << 16;
            float value;
            __builtin_memcpy(&value, &bits, sizeof value);
            out.part[r][l] = value;
        }
#endif
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

inline __attribute__((always_inline)) Lanes operator/(Lanes a, const Lanes& b) {
    for (int r = 0; r < kRegisters; ++r) a.part[r] /= b.part[r];
    return a;
}

// Lanes l, l+4, l+8, l+12 added as (l + (l+8)) + ((l+4) + (l+12)): the fixed order of every level.
inline __attribute__((always_inline)) Quad fold_to_quad(const Lanes& v) {
#if defined(__AVX512F__)
    typedef float Half __attribute__((vector_size(32)));
    const Half h = __builtin_shufflevector(v.part[0], v.part[0], 0, 1, 2, 3, 4, 5, 6, 7) +
                   __builtin_shufflevector(v.part[0], v.part[0], 8, 9, 10, 11, 12, 13, 14, 15);
    return __builtin_shufflevector(h, h, 0, 1, 2, 3) + __builtin_shufflevector(h, h, 4, 5, 6, 7);
#elif defined(__AVX__)
    const Register h = v.part[0] + v.part[1];
    return __builtin_shufflevector(h, h, 0, 1, 2, 3) + __builtin_shufflevector(h, h, 4, 5, 6, 7);
#else
    return (v.part[0] + v.part[2]) + (v.part[1] + v.part[3]);
#endif
}

inline __attribute__((always_inline)) float sum(const Lanes& v) {
    const Quad q = fold_to_quad(v);
    return (q[0] + q[2]) + (q[1] + q[3]);
}

inline __attribute__((always_inline)) float largest(const Lanes& v) {
    alignas(64) float lane[16];
    store(lane, v);
    for (int width = 8; width > 0; width /= 2)
        for (int l = 0; l < width; ++l)
            lane[l] = lane[l] > lane[l + width] ? lane[l] : lane[l + width];
    return lane[0];
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

// What lies in front of the last p % 16 of 16 lanes becomes zero.
inline __attribute__((always_inline)) Lanes keep_last(const Lanes& v, std::size_t n) {
    Lanes out;
    const IntRegister first = IntRegister{} + static_cast<std::int32_t>(16 - n);
    IntRegister lane;
    for (int l = 0; l < kWidth; ++l) lane[l] = l;
    for (int r = 0; r < kRegisters; ++r) {
        IntRegister bits;
        __builtin_memcpy(&bits, &v.part[r], sizeof bits);
        bits &= lane >= first;
        __builtin_memcpy(&out.part[r], &bits, sizeof bits);
        lane += kWidth;
    }
    return out;
}

// log2 x for x > 0: that of the mantissa by a polynomial of degree 7 on [1, 2), largest error 3e-7.
// Unlike libm's it is the same everywhere.
inline __attribute__((always_inline)) Lanes log2(const Lanes& x) {
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
        out.part[r] = exponent + y * t;
    }
    return out;
}

// With 0 at 0, where log2() above is finite.
inline __attribute__((always_inline)) Lanes x_log2_x(const Lanes& x) { return x * log2(x); }

// exp(x), relative error below 1e-7: 2^n times a polynomial on [-ln 2 / 2, ln 2 / 2]. x is limited
// to [-87, 87], where 2^n is a normal number.
inline __attribute__((always_inline)) Lanes exponential(const Lanes& v) {
    constexpr float round = 12582912.0f;  // 1.5 * 2^23: adding it rounds to a whole number
    Lanes out;
    for (int r = 0; r < kRegisters; ++r) {
        const Register limit = Register{} + 87.0f;
        Register x = v.part[r] > -limit ? v.part[r] : -limit;
        x = x < limit ? x : limit;
        const Register n = (x * 1.44269504f + round) - round;
        const Register t = (x - n * 0.693359375f) - n * -2.12194440e-4f;
        Register y = Register{} + 1.9875691500e-4f;
        y = y * t + 1.3981999507e-3f;
        y = y * t + 8.3334519073e-3f;
        y = y * t + 4.1665795894e-2f;
        y = y * t + 1.6666665459e-1f;
        y = y * t + 5.0000001201e-1f;
        y = (y * t) * t + (t + 1.0f);
        const IntRegister power = (__builtin_convertvector(n, IntRegister) + 127) << 23;
        Register scale;
        __builtin_memcpy(&scale, &power, sizeof scale);
        out.part[r] = y * scale;
    }
    return out;
}

}  // namespace
}  // namespace co2
