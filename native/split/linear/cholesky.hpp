// SPDX-License-Identifier: BSD-3-Clause
// Solves A x = r for a small symmetric matrix that is positive definite.
#pragma once

#include <cmath>
#include <vector>

#include "base/stop.hpp"

namespace co2 {

// Puts the Cholesky factor of a q x q matrix in the place of its lower half. False if it is not
// positive definite.
inline bool factorise(std::vector<double>& l, std::size_t q, const std::atomic<bool>& stop) {
    for (std::size_t a = 0; a < q; ++a) {
        for (std::size_t b = 0; b <= a; ++b) {
            throw_if(stop, b);
            double sum = l[a * q + b];
            for (std::size_t c = 0; c < b; ++c) sum -= l[a * q + c] * l[b * q + c];
            if (a == b && !(sum > 0.0)) return false;
            l[a * q + b] = a == b ? std::sqrt(sum) : sum / l[b * q + b];
        }
    }
    return true;
}

// Turns the right side x into the solution.
inline void substitute(const std::vector<double>& l, std::size_t q, std::vector<double>& x,
                       const std::atomic<bool>& stop) {
    for (std::size_t a = 0; a < q; ++a) {
        throw_if(stop, a);
        for (std::size_t c = 0; c < a; ++c) x[a] -= l[a * q + c] * x[c];
        x[a] /= l[a * q + a];
    }
    for (std::size_t a = q; a-- > 0;) {
        throw_if(stop, a);
        for (std::size_t c = a + 1; c < q; ++c) x[a] -= l[c * q + a] * x[c];
        x[a] /= l[a * q + a];
    }
}

}  // namespace co2
