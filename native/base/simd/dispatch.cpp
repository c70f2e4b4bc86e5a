// SPDX-License-Identifier: BSD-3-Clause
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "base/simd/kernels.hpp"

#ifdef _MSC_VER
#include <intrin.h>
#endif

namespace co2 {

extern const Kernels kernels_baseline;
#ifdef CO2_HAVE_X86_LEVELS
extern const Kernels kernels_avx2;
extern const Kernels kernels_avx512;
#endif

namespace {

#ifdef CO2_HAVE_X86_LEVELS
#if defined(_MSC_VER)
// Windows has no library with what __builtin_cpu_supports calls.
__attribute__((target("xsave"))) unsigned long long saved_registers() { return _xgetbv(0); }

struct Processor {
    Processor() {
        int known[4], first[4], seventh[4];
        __cpuid(known, 0);
        if (known[0] < 7) return;
        __cpuid(first, 1);
        __cpuidex(seventh, 7, 0);
        const auto bit = [](int word, int place) { return (word >> place & 1) != 0; };
        if (!bit(first[2], 27)) return;  // the system saves no registers beyond those of SSE
        const unsigned long long saved = saved_registers();
        constexpr unsigned long long avx = 0x06, avx512 = 0xe6;
        level_3 = (saved & avx) == avx && bit(first[2], 28) && bit(first[2], 12) &&  // AVX, FMA
                  bit(seventh[1], 5) && bit(seventh[1], 3) && bit(seventh[1], 8);  // AVX2, BMI 1, 2
        level_4 = level_3 && (saved & avx512) == avx512;
        for (const int place : {16, 17, 28, 30, 31})  // AVX-512 F, DQ, CD, BW, VL
            level_4 = level_4 && bit(seventh[1], place);
    }

    bool level_3 = false, level_4 = false;
};
bool has_level_3() { return Processor().level_3; }
bool has_level_4() { return Processor().level_4; }
#elif defined(CO2_HAVE_X86_LEVEL_NAMES)
bool has_level_3() { return __builtin_cpu_supports("x86-64-v3"); }
bool has_level_4() { return __builtin_cpu_supports("x86-64-v4"); }
#else
// What else belongs to these levels is in every processor that has these.
bool has_level_3() {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}
bool has_level_4() {
    return has_level_3() && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif
#endif

const Kernels* widest() {
    for (const char* name : {"avx512", "avx2"})
        if (const Kernels* found = find_kernels(name)) return found;
    return &kernels_baseline;
}

const Kernels* initial() {
    const char* name = std::getenv("CO2FOREST_ISA");
    const Kernels* found = name ? find_kernels(name) : nullptr;
    return found ? found : widest();
}

std::atomic<const Kernels*>& current() {
    static std::atomic<const Kernels*> selected{initial()};
    return selected;
}

}  // namespace

const Kernels* find_kernels(const char* name) {
    if (std::strcmp(name, "baseline") == 0) return &kernels_baseline;
#ifdef CO2_HAVE_X86_LEVELS
    if (std::strcmp(name, "avx2") == 0 && has_level_3()) return &kernels_avx2;
    if (std::strcmp(name, "avx512") == 0 && has_level_4()) return &kernels_avx512;
#endif
    return nullptr;
}

const Kernels& kernels() { return *current().load(std::memory_order_relaxed); }

bool select_kernels(const char* name) {
    const Kernels* found = find_kernels(name);
    if (found) current().store(found, std::memory_order_relaxed);
    return found != nullptr;
}

}  // namespace co2
