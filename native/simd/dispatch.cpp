// SPDX-License-Identifier: BSD-3-Clause
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "simd/kernels.hpp"

namespace co2 {

extern const Kernels kernels_baseline;
#ifdef CO2_HAVE_X86_LEVELS
extern const Kernels kernels_avx2;
extern const Kernels kernels_avx512;
#endif

namespace {

#ifdef CO2_HAVE_X86_LEVELS
#ifdef CO2_HAVE_X86_LEVEL_NAMES
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
